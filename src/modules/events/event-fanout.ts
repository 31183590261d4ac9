/**
 * Reads feeds for all streams of this process. Each event is read once and passed to all followers of its feed. A notification only starts a read.
 * Events are always read from the table by position, so no event is lost, repeated or out of order.
 */
import type { Database } from '../../db/database-types.ts'
import type { Event } from '../../db/prisma/client.ts'
import { createBatchLoader } from '../../shared/async.ts'
import { authenticationFailed, isUnavailable } from '../../shared/errors.ts'
import type { Log } from '../../shared/log.ts'
import { FEED_PAGE, type FeedRow, findAssetFacts, findEnded, findStanding, readFeeds } from './events.sql.ts'
import type { FeedListener, FeedNotifications } from './notification-types.ts'

/** The facts that decide who may see an asset. Undefined if it is deleted. */
export type AssetFacts = { id: string; ownerId: string; publicAccess: boolean } | undefined

/** An event for followers. */
export interface FeedEvent {
  event: Event
  /** Asset of the event's commit. */
  assetId: string | null
  asset: AssetFacts
  /** Returns the result of `load`, which is called once per key for all followers. */
  once<T>(key: string, load: () => Promise<T>): Promise<T>
}

/** The follower of a feed. */
export interface Follower {
  /** Owner of the feed. */
  ownerId: string
  sessionId: string | null
  apiKeyId: string | null
  /** Set if the stream follows an asset. Then `checkAsset` is called when its visibility may have changed. */
  assetId?: string
  push(entry: FeedEvent): void
  checkAsset?(asset: AssetFacts): void
  /** Wakes the reader, which checks for new events. */
  notify(): void
  end(): void
}

interface Feed {
  /** Sequence of the last event that was read. Undefined until it is known. */
  position: number | undefined
  /** True if there may be new events since `position` was requested. */
  hasGrown: boolean
  followers: Set<Follower>
}

function createFeedEvent({ assetId, assetOwnerId, publicAccess, assetIsDeleted, ...event }: FeedRow): FeedEvent {
  const loaded = new Map<string, Promise<unknown>>()
  return {
    event,
    assetId,
    asset:
      assetId === null || assetIsDeleted
        ? undefined
        : { id: assetId, ownerId: assetOwnerId!, publicAccess: publicAccess! },
    once<T>(key: string, load: () => Promise<T>) {
      if (!loaded.has(key)) loaded.set(key, load())
      return loaded.get(key) as Promise<T>
    },
  }
}

const credentialsOf = ({ sessionId, apiKeyId }: Follower) => [sessionId, apiKeyId].filter((id) => id !== null)

interface Dependencies {
  database: Pick<Database, 'query'>
  notifications: FeedNotifications
  log: Log
}

