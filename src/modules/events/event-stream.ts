/** What one caller follows: their place among the followers, and what waits there until they read it. */

import type { Database } from '../../db/database-types.ts'
import type { Event } from '../../db/prisma/client.ts'
import type { Actor } from '../../shared/actor.ts'
import { isUnavailable } from '../../shared/errors.ts'
import type { AssetFacts, EventFanout, FedEvent, Follower } from './event-fanout.ts'
import { FEED_PAGE } from './events.sql.ts'

/**
 * Events that wait for a reader who is slow. What is `drop`ped is read in the feed; who would be `end`ed is borne with for longer than one page
 * of the feed, which comes at once, and is no slow reader for that.
 */
const MOST_WAITING = { drop: FEED_PAGE, end: 5 * FEED_PAGE }

/** What a follower wants to hear of. */
export interface Following {
  ownerId: string
  assetId?: string
  /** Whether the follower wants to hear of an event. */
  wants(told: FedEvent): boolean
  /** Whether it may still see the asset. */
  canSee?(asset: AssetFacts): boolean
  /** Called once, when the place is given up. */
  onEnd(): void
}

/** A place among the followers. */
export interface Place {
  /** Sequence of the newest event when the place was taken. */
  newest: number
  /** Sequence of the newest event that the follower was handed, whether or not it still waits. */
  readonly latest: number
  readonly waiting: FedEvent[]
  readonly hasEnded: boolean
  /** Until something is handed over, or the place was given up. */
  wait(): Promise<void>
  end(): void
}

/** Wakes its one waiter; a notification before the wait counts. */
function createSignal() {
  let isNotified = false
  let wake = () => {}
  return {
    notify() {
      isNotified = true
      wake()
    },
    async wait() {
      if (!isNotified) await new Promise<void>((resolve) => (wake = resolve))
      isNotified = false
    },
  }
}

/**
 * Takes a place. `onOverflow` says what becomes of a follower for whom too much waits: it is `drop`ped events that it can
 * read in the feed, or it `end`s.
 * Raises AUTHENTICATION_FAILED, UNAVAILABLE.
 */
export async function takePlace(
  fanout: EventFanout,
  actor: Actor,
  { ownerId, assetId, wants, canSee, onEnd }: Following,
  onOverflow: keyof typeof MOST_WAITING,
): Promise<Place> {
  const signal = createSignal()
  const waiting: FedEvent[] = []
  let latest = 0
  let hasEnded = false
  let leave = () => {}

  function end() {
    if (hasEnded) return
    hasEnded = true
    leave()
    onEnd()
    signal.notify()
  }

  const follower: Follower = {
    ownerId,
    sessionId: actor.kind === 'user' ? actor.tokenId : null,
    apiKeyId: actor.kind !== 'system' && typeof actor.service === 'object' ? actor.service.id : null,
    ...(assetId !== undefined && { assetId }),
    feed(told) {
      latest = told.event.sequence
      if (!wants(told)) return
      if (canSee && !canSee(told.asset)) return end()
      if (waiting.length < MOST_WAITING[onOverflow]) waiting.push(told)
      else if (onOverflow === 'end') return end()
      signal.notify()
    },
    judge(asset) {
      if (canSee && !canSee(asset)) end()
    },
    notify: signal.notify,
    end,
  }
  const joined = await fanout.join(follower)
  leave = joined.leave
  // It may have been ended while it joined.
  if (hasEnded) leave()
  latest = Math.max(latest, joined.newest)
  return {
    newest: joined.newest,
    get latest() {
      return latest
    },
    waiting,
    get hasEnded() {
      return hasEnded
    },
    wait: signal.wait,
    end,
  }
}

/** The events after a position, and each as it happens. What the reader was too slow for is read from the feed. */
export async function* feedAfter(
  database: Pick<Database, 'read'>,
  place: Place,
  { ownerId, after }: { ownerId: string; after: number },
): AsyncGenerator<Event> {
  let sequence = after
  while (!place.hasEnded) {
    const [head] = place.waiting
    if (head && head.event.sequence <= sequence) place.waiting.shift()
    else if (head?.event.sequence === sequence + 1) {
      place.waiting.shift()
      sequence += 1
      yield head.event
    } else if (place.latest > sequence) {
      const page = await readAfter(database, ownerId, sequence)
      for (const event of page) {
        if (place.hasEnded) return
        sequence = event.sequence
        yield event
      }
      if (page.length === 0) await place.wait()
    } else await place.wait()
  }
}

/** While the database is away there is nothing new; the next notification tries again. */
async function readAfter({ read }: Pick<Database, 'read'>, ownerId: string, sequence: number): Promise<Event[]> {
  const where = { ownerId, sequence: { gt: sequence } }
  try {
    return await read.event.findMany({ where, orderBy: { sequence: 'asc' }, take: FEED_PAGE })
  } catch (error) {
    if (isUnavailable(error)) return []
    throw error
  }
}

/** Each event that the follower wants, from now on. */
export async function* eventsOf(place: Place): AsyncGenerator<FedEvent> {
  while (!place.hasEnded) {
    const told = place.waiting.shift()
    if (!told) await place.wait()
    else if (told.event.sequence > place.newest) yield told
  }
}

/** What a door reads; whoever leaves gives up the place at once, also while it waits. */
export function streamOf<T>(place: Place, made: AsyncGenerator<T>): AsyncIterableIterator<T> {
  return {
    async next() {
      try {
        const result = await made.next()
        if (result.done) place.end()
        return result
      } catch (error) {
        place.end()
        throw error
      }
    },
    return(value) {
      place.end()
      return made.return(value)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
