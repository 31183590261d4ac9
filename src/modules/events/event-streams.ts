/**
 * Streams of event feeds. A process reads each event once and passes it to all subscriptions of its feed. Notifications
 * only start a read. Events are read from the table by position, so no event is lost, repeated or out of order.
 */
import type { Database } from '../../db/database-types.ts'
import type { FeedNotifications } from '../../db/processes.ts'
import { createBatchLoader } from '../../shared/async.ts'
import type { ConcurrencyCounter } from '../../shared/concurrency-counter.ts'
import { authenticationFailed, isUnavailable, throttled } from '../../shared/errors.ts'
import { networkOf } from '../../shared/limiters.ts'
import type { Limits } from '../../shared/limits.ts'
import type { Log } from '../../shared/log.ts'
import type { Actor } from '../../shared/policy.ts'
import type { Meter } from '../../telemetry/telemetry-types.ts'
import { FEED_PAGE, type FeedRow, findAssetFacts, findInvalidCredentials, openFeeds, readFeeds } from './events.sql.ts'

type AssetFacts = { id: string; ownerId: string; publicAccess: boolean } | undefined

export type FeedEvent = ReturnType<typeof createFeedEvent>

function createFeedEvent({ assetId, assetOwnerId, publicAccess, assetIsDeleted, ...event }: FeedRow) {
  const loaded = new Map<string, Promise<unknown>>()
  const hasAsset = assetId !== null && !assetIsDeleted
  const asset: AssetFacts = hasAsset ? { id: assetId, ownerId: assetOwnerId!, publicAccess: publicAccess! } : undefined
  return {
    event,
    assetId,
    asset,
    /** Calls `load` once per key for all subscriptions, and returns its result. */
    once<T>(key: string, load: () => Promise<T>) {
      if (!loaded.has(key)) loaded.set(key, load())
      return loaded.get(key) as Promise<T>
    },
  }
}

interface Filter {
  ownerId: string
  /** Asset that the stream follows. If set, `canSee` is also called after a possible change of its visibility. */
  assetId?: string
  matches(entry: FeedEvent): boolean
  /** Returns false if the caller may no longer read the asset. The stream then ends. */
  canSee?(asset: AssetFacts): boolean
}

/**
 * Maximum number of buffered events of a slow reader. With `drop`, later events are read from the database. With `end`,
 * the stream ends. All events of a page arrive together, so `end` allows several pages.
 */
const MAX_BUFFERED = { drop: FEED_PAGE, end: 5 * FEED_PAGE }
type Overflow = keyof typeof MAX_BUFFERED

/** Delay before a caller with too many open streams may retry, in seconds. */
const RETRY_SECONDS = 30

/** Creates the subscription of a stream to an event feed. Calls `onEnd` once when the subscription ends. */
function createSubscription(actor: Actor, filter: Filter, onOverflow: Overflow, onEnd: () => void) {
  let isNotified = false
  let wake = () => {}
  const subscription = {
    ...filter,
    sessionId: actor.kind === 'user' ? actor.tokenId : null,
    apiKeyId: actor.kind !== 'system' && typeof actor.service === 'object' ? actor.service.id : null,
    /** Sequence of the newest event when the subscription began. */
    newest: 0,
    /** Sequence of the newest event of the feed that this process has read. */
    latest: 0,
    hasEnded: false,
    buffer: [] as FeedEvent[],
    push(entry: FeedEvent) {
      subscription.latest = entry.event.sequence
      if (!filter.matches(entry)) return
      if (filter.canSee?.(entry.asset) === false) return subscription.end()
      if (subscription.buffer.length < MAX_BUFFERED[onOverflow]) subscription.buffer.push(entry)
      else if (onOverflow === 'end') return subscription.end()
      subscription.notify()
    },
    notify() {
      isNotified = true
      wake()
    },
    /** Waits for an event or the end of the subscription. */
    async wait() {
      if (!isNotified) await new Promise<void>((resolve) => (wake = resolve))
      isNotified = false
    },
    end() {
      if (subscription.hasEnded) return
      subscription.hasEnded = true
      onEnd()
      subscription.notify()
    },
  }
  return subscription
}

export type Subscription = ReturnType<typeof createSubscription>

const credentialsOf = ({ sessionId, apiKeyId }: Subscription) => [sessionId, apiKeyId].filter((id) => id !== null)

interface Feed {
  /** Sequence of the last event that was read from the feed. Undefined until it is known. */
  position: number | undefined
  /** True if the feed may have new events since `position` was queried. */
  hasGrown: boolean
  subscriptions: Set<Subscription>
}

interface StreamParts {
  database: Pick<Database, 'query'>
  notifications: FeedNotifications
  log: Log
  meter: Meter
  counter: ConcurrencyCounter
  limits: Limits
}

