/** PostgreSQL connections that recover correctly when a server fails over. */
import pg from 'pg'

declare module 'pg' {
  interface Client {
    /** Start-up parameters of a session. The driver's types omit this method. */
    getStartupConf(): Record<string, string>
  }
}

/** Parts of the driver that its types omit. */
interface Wire {
  stream: { connecting: boolean; writableEnded: boolean; destroy(): void; resetAndDestroy(): void }
  on(event: 'errorMessage', listen: (message: { code?: string }) => void): void
  emit(event: 'error', error: Error): void
}

/** SQLSTATE that a read-only server returns for a write. */
const READ_ONLY = '25006'
/** SQLSTATE of a transaction with an unknown outcome. */
const OUTCOME_UNKNOWN = '08007'
/** Server function that waits for synchronous standbys. Its name, unlike the notice text, does not depend on the server's language. */
const WAITS_FOR_STANDBYS = 'SyncRepWaitForLSN'

/** A connection to PostgreSQL. Pools use this class as their `Client`. */
export class DatabaseClient extends pg.Client {
  constructor(config: pg.ClientConfig) {
    super(config)
    // The failing statement reports the error. Without this listener, a connection lost between two statements would end the process.
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

  /**
   * Fails a commit when the wait for synchronous standbys was cancelled. The server reports success in this case, although a
   * failover may lose the transaction.
   */
  #failUnconfirmedCommit({ routine }: { routine?: string }): void {
    if (routine !== WAITS_FOR_STANDBYS) return
    const error = new Error('The wait for the synchronous standbys was cancelled: the transaction may be lost.')
    this.cut(Object.assign(error, { code: OUTCOME_UNKNOWN }))
  }

  /** Sets the session's time zone to UTC. Prisma reads timestamps as UTC, and day arithmetic must not follow local clock changes. */
  override getStartupConf(): Record<string, string> {
    return { ...super.getStartupConf(), TimeZone: 'UTC' }
  }

  /** Closes the connection immediately and fails the running statement with `reason`. */
  cut(reason: Error): void {
    this.#reset()
    // The driver may already have read the success message, so the statement must fail first.
    this.#wire.emit('error', reason)
  }

  /** Resets the connection and discards unsent data. Otherwise a statement could reach the server after the network recovers. */
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
    // The running statement no longer has a caller.
    if ((this as unknown as { _activeQuery: object | null })._activeQuery) this.#reset()
    return callback ? super.end(callback) : super.end()
  }
}

/** Creates a pool of `DatabaseClient` connections. */
export const createPool = (config: pg.PoolConfig & { connectionString: string }): pg.Pool =>
  new pg.Pool({ ...config, Client: DatabaseClient as unknown as new () => pg.ClientBase })
