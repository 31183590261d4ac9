/** A user's feed: everything that happened to what is theirs, in order. Contract: `events` in the schema, `/api/v3/events/`. */
import type { Asset, Commit, Event } from '../../platform/prisma/client.ts'
import { findLiveToken } from '../account/account-statements.ts'
import { type Actor, assertUser } from '../actor.ts'
import { notFound, validationFailed } from '../errors.ts'
import { fromId } from '../ids.ts'
import { assertMay, visibleAssets } from '../policy.ts'
import type { Database, FeedNotices, Safe } from '../ports.ts'
import { createEventData } from './event-data.ts'
import { readPosition } from './event-input.ts'
import { type EventRecord, recordOf } from './event-record.ts'
import { createEventStreams } from './event-stream.ts'

/** A part of the feed, bounded by cursors (sequences) or event identifiers. */
export interface EventPage {
  after?: string | undefined
  before?: string | undefined
  limit: number
  /** From the end backwards. */
  inverted: boolean
}

export type EventService = ReturnType<typeof createEventService>

interface Dependencies {
  database: Database
  notices: FeedNotices
  safe: Safe
}

export function createEventService({ database, notices, safe }: Dependencies) {
  const streams = createEventStreams({ database, notices })
  const readData = createEventData({ database, safe })

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

  async function isSignedIn(actor: Actor): Promise<boolean> {
    return actor.kind !== 'user' || (await database.query(findLiveToken, [actor.tokenId])).length > 0
  }

  return {
    /** The actor's own events, oldest first; newest first when inverted. Raises NOT_AUTHENTICATED, VALIDATION_FAILED. */
    async list(actor: Actor, { after, before, limit, inverted }: EventPage): Promise<EventRecord[]> {
      assertMay(actor, 'event:read')
      assertUser(actor)
      const [gt, lt] = await Promise.all([bound(actor.id, 'after', after), bound(actor.id, 'before', before)])
      const sequence = { ...(gt !== undefined && { gt }), ...(lt !== undefined && { lt }) }
      const events = await database.read.event.findMany({
        where: { ownerId: actor.id, sequence },
        orderBy: { sequence: inverted ? 'desc' : 'asc' },
        take: limit,
      })
      return events.map(recordOf)
    },

    /** An event of the actor's own feed by its UUID, or null. */
    async find(actor: Actor, id: string): Promise<EventRecord | null> {
      if (actor.kind !== 'user') return null
      const event = await database.read.event.findFirst({ where: { id, ownerId: actor.id } })
      return event && recordOf(event)
    },

    /** What the webhook's call for an event of the actor carries; null when no call tells of it. */
    async data({ id, type }: Pick<EventRecord, 'id' | 'type'>): Promise<Record<string, unknown> | null> {
      return type === 'order.paid' ? readData(fromId(id)!.uuid) : null
    },

    /**
     * The actor's own events after a position, and then each as it happens; without a position only what happens from
     * now on. Ends when the session does. Raises NOT_AUTHENTICATED, VALIDATION_FAILED.
     */
    async follow(actor: Actor, after: string | undefined): Promise<AsyncIterableIterator<EventRecord>> {
      assertMay(actor, 'event:read')
      assertUser(actor)
      const sequence = (await bound(actor.id, 'lastEventId', after)) ?? (await streams.newest(actor.id))
      const following = { ownerId: actor.id, after: sequence, mayRead: () => isSignedIn(actor) }
      return streams.follow(following, async function* (events) {
        for await (const event of events) yield recordOf(event)
      })
    },

    /**
     * Each change of a commit of an asset, from now on: the commit as it is then. Ends when the asset is no longer to be
     * seen. Raises NOT_FOUND.
     */
    async followCommits(actor: Actor, asset: Pick<Asset, 'id' | 'ownerId'>): Promise<AsyncIterableIterator<Commit>> {
      const { read } = database
      const visible = { ...visibleAssets(actor), id: asset.id }
      const canSee = async () => (await read.asset.count({ where: visible })) > 0
      if (!(await canSee())) throw notFound('Asset')
      const after = await streams.newest(asset.ownerId)
      const mayRead = async () => (await isSignedIn(actor)) && (await canSee())
      return streams.follow({ ownerId: asset.ownerId, after, mayRead }, async function* (events) {
        for await (const { commitId } of events) {
          if (commitId === null) continue
          const commit = await read.commit.findFirst({ where: { id: commitId, asset: visible } })
          if (commit) yield commit
          else if (!(await canSee())) return
        }
      })
    },

    /**
     * What `load` gives each time something happens to an order, from now on. `ownerId` is the user whose feed tells of
     * it; ends when `load` gives nothing, as for an order that is no longer to be seen.
     */
    async followOrder<Order>(
      actor: Actor,
      order: { id: string; ownerId: string },
      load: () => Promise<Order | null>,
    ): Promise<AsyncIterableIterator<Order>> {
      const after = await streams.newest(order.ownerId)
      const following = { ownerId: order.ownerId, after, mayRead: () => isSignedIn(actor) }
      return streams.follow(following, async function* (events: AsyncIterable<Event>) {
        for await (const { orderId } of events) {
          if (orderId !== order.id) continue
          const now = await load()
          if (!now) return
          yield now
        }
      })
    },

    /** Ends what is followed: the process drains. */
    stop: streams.stop,
  }
}
