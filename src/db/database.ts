/** The one way to PostgreSQL: a pool of `pg` connections, shared by named statements, fast reads and Prisma. */
import { PrismaPg } from '@prisma/adapter-pg'
import { DomainError, unavailable } from '../shared/errors.ts'
import type { Log } from '../shared/log.ts'
import { createSemaphore } from '../shared/semaphore.ts'
import { noopTracer, type PoolLoad, type SpanOptions, type Tracer } from '../telemetry/telemetry-types.ts'
import { createPool, type DatabaseClient } from './database-client.ts'
import type { Database } from './database-types.ts'
import { type WakeWatch, watchWakes } from './event-loop-stall-detector.ts'
import { PrismaClient } from './prisma/client.ts'
import { timeLimits, watchAnswers } from './query-timeout.ts'
import { createReads } from './read-compiler/reads.ts'
import { type Query, type Statement, statement, type Together, valuesOf } from './sql.ts'
import { type JoinedWrite, joinWrite, type Row } from './write-batching/write-coalescer.ts'

/** A database with connections of its own. */
export interface ConnectedDatabase extends Database {
  readonly prisma: PrismaClient
  /** Reads that Prisma had to answer since the start, as `Model.method` with how many. */
  readonly fallbacks: ReadonlyMap<string, number>
  /** How busy its connections are. */
  load(): PoolLoad
  /**
   * From now on nothing is carried out right after a standstill of this process, because it has things in hand that are old then. While it starts
   * it has none, and may take as long as it takes.
   */
  watchStandstills(): void
  /** How often this process stood still since, for longer than anybody waits. */
  standstills(): number
  /** Whether it answers right now. */
  isReachable(): Promise<boolean>
  close(): Promise<void>
}

/** Milliseconds. */
const CONNECT_TIMEOUT_MS = 3_000
/** The server keeps to its own limits (`timeLimits`); this one is for a server, or a way to it, that says nothing any more: half a second later
 * at most (`watchAnswers`). */
const ANSWER_TIMEOUT_MS = 8_500
/** No caller waits longer for an answer. What this process had in hand when it was frozen for longer is not carried out any more. */
const LONGEST_STANDSTILL_MS = 10_000
/** Until an idle connection is asked whether anybody is there. */
const KEEP_ALIVE_MS = 10_000
/** For whoever only asks whether it is there. */
const REACH_TIMEOUT_MS = 2_000

/** The part of the connections that lists never take, how many lists may wait for each connection, and for how long. */
const KEPT_FROM_LISTS = 0.3
const MOST_WAITING = 100
const LIST_PATIENCE_MS = 1_500

/** Maximum size of the texts and JSON that a cut page returns, as they are in a response. In bytes. */
const PAGE_BYTES = 2_000_000

const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK_DETECTED = '40P01'
const QUERY_CANCELED = '57014'
/**
 * Classes: connection exception, sign-in refused (a password is being exchanged), insufficient resources, operator intervention; no
 * such database; a session that idled in a transaction; a server that takes no writes any more; and the driver's own words.
 */
const down = /^(08|28|53|57|3D000|25P03|25006)/
const gone =
  /^(ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|EHOST|ENET|ETIMEDOUT)|connect ENOENT|Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout/

const isSilence = (error: unknown): error is Error => error instanceof Error && /Query read timeout/.test(error.message)

/** A statement is told by its name, never by its text or what it is asked with. */
const sqlSpan: SpanOptions = { kind: 'client', facts: { 'db.system.name': 'postgresql' } }

/** Asks nothing: whether anybody answers. */
const reach = statement('reachable', { patience: REACH_TIMEOUT_MS }, 'select')

/** As the driver wants it, without a name. */
const asQuery = (wanted: Statement<never, unknown>, given?: unknown, trace?: () => string | null) => ({
  text: wanted.text,
  values: valuesOf(wanted, given, trace),
  ...(wanted.patience !== undefined && { query_timeout: wanted.patience }),
})

const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** An expected trouble of the database as UNAVAILABLE; anything else as it is. */
function translate(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = codeOf(error)
  if (code === LOCK_NOT_AVAILABLE || code === DEADLOCK_DETECTED) {
    return new DomainError('CONFLICT', 'The same thing is being changed right now. Try again.', {
      retryAfter: 1,
      cause: error,
    })
  }
  if (code === QUERY_CANCELED || down.test(code) || gone.test(code) || gone.test(error.message))
    return unavailable('The database', error)
  return error
}

/** Which database, and how many connections to it. */
export interface DatabaseOptions {
  url: string
  /** How many connections. */
  pool: number
  /**
   * Whether `url` leads through PgBouncer in transaction mode. Then PgBouncer's configuration sets the time limits, and statements
   * have no names: PgBouncer before 1.21 does not support prepared statements.
   */
  isPooled?: boolean
  log: Log
  /** Follows statements by their names; nobody does when left out. */
  tracer?: Tracer
  /** Milliseconds that this process may stand still until nothing that it had in hand is carried out any more; 10,000 when missing. */
  longestStandstill?: number
  /** Milliseconds that an answer is waited for; 8,500 when missing. */
  answerPatience?: number
}

