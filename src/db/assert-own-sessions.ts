/**
 * Annal needs sessions of its own: leases, advisory locks and LISTEN belong to one. A pooler that hands every transaction to another
 * server connection (PgBouncer's transaction mode) looks right at first, and then every second request fails.
 */
import type pg from 'pg'
import { FixableError } from '../shared/operator-errors.ts'
import { DatabaseClient } from './database-client.ts'
import { assertSettings } from './session-settings.ts'

/** Which variable says where such sessions are. */
export type SessionVariable = 'DATABASE_URL' | 'DATABASE_DIRECT_URL'

const TIMEOUT_MS = 5_000
/** Milliseconds; only to see whether what a connection is opened with arrives. */
const PROBE = 7_654

const instead: Record<SessionVariable, string> = {
  DATABASE_URL:
    'Annal keeps a pool of its own: lead DATABASE_URL to PostgreSQL itself, or to a pooler in session mode that passes settings on; or leave it there, and lead DATABASE_DIRECT_URL to PostgreSQL itself.',
  DATABASE_DIRECT_URL: 'Lead it to PostgreSQL itself.',
}

/** Nothing that the driver or the system says holds a password. Of a host with several addresses each has a reason. */
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

/** Whether a connection is given another server connection, once both have ended a transaction in either order. */
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
 * Tries whether sessions are our own. Raises a FixableError that says what to do when `databaseUrl` leads through a pooler that
 * shares sessions or drops settings, where no database answers, and as `assertSettings` does.
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
    // A server tells a new connection its own number; poolers make one up.
    const isDirect = (one as unknown as { processID: number }).processID === (await backendOf(one))
    if (!isDirect && (await isShared(one, other))) {
      throw new FixableError(
        `${variable} leads through a pooler that shares sessions between transactions.`,
        instead[variable],
      )
    }
    const { rows } = await one.query<{ kept: boolean }>(
      `select setting::int = ${PROBE} as kept from pg_settings where name = 'statement_timeout'`,
    )
    if (!rows[0]!.kept) {
      throw new FixableError(
        `${variable} leads through a pooler that drops the settings of a session.`,
        instead[variable],
      )
    }
    await assertSettings(one)
  } catch (error) {
    if (error instanceof FixableError) throw error
    if (!(error instanceof Error) || !/startup parameter/.test(error.message)) throw awayError(variable, error)
    throw new FixableError(
      `${variable} leads through a pooler that takes no settings (${error.message}).`,
      instead[variable],
      { cause: error },
    )
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}
