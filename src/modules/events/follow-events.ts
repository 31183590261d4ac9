/** Streams of new events, for server-sent events and subscriptions. They end with the session of the caller and at shutdown. */
import type { Use } from '../../context.ts'
import type { Asset, Commit, Prisma } from '../../db/prisma/client.ts'
import { validationFailed } from '../../shared/errors.ts'
import { assertUserMay, canSeeAsset } from '../../shared/policy.ts'
import type { FeedEvent } from './event-fanout.ts'
import { newEvents, readFeedAfter, toIterator } from './event-streams.ts'
import { type EventRecord, readSequence, toRecord } from './events.ts'

type Follower = Use<'actor' | 'database' | 'eventStreams'>

/**
 * Streams events of the caller after a position, or new events only if `after` is undefined.
 * Throws NOT_AUTHENTICATED, AUTHENTICATION_FAILED, VALIDATION_FAILED, THROTTLED.
 */
export async function followEvents(
  context: Follower,
  after: string | undefined,
): Promise<AsyncIterableIterator<EventRecord>> {
  const { actor, database, eventStreams } = context
  assertUserMay(actor, 'event:read')
  const ownerId = actor.id
  return eventStreams.open(actor, async (subscribe) => {
    const subscription = await subscribe({ ownerId, matches: () => true }, 'drop')
    const sequence =
      after === undefined
        ? subscription.newest
        : await readSequence(context, { ownerId, field: 'lastEventId', text: after })
    // A client would wait indefinitely for an event after a sequence that this feed has not reached.
    if (sequence > subscription.latest)
      throw validationFailed({ lastEventId: ['There is no such event in your feed.'] })
    async function* records() {
      for await (const event of readFeedAfter(database, subscription, { ownerId, after: sequence }))
        yield toRecord(event)
    }
    return toIterator(subscription, records())
  })
}

/**
 * Streams the commits of an asset when they change. Ends when the caller may no longer see the asset, and when the reader is too slow.
 * Throws the errors of `findAsset`, AUTHENTICATION_FAILED, THROTTLED.
 */
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

/**
 * Streams an order when it changes. Subscriptions of one order with the same `key` share the result of `load`. Ends when `load` returns null, and
 * when the reader is too slow. Throws the errors of `find`, AUTHENTICATION_FAILED, THROTTLED.
 */
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
