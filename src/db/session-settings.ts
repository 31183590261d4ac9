/** PostgreSQL settings that Annal's statements require. They are defaults, but a role, a database or the server may override them. */
import type pg from 'pg'
import { FixableError } from '../shared/operator-errors.ts'
import { DatabaseClient } from './database-client.ts'

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

const read = `
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
 * Throws a FixableError with instructions for a wrong setting. Wrong settings could misread times, reject writes,
 * fail concurrent transactions, or lose acknowledged writes.
 *
 * Also throws for an outdated server, a database that is not in UTF-8, and a missing schema.
 */
export async function assertSettings(client: Pick<pg.Client, 'query'>): Promise<void> {
  const { rows } = await client.query<Server>(read)
  const { version, number, encoding, schema, settings } = rows[0]!
  if (number < OLDEST_SERVER) {
    throw new FixableError(
      `The database is of PostgreSQL ${version}, and Annal needs 18 or later.`,
      'Upgrade the server (pg_upgrade, or dump and restore), or set DATABASE_URL to a newer one.',
    )
  }
  if (encoding !== 'UTF8') {
    throw new FixableError(
      `The database is encoded in ${encoding}, and Annal needs UTF-8.`,
      `Make another one: CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'.`,
    )
  }
  if (schema === null) {
    throw new FixableError(
      `No schema of the search path is there for this role (search_path is ${settings.search_path}).`,
      'Set it right: ALTER ROLE … SET search_path = public.',
    )
  }
  const wrong = Object.entries(needed).filter(
    ([name, values]) => !values.some((value) => settings[name]!.startsWith(value)),
  )
  if (wrong.length === 0) return
  const found = wrong.map(([name]) => `${name} is ${settings[name]}`).join(', ')
  const fix = wrong.map(([name, [value]]) => `ALTER ROLE … SET ${name} = '${value}'`).join('; ')
  throw new FixableError(
    `Sessions of the database have settings that Annal cannot work with (${found}).`,
    `Set them right: ${fix}.`,
  )
}

/** Environment variable that contains the connection URL. */
export type SessionVariable = 'DATABASE_URL' | 'DATABASE_DIRECT_URL'

const TIMEOUT_MS = 5_000
/** Timeout value that tests whether a connection's start-up settings reach the server, in milliseconds. */
const PROBE = 7_654

const instead: Record<SessionVariable, string> = {
  DATABASE_URL:
    'Annal has its own connection pool. Set DATABASE_URL to PostgreSQL itself, or to a pooler in session mode that forwards settings. To keep the pooler, set DATABASE_DIRECT_URL to PostgreSQL itself.',
  DATABASE_DIRECT_URL: 'Set it to the URL of PostgreSQL itself.',
}

/**
 * Returns the reason of a connection error. Neither the driver nor the system includes the password. A host with
 * several addresses has one reason for each.
 */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

const awayError = (variable: SessionVariable, cause: unknown) =>
  new FixableError(
    `The database that ${variable} names cannot be had: ${reasonOf(cause)}.`,
    `Bring PostgreSQL back, or set ${variable} right: postgresql://user:password@host:5432/name.`,
    { cause },
  )

const backendOf = async (client: pg.Client) => {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]!.pid
}

/** Returns true if two connections swap their server connections after transactions that end in either order. */
async function isShared(one: pg.Client, other: pg.Client): Promise<boolean> {
  for (const order of [
    [one, other],
    [other, one],
  ]) {
    await one.query('begin')
    const before = await backendOf(one)
    await other.query('begin')
    await backendOf(other)
    for (const client of order) await client.query('commit')
    if ((await backendOf(one)) !== before) return true
  }
  return false
}

/**
 * Checks that `databaseUrl` provides its own sessions. Throws a FixableError with instructions for a pooler that
 * shares sessions or drops settings, and for a database that does not respond. Throws the errors of `assertSettings`.
 */
export async function assertOwnSessions(
  databaseUrl: string,
  variable: SessionVariable = 'DATABASE_URL',
): Promise<void> {
  const open = () =>
    new DatabaseClient({
      connectionString: databaseUrl,
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
      statement_timeout: PROBE,
      application_name: 'annal probe',
    })
  const clients: pg.Client[] = []
  const connect = async () => {
    const client = open()
    clients.push(client)
    client.on('error', () => {})
    return client.connect()
  }
  try {
    const [one, other] = [await connect(), await connect()]
    // A server reports its own backend process ID. A pooler reports an invented one.
    const isDirect = (one as unknown as { processID: number }).processID === (await backendOf(one))
    if (!isDirect && (await isShared(one, other))) {
      throw new FixableError(
        `${variable} connects through a pooler that shares sessions between transactions.`,
        instead[variable],
      )
    }
    const { rows } = await one.query<{ kept: boolean }>(
      `select setting::int = ${PROBE} as kept from pg_settings where name = 'statement_timeout'`,
    )
    if (!rows[0]!.kept) {
      throw new FixableError(`${variable} connects through a pooler that drops session settings.`, instead[variable])
    }
    await assertSettings(one)
  } catch (error) {
    if (error instanceof FixableError) throw error
    if (!(error instanceof Error) || !/startup parameter/.test(error.message)) throw awayError(variable, error)
    throw new FixableError(
      `${variable} connects through a pooler that rejects session settings (${error.message}).`,
      instead[variable],
      { cause: error },
    )
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}
