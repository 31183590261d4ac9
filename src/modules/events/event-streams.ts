/** Open streams of this process, their limits, and the buffer of each stream. */
import type { Database } from '../../db/database-types.ts'
import type { Event } from '../../db/prisma/client.ts'
import type { Actor } from '../../shared/actor.ts'
import type { ConcurrencyCounter } from '../../shared/concurrency-counter.ts'
import { isUnavailable, throttled } from '../../shared/errors.ts'
import type { Limits } from '../../shared/limits.ts'
import type { Log } from '../../shared/log.ts'
import { networkOf } from '../../shared/rate-limiter.ts'
import type { Meter } from '../../telemetry/telemetry-types.ts'
import { type AssetFacts, createEventFanout, type EventFanout, type FeedEvent, type Follower } from './event-fanout.ts'
import { FEED_PAGE } from './events.sql.ts'
import type { FeedNotifications } from './notification-types.ts'

/**
 * Maximum number of events that a buffer holds for a slow reader. With `drop`, the reader reads further events from the database. With `end`, its
 * stream ends. That limit is above one page of the feed, because a page arrives at once.
 */
const MAX_BUFFERED = { drop: FEED_PAGE, end: 5 * FEED_PAGE }

/** Seconds after which a caller with too many open streams may retry. */
const RETRY_SECONDS = 30

/** The events that a stream wants. */
interface Filter {
  ownerId: string
  assetId?: string
  matches(entry: FeedEvent): boolean
  /** Returns false if the stream must end because the caller may not see the asset any more. */
  canSee?(asset: AssetFacts): boolean
}

/** A stream's subscription of a feed. */
export interface Subscription {
  /** Sequence of the newest event when the subscription began. */
  newest: number
  /** Sequence of the newest event of the feed that this process has read. */
  readonly latest: number
  readonly buffer: FeedEvent[]
  readonly hasEnded: boolean
  /** Waits for an event or the end of the subscription. */
  wait(): Promise<void>
  end(): void
}

/** Creates a signal with one waiter. A notification before the wait is kept. */
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

/** Subscribes to a feed. Throws AUTHENTICATION_FAILED, UNAVAILABLE. */
async function subscribe(
  fanout: EventFanout,
  actor: Actor,
  { ownerId, assetId, matches, canSee, onEnd }: Filter & { onEnd(): void },
  onOverflow: keyof typeof MAX_BUFFERED,
): Promise<Subscription> {
  const signal = createSignal()
  const buffer: FeedEvent[] = []
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
    push(entry) {
      latest = entry.event.sequence
      if (!matches(entry)) return
      if (canSee && !canSee(entry.asset)) return end()
      if (buffer.length < MAX_BUFFERED[onOverflow]) buffer.push(entry)
      else if (onOverflow === 'end') return end()
      signal.notify()
    },
    checkAsset(asset) {
      if (canSee && !canSee(asset)) end()
    },
    notify: signal.notify,
    end,
  }
  const joined = await fanout.join(follower)
  leave = joined.leave
  // It may have ended while it joined.
  if (hasEnded) leave()
  latest = Math.max(latest, joined.newest)
  return {
    newest: joined.newest,
    get latest() {
      return latest
    },
    buffer,
    get hasEnded() {
      return hasEnded
    },
    wait: signal.wait,
    end,
  }
}

/** Yields the events after a position, and then new ones. Reads events that did not fit into the buffer from the database. */
export async function* readFeedAfter(
  database: Pick<Database, 'read'>,
  subscription: Subscription,
  { ownerId, after }: { ownerId: string; after: number },
): AsyncGenerator<Event> {
  let sequence = after
  while (!subscription.hasEnded) {
    const [head] = subscription.buffer
    if (head && head.event.sequence <= sequence) subscription.buffer.shift()
    else if (head?.event.sequence === sequence + 1) {
      subscription.buffer.shift()
      sequence += 1
      yield head.event
    } else if (subscription.latest > sequence) {
      const page = await readPage(database, ownerId, sequence)
      for (const event of page) {
        if (subscription.hasEnded) return
        sequence = event.sequence
        yield event
      }
      if (page.length === 0) await subscription.wait()
    } else await subscription.wait()
  }
}