/** Reads feeds for all subscriptions of this process. Without subscriptions, it neither listens nor queries. */
function createEventFanout({ database, notifications, log }: Pick<StreamParts, 'database' | 'notifications' | 'log'>) {
  const feeds = new Map<string, Feed>()
  const byCredential = new Map<string, Set<Subscription>>()
  /** IDs of the owners of feeds that must be read. */
  const due = new Set<string>()
  let isReading = false
  let isChecking = false
  /** True if another check of the feeds is needed after the current check. */
  let hasGap = false
  let stopListening = () => {}

  const openFeed = createBatchLoader(async (joining: Subscription[]) => {
    const rows = await database.query(openFeeds, {
      feeds: joining.map(({ ownerId }) => ownerId),
      sessions: joining.map(({ sessionId }) => sessionId),
      apiKeys: joining.map(({ apiKeyId }) => apiKeyId),
    })
    const found = new Map(rows.map((row) => [row.position, row]))
    return joining.map((_, index) => found.get(index + 1))
  })

  /** The next check retries within two seconds. */
  const report = (error: unknown) => {
    if (!isUnavailable(error)) log.error({ err: error, retryInSeconds: 2 }, 'Failed to read event feeds; retrying')
  }

  /** Ends subscriptions whose asset is no longer visible. The visibility can change without an event. */
  async function checkAssets(ownerIds: readonly string[]) {
    const followers = ownerIds
      .flatMap((id) => [...(feeds.get(id)?.subscriptions ?? [])])
      .filter(({ assetId }) => assetId !== undefined)
    if (followers.length === 0) return
    const assets = [...new Set(followers.map(({ assetId }) => assetId!))]
    const facts = new Map((await database.query(findAssetFacts, { assets })).map((asset) => [asset.id, asset]))
    for (const each of followers) if (each.canSee?.(facts.get(each.assetId!)) === false) each.end()
  }

  async function readDue() {
    const ownerIds = [...due].filter((ownerId) => feeds.get(ownerId)?.position !== undefined)
    due.clear()
    if (ownerIds.length === 0) return
    const positions = ownerIds.map((ownerId) => feeds.get(ownerId)!.position!)
    const counts = new Map<string, number>()
    for (const row of await database.query(readFeeds, { feeds: ownerIds, positions })) {
      counts.set(row.ownerId, (counts.get(row.ownerId) ?? 0) + 1)
      const feed = feeds.get(row.ownerId)
      if (feed?.position === undefined || row.sequence <= feed.position) continue
      feed.position = row.sequence
      const entry = createFeedEvent(row)
      for (const subscription of feed.subscriptions) subscription.push(entry)
    }
    for (const [ownerId, count] of counts) if (count === FEED_PAGE) due.add(ownerId)
    // A notification for a feed without new events means that an asset was deleted.
    await checkAssets(ownerIds.filter((ownerId) => !counts.has(ownerId)))
  }

  async function read(): Promise<void> {
    if (isReading) return
    isReading = true
    try {
      while (due.size > 0) await readDue()
    } catch (error) {
      report(error)
    } finally {
      isReading = false
    }
  }

  function grow(ownerIds: Iterable<string>) {
    for (const ownerId of ownerIds) {
      const feed = feeds.get(ownerId)
      if (!feed) continue
      if (feed.position === undefined) feed.hasGrown = true
      else due.add(ownerId)
    }
    // If a check is running, it reads the due feeds when it ends.
    if (due.size > 0 && !isChecking) void read()
  }

  function end(credentials: Iterable<string>) {
    for (const id of credentials) for (const subscription of byCredential.get(id) ?? []) subscription.end()
  }

  /** Finds missed changes. First ends streams of expired sessions and keys, so that they receive no new event. */
  async function check(): Promise<void> {
    hasGap = true
    if (isChecking) return
    isChecking = true
    try {
      while (hasGap) {
        hasGap = false
        if (byCredential.size === 0) continue
        end((await database.query(findInvalidCredentials, { ids: [...byCredential.keys()] })).map(({ id }) => id))
      }
    } catch (error) {
      return report(error)
    } finally {
      isChecking = false
    }
    grow(feeds.keys())
    for (const feed of feeds.values()) for (const subscription of feed.subscriptions) subscription.notify()
  }

  const listener = { onEvents: grow, onRevoked: end, onGap: () => void check() }

  function leave(subscription: Subscription) {
    const feed = feeds.get(subscription.ownerId)
    if (!feed?.subscriptions.delete(subscription)) return
    if (feed.subscriptions.size === 0) feeds.delete(subscription.ownerId)
    for (const id of credentialsOf(subscription)) {
      const others = byCredential.get(id)
      if (others?.delete(subscription) && others.size === 0) byCredential.delete(id)
    }
    if (feeds.size === 0) stopListening()
  }

  return {
    leave,

    /** Adds a subscription. Throws AUTHENTICATION_FAILED if its session or key has ended, UNAVAILABLE. */
    async join(subscription: Subscription): Promise<void> {
      const isFirst = feeds.size === 0
      const { ownerId } = subscription
      const feed = feeds.get(ownerId) ?? { position: undefined, hasGrown: false, subscriptions: new Set() }
      feeds.set(ownerId, feed)
      feed.subscriptions.add(subscription)
      for (const id of credentialsOf(subscription)) {
        byCredential.set(id, (byCredential.get(id) ?? new Set()).add(subscription))
      }
      if (isFirst) stopListening = notifications.listen(listener)
      // The position is read after the subscription was added, so that it misses no event.
      const opening = await openFeed(subscription)
      if (!opening?.isAllowed) throw authenticationFailed()
      feed.position ??= opening.sequence
      if (feed.hasGrown) {
        feed.hasGrown = false
        grow([ownerId])
      }
      subscription.newest = opening.sequence
      subscription.latest = Math.max(subscription.latest, opening.sequence)
    },

    stop() {
      for (const feed of feeds.values()) for (const subscription of feed.subscriptions) subscription.end()
    },
  }
}

