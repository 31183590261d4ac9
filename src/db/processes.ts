/**
 * The running processes of an installation: their heartbeats by the database's clock, and notifications among them
 * through LISTEN and NOTIFY. Notifications only reduce latency: listeners also poll every two seconds and after a
 * reconnect. Triggers on the tables send the notification that a session ended, so no statement can omit it.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { pid } from 'node:process'
import type pg from 'pg'
import type { Log } from '../shared/log.ts'
import { roles as allRoles, type Role } from '../shared/process.ts'
import { DatabaseClient } from './database-client.ts'
import type { Database } from './database-types.ts'
import { arrayOf, float, nothing, statement, text, textOf, uuid } from './sql.ts'

export const BEAT_EVERY_MS = 5_000
/** Seconds without a heartbeat after which a process counts as dead. Equals the duration of a lease. */
export const SILENT_SECONDS = 20
/** Age at which the row of a dead process is deleted, in seconds. */
const MAX_AGE_SECONDS = 3_600

const beat = statement(
  'process_beat',
  { parameters: { id: uuid, name: text, roles: arrayOf(text), maxAge: float } },
  `with deleted_processes as (
     delete from processes where id in (
       select id from processes where seen_at < now() - make_interval(secs => $maxAge) and id <> $id
       limit 100 for update skip locked
     )
   )
   insert into processes (id, name, roles) values ($id, $name, $roles)
   on conflict (id) do update set seen_at = now(), roles = excluded.roles`,
)

const leave = statement('process_leave', { parameters: { id: uuid } }, `delete from processes where id = $id`)

const findProcesses = statement(
  'process_list',
  { parameters: { silent: float }, columns: { name: text, roles: arrayOf(textOf<Role>()), seconds: float } },
  `select name, roles, extract(epoch from now() - started_at)::float8 as seconds
   from processes where seen_at > now() - make_interval(secs => $silent) order by started_at, id`,
)

export const readProcesses = (database: Pick<Database, 'query'>) =>
  database.query(findProcesses, { silent: SILENT_SECONDS })

export const rolesWithout = (processes: readonly { roles: readonly Role[] }[]): Role[] =>
  allRoles.filter((role) => !processes.some(({ roles }) => roles.includes(role)))

/** Creates the heartbeat of this process. Its functions throw UNAVAILABLE. */
export function createPresence(database: Pick<Database, 'query'>, roles: ReadonlySet<Role>) {
  const process = { id: randomUUID(), name: `${hostname()}:${pid}`, roles: [...roles], maxAge: MAX_AGE_SECONDS }
  return {
    beat: () => database.query(beat, process),
    missingRoles: async () => rolesWithout(await readProcesses(database)),
    leave: () => database.query(leave, { id: process.id }),
  }
}

/** Receives notifications of all processes. Notifications contain only IDs. The changes are read from the tables. */
interface FeedListener {
  /** There may be new events in the feeds of these users. */
  onEvents(ownerIds: readonly string[]): void
  /** These access tokens and API keys, by UUID, have been revoked or deleted. */
  onRevoked(ids: readonly string[]): void
  /** Notifications may have been missed. Called after a reconnect, and every two seconds. */
  onGap(): void
}

export type FeedNotifications = Omit<ReturnType<typeof createEventNotifications>, 'close'>

const GATHER_MS = 20
const POLL_EVERY_MS = 2_000
const RECONNECT_AFTER_MS = 500
const CONNECT_TIMEOUT_MS = 3_000
/** Maximum number of owners per notification. An owner takes 37 bytes, and a payload has at most 7,999 bytes. */
const OWNERS_PER_NOTIFICATION = 200

/** Notifies all processes. `owners`: comma-separated UUIDs. */
const notify = statement(
  'event_notify',
  { parameters: { owners: text }, columns: { pg_notify: nothing } },
  `select pg_notify('annal_events', $owners)`,
)

/** Creates the notifier, which listens while it has a listener. Failed notifications are ignored, as listeners poll. */
export function createEventNotifications(url: string, database: Pick<Database, 'query'>, log: Log) {
  const listeners = new Set<FeedListener>()
  const due = new Set<string>()
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
      const part = { owners: owners.slice(at, at + OWNERS_PER_NOTIFICATION).join(',') }
      const report = (error: unknown) =>
        log.debug({ err: error }, 'Failed to send a notification; listeners find the events at the next poll')
      await database.query(notify, part).catch(report)
    }
  }

  function connect() {
    const opened = new DatabaseClient({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
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
