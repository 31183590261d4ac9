/** Reads a user's feed: the events of their assets, orders and wallet, in order. */
import type { Use } from '../../context.ts'
import type { Asset, Commit, Event, Prisma } from '../../db/prisma/client.ts'
import { readInt } from '../../db/sql.ts'
import { validationFailed } from '../../shared/errors.ts'
import { fromId, toId } from '../../shared/ids.ts'
import { countLimit, type Search, searched } from '../../shared/lists.ts'
import { assertUserMay, canSeeAsset } from '../../shared/policy.ts'
import { showActionArgs } from '../store/orders.ts'
import { isSale, writePayload } from '../webhooks/delivery-payload.ts'
import { type FeedEvent, newEvents, readFeedAfter, toIterator } from './event-streams.ts'
import type { EventType } from './events.sql.ts'

type Reader = Use<'actor' | 'database'>

/** An event with prefixed IDs. */
export type EventRecord = ReturnType<typeof toRecord>

const toRecord = ({ id, sequence, type, createdAt, ...ids }: Event) => ({
  id: toId('event', id),
  sequence,
  type: type as EventType,
  createdAt,
  orderId: ids.orderId && toId('order', ids.orderId),
  commitId: ids.commitId && toId('commit', ids.commitId),
  deliveryId: ids.deliveryId && toId('delivery', ids.deliveryId),
  transferId: ids.transferId && toId('transfer', ids.transferId),
})

/** A range of an event feed. `after` and `before` are sequences or IDs of events. */
type EventRange = { after?: string | undefined; before?: string | undefined; search?: Search }
type EventPage = EventRange & { limit: number; offset?: number; inverted: boolean }

const NO_SUCH_EVENT = 'There is no such event in your feed.'

/** Returns the sequence of a cursor, a `Last-Event-ID` or an event ID. Throws VALIDATION_FAILED for `field`. */
async function readSequence(
  { database }: Use<'database'>,
  { ownerId, field, text }: { ownerId: string; field: string; text: string },
): Promise<number> {
  const sequence = readInt(text)
  if (sequence !== undefined) return sequence
  const found = fromId(text, 'event')
  if (!found) throw validationFailed({ [field]: ['Expected the ID or the sequence of an event.'] })
  const event = await database.read.event.findFirst({ where: { id: found.uuid, ownerId } })
  if (!event) throw validationFailed({ [field]: [NO_SUCH_EVENT] })
  return event.sequence
}

async function where(context: Use<'database'>, ownerId: string, { after, before, search }: EventRange) {
  const sequenceOf = (field: string, text: string | undefined) =>
    text === undefined ? undefined : readSequence(context, { ownerId, field, text })
  const [gt, lt] = await Promise.all([sequenceOf('after', after), sequenceOf('before', before)])
  const sequence = { ...(gt !== undefined && { gt }), ...(lt !== undefined && { lt }) }
  return { ownerId, sequence, ...searched(search, (word) => [{ type: word }]) }
}

/** Lists the caller's events, oldest first unless `inverted`. Throws NOT_AUTHENTICATED, VALIDATION_FAILED. */
export async function listEvents(context: Reader, { limit, offset = 0, inverted, ...range }: EventPage) {
  const { actor, database } = context
  assertUserMay(actor, 'event:read')
  const events = await database.read.event.findMany({
    where: await where(context, actor.id, range),
    orderBy: { sequence: inverted ? 'desc' : 'asc' },
    take: limit,
    ...(offset > 0 && { skip: offset }),
  })
  return events.map(toRecord)
}

/** Counts events of a range up to the limit for `offset`. Throws the errors of `listEvents`. */
export async function countEvents(context: Reader, range: EventRange, offset: number): Promise<number> {
  const { actor, database } = context
  assertUserMay(actor, 'event:read')
  return database.read.event.count({ where: await where(context, actor.id, range), take: countLimit(offset) })
}

