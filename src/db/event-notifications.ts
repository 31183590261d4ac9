/**
 * Notifies other processes through LISTEN and NOTIFY that a feed has grown or a session has ended. Notifications only
 * reduce latency: listeners also poll every two seconds and after a reconnect. Triggers on the tables send the
 * notification that a session ended, so no statement can omit it.
 */
import type pg from 'pg'
import type { Log } from '../shared/log.ts'
import { DatabaseClient } from './database-client.ts'
import type { Database } from './database-types.ts'
import { nothing, statement, text } from './sql.ts'

/** Receives notifications of all processes. Notifications contain only IDs. The changes are read from the tables. */
interface FeedListener {
  /** There may be new events in the feeds of these users. */
  onEvents(ownerIds: readonly string[]): void
  /** These access tokens and API keys, by UUID, have been revoked or deleted. */
  onRevoked(ids: readonly string[]): void
  /** Notifications may have been missed. Called after a reconnect, and every two seconds. */
  onGap(): void
}

/** Notifier of events for other processes. */
export type FeedNotifications = Omit<ReturnType<typeof createEventNotifications>, 'close'>

const GATHER_MS = 20
const POLL_EVERY_MS = 2_000
const RECONNECT_AFTER_MS = 500
const CONNECT_TIMEOUT_MS = 3_000
const KEEP_ALIVE_MS = 10_000
/** Maximum number of owners per notification. An owner takes 37 bytes, and a payload has at most 7,999 bytes. */
const OWNERS_PER_NOTIFICATION = 200

/** Notifies all processes. `owners` is a comma-separated list of UUIDs. */
const notify = statement(
  'event_notify',
  { parameters: { owners: text }, columns: { pg_notify: nothing } },
  `select pg_notify('annal_events', $owners)`,
)

/** Creates the notifier, which listens while it has a listener. Failed notifications are ignored, as listeners poll. */
export function createEventNotifications(url: string, database: Pick<Database, 'query'>, log: Log) {
  const listeners = new Set<FeedListener>()
  const due = new Set<string>()
  /** Running notifications that `close` waits for. */
  const pending = new Set<Promise<unknown>>()
  let client: pg.Client | undefined
  let gathering: NodeJS.Timeout | undefined
  let reconnecting: NodeJS.Timeout | undefined
  let polling: NodeJS.Timeout | undefined

  function track(work: Promise<unknown>) {
    const settled: Promise<unknown> = work.catch(() => {}).finally(() => pending.delete(settled))
    pending.add(settled)
  }

  const reportGap = () => {
    for (const listener of listeners) listener.onGap()
  }

  async function send() {
    gathering = undefined
    const owners = [...due]
    due.clear()
    for (let at = 0; at < owners.length; at += OWNERS_PER_NOTIFICATION) {
      await database
        .query(notify, { owners: owners.slice(at, at + OWNERS_PER_NOTIFICATION).join(',') })
        .catch((error: unknown) =>
          log.debug({ err: error }, 'Failed to send a notification; listeners find the events at the next poll'),
        )
    }
  }

  function connect() {
    reconnecting = undefined
    const opened = new DatabaseClient({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      application_name: 'annal-events',
    })
    client = opened
    const lose = () => {
      if (client !== opened) return
      client = undefined
      log.debug({}, 'Notification connection lost; reconnecting')
      track(opened.end())
      reconnecting = setTimeout(connect, RECONNECT_AFTER_MS)
    }
    opened.on('notification', ({ channel, payload = '' }) => {
      const ids = payload.split(',')
      for (const listener of listeners)
        channel === 'annal_credential_ended' ? listener.onRevoked(ids) : listener.onEvents(ids)
    })
    opened.on('error', lose)
    opened.on('end', lose)
    const listen = async () => {
      await opened.connect()
      await opened.query('listen annal_events; listen annal_credential_ended')
      reportGap()
    }
    // If the client ends while it connects, the driver never settles `connect`.
    const ended = new Promise<void>((resolve) => opened.once('end', resolve))
    track(Promise.race([listen().catch(lose), ended]))
  }

  function disconnect() {
    clearInterval(polling)
    clearTimeout(reconnecting)
    reconnecting = undefined
    const leaving = client
    client = undefined
    if (leaving) track(leaving.end())
  }

  return {
    /** Notifies all processes of new events in a feed. Call this after the statement that wrote the events. */
    notify(ownerId: string) {
      due.add(ownerId)
      gathering ??= setTimeout(() => track(send()), GATHER_MS)
    },
    /** Returns a function that stops listening. */
    listen(listener: FeedListener) {
      listeners.add(listener)
      if (listeners.size === 1) {
        polling = setInterval(reportGap, POLL_EVERY_MS)
        connect()
      }
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) disconnect()
      }
    },
    /** Sends the pending notifications and closes the connection. */
    async close() {
      clearTimeout(gathering)
      listeners.clear()
      disconnect()
      track(send())
      await Promise.all(pending)
    },
  }
}