/** Yields events after a position, then new events. Events that the buffer dropped are read from the database. */
export async function* readFeedAfter({ read }: Pick<Database, 'read'>, subscription: Subscription, after: number) {
  const { ownerId, buffer } = subscription
  let sequence = after
  while (!subscription.hasEnded) {
    const [head] = buffer
    if (head && head.event.sequence <= sequence + 1) {
      buffer.shift()
      if (head.event.sequence <= sequence) continue
      sequence += 1
      yield head.event
    } else if (subscription.latest > sequence) {
      const where = { ownerId, sequence: { gt: sequence } }
      const reading = read.event.findMany({ where, orderBy: { sequence: 'asc' }, take: FEED_PAGE })
      const page = await reading.catch((error: unknown) => {
        if (!isUnavailable(error)) throw error
        // The next notification starts another read.
        return []
      })
      for (const event of page) {
        if (subscription.hasEnded) return
        sequence = event.sequence
        yield event
      }
      if (page.length === 0) await subscription.wait()
    } else await subscription.wait()
  }
}

/** Yields the events that match the filter since the subscription began. */
export async function* newEvents(subscription: Subscription): AsyncGenerator<FeedEvent> {
  while (!subscription.hasEnded) {
    const entry = subscription.buffer.shift()
    if (!entry) await subscription.wait()
    else if (entry.event.sequence > subscription.newest) yield entry
  }
}

/** Returns an iterator whose `return` ends the subscription even while `next` waits, unlike that of a generator. */
export function toIterator<T>(subscription: Subscription, source: AsyncGenerator<T>): AsyncIterableIterator<T> {
  return {
    async next() {
      const result = await source.next().catch((error: unknown) => {
        subscription.end()
        throw error
      })
      if (result.done) subscription.end()
      return result
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

export type EventStreams = ReturnType<typeof createEventStreams>

export function createEventStreams({ meter, counter, limits, ...parts }: StreamParts) {
  const fanout = createEventFanout(parts)
  let openStreams = 0
  let hasStopped = false
  meter.gauge('annal_streams', () => openStreams)

  /** Counts a stream against the limits of account and address. Returns a function that releases the stream. */
  async function acquire(actor: Actor): Promise<() => void> {
    if (actor.kind === 'system') return () => {}
    const maxima: Record<string, number> = {
      ...(actor.kind === 'user' && { [`streams:user:${actor.id}`]: limits['streams-per-user'] }),
      [`streams:address:${networkOf(actor.address)}`]: limits['streams-per-address'],
    }
    const acquired: string[] = []
    const releaseAll = () => Promise.all(acquired.splice(0).map((subject) => counter.release(subject, 1)))
    try {
      for (const [subject, max] of Object.entries(maxima)) {
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
    /** Counts a stream, and opens it with `open`. Throws THROTTLED, AUTHENTICATION_FAILED, UNAVAILABLE. */
    async open<T>(
      actor: Actor,
      open: (subscribe: (filter: Filter, onOverflow: Overflow) => Promise<Subscription>) => Promise<T>,
    ): Promise<T> {
      const release = await acquire(actor)
      let subscription: Subscription | undefined
      try {
        return await open(async (filter, onOverflow) => {
          const created = createSubscription(actor, filter, onOverflow, () => {
            fanout.leave(created)
            release()
          })
          subscription = created
          await fanout.join(created)
          if (hasStopped) created.end()
          return created
        })
      } catch (error) {
        subscription?.end()
        release()
        throw error
      }
    },
    isDraining: () => hasStopped,
    /** Ends all streams, including streams that are opened later. */
    stop() {
      hasStopped = true
      fanout.stop()
    },
  }
}