/**
 * A pool of connections. Statements end after 8 seconds and locks are waited for 5; trouble of the database is raised as
 * UNAVAILABLE, a lock that did not come and a deadlock as CONFLICT with `retryAfter`. Once standstills are watched, nothing is
 * carried out while the process has just woken from one.
 */
export function createDatabase({
  url,
  pool: size,
  isPooled = false,
  log,
  tracer = noopTracer,
  longestStandstill = LONGEST_STANDSTILL_MS,
  answerPatience = ANSWER_TIMEOUT_MS,
}: DatabaseOptions): ConnectedDatabase {
  const pool = createPool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: 0,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    ...(isPooled ? {} : timeLimits),
    application_name: 'annal',
  })
  const answers = watchAnswers(pool, {
    patience: answerPatience,
    cut: (client, reason) => (client as unknown as DatabaseClient).cut(reason),
  })
  // Without a listener a connection that dies while idle would end the process.
  pool.on('error', ({ message }) => {
    // The driver's error carries the whole client. While closing, a lost connection is what is wanted.
    if (!pool.ending) log.warn({ reason: message }, 'Idle database connection lost')
  })
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' })
  const lists = createSemaphore({
    places: Math.max(1, size - Math.max(1, Math.ceil(size * KEPT_FROM_LISTS))),
    queue: size * MOST_WAITING,
    maxWait: LIST_PATIENCE_MS,
    name: 'Lists',
  })
  const fallbacks = new Map<string, number>()
  const onFallback = (model: string, method: string) => {
    const read = `${model}.${method}`
    fallbacks.set(read, (fallbacks.get(read) ?? 0) + 1)
    log.debug({ read }, 'Read executed by Prisma')
  }
  const asked = (wanted: Statement<never, unknown>, given?: unknown) => ({
    ...(!isPooled && { name: wanted.name }),
    ...asQuery(wanted, given, tracer.origin),
  })
  const options = { pool, prisma, translate, lists, onFallback, tracer, isPooled }
  let wakes: WakeWatch | undefined
  const assertAwake = () => {
    if (wakes?.isWaking()) throw unavailable('The service', new Error('This process stood still and has just woken'))
  }

  async function query(wanted: Statement<never, unknown>, given?: unknown): Promise<unknown[]> {
    assertAwake()
    const ask = () => tracer.span(wanted.name, sqlSpan, () => pool.query<Row>(asked(wanted, given)))
    try {
      if (wanted.together) return await askTogether(wanted, wanted.together, given)
      return (await (wanted.isList ? lists(ask) : ask())).rows
    } catch (error) {
      throw translate(error)
    }
  }

  const joined = new Map<Together, JoinedWrite>()
  function joinOf(together: Together): JoinedWrite {
    const join = joined.get(together) ?? joinWrite(together, askOne)
    joined.set(together, join)
    return join
  }
  async function askOne(wanted: Statement<never, unknown>, given: unknown): Promise<Row[]> {
    assertAwake()
    return (await pool.query<Row>(asked(wanted, given))).rows
  }

  /** With those of others that come meanwhile, or alone. Whoever is followed is followed from here on, into the statement for many, too. */
  const askTogether = (wanted: Statement<never, unknown>, together: Together, given: unknown) =>
    tracer.span(wanted.name, sqlSpan, () =>
      joinOf(together)({ given: given as Row, origin: tracer.origin() }, () => askOne(wanted, given)),
    )

  return {
    prisma,
    fallbacks,
    load: () => ({
      size,
      open: pool.totalCount,
      inUse: pool.totalCount - pool.idleCount,
      waiting: pool.waitingCount,
      lists: lists.load(),
    }),
    watchStandstills() {
      wakes ??= watchWakes(longestStandstill)
    },
    standstills: () => wakes?.standstills() ?? 0,
    read: createReads(options),
    readCut: createReads({ ...options, pageBytes: PAGE_BYTES }),
    query: query as Query,
    async transaction(work) {
      assertAwake()
      const client = await pool.connect().catch((error: unknown) => {
        throw translate(error)
      })
      let broken: Error | undefined
      try {
        await client.query('begin')
        const inside = async (wanted: Statement<never, unknown>, given?: unknown): Promise<unknown[]> => {
          assertAwake()
          if (wanted.patience !== undefined) answers.bearWith(client, wanted.patience)
          const ask = () => client.query(asked(wanted, given))
          return (await tracer.span(wanted.name, sqlSpan, ask)).rows
        }
        const result = await work(inside as Query)
        assertAwake()
        await client.query('commit')
        return result
      } catch (error) {
        // Nobody would hear it: the connection is given up, and the server undoes what was begun.
        if (isSilence(error)) broken = error
        else {
          await client.query('rollback').catch((failure: Error) => {
            broken = failure
          })
        }
        throw translate(error)
      } finally {
        client.release(broken)
      }
    },
    isReachable: () =>
      pool.query(asked(reach)).then(
        () => true,
        () => false,
      ),
    async close() {
      wakes?.stop()
      await prisma.$disconnect()
      if (!pool.ended) await pool.end()
    },
  }
}
