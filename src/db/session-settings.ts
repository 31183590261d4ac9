/** PostgreSQL settings that Annal's statements require. A role, a database or the server may override the defaults. */
import type pg from 'pg'
import { FixableError } from '../shared/operator-errors.ts'
import { DatabaseClient } from './database-client.ts'

/** Advisory lock of Prisma's engine. Annal uses the same lock, to exclude a concurrent `prisma migrate deploy`. */
export const MIGRATION_LOCK = 72_707_369

/** Timeouts that a role may set for requests, and that migrations disable. */
export const timeouts = ['statement_timeout', 'lock_timeout', 'transaction_timeout']

/** SQL that waits without a timeout for the migration lock, which it holds until the transaction ends. */
export const lockForTransaction = `
  SELECT ${timeouts.map((name) => `set_config('${name}', '0', true)`)}; SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`

/** Minimum `server_version_num`. Older versions lack functions that the migrations use. */
const OLDEST_SERVER = 180_000

/** Required settings: names as in `SHOW`, with prefixes of the accepted values. The first one is recommended. */
const needed: Record<string, readonly [string, ...string[]]> = {
  // A warning is the only sign that a commit has not reached a synchronous standby.
  client_min_messages: ['notice', 'warning', 'log', 'debug'],
  datestyle: ['ISO'],
  default_transaction_isolation: ['read committed'],
  default_transaction_read_only: ['off'],
  session_replication_role: ['origin'],
  standard_conforming_strings: ['on'],
}

const readServer = `
  select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
    current_setting('server_encoding') as encoding, current_schema() as schema,
    json_object_agg(name, current_setting(name)) as settings
  from unnest(array[${[...Object.keys(needed), 'search_path'].map((name) => `'${name}'`)}]) as name`

interface Server {
  version: string
  number: number
  encoding: string
  /** Schema in which tables are created. Null if the search path contains no existing schema. */
  schema: string | null
  settings: Record<string, string>
}

/**
 * Throws a FixableError for an outdated server, another encoding than UTF-8, a missing schema and a wrong setting.
 * Wrong settings could misread times, reject writes, fail concurrent transactions, or lose acknowledged writes.
 */
export async function assertSettings(client: Pick<pg.Client, 'query'>): Promise<void> {
  const { rows } = await client.query<Server>(readServer)
  const { version, number, encoding, schema, settings } = rows[0]!
  const wrong = Object.entries(needed).filter(
    ([name, values]) => !values.some((value) => settings[name]!.startsWith(value)),
  )
  const found = wrong.map(([name]) => `${name} is ${settings[name]}`).join(', ')
  const fix = wrong.map(([name, [value]]) => `ALTER ROLE … SET ${name} = '${value}'`).join('; ')
  const assert = (isRight: boolean, problem: string, fix: string) => {
    if (!isRight) throw new FixableError(problem, fix)
  }
  assert(
    number >= OLDEST_SERVER,
    `The database server is PostgreSQL ${version}, but Annal requires PostgreSQL 18 or later.`,
    'Upgrade the server (pg_upgrade, or dump and restore), or set DATABASE_URL to a newer one.',
  )
  assert(
    encoding === 'UTF8',
    `The encoding of the database is ${encoding}, but Annal requires UTF-8.`,
    `Create another database: CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'.`,
  )
  assert(
    schema !== null,
    `No schema in the search path of the database role exists (search_path is ${settings.search_path}).`,
    'Set a valid search path: ALTER ROLE … SET search_path = public.',
  )
  assert(
    wrong.length === 0,
    `The database sessions have settings that Annal does not support (${found}).`,
    `Change the settings: ${fix}.`,
  )
}

/** Timeout value that tests whether a connection's start-up settings reach the server, in milliseconds. */
const PROBE = 7_654

/** Instructions by the variable that contains the connection URL. */
const fixes = {
  DATABASE_URL:
    'Annal has its own connection pool. Set DATABASE_URL to PostgreSQL itself, or to a pooler in session mode that forwards settings. To keep the pooler, set DATABASE_DIRECT_URL to PostgreSQL itself.',
  DATABASE_DIRECT_URL: 'Set DATABASE_DIRECT_URL to the URL of PostgreSQL itself.',
}

/** Returns the reason of a connection error, or one reason per address of the host. It contains no password. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

const backendOf = async (client: pg.Client) => {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]!.pid
}

/** Returns true if two connections swap their server connections after transactions that end in either order. */
async function isShared(one: pg.Client, other: pg.Client): Promise<boolean> {
  for (const isInOrder of [true, false]) {
    await one.query('begin')
    const before = await backendOf(one)
    await other.query('begin')
    await backendOf(other)
    for (const client of isInOrder ? [one, other] : [other, one]) await client.query('commit')
    if ((await backendOf(one)) !== before) return true
  }
  return false
}

/**
 * Throws a FixableError with instructions for a pooler that shares sessions or drops settings, and for a database that
 * does not respond. Throws the errors of `assertSettings`. `variable`: the setting that contains `databaseUrl`.
 */
export async function assertOwnSessions(databaseUrl: string, variable: keyof typeof fixes = 'DATABASE_URL') {
  const clients: pg.Client[] = []
  const connect = async () => {
    const client = new DatabaseClient({
      connectionString: databaseUrl,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
      statement_timeout: PROBE,
      application_name: 'annal probe',
    })
    clients.push(client)
    return client.connect()
  }
  const assertNot = (isTrue: boolean, fault: string) => {
    if (isTrue) throw new FixableError(`${variable} connects through a pooler that ${fault}.`, fixes[variable])
  }
  try {
    const [one, other] = [await connect(), await connect()]
    // A server reports its own backend process ID. A pooler reports an invented one.
    const isDirect = (one as unknown as { processID: number }).processID === (await backendOf(one))
    assertNot(!isDirect && (await isShared(one, other)), 'shares sessions between transactions')
    const { rows } = await one.query<{ value: number }>(
      `select setting::int as value from pg_settings where name = 'statement_timeout'`,
    )
    assertNot(rows[0]!.value !== PROBE, 'drops session settings')
    await assertSettings(one)
  } catch (error) {
    if (error instanceof FixableError) throw error
    const reason = reasonOf(error)
    assertNot(/startup parameter/.test(reason), `rejects session settings (${reason})`)
    throw new FixableError(
      `The database at ${variable} cannot be reached: ${reason}.`,
      `Start PostgreSQL, or correct ${variable}: postgresql://user:password@host:5432/name.`,
      { cause: error },
    )
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}
