/**
 * Notices between processes that a feed has grown, by LISTEN and NOTIFY. They only save waiting: whoever watches looks
 * every two seconds besides, and when the connection is back after a loss.
 */
import pg from 'pg'
import { type Database, type FeedNotices, type Log, statement } from '../domain/ports.ts'

export interface OpenNotices extends FeedNotices {
  /** Sends what is due and lets go of the connection. */
  close(): Promise<void>
}

/** Milliseconds. */
const GATHER = 20
const POLL_EVERY = 2_000
const RECONNECT_AFTER = 500
const CONNECT_TIMEOUT = 3_000
/** Of 37 bytes each: PostgreSQL takes payloads below 8000. */
const OWNERS_PER_NOTICE = 200

const notify = statement<never>('event_notify', `select pg_notify('annal_events', $1::text)`)

export function createEventNotices({
  url,
  database,
  log,
}: {
  url: string
  database: Pick<Database, 'query'>
  log: Log
}): OpenNotices {
  const watchers = new Map<string, Set<() => void>>()
  const due = new Set<string>()
  /** What `close` waits for. */
  const pending = new Set<Promise<unknown>>()
  let client: pg.Client | undefined
  let gathering: NodeJS.Timeout | undefined
  let reconnecting: NodeJS.Timeout | undefined
  let polling: NodeJS.Timeout | undefined

  function track(work: Promise<unknown>) {
    const settled: Promise<unknown> = work.catch(() => {}).finally(() => pending.delete(settled))
    pending.add(settled)
  }

  const ring = (ownerId: string) => {
    for (const onNotice of watchers.get(ownerId) ?? []) onNotice()
  }
  const ringAll = () => {
    for (const ownerId of watchers.keys()) ring(ownerId)
  }

  async function send() {
    gathering = undefined
    const owners = [...due]
    due.clear()
    for (let at = 0; at < owners.length; at += OWNERS_PER_NOTICE) {
      await database
        .query(notify, [owners.slice(at, at + OWNERS_PER_NOTICE).join(',')])
        .catch((error: unknown) => log.debug({ err: error }, 'A notice was not sent; the next look makes up for it'))
    }
  }

  function connect() {
    reconnecting = undefined
    const opened = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      keepAlive: true,
      application_name: 'annal-events',
    })
    client = opened
    const lose = () => {
      if (client !== opened) return
      client = undefined
      log.debug({}, 'The connection for notices was lost')
      track(opened.end())
      reconnecting = setTimeout(connect, RECONNECT_AFTER)
    }
    opened.on('notification', ({ payload = '' }) => {
      for (const ownerId of payload.split(',')) ring(ownerId)
    })
    opened.on('error', lose)
    opened.on('end', lose)
    const listen = async () => {
      await opened.connect()
      await opened.query('listen annal_events')
      ringAll()
    }
    // One that is ended while it connects leaves its `connect` without an answer.
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
    announce(ownerId) {
      due.add(ownerId)
      gathering ??= setTimeout(() => track(send()), GATHER)
    },
    watch(ownerId, onNotice) {
      if (watchers.size === 0) {
        polling = setInterval(ringAll, POLL_EVERY)
        connect()
      }
      const ours = watchers.get(ownerId) ?? new Set()
      watchers.set(ownerId, ours.add(onNotice))
      return () => {
        if (!ours.delete(onNotice) || ours.size > 0) return
        watchers.delete(ownerId)
        if (watchers.size === 0) disconnect()
      }
    },
    async close() {
      clearTimeout(gathering)
      watchers.clear()
      disconnect()
      track(send())
      await Promise.all(pending)
    },
  }
}