/** Returns no events while the database is unavailable. The next notification tries again. */
async function readPage({ read }: Pick<Database, 'read'>, ownerId: string, sequence: number): Promise<Event[]> {
  const where = { ownerId, sequence: { gt: sequence } }
  try {
    return await read.event.findMany({ where, orderBy: { sequence: 'asc' }, take: FEED_PAGE })
  } catch (error) {
    if (isUnavailable(error)) return []
    throw error
  }
}

/** Yields the matching events since the subscription began. */
export async function* newEvents(subscription: Subscription): AsyncGenerator<FeedEvent> {
  while (!subscription.hasEnded) {
    const entry = subscription.buffer.shift()
    if (!entry) await subscription.wait()
    else if (entry.event.sequence > subscription.newest) yield entry
  }
}

/** Returns an iterator for a response. Unlike a generator, its `return` ends the subscription immediately, also while `next` waits. */
export function toIterator<T>(subscription: Subscription, source: AsyncGenerator<T>): AsyncIterableIterator<T> {
  return {
    async next() {
      try {
        const result = await source.next()
        if (result.done) subscription.end()
        return result
      } catch (error) {
        subscription.end()
        throw error
      }
    },
    return(value) {
      subscription.end()
      return source.return(value)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

interface Parts {
  database: Database
  notifications: FeedNotifications
  log: Log
  meter: Meter
  counter: ConcurrencyCounter
  limits: Limits
}

type Subscribe = (filter: Filter, onOverflow: keyof typeof MAX_BUFFERED) => Promise<Subscription>

/** The open streams of a process. */
export interface EventStreams {
  /**
   * Counts a stream against the limits of the caller's account and address until it ends. `open` subscribes. If it fails, nothing stays open.
   * Throws THROTTLED, AUTHENTICATION_FAILED, UNAVAILABLE, and the errors of `open`.
   */
  open<T>(actor: Actor, open: (subscribe: Subscribe) => Promise<T>): Promise<T>
  /** Returns true if streams end because the process shuts down. */
  isDraining(): boolean
  /** Ends all streams, and those that open later. */
  stop(): void
}

export function createEventStreams({ database, notifications, log, meter, counter, limits }: Parts): EventStreams {
  const fanout = createEventFanout({ database, notifications, log })
  let openStreams = 0
  let hasStopped = false
  meter.gauge('annal_streams', () => openStreams)

  /** Returns a function that releases the stream. */
  async function acquire(actor: Actor): Promise<() => void> {
    if (actor.kind === 'system') return () => {}
    const maxima: [subject: string, max: number][] = [
      ...(actor.kind === 'user' ? [[`streams:user:${actor.id}`, limits['streams-per-user']] as [string, number]] : []),
      [`streams:address:${networkOf(actor.address)}`, limits['streams-per-address']],
    ]
    const acquired: string[] = []
    const releaseAll = () => Promise.all(acquired.splice(0).map((subject) => counter.release(subject, 1)))
    try {
      for (const [subject, max] of maxima) {
        if ((await counter.acquire(subject, { max, needed: 1 })) === 0) {
          meter.count('annal_limit_rejections_total', { limit: 'streams' })
          throw throttled(RETRY_SECONDS)
        }
        acquired.push(subject)
      }
    } catch (error) {
      await releaseAll()
      throw error
    }
    openStreams += 1
    return () => {
      if (acquired.length === 0) return
      openStreams -= 1
      void releaseAll()
    }
  }

  return {
    async open(actor, open) {
      const release = await acquire(actor)
      let subscription: Subscription | undefined
      try {
        return await open(async (filter, onOverflow) => {
          subscription = await subscribe(fanout, actor, { ...filter, onEnd: release }, onOverflow)
          if (hasStopped) subscription.end()
          return subscription
        })
      } catch (error) {
        subscription?.end()
        release()
        throw error
      }
    },
    isDraining: () => hasStopped,
    stop() {
      hasStopped = true
      fanout.stop()
    },
  }
}
