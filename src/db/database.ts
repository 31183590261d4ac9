/** The database client: one pool of `pg` connections for named statements, compiled reads and Prisma. */
import { PrismaPg } from '@prisma/adapter-pg'
import { DomainError, isDatabaseOutage, unavailable } from '../shared/errors.ts'
import { createSemaphore } from '../shared/limiters.ts'
import type { Log } from '../shared/log.ts'
import { errorCode } from '../shared/operator-errors.ts'
import { noopTracer, type PoolLoad, type SpanOptions, type Tracer } from '../telemetry/telemetry-types.ts'
import { asOutage, createPool, timeLimits, watchQueries } from './database-client.ts'
import { PrismaClient } from './prisma/client.ts'
import { createReads } from './read-compiler/reads.ts'
import { type Query, type Statement, statement, type Together, valuesOf } from './sql.ts'
import { type CoalescedWrite, coalesceWrites, type Row } from './write-batching/write-coalescer.ts'

export type ConnectedDatabase = ReturnType<typeof createDatabase>

const CONNECT_TIMEOUT_MS = 3_000
/** Idle time before a TCP keep-alive probe, in milliseconds. */
const KEEP_ALIVE_MS = 10_000
/** Limits of list reads: share of connections without lists, waiting reads per connection, and wait in milliseconds. */
const SHARE_WITHOUT_LISTS = 0.3
const MAX_WAITING_LISTS = 100
const LIST_WAIT_MS = 1_500

/** Maximum size of the texts and JSON in a size-limited page, in bytes of the response. */
const PAGE_BYTES = 2_000_000

/** SQLSTATEs of a lock timeout and of a deadlock. */
const LOCKED = /^(55P03|40P01)$/
/** Minimum time without a failure after which an outage has ended, in milliseconds. */
const QUIET_MS = 1_000
/** Errors of one slow statement. The server itself responds. */
const SLOW = /statement timeout|Query read timeout/

/** Options of a statement's span. A span contains the statement's name, never its text or parameters. */
const sqlSpan: SpanOptions = { kind: 'client', facts: { 'db.system.name': 'postgresql' } }

const reach = statement('reachable', { patience: 2_000 }, 'select')

/** Converts an expected database error to UNAVAILABLE or CONFLICT. Returns other errors unchanged. */
function translateError(error: unknown): unknown {
  if (LOCKED.test(errorCode(error) ?? '')) {
    const message = 'Another request is changing the same resource. Try again.'
    return new DomainError('CONFLICT', message, { retryAfter: 1, cause: error })
  }
  return asOutage(error)
}

interface DatabaseOptions {
  url: string
  pool: number
  /**
   * True if `url` connects through PgBouncer in transaction mode. PgBouncer's configuration then sets the time
   * limits. Statements are unnamed, because PgBouncer before 1.21 does not support prepared statements.
   */
  isPooled?: boolean
  log: Log
  tracer?: Tracer
  /** Maximum stall of the process, in milliseconds. After a longer stall, pending work is outdated and is rejected. */
  maxStallMs?: number
  /** Client-side timeout for an unresponsive server or network, in milliseconds. It exceeds the server's `timeLimits`. */
  responseTimeoutMs?: number
  /** False disables the fast paths: Prisma executes every read, and writes are not batched. Default: true. */
  fastPaths?: boolean
}

/**
 * Creates a database client. Statements time out after 8 seconds and lock waits after 5 seconds. Throws UNAVAILABLE
 * when the database fails, and CONFLICT with `retryAfter` for a lock timeout or deadlock.
 */
