/**
 * A pooler that shares server sessions between transactions (PgBouncer's transaction mode), for the statements of requests. What needs a
 * session of its own (leases, LISTEN, queues, migrations) goes past it, by DATABASE_DIRECT_URL (decision 50).
 */
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { assertOwnSessions } from './assert-own-sessions.ts'
import { DatabaseClient } from './database-client.ts'
import { timeLimits } from './time-limits.ts'

/** What a pooler does with the statements of a session. */
export interface Pooler {
  /** Whether a statement that was given a name is found again, whichever server session comes next. Else none is given any. */
  keepsStatements: boolean
}

const TIMEOUT_MS = 10_000

/** What PgBouncer is to say to each server session that it opens: settings of a client's own do not reach them. */
export const connectQuery = Object.entries(timeLimits)
  .map(([name, milliseconds]) => `set ${name} = ${milliseconds}`)
  .join('; ')

/** What changes what a statement means or what its commit is worth. */
const meaning = [
  'bytea_output',
  'client_encoding',
  'client_min_messages',
  'datestyle',
  'default_transaction_deferrable',
  'default_transaction_isolation',
  'default_transaction_read_only',
  'extra_float_digits',
  'intervalstyle',
  'quote_all_identifiers',
  'role',
  'row_security',
  'search_path',
  'session_replication_role',
  'standard_conforming_strings',
  'synchronous_commit',
  'timezone',
  'transform_null_equals',
  'xmlbinary',
]

const list = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ')

interface Session {
  pid: number
  server: string
  settings: Record<string, string>
  limits: Record<string, number>
}

/** `server`: which database of which server, since it runs. */
const readSession = `
  select pg_backend_pid() as pid, concat_ws(' ', d.oid, extract(epoch from pg_postmaster_start_time())) as server,
    (select json_object_agg(lower(name), setting) from pg_settings where lower(name) in (${list(meaning)})) as settings,
    (select json_object_agg(name, setting::int) from pg_settings where name in (${list(Object.keys(timeLimits))})) as limits
  from pg_database d where d.datname = current_database()`

const sessionOf = async (client: pg.Client) => (await client.query<Session>(readSession)).rows[0]!

function assertSame(through: Session, direct: Session): void {
  if (through.server !== direct.server) {
    throw new Error('DATABASE_URL and DATABASE_DIRECT_URL lead to different databases. Lead both to the same.')
  }
}

function assertAlike(through: Session, direct: Session): void {
  const differing = Object.keys(direct.settings).filter((name) => through.settings[name] !== direct.settings[name])
  if (differing.length > 0) {
    throw new Error(
      `Through the pooler of DATABASE_URL a session has other settings than past it (${differing.join(', ')}). Set them for the role or the database in PostgreSQL, and give Annal sessions that nobody else uses: an entry of its own in [databases].`,
    )
  }
  const unlimited = Object.entries(timeLimits).filter(
    ([name, most]) => through.limits[name] === 0 || through.limits[name]! > most,
  )
  if (unlimited.length > 0) {
    throw new Error(
      `Sessions through the pooler of DATABASE_URL lack limits of time (${unlimited.map(([name]) => name).join(', ')}). In pgbouncer.ini give Annal's entry in [databases]: connect_query='${connectQuery}'`,
    )
  }
}

/** A pooler that keeps statements gives each a name of its own on the server, by which it finds them again. */
async function keepsStatements(client: pg.Client): Promise<boolean> {
  const mark = `annal_${randomUUID().replaceAll('-', '')}`
  const { rows } = await client.query<{ name: string }>({
    name: mark,
    text: `select name from pg_prepared_statements where statement like '%${mark}%'`,
  })
  const isOurs = rows.some(({ name }) => name === mark)
  // The session is another's next, who must find nothing there.
  if (isOurs) await client.query(`deallocate ${mark}`)
  return rows.length > 0 && !isOurs
}

/** What stands between us and the database that `directUrl` leads to; undefined where nothing does. */
async function findPooler(url: string, directUrl: string): Promise<Pooler | undefined> {
  const open = (connectionString: string) =>
    new DatabaseClient({
      connectionString,
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
      application_name: 'annal probe',
    })
  const [through, direct] = [open(url), open(directUrl)]
  const clients = [through, direct]
  for (const client of clients) client.on('error', () => {})
  try {
    for (const client of clients) await client.connect()
    // All in one session of the server.
    await through.query('begin')
    const [shared, own] = [await sessionOf(through), await sessionOf(direct)]
    assertSame(shared, own)
    // A server tells a new connection its own number; poolers make one up.
    if ((through as unknown as { processID: number }).processID === shared.pid) return undefined
    assertAlike(shared, own)
    const found = { keepsStatements: await keepsStatements(through) }
    await through.query('commit')
    return found
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

/**
 * Looks at the ways to the database: `directUrl` to sessions of our own, `url` for requests, through a pooler or not. Returns the pooler.
 * Raises an Error that says what to do when sessions are shared where they must not be, when the two lead to different databases, and when
 * settings differ or limits of time are missing through the pooler.
 */
export async function lookAtWays({ url, directUrl }: { url: string; directUrl: string }): Promise<Pooler | undefined> {
  const isOne = url === directUrl
  await assertOwnSessions(directUrl, isOne ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL')
  return isOne ? undefined : findPooler(url, directUrl)
}
