/** Leases for work that only one process may do (decision 42). Each write checks the lease in its transaction. */
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { asOutage, DatabaseClient } from '../db/database-client.ts'
import type { ArgumentsOf, Query, Statement } from '../db/sql.ts'
import { arrayOf, bigint, int, statement, text, uuid, valuesOf } from '../db/sql.ts'
import { undefinedIf } from '../shared/async.ts'
import { isDatabaseOutage } from '../shared/errors.ts'
import type { Log } from '../shared/log.ts'

export type Lease = ReturnType<typeof createLease>

/** Error for a lease that another process may hold. The transaction was rolled back. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
}

const sessionSettings = (holder: string, duration: number) => `
  set application_name = '${sessionOf(holder)}';
  set idle_in_transaction_session_timeout = ${duration / 2}; set lock_timeout = 2000;
  set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 2; set tcp_user_timeout = 20000`

const isLocked = (error: unknown) => (error as { code?: string }).code === '55P03'

/** Renews all leases every quarter of their duration (ms). Any error releases them. Does not support a statement-mode pooler. */
export function createLease({
  databaseUrl,
  log,
  duration = 20_000,
}: {
  databaseUrl: string
  log: Log
  duration?: number
}) {
  const holder = randomUUID()
  const held = new Map<string, string>()
  let client: pg.Client | undefined
  let renewing: NodeJS.Timeout | undefined
  let isClosed = false
  /** End of the last queued operation. Transactions on one connection must not mix. */
  let queue: Promise<unknown> = Promise.resolve()

  const drop = (lost: pg.Client, error?: unknown) => {
    if (client !== lost) return
    client = undefined
    if (held.size > 0)
      log[isDatabaseOutage(asOutage(error)) ? 'debug' : 'warn'](
        { err: error },
        'Lost the database connection that holds the leases; acquiring them again',
      )
    held.clear()
    lost.end().catch(() => {})
  }

  const connect = async () => {
    const created = new DatabaseClient({
      connectionString: databaseUrl,
      ...{ connectionTimeoutMillis: 5_000, query_timeout: 10_000, statement_timeout: 8_000 },
      ...{ keepAlive: true, keepAliveInitialDelayMillis: 10_000 },
    })
    created.on('error', (error) => drop(created, error))
    created.on('end', () => drop(created))
    await created.connect().catch((error: unknown) => {
      throw asOutage(error)
    })
    await created.query(sessionSettings(holder, duration)).catch((error: unknown) => {
      created.end().catch(() => {})
      throw error
    })
    client = created
    return created
  }

  const queryOn =
    (client: pg.Client): Query =>
    async (wanted: Statement<never, unknown>, given?: unknown) =>
      (await client.query({ name: wanted.name, text: wanted.text, values: valuesOf(wanted, given) })).rows

  /** Runs operations one after the other. Closes the session after an error, because its state is unknown. */
  const guarded = <T>(work: (on: pg.Client) => Promise<T>): Promise<T> => {
    const next = queue.then(async () => {
      if (isClosed) throw new Error('The leases were released.')
      const on = client ?? (await connect())
      try {
        return await work(on)
      } catch (error) {
        drop(on, error)
        throw asOutage(error)
      }
    })
    queue = next.catch(() => {})
    return next
  }

  const renew = async () => {
    if (held.size === 0) return
    const renewed = await guarded((on) =>
      queryOn(on)(renewLeases, { names: [...held.keys()], epochs: [...held.values()], holder, duration }),
    )
    for (const name of held.keys()) if (!renewed.some((row) => row.name === name)) held.delete(name)
  }

  /** Runs a transaction under the lease. Throws LeaseLostError if another process has it. */
  const transaction = <T>(name: string, work: (query: Query) => Promise<T>): Promise<T> => {
    const epoch = held.get(name)
    if (epoch === undefined)
      return Promise.reject(new LeaseLostError(`This process no longer holds the lease ${name}.`))
    return guarded(async (on) => {
      await on.query('begin')
      const query = queryOn(on)
      const [renewed] = await query(holdLease, { name, holder, epoch, duration })
      if (!renewed) throw new LeaseLostError(`Another process acquired the lease ${name}.`)
      const result = await work(query)
      await on.query('commit')
      return result
    })
  }

  return {
    isHeld: (name: string): boolean => held.has(name),
    /** Tries to acquire the lease. Returns true if this process holds it. Throws if the database is unavailable. */
    async acquire(name: string): Promise<boolean> {
      if (held.has(name)) return true
      renewing ??= setInterval(() => {
        renew().catch((error: unknown) => log.debug({ err: error }, 'Failed to renew leases'))
      }, duration / 4).unref()
      return guarded(async (on) => {
        const [row] = (await queryOn(on)(takeLease, { name, holder, duration }).catch(undefinedIf(isLocked))) ?? []
        if (row && client === on) held.set(name, row.epoch)
        return held.has(name)
      })
    },
    transaction,
    write: <Parameters, Row>(
      name: string,
      statement: Statement<Parameters, Row>,
      parameters: ArgumentsOf<NoInfer<Parameters>>,
    ): Promise<Row[]> => transaction(name, (query) => query(statement, parameters)),
    /** Checks the lease before an action outside the database. Throws LeaseLostError if another process has it. */
    assertHeld: (name: string): Promise<void> => transaction(name, async () => undefined),
    async close(): Promise<void> {
      clearInterval(renewing)
      await queue
      isClosed = true
      held.clear()
      const open = client
      client = undefined
      if (open) await queryOn(open)(endLeases, { holder }).catch(() => {})
      await open?.end().catch(() => {})
    },
  }
}

/** Returns the session name of a lease holder. If no session has this name, the holder's process has ended. */
const sessionOf = (holder: string) => `annal relay ${holder}`

const end = `clock_timestamp() + $duration * interval '1 millisecond'`

/** Acquires a lease and increments its epoch. Returns no row if another process holds it. */
const takeLease = statement(
  'lease_take',
  { parameters: { name: text, holder: uuid, duration: int }, columns: { epoch: bigint } },
  `insert into leases (name, holder, epoch, expires_at) values ($name, $holder, 1, ${end})
   on conflict (name) do update set holder = excluded.holder, epoch = leases.epoch + 1, expires_at = excluded.expires_at
   where leases.holder = excluded.holder or leases.expires_at <= clock_timestamp() or not exists (
     select from pg_stat_activity where application_name = '${sessionOf('')}' || leases.holder::text)
   returning epoch`,
)

/** Renews a lease and locks it until the transaction ends. Returns no row if another process has taken it over. */
const holdLease = statement(
  'lease_hold',
  { parameters: { name: text, holder: uuid, epoch: bigint, duration: int }, columns: { name: text } },
  `update leases set expires_at = ${end} where name = $name and holder = $holder and epoch = $epoch returning name`,
)

/** Renews leases. `names` and `epochs` are parallel arrays. Returns the leases that the holder still has. */
const renewLeases = statement(
  'lease_renew',
  {
    parameters: { names: arrayOf(text), epochs: arrayOf(bigint), holder: uuid, duration: int },
    columns: { name: text },
  },
  `update leases l set expires_at = ${end} from unnest($names, $epochs) as item (name, epoch)
   where l.name = item.name and l.epoch = item.epoch and l.holder = $holder returning l.name`,
)

const endLeases = statement(
  'lease_end',
  { parameters: { holder: uuid } },
  `update leases set expires_at = '-infinity' where holder = $holder`,
)