export function createDatabase({
  url,
  pool: size,
  isPooled = false,
  log,
  tracer = noopTracer,
  maxStallMs = 10_000,
  responseTimeoutMs = 8_500,
  fastPaths = true,
}: DatabaseOptions) {
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
  const watch = watchQueries(pool, responseTimeoutMs)
  let outage: { since: number; failedAt: number } | undefined
  const recordOutage = (reason: string) => {
    // Lost connections are expected while the pool closes.
    if (pool.ending || SLOW.test(reason)) return
    const failedAt = performance.now()
    if (!outage) log.warn({ reason }, 'Database unavailable; retrying')
    outage = { since: outage?.since ?? failedAt, failedAt }
  }
  const recordSuccess = () => {
    // During an outage, some connections may still work.
    if (!outage || performance.now() - outage.failedAt < QUIET_MS) return
    log.info({ downSeconds: Math.round((outage.failedAt - outage.since) / 100) / 10 }, 'Database recovered')
    outage = undefined
  }
  const translate = (error: unknown) => {
    const translated = translateError(error)
    if (isDatabaseOutage(translated)) recordOutage((error as Error).message)
    return translated
  }
  // Without a listener, the error of a broken idle connection would end the process.
  pool.on('error', ({ message }) => recordOutage(message))
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' })
  const lists = createSemaphore({
    slots: Math.max(1, size - Math.max(1, Math.ceil(size * SHARE_WITHOUT_LISTS))),
    queue: size * MAX_WAITING_LISTS,
    maxWait: LIST_WAIT_MS,
    name: 'Lists',
  })
  const fallbacks = new Map<string, number>()
  const onFallback = (model: string, method: string) => {
    const read = `${model}.${method}`
    fallbacks.set(read, (fallbacks.get(read) ?? 0) + 1)
    log.debug({ read }, 'Read executed by Prisma')
  }
  const configOf = (wanted: Statement<never, unknown>, given?: unknown) => ({
    ...(!isPooled && { name: wanted.name }),
    text: wanted.text,
    values: valuesOf(wanted, given, tracer.origin),
    ...(wanted.patience !== undefined && { query_timeout: wanted.patience }),
  })
  const readOptions = { pool, prisma, translate, lists, onFallback, tracer, isPooled, isCompiling: fastPaths }
  let stallDetector: ReturnType<typeof detectStalls> | undefined
  const assertAwake = () => {
    if (stallDetector?.hasJustStalled())
      throw unavailable('The service', new Error('The process was frozen and has just resumed'))
  }
  const runOne = async (wanted: Statement<never, unknown>, given: unknown): Promise<Row[]> => {
    assertAwake()
    const { rows } = await pool.query<Row>(configOf(wanted, given))
    recordSuccess()
    return rows
  }
  const batches = new Map<Together, CoalescedWrite>()
  const runBatched = (wanted: Statement<never, unknown>, together: Together, given: unknown) => {
    const batch = batches.get(together) ?? coalesceWrites(together, runOne)
    batches.set(together, batch)
    return batch({ given: given as Row, origin: tracer.origin() }, () => runOne(wanted, given))
  }

  async function query(wanted: Statement<never, unknown>, given?: unknown): Promise<unknown[]> {
    assertAwake()
    const { name, together, isList } = wanted
    const run = () => tracer.span(name, sqlSpan, () => runOne(wanted, given))
    try {
      if (together && fastPaths) return await tracer.span(name, sqlSpan, () => runBatched(wanted, together, given))
      return await (isList ? lists(run) : run())
    } catch (error) {
      throw translate(error)
    }
  }

  return {
    prisma,
    /** Number of reads that Prisma executed since the start, by `Model.method`. */
    fallbacks: fallbacks as ReadonlyMap<string, number>,
    load: (): PoolLoad => ({
      size,
      open: pool.totalCount,
      inUse: pool.totalCount - pool.idleCount,
      waiting: pool.waitingCount,
      lists: lists.load(),
    }),
    /**
     * Starts the stall detection. After a stall, work is rejected for a short time, because it is outdated. Call this
     * after start-up, because start-up can block the process as long as a stall.
     */
    startStallDetection() {
      stallDetector ??= detectStalls(maxStallMs)
    },
    /** Number of times that the process was frozen for longer than the limit. */
    stalls: () => stallDetector?.stalls() ?? 0,
    read: createReads(readOptions),
    readCut: createReads({ ...readOptions, pageBytes: PAGE_BYTES }),
    query: query as Query,
    async transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
      assertAwake()
      const client = await pool.connect().catch((error: unknown) => {
        throw translate(error)
      })
      let broken: Error | undefined
      try {
        await client.query('begin')
        const inside = async (wanted: Statement<never, unknown>, given?: unknown): Promise<unknown[]> => {
          assertAwake()
          if (wanted.patience !== undefined) watch.extendTimeout(client, wanted.patience)
          const run = () => client.query(configOf(wanted, given))
          return (await tracer.span(wanted.name, sqlSpan, run)).rows
        }
        const result = await work(inside as Query)
        assertAwake()
        await client.query('commit')
        return result
      } catch (error) {
        // An unresponsive server would not respond to a rollback either. It rolls back when the connection is closed.
        const isUnresponsive = error instanceof Error && /Query read timeout/.test(error.message)
        broken = isUnresponsive
          ? error
          : await client.query('rollback').then(
              () => undefined,
              (failure: Error) => failure,
            )
        throw translate(error)
      } finally {
        client.release(broken)
      }
    },
    isReachable: () => pool.query(configOf(reach)).then(Boolean, () => false),
    async close() {
      stallDetector?.stop()
      await prisma.$disconnect()
      if (!pool.ended) await pool.end()
    },
  }
}

const CHECK_EVERY_MS = 500
const REJECT_AFTER_STALL_MS = 1_000

/**
 * Detects that the process was frozen for more than `maxStall` milliseconds: stopped, swapped out, or suspended with
 * its machine. Its pending work is then outdated: callers have retried elsewhere, and jobs were reassigned.
 */
function detectStalls(maxStall: number) {
  let seenAt = performance.now()
  let stalledAt = Number.NEGATIVE_INFINITY
  let stalls = 0
  // Node reads pending input before timers fire, so each caller checks the time itself.
  const look = () => {
    const now = performance.now()
    if (now - seenAt > maxStall) {
      stalledAt = now
      stalls += 1
    }
    seenAt = now
    return now
  }
  const beat = setInterval(look, CHECK_EVERY_MS).unref()
  return {
    hasJustStalled: () => look() - stalledAt < REJECT_AFTER_STALL_MS,
    stalls: () => stalls,
    stop: () => clearInterval(beat),
  }
}
