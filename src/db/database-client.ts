/** PostgreSQL connections that recover correctly when a server fails over, and the timeouts of their queries. */
import pg from 'pg'
import { databaseUnavailable } from '../shared/errors.ts'
import { errorCode } from '../shared/operator-errors.ts'

declare module 'pg' {
  interface Client {
    /** Start-up parameters of a session. The driver's types omit this method. */
    getStartupConf(): Record<string, string>
  }
}

/** Members of the driver's connection that its types omit. */
interface Wire {
  stream: { connecting: boolean; writableEnded: boolean; destroy(): void; resetAndDestroy(): void }
  on(event: 'errorMessage', listen: (message: { code?: string }) => void): void
  emit(event: 'error', error: Error): void
}

/** SQLSTATE that a read-only server returns for a write. */
const READ_ONLY = '25006'
/** SQLSTATE of a transaction with an unknown outcome. */
const OUTCOME_UNKNOWN = '08007'
/** Server function that waits for synchronous standbys. Unlike the notice text, its name is never translated. */
const WAITS_FOR_STANDBYS = 'SyncRepWaitForLSN'

export class DatabaseClient extends pg.Client {
  constructor(config: pg.ClientConfig) {
    super(config)
    // Without a listener, a connection lost between two statements would end the process. The next statement fails.
    this.on('error', () => {})
    this.on('notice', (notice) => this.#failUnconfirmedCommit(notice))
    // After a failover, the endpoint may still resolve to the old primary. A new connection reaches the new primary.
    this.#wire.on('errorMessage', ({ code }) => {
      if (code === READ_ONLY) setImmediate(() => this.cut(new Error('Connection terminated: the server is read-only.')))
    })
  }

  get #wire(): Wire {
    return this.connection as unknown as Wire
  }

  /** The query that the connection runs. Undocumented driver state. */
  get activeQuery(): object | null {
    return (this as unknown as { _activeQuery: object | null })._activeQuery
  }

  /**
   * Fails a commit when the wait for synchronous standbys was cancelled. The server reports success in this case,
   * although a failover may lose the transaction.
   */
  #failUnconfirmedCommit({ routine }: { routine?: string }): void {
    if (routine !== WAITS_FOR_STANDBYS) return
    const error = new Error('The wait for the synchronous standbys was cancelled: the transaction may be lost.')
    this.cut(Object.assign(error, { code: OUTCOME_UNKNOWN }))
  }

  /** Sets the session's time zone to UTC. Prisma reads timestamps as UTC, and a day must always have 24 hours. */
  override getStartupConf(): Record<string, string> {
    return { ...super.getStartupConf(), TimeZone: 'UTC' }
  }

  /** Closes the connection immediately and fails the running statement with `reason`. */
  cut(reason: Error): void {
    this.#reset()
    // The driver may already have read the success message, so the statement must fail first.
    this.#wire.emit('error', reason)
  }

  /** Discards unsent data, which could otherwise reach the server after a network outage. */
  #reset(): void {
    const { stream } = this.#wire
    try {
      if (stream.connecting || stream.writableEnded) stream.destroy()
      else stream.resetAndDestroy()
    } catch {
      // TLS connections and local sockets cannot be reset.
      stream.destroy()
    }
  }

  override end(): Promise<void>
  override end(callback: (error: Error) => void): void
  override end(callback?: (error: Error) => void): unknown {
    // The caller of a running statement has stopped waiting for its result.
    if (this.activeQuery) this.#reset()
    return callback ? super.end(callback) : super.end()
  }
}

export const createPool = (config: pg.PoolConfig & { connectionString: string }): pg.Pool =>
  new pg.Pool({ ...config, Client: DatabaseClient as unknown as new () => pg.ClientBase })

/**
 * Server-side limits of requests, in milliseconds: statement time, lock wait, and idle time in a transaction. Callers
 * retry after 20 s. The last limit releases the row locks of a frozen process.
 */
export const timeLimits = {
  statement_timeout: 8_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 5_000,
} as const

/** Interval of the timeout check, in milliseconds. A query is cancelled at most this long after its timeout. */
const CHECK_EVERY_MS = 500

interface WatchedConnection {
  /** Query timeout, in milliseconds. */
  patience: number
  /** Query that ran at the last check, and the number of checks that have seen the query. */
  seen: WeakRef<object> | undefined
  checks: number
}

/**
 * Applies the query timeout `patience`, in milliseconds, to the connections of a pool. Time is counted in checks, so a
 * process that was frozen first reads the responses that arrived meanwhile.
 */
export function watchQueries(pool: pg.Pool, patience: number) {
  const connections = new Map<pg.PoolClient, WatchedConnection>()

  function check(connection: WatchedConnection, client: DatabaseClient) {
    const query = client.activeQuery
    if (!query || connection.seen?.deref() !== query) {
      connection.seen = query ? new WeakRef(query) : undefined
      connection.checks = 0
      return
    }
    connection.checks += 1
    if (connection.checks * CHECK_EVERY_MS < connection.patience) return
    connection.checks = 0
    client.cut(new Error('Query read timeout'))
  }

  const timer = setInterval(() => {
    if (pool.ended) clearInterval(timer)
    for (const [client, connection] of [...connections]) check(connection, client as unknown as DatabaseClient)
  }, CHECK_EVERY_MS).unref()
  pool.on('connect', (client) => connections.set(client, { patience, seen: undefined, checks: 0 }))
  pool.on('release', (_error, client) => Object.assign(connections.get(client) ?? {}, { patience }))
  pool.on('remove', (client) => connections.delete(client))

  return {
    /** Sets a longer timeout, in milliseconds, for this connection until it is released. */
    extendTimeout(client: pg.PoolClient, longer: number) {
      const connection = connections.get(client)
      if (connection) connection.patience = Math.max(connection.patience, longer)
    },
  }
}

/**
 * Errors that mean the database is down: SQLSTATE classes, then driver messages. Class 28 occurs during password
 * rotation. 25P03 is the idle-in-transaction timeout and 25006 a read-only server.
 */
const down = /^(08|28|53|57|3D000|25P03|25006)/
const connectionLost =
  /^(ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|EHOST|ENET|ETIMEDOUT)|connect ENOENT|Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout/

/** Returns UNAVAILABLE for the error of an unreachable database, and other errors unchanged. */
export function asOutage(error: unknown): unknown {
  const code = errorCode(error) ?? ''
  const message = error instanceof Error ? error.message : ''
  const isDown = down.test(code) || connectionLost.test(code) || connectionLost.test(message)
  return isDown ? databaseUnavailable(error) : error
}
