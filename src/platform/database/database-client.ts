/**
 * The one way in which a connection to PostgreSQL is opened. To the driver's own it adds what matters when a server fails: with several
 * servers it goes to the one that takes writes and leaves it when that is another one, and it tells nobody that something is kept
 * which may be lost.
 */
import pg from 'pg'
import { readDatabaseUrl, type Server } from './database-url.ts'
import { createPrimaryWatch, type Held, type PrimaryWatch } from './primary-watch.ts'

declare module 'pg' {
  interface Client {
    /** What a session is opened with, which the driver's types leave out. */
    getStartupConf(): Record<string, string>
  }
}

/** As `pg.ClientConfig`; the URL may name several servers. */
export interface DatabaseClientConfig extends pg.ClientConfig {
  connectionString: string
  connectionTimeoutMillis: number
}

/** What the types leave out. */
interface Wire {
  stream: { connecting: boolean; writableEnded: boolean; destroy(): void; resetAndDestroy(): void }
  on(event: 'errorMessage', listen: (message: { code?: string }) => void): void
  emit(event: 'error', error: Error): void
}

/** PostgreSQL's code for a write that a server refuses because it takes none. */
const READ_ONLY = '25006'
/** SQLSTATE of a transaction of which nobody knows whether it will last. */
const OUTCOME_UNKNOWN = '08007'
/** The function of PostgreSQL's that waits for synchronous standbys; what it says is in the server's language. */
const WAITS_FOR_STANDBYS = 'SyncRepWaitForLSN'

/** One for each URL that names several servers: all connections of a process judge by the same. */
const watches = new Map<string, PrimaryWatch>()

function watchFor(url: string, servers: readonly Server[]): PrimaryWatch {
  const found = watches.get(url) ?? createPrimaryWatch(servers)
  watches.set(url, found)
  return found
}

/** A connection to the server that takes writes. Pools are given this class as their `Client`. */
export class DatabaseClient extends pg.Client implements Held {
  server: Server | undefined
  readonly #watch: PrimaryWatch | undefined
  readonly #patience: number

  constructor(config: DatabaseClientConfig) {
    const { servers, isSought } = readDatabaseUrl(config.connectionString)
    super({ ...config, connectionString: servers[0]!.url })
    this.#watch = isSought ? watchFor(config.connectionString, servers) : undefined
    this.#patience = config.connectionTimeoutMillis
    // Whoever uses it hears of the end by the statement that fails. A pool listens to idle ones only: one that is lost between two
    // statements would end the process.
    this.on('error', () => {})
    this.on('notice', (notice) => this.#doubt(notice))
    this.#wire.on('errorMessage', ({ code }) => {
      if (code === READ_ONLY)
        setImmediate(() => this.cut(new Error('Connection terminated: the server takes no writes.')))
    })
  }

  get #wire(): Wire {
    return this.connection as unknown as Wire
  }

  /**
   * The commit stands on this server and perhaps nowhere else: somebody cancelled the wait for the synchronous standbys, and the server
   * goes on to say that all is well.
   */
  #doubt({ routine }: { routine?: string }): void {
    if (routine !== WAITS_FOR_STANDBYS) return
    const error = new Error('The wait for the synchronous standbys was cancelled: the transaction may be lost.')
    this.cut(Object.assign(error, { code: OUTCOME_UNKNOWN }))
  }

  /**
   * Days are those of UTC, whatever zone the server has: where it has another, a day that is added goes by the clocks of that place, and
   * Prisma takes its moments for those of UTC.
   */
  override getStartupConf(): Record<string, string> {
    return { ...super.getStartupConf(), TimeZone: 'UTC' }
  }

  cut(reason: Error): void {
    this.#reset()
    // What says that all is well may have been read already: the statement must fail first.
    this.#wire.emit('error', reason)
  }

  /** Has the system forget what was not delivered yet: a statement must not arrive once the way is there again. */
  #reset(): void {
    const { stream } = this.#wire
    try {
      // One that is on its way, or about to close, can only be dropped.
      if (stream.connecting || stream.writableEnded) stream.destroy()
      else stream.resetAndDestroy()
    } catch {
      // Only TCP without TLS can.
      stream.destroy()
    }
  }

  override end(): Promise<void>
  override end(callback: (error: Error) => void): void
  override end(callback?: (error: Error) => void): unknown {
    // Nobody waits any more for what it carries out.
    if ((this as unknown as { _activeQuery: object | null })._activeQuery) this.#reset()
    return callback ? super.end(callback) : super.end()
  }

  async #connectTo(watch: PrimaryWatch): Promise<void> {
    watch.enter(this)
    this.once('end', () => watch.leave(this))
    try {
      this.server = await watch.find(this.#patience)
      if ((this as unknown as { _ending: boolean })._ending) throw new Error('Connection terminated')
      this.host = this.server.host
      this.port = this.server.port
      await super.connect()
    } catch (error) {
      watch.leave(this)
      throw error
    }
  }

  override connect(): Promise<this>
  override connect(callback: (error: Error | null, client?: this) => void): void
  override connect(callback?: (error: Error | null, client?: this) => void): unknown {
    if (!this.#watch) return callback ? super.connect(callback as () => void) : super.connect()
    const connecting = this.#connectTo(this.#watch)
    if (!callback) return connecting.then(() => this)
    return void connecting.then(
      () => callback(null, this),
      (error: Error) => callback(error),
    )
  }
}

/** A pool of connections that are opened in this way. */
export const createPool = (config: pg.PoolConfig & DatabaseClientConfig): pg.Pool =>
  new pg.Pool({ ...config, Client: DatabaseClient as unknown as new () => pg.ClientBase })
