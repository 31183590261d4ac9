/** A user's feed: everything that happened to what is theirs, in order. Contract: `events` in the schema, `/api/v3/events/`. */

import type { Database } from '../../db/database-types.ts'
import type { Asset, Commit, Prisma } from '../../db/prisma/client.ts'
import type { Actor } from '../../shared/actor.ts'
import type { ConcurrencyCounter } from '../../shared/concurrency-counter.ts'
import { throttled, validationFailed } from '../../shared/errors.ts'
import { fromId } from '../../shared/ids.ts'
import type { Limits } from '../../shared/limits.ts'
import { countLimit, type Search, searched } from '../../shared/lists.ts'
import type { Log } from '../../shared/log.ts'
import { assertUserMay, canSeeAsset } from '../../shared/policy.ts'
import { networkOf } from '../../shared/rate-limiter.ts'
import type { Meter } from '../../telemetry/telemetry-types.ts'
import type { ActionArgs } from '../store/action-args.ts'
import { createEventData } from './event-data.ts'
import { createEventFanout, type FedEvent } from './event-fanout.ts'
import { readPosition } from './event-input.ts'
import { type EventRecord, recordOf } from './event-record.ts'
import { eventsOf, type Following, feedAfter, type Place, streamOf, takePlace } from './event-stream.ts'
import type { EventType } from './event-type.ts'
import type { FeedNotifications } from './notification-types.ts'

/** A part of the feed, bounded by cursors (sequences) or event identifiers. */
export interface EventPage {
  after?: string | undefined
  before?: string | undefined
  search?: Search
  limit: number
  offset?: number
  /** From the end backwards. */
  inverted: boolean
}

/** The events between two cursors or identifiers that match a search. */
type EventRange = Pick<EventPage, 'after' | 'before' | 'search'>

/** What webhooks are told of, too. */
const webhookTypes = new Set<EventType>(['order.paid', 'order.refunded', 'webhook.test'])

/** Feeds of events, read page by page or followed; what `createEventService` makes. */
export type EventService = ReturnType<typeof createEventService>

interface Dependencies {
  database: Database
  notifications: FeedNotifications
  actionArgs: ActionArgs
  log: Log
  meter: Meter
  counter: ConcurrencyCounter
  limits: Limits
}

/** Seconds until a caller may retry who has too many streams open. Nobody knows when a stream ends. */
const RETRY_SECONDS = 30

/** What a caller wants loaded of a commit, in Prisma's language; made from the GraphQL document. */
export type CommitQuery = Omit<Prisma.CommitFindFirstArgs, 'where'>

/**
 * Feeds of events: read by position, followed as they grow, and changes of one order or asset. Streams end with their
 * session, and when the process drains.
 */
