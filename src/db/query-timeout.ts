/**
 * Cancels queries without a response. One timer checks a whole pool. The driver’s `query_timeout` uses one timer per
 * query. With it, V8 kept each response until a full garbage collection, which took a quarter of a read’s time.
 */
import type pg from 'pg'
import { removeItem } from '../shared/async.ts'

/**
 * Server-side limits of requests, in milliseconds: statement time, lock wait, and idle time in a transaction. Callers
 * retry after 20 s. The last limit releases the row locks of a frozen process.
 */
export const timeLimits = {
  statement_timeout: 8_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 5_000,
} as const

/** Milliseconds between two checks. A query is cancelled at most this much after its timeout. */
const LOOK_EVERY_MS = 500

/** Undocumented driver state: the query that a connection runs. */
type Running = { _activeQuery: object | null }

interface Connection {
  client: pg.PoolClient
  patience: number
  /** The query at the last check, and its number of checks. */
  seen: WeakRef<object> | undefined
  looks: number
}

interface QueryWatchdogOptions {
  /** In milliseconds. */
  patience: number
  /** Fails the current query and closes the connection. */
  cut(client: pg.PoolClient, reason: Error): void
}

/**
 * Watches the connections of a pool. Time is counted in checks, so a process that was frozen first reads the
 * responses that arrived meanwhile. A cancelled query fails with the driver’s error.
 */
export function watchQueries(pool: pg.Pool, { patience, cut }: QueryWatchdogOptions) {
  const connections: Connection[] = []
  const of = (client: pg.PoolClient) => connections.find((connection) => connection.client === client)
  let timer: NodeJS.Timeout | undefined

  function lookAt(connection: Connection) {
    const { _activeQuery: asked } = connection.client as unknown as Running
    if (!asked || connection.seen?.deref() !== asked) {
      connection.seen = asked ? new WeakRef(asked) : undefined
      connection.looks = 0
      return
    }
    connection.looks += 1
    if (connection.looks * LOOK_EVERY_MS < connection.patience) return
    connection.looks = 0
    cut(connection.client, new Error('Query read timeout'))
  }

  pool.on('connect', (client) => {
    connections.push({ client, patience, seen: undefined, looks: 0 })
    timer ??= setInterval(() => connections.slice().forEach(lookAt), LOOK_EVERY_MS).unref()
  })
  pool.on('release', (_error, client) => {
    const connection = of(client)
    if (connection) connection.patience = patience
  })
  pool.on('remove', (client) => {
    const connection = of(client)
    if (connection) removeItem(connections, connection)
    if (connections.length > 0) return
    clearInterval(timer)
    timer = undefined
  })

  return {
    /** Sets a longer timeout, in milliseconds, for this connection until it is released. */
    extendTimeout(client: pg.PoolClient, longer: number) {
      const connection = of(client)
      if (connection) connection.patience = Math.max(connection.patience, longer)
    },
  }
}
