/**
 * The one reader of feeds in this process. However many follow, an event is read once and handed to all of them, and what
 * one of them may see is decided from what was read with it. A notification only has it look; what happened is always read from
 * the table, by position, so that nothing is lost with a notification, told twice, or told out of order.
 */

import type { Database } from '../../db/database-types.ts'
import type { Event } from '../../db/prisma/client.ts'
import { createBatchLoader } from '../../shared/async.ts'
import { authenticationFailed, isUnavailable } from '../../shared/errors.ts'
import type { Log } from '../../shared/log.ts'
import { FEED_PAGE, type FedRow, findAssetFacts, findEnded, findStanding, readFeeds } from './events.sql.ts'
import type { FeedListener, FeedNotifications } from './notification-types.ts'

/** What decides who may see an asset; undefined when it is deleted. */
export type AssetFacts = { id: string; ownerId: string; publicAccess: boolean } | undefined

/** An event on its way to those who follow. */
export interface FedEvent {
  event: Event
  /** The asset that the event's commit is of. */
  assetId: string | null
  asset: AssetFacts
  /** What `load` gives, loaded once for all who ask by the same key. */
  once<T>(key: string, load: () => Promise<T>): Promise<T>
}

/** Somebody who follows a feed, and what their reader is told. */
export interface Follower {
  /** Whose feed it follows. */
  ownerId: string
  sessionId: string | null
  apiKeyId: string | null
  /** The asset it is about, if it is about one; it learns when that is to be seen by others than before. */
  assetId?: string
  feed(told: FedEvent): void
  judge?(asset: AssetFacts): void
  /** Has it look again: what it waits for may have come meanwhile. */
  notify(): void
  end(): void
}

interface Feed {
  /** Sequence up to which it was read; undefined until it is known. */
  position: number | undefined
  /** Whether it may have grown while that was not known. */
  hasGrown: boolean
  followers: Set<Follower>
}

function createFedEvent({ assetId, assetOwnerId, publicAccess, assetIsDeleted, ...event }: FedRow): FedEvent {
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

/** Reads feeds for all who follow them in this process. While nobody follows, it neither listens nor asks. */
export function createEventFanout({ database, notifications, log }: Dependencies) {
  const feeds = new Map<string, Feed>()
  const byCredential = new Map<string, Set<Follower>>()
  /** Feeds that are to be read. */
  const due = new Set<string>()
  let isReading = false
  let isLooking = false
  /** Something may have been missed since the look under way began. */
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

  /** What goes wrong here concerns nobody in particular, and is tried again within two seconds. */
  const report = (error: unknown) => {
    if (!isUnavailable(error)) log.error({ err: error, retryInSeconds: 2 }, 'Failed to read event feeds; retrying')
  }

  function hand(row: FedRow) {
    const feed = feeds.get(row.ownerId)
    if (feed?.position === undefined || row.sequence <= feed.position) return
    feed.position = row.sequence
    const told = createFedEvent(row)
    for (const follower of feed.followers) follower.feed(told)
  }

  /** Whether the assets that are followed may still be seen; what changes without an event is found here. */
  async function checkAssets(followers: Follower[]) {
    const about = followers.filter((follower) => follower.assetId !== undefined)
    if (about.length === 0) return
    const assets = [...new Set(about.map(({ assetId }) => assetId!))]
    const facts = new Map((await database.query(findAssetFacts, { assets })).map((asset) => [asset.id, asset]))
    for (const follower of about) follower.judge?.(facts.get(follower.assetId!))
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
      hand(row)
    }
    for (const [ownerId, count] of counts) if (count === FEED_PAGE) due.add(ownerId)
    // A notification without an event: something was deleted.
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
    // What a look comes upon in between is told after it.
    if (due.size > 0 && !isLooking) void read()
  }

  function end(ids: Iterable<string>) {
    for (const id of ids) for (const follower of byCredential.get(id) ?? []) follower.end()
  }

  /**
   * Looks for all that came without a notification: by time, or while nobody listened. Sessions and keys that have ended come first, for
   * nothing that came after is told to whoever follows with them.
   */
  async function look(): Promise<void> {
    hasGap = true
    if (isLooking) return
    isLooking = true
    try {
      while (hasGap) {
        hasGap = false
        if (byCredential.size > 0)
          end((await database.query(findEnded, { ids: [...byCredential.keys()] })).map(({ id }) => id))
      }
    } catch (error) {
      return report(error)
    } finally {
      isLooking = false
    }
    grow(feeds.keys())
    for (const { followers } of feeds.values()) for (const follower of followers) follower.notify()
  }

  const listener: FeedListener = {
    onEvents: grow,
    onRevoked: end,
    onGap: () => void look(),
  }

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
     * Follows from now on; returns the sequence of the newest event before that, and how to stop.
     * Raises AUTHENTICATION_FAILED when the session or the key has ended, UNAVAILABLE.
     */
    async join(follower: Follower): Promise<{ newest: number; leave(): void }> {
      const first = feeds.size === 0
      const feed = feeds.get(follower.ownerId) ?? { position: undefined, hasGrown: false, followers: new Set() }
      feeds.set(follower.ownerId, feed)
      feed.followers.add(follower)
      for (const id of credentialsOf(follower)) byCredential.set(id, (byCredential.get(id) ?? new Set()).add(follower))
      if (first) stopListening = notifications.listen(listener)
      try {
        // Asked after it has joined: what happens from here on is heard.
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

    /** Ends all who follow. */
    stop() {
      for (const { followers } of feeds.values()) for (const follower of followers) follower.end()
    },
  }
}

/** The one reader of feeds in a process; what `createEventFanout` makes. */
export type EventFanout = ReturnType<typeof createEventFanout>