export function createEventService({ database, notifications, actionArgs, log, meter, counter, limits }: Dependencies) {
  let openStreams = 0
  meter.gauge('annal_streams', () => openStreams)
  const fanout = createEventFanout({ database, notifications, log })
  let hasStopped = false
  const readData = createEventData({ database, actionArgs })

  /** Sequence of a position in a feed. Raises VALIDATION_FAILED when the event stands in no feed of theirs. */
  async function sequenceOf(ownerId: string, field: string, text: string): Promise<number> {
    const position = readPosition(field, text)
    if ('sequence' in position) return position.sequence
    const event = await database.read.event.findFirst({ where: { id: position.eventId, ownerId } })
    if (!event) throw validationFailed({ [field]: ['There is no such event in your feed.'] })
    return event.sequence
  }

  const bound = (ownerId: string, field: string, text: string | undefined) =>
    text === undefined ? undefined : sequenceOf(ownerId, field, text)

  async function within(ownerId: string, { after, before, search }: EventRange): Promise<Prisma.EventWhereInput> {
    const [gt, lt] = await Promise.all([bound(ownerId, 'after', after), bound(ownerId, 'before', before)])
    const sequence = { ...(gt !== undefined && { gt }), ...(lt !== undefined && { lt }) }
    return { ownerId, sequence, ...searched(search, (word) => [{ type: word }]) }
  }

  /**
   * Counts an open stream of the actor: for the account, whatever sessions it uses, and for the address. Returns the function that releases
   * it. Throws THROTTLED, UNAVAILABLE.
   */
  async function acquireStream(actor: Actor): Promise<() => void> {
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

  /** Opens a stream, which counts until it ends. `open` takes the place; whatever it raises, nothing stays behind. */
  async function count<T>(
    actor: Actor,
    open: (take: (following: Omit<Following, 'onEnd'>, onOverflow: 'drop' | 'end') => Promise<Place>) => Promise<T>,
  ): Promise<T> {
    const release = await acquireStream(actor)
    let place: Place | undefined
    try {
      return await open(async (following, onOverflow) => {
        place = await takePlace(fanout, actor, { ...following, onEnd: release }, onOverflow)
        if (hasStopped) place.end()
        return place
      })
    } catch (error) {
      place?.end()
      release()
      throw error
    }
  }

  return {
    /** The actor's own events, oldest first; newest first when inverted. Raises NOT_AUTHENTICATED, VALIDATION_FAILED. */
    async list(actor: Actor, { limit, offset = 0, inverted, ...range }: EventPage): Promise<EventRecord[]> {
      assertUserMay(actor, 'event:read')
      const events = await database.read.event.findMany({
        where: await within(actor.id, range),
        orderBy: { sequence: inverted ? 'desc' : 'asc' },
        take: limit,
        ...(offset > 0 && { skip: offset }),
      })
      return events.map(recordOf)
    },

    /** Number of events in a range, counted no further than a page behind `offset` needs. Raises what `list` raises. */
    async count(actor: Actor, range: EventRange, offset: number): Promise<number> {
      assertUserMay(actor, 'event:read')
      return database.read.event.count({ where: await within(actor.id, range), take: countLimit(offset) })
    },

    /** An event of the actor's own feed by its UUID, or null. */
    async find(actor: Actor, id: string): Promise<EventRecord | null> {
      if (actor.kind !== 'user') return null
      const event = await database.read.event.findFirst({ where: { id, ownerId: actor.id } })
      return event && recordOf(event)
    },

    /** What the webhook's call for an event of the actor carries; null when no call tells of it. */
    async data({ id, type }: Pick<EventRecord, 'id' | 'type'>): Promise<Record<string, unknown> | null> {
      return webhookTypes.has(type) ? readData(fromId(id)!.uuid) : null
    },

    /**
     * The actor's own events after a position, and then each as it happens; without a position only what happens from
     * now on. Ends when the session does. Raises NOT_AUTHENTICATED, AUTHENTICATION_FAILED, VALIDATION_FAILED, THROTTLED.
     */
    async follow(actor: Actor, after: string | undefined): Promise<AsyncIterableIterator<EventRecord>> {
      assertUserMay(actor, 'event:read')
      const ownerId = actor.id
      return count(actor, async (take) => {
        const place = await take({ ownerId, wants: () => true }, 'drop')
        const sequence = (await bound(ownerId, 'lastEventId', after)) ?? place.newest
        // Who waited for what this feed never told would wait for ever.
        if (sequence > place.latest) throw validationFailed({ lastEventId: ['There is no such event in your feed.'] })
        async function* records() {
          for await (const event of feedAfter(database, place, { ownerId, after: sequence })) yield recordOf(event)
        }
        return streamOf(place, records())
      })
    },

    /**
     * Each change of a commit of the asset that `find` gives, from now on: the commit as it is then. Ends when the asset is
     * no longer to be seen, and when a reader is too slow. Raises what `find` raises, AUTHENTICATION_FAILED, THROTTLED.
     */
    async followCommits(
      actor: Actor,
      find: () => Promise<Pick<Asset, 'id' | 'ownerId'>>,
      query: CommitQuery = {},
    ): Promise<AsyncIterableIterator<Commit>> {
      return count(actor, async (take) => {
        const { id: assetId, ownerId } = await find()
        const place = await take(
          {
            ownerId,
            assetId,
            wants: (told) => told.assetId === assetId,
            canSee: (asset) => asset !== undefined && canSeeAsset(actor, asset),
          },
          'end',
        )
        const key = `commit ${JSON.stringify(query)}`
        const load = ({ event }: FedEvent) =>
          database.read.commit.findFirst({ ...query, where: { id: event.commitId! } }) as Promise<Commit | null>
        async function* commits() {
          for await (const told of eventsOf(place)) {
            const commit = await told.once(key, () => load(told))
            if (commit && !place.hasEnded) yield commit
          }
        }
        return streamOf(place, commits())
      })
    },

    /**
     * What `load` gives each time something happens to the order that `find` gives, from now on. `key` tells what `load`
     * loads: followers of one order with the same key share it. Ends when it gives nothing, as for an order that is no
     * longer to be seen, and when a reader is too slow. Raises what `find` raises, AUTHENTICATION_FAILED, THROTTLED.
     */
    async followOrder<Order>(
      actor: Actor,
      find: () => Promise<{ id: string; buyerId: string }>,
      { key, load }: { key: string; load: (id: string) => Promise<Order | null> },
    ): Promise<AsyncIterableIterator<Order>> {
      return count(actor, async (take) => {
        const { id, buyerId } = await find()
        const place = await take({ ownerId: buyerId, wants: ({ event }) => event.orderId === id }, 'end')
        async function* orders() {
          for await (const told of eventsOf(place)) {
            const now = await told.once(`order ${key}`, () => load(id))
            if (!now || place.hasEnded) return
            yield now
          }
        }
        return streamOf(place, orders())
      })
    },

    /** Whether streams end because the process does. */
    isDraining: () => hasStopped,

    /** Ends what is followed, and what is begun from now on: the process drains. */
    stop() {
      hasStopped = true
      fanout.stop()
    },
  }
}