/** Creates the reader. Without followers, it neither listens nor queries. */
export function createEventFanout({ database, notifications, log }: Dependencies) {
  const feeds = new Map<string, Feed>()
  const byCredential = new Map<string, Set<Follower>>()
  /** Owners of feeds to read. */
  const due = new Set<string>()
  let isReading = false
  let isChecking = false
  /** True if another check is needed after the current one. */
  let hasGap = false
  let stopListening = () => {}

  const findOpening = createBatchLoader(async (asked: Follower[]) => {
    const rows = await database.query(findStanding, {
      feeds: asked.map((one) => one.ownerId),
      sessions: asked.map((one) => one.sessionId),
      apiKeys: asked.map((one) => one.apiKeyId),
    })
    const found = new Map(rows.map((row) => [row.position, row]))
    return asked.map((_, index) => found.get(index + 1))
  })

  /** The next check is within two seconds. */
  const report = (error: unknown) => {
    if (!isUnavailable(error)) log.error({ err: error, retryInSeconds: 2 }, 'Failed to read event feeds; retrying')
  }

  function pass(row: FeedRow) {
    const feed = feeds.get(row.ownerId)
    if (feed?.position === undefined || row.sequence <= feed.position) return
    feed.position = row.sequence
    const entry = createFeedEvent(row)
    for (const follower of feed.followers) follower.push(entry)
  }

  /** Checks the visibility of followed assets, which can change without an event. */
  async function checkAssets(followers: Follower[]) {
    const about = followers.filter((follower) => follower.assetId !== undefined)
    if (about.length === 0) return
    const assets = [...new Set(about.map(({ assetId }) => assetId!))]
    const facts = new Map((await database.query(findAssetFacts, { assets })).map((asset) => [asset.id, asset]))
    for (const follower of about) follower.checkAsset?.(facts.get(follower.assetId!))
  }

  const followersOf = (ownerIds: readonly string[]) => ownerIds.flatMap((id) => [...(feeds.get(id)?.followers ?? [])])

  async function readDue() {
    const asked = [...due].flatMap((ownerId) => {
      const position = feeds.get(ownerId)?.position
      return position === undefined ? [] : [{ ownerId, position }]
    })
    due.clear()
    if (asked.length === 0) return
    const ownerIds = asked.map(({ ownerId }) => ownerId)
    const rows = await database.query(readFeeds, { feeds: ownerIds, positions: asked.map(({ position }) => position) })
    const counts = new Map<string, number>()
    for (const row of rows) {
      counts.set(row.ownerId, (counts.get(row.ownerId) ?? 0) + 1)
      pass(row)
    }
    for (const [ownerId, count] of counts) if (count === FEED_PAGE) due.add(ownerId)
    // A notification without an event means a deletion.
    await checkAssets(followersOf(ownerIds.filter((ownerId) => !counts.has(ownerId))))
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
    // A running check reads the feeds when it ends.
    if (due.size > 0 && !isChecking) void read()
  }

  function end(ids: Iterable<string>) {
    for (const id of ids) for (const follower of byCredential.get(id) ?? []) follower.end()
  }

  /** Finds changes that were not notified. Ends streams of ended sessions and keys first, so that they receive no newer event. */
  async function check(): Promise<void> {
    hasGap = true
    if (isChecking) return
    isChecking = true
    try {
      while (hasGap) {
        hasGap = false
        if (byCredential.size > 0)
          end((await database.query(findEnded, { ids: [...byCredential.keys()] })).map(({ id }) => id))
      }
    } catch (error) {
      return report(error)
    } finally {
      isChecking = false
    }
    grow(feeds.keys())
    for (const { followers } of feeds.values()) for (const follower of followers) follower.notify()
  }

  const listener: FeedListener = { onEvents: grow, onRevoked: end, onGap: () => void check() }

  function leave(follower: Follower) {
    const feed = feeds.get(follower.ownerId)
    if (!feed?.followers.delete(follower)) return
    if (feed.followers.size === 0) feeds.delete(follower.ownerId)
    for (const id of credentialsOf(follower)) {
      const others = byCredential.get(id)
      if (others?.delete(follower) && others.size === 0) byCredential.delete(id)
    }
    if (feeds.size === 0) stopListening()
  }

  return {
    /**
     * Adds a follower. Returns the sequence of the newest event before it joined. Throws AUTHENTICATION_FAILED if its session or key has ended,
     * UNAVAILABLE.
     */
    async join(follower: Follower): Promise<{ newest: number; leave(): void }> {
      const first = feeds.size === 0
      const feed = feeds.get(follower.ownerId) ?? { position: undefined, hasGrown: false, followers: new Set() }
      feeds.set(follower.ownerId, feed)
      feed.followers.add(follower)
      for (const id of credentialsOf(follower)) byCredential.set(id, (byCredential.get(id) ?? new Set()).add(follower))
      if (first) stopListening = notifications.listen(listener)
      try {
        // Read after the follower joined, so that it misses no event.
        const standing = await findOpening(follower)
        if (!standing?.stands) throw authenticationFailed()
        feed.position ??= standing.sequence
        if (feed.hasGrown) {
          feed.hasGrown = false
          grow([follower.ownerId])
        }
        return { newest: standing.sequence, leave: () => leave(follower) }
      } catch (error) {
        leave(follower)
        throw error
      }
    },

    /** Ends all streams. */
    stop() {
      for (const { followers } of feeds.values()) for (const follower of followers) follower.end()
    },
  }
}

export type EventFanout = ReturnType<typeof createEventFanout>