/** Returns an event of the caller by its UUID, or null. */
export async function findEvent({ actor, database }: Reader, id: string): Promise<EventRecord | null> {
  if (actor.kind !== 'user') return null
  const event = await database.read.event.findFirst({ where: { id, ownerId: actor.id } })
  return event && toRecord(event)
}

const webhookTypes = new Set<EventType>(['order.paid', 'order.refunded', 'webhook.test'])

/** Returns the body of an event's webhook call, or null if no webhook receives the event. */
export async function readEventData(
  context: Use<'findWebhookEvent' | 'envelopeCipher' | 'log'>,
  { id, type }: Pick<EventRecord, 'id' | 'type'>,
): Promise<Record<string, unknown> | null> {
  const event = webhookTypes.has(type) ? await context.findWebhookEvent(fromId(id)!.uuid) : undefined
  if (!event) return null
  const args = isSale(event) ? await showActionArgs(context, event.order_id, event.action_args) : {}
  return JSON.parse(writePayload(event, args))
}

type Follower = Use<'actor' | 'database' | 'eventStreams'>

/**
 * Streams events of the caller after an event, by default new events only. Throws NOT_AUTHENTICATED,
 * AUTHENTICATION_FAILED, VALIDATION_FAILED, THROTTLED.
 */
export async function followEvents(context: Follower, after: string | undefined) {
  const { actor, database, eventStreams } = context
  assertUserMay(actor, 'event:read')
  const ownerId = actor.id
  return eventStreams.open(actor, async (subscribe) => {
    const subscription = await subscribe({ ownerId, matches: () => true }, 'drop')
    const position = after === undefined ? undefined : { ownerId, field: 'lastEventId', text: after }
    const sequence = position ? await readSequence(context, position) : subscription.newest
    // A client would wait indefinitely for an event after a sequence that this feed has not reached.
    if (sequence > subscription.latest) throw validationFailed({ lastEventId: [NO_SUCH_EVENT] })
    async function* records() {
      for await (const event of readFeedAfter(database, subscription, sequence)) yield toRecord(event)
    }
    return toIterator(subscription, records())
  })
}

/** Streams changed commits of an asset until the caller may no longer read it. Throws the errors of `findAsset`. */
export async function followCommits(
  { actor, database, eventStreams }: Follower,
  findAsset: () => Promise<Pick<Asset, 'id' | 'ownerId'>>,
  query: Omit<Prisma.CommitFindFirstArgs, 'where'> = {},
): Promise<AsyncIterableIterator<Commit>> {
  return eventStreams.open(actor, async (subscribe) => {
    const { id: assetId, ownerId } = await findAsset()
    const subscription = await subscribe(
      {
        ownerId,
        assetId,
        matches: (entry) => entry.assetId === assetId,
        canSee: (asset) => asset !== undefined && canSeeAsset(actor, asset),
      },
      'end',
    )
    const key = `commit ${JSON.stringify(query)}`
    const load = ({ event }: FeedEvent) =>
      database.read.commit.findFirst({ ...query, where: { id: event.commitId! } }) as Promise<Commit | null>
    async function* commits() {
      for await (const entry of newEvents(subscription)) {
        const commit = await entry.once(key, () => load(entry))
        if (commit && !subscription.hasEnded) yield commit
      }
    }
    return toIterator(subscription, commits())
  })
}

/** Streams an order when it changes, until `load` returns null. Subscriptions with equal `key` share its result. */
export async function followOrder<Order>(
  { actor, eventStreams }: Follower,
  find: () => Promise<{ id: string; buyerId: string }>,
  { key, load }: { key: string; load: (id: string) => Promise<Order | null> },
): Promise<AsyncIterableIterator<Order>> {
  return eventStreams.open(actor, async (subscribe) => {
    const { id, buyerId } = await find()
    const subscription = await subscribe({ ownerId: buyerId, matches: ({ event }) => event.orderId === id }, 'end')
    async function* orders() {
      for await (const entry of newEvents(subscription)) {
        const order = await entry.once(`order ${key}`, () => load(id))
        if (!order || subscription.hasEnded) return
        yield order
      }
    }
    return toIterator(subscription, orders())
  })
}
