/**
 * The right to do what one process alone may do, such as signing for a relay account. A lease ends by the database's clock
 * when its holder stops renewing it, and at once when its session is gone. Every write under it goes through
 * `transaction`, which asserts in the same transaction that nobody has taken it over: a process that was frozen writes
 * nothing when it wakes.
 */
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { DatabaseClient } from '../db/database-client.ts'
import {
  type Asked,
  arrayOf,
  bigint,
  int,
  type Query,
  type Statement,
  statement,
  text,
  uuid,
  valuesOf,
} from '../db/sql.ts'
import type { Log } from '../shared/log.ts'

/** Leases of this process, on a connection of its own. */
export interface Lease {
  /** Whether we hold it now, after trying to take it. Raises when the database is down. */
  acquire(name: string): Promise<boolean>
  isHeld(name: string): boolean
  /** One transaction under the lease. Raises LeaseLostError when somebody has it by now, and when the connection is gone. */
  transaction<T>(name: string, work: (query: Query) => Promise<T>): Promise<T>
  /** The same for a single statement. */
  write<Parameters, Row>(
    name: string,
    statement: Statement<Parameters, Row>,
    parameters: Asked<NoInfer<Parameters>>,
  ): Promise<Row[]>
  /** Before what leaves no trace in the database. Raises LeaseLostError when somebody has it by now, and when the connection is gone. */
  assertHeld(name: string): Promise<void>
  /** Gives all of them up. */
  close(): Promise<void>
}

/** Another process has the lease, or nobody knows: what was begun under it has written nothing. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
}

/** Milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000
const STATEMENT_TIMEOUT_MS = 8_000
const ANSWER_TIMEOUT_MS = 10_000
const DEFAULT_DURATION_MS = 20_000

/**
 * The session's name is set here, because one in DATABASE_URL would go before one that it is opened with.
 * A holder that is frozen or without power in the middle of a transaction holds its lease locked until the server notices:
 * by its own clock, and by a connection that answers nothing.
 */
const sessionSettings = (holder: string, duration: number) => `
  set application_name = '${sessionOf(holder)}';
  set idle_in_transaction_session_timeout = ${duration / 2}; set lock_timeout = 2000;
  set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 2; set tcp_user_timeout = 20000`

const lockNotAvailable = '55P03'
const isLocked = (error: unknown) => (error as { code?: string }).code === lockNotAvailable

/** Where the leases lie, and how long they last. */
export interface LeaseOptions {
  /** Of a server's own session, not through a pooler that shares sessions between statements. */
  databaseUrl: string
  log: Log
  /** Milliseconds that a lease outlives its last renewal; 20,000 when missing. */
  duration?: number
}

/**
 * Takes leases that end by the database clock, and renews them every quarter of their duration (decision 42).
 * After any error it closes the connection and loses its leases.
 */
export function createLease({ databaseUrl, log, duration = DEFAULT_DURATION_MS }: LeaseOptions): Lease {
  const holder = randomUUID()
  /** Epochs by name. */
  const held = new Map<string, string>()
  let client: pg.Client | undefined
  let renewing: NodeJS.Timeout | undefined
  let isClosed = false
  /** The end of the work that was queued last: transactions on one connection must not mix. */
  let queue: Promise<unknown> = Promise.resolve()

  const drop = (lost: pg.Client, error?: Error) => {
    if (client !== lost) return
    client = undefined
    if (held.size > 0) log.warn({ err: error }, 'Connection of the leases lost; acquiring them again')
    held.clear()
    lost.end().catch(() => {})
  }

  const connect = async () => {
    const created = new DatabaseClient({
      connectionString: databaseUrl,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    })
    created.on('error', (error) => drop(created, error))
    created.on('end', () => drop(created))
    await created.connect()
    await created.query(sessionSettings(holder, duration)).catch((error: unknown) => {
      // It is nobody's yet: each further try would leave another session behind.
      created.end().catch(() => {})
      throw error
    })
    client = created
    return created
  }

  const asking =
    (client: pg.Client): Query =>
    async (wanted: Statement<never, unknown>, given?: unknown) =>
      (await client.query({ name: wanted.name, text: wanted.text, values: valuesOf(wanted, given) })).rows

  /** One after the other. After any error the state of the session is unknown: it is given up, and the leases with it. */
  const guarded = <T>(work: (on: pg.Client) => Promise<T>): Promise<T> => {
    const next = queue.then(async () => {
      if (isClosed) throw new Error('The leases were given up.')
      const on = client ?? (await connect())
      try {
        return await work(on)
      } catch (error) {
        drop(on, error instanceof Error ? error : undefined)
        throw error
      }
    })
    queue = next.catch(() => {})
    return next
  }

  const renew = async () => {
    if (held.size === 0) return
    const kept = await guarded((on) =>
      asking(on)(renewLeases, { names: [...held.keys()], epochs: [...held.values()], holder, duration }),
    )
    for (const name of held.keys()) if (!kept.some((row) => row.name === name)) held.delete(name)
  }

  const startRenewing = () => {
    renewing ??= setInterval(() => {
      renew().catch((error: unknown) => log.debug({ err: error }, 'Failed to renew leases'))
    }, duration / 4).unref()
  }

  const transaction: Lease['transaction'] = (name, work) => {
    const epoch = held.get(name)
    if (epoch === undefined) return Promise.reject(new LeaseLostError(`The lease ${name} is not held any more.`))
    return guarded(async (on) => {
      await on.query('begin')
      const query = asking(on)
      const [kept] = await query(holdLease, { name, holder, epoch, duration })
      if (!kept) throw new LeaseLostError(`Another process has taken the lease ${name} over.`)
      const result = await work(query)
      await on.query('commit')
      return result
    })
  }

  return {
    isHeld: (name) => held.has(name),
    async acquire(name) {
      if (held.has(name)) return true
      startRenewing()
      return guarded(async (on) => {
        const [row] = await asking(on)(takeLease, { name, holder, duration }).catch((error: unknown) => {
          if (isLocked(error)) return []
          throw error
        })
        if (row && client === on) held.set(name, row.epoch)
        return held.has(name)
      })
    },
    transaction,
    write: (name, statement, parameters) => transaction(name, (query) => query(statement, parameters)),
    assertHeld: (name) => transaction(name, async () => undefined),
    async close() {
      clearInterval(renewing)
      await queue
      isClosed = true
      held.clear()
      const open = client
      client = undefined
      if (open) await asking(open)(endLeases, { holder }).catch(() => {})
      await open?.end().catch(() => {})
    },
  }
}

/** A holder's session bears its name, so that one whose process has ended is known at once. */
export const sessionOf = (holder: string) => `annal relay ${holder}`

/** A lease lasts `duration` milliseconds from its last renewal, on the database's clock. */
const end = `clock_timestamp() + $duration * interval '1 millisecond'`

/** Takes a lease, for `duration` milliseconds, and raises its epoch. No row while another process has it. */
export const takeLease = statement(
  'lease_take',
  { parameters: { name: text, holder: uuid, duration: int }, columns: { epoch: bigint } },
  `insert into leases (name, holder, epoch, expires_at) values ($name, $holder, 1, ${end})
   on conflict (name) do update set holder = excluded.holder, epoch = leases.epoch + 1, expires_at = excluded.expires_at
   where leases.holder = excluded.holder or leases.expires_at <= clock_timestamp() or not exists (
     select from pg_stat_activity where application_name = '${sessionOf('')}' || leases.holder::text)
   returning epoch`,
)

/** Locks a lease until the transaction ends, and renews it; no row when somebody has taken it over. */
export const holdLease = statement(
  'lease_hold',
  { parameters: { name: text, holder: uuid, epoch: bigint, duration: int }, columns: { name: text } },
  `update leases set expires_at = ${end} where name = $name and holder = $holder and epoch = $epoch returning name`,
)

/** Renews leases, `names` and `epochs` in pairs. Returns those that are still held. */
export const renewLeases = statement(
  'lease_renew',
  {
    parameters: { names: arrayOf(text), epochs: arrayOf(bigint), holder: uuid, duration: int },
    columns: { name: text },
  },
  `update leases l set expires_at = ${end} from unnest($names, $epochs) as item (name, epoch)
   where l.name = item.name and l.epoch = item.epoch and l.holder = $holder returning l.name`,
)

/** Gives up all leases of a holder: whoever asks next has them. */
export const endLeases = statement(
  'lease_end',
  { parameters: { holder: uuid } },
  `update leases set expires_at = '-infinity' where holder = $holder`,
)
