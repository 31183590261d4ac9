/** What somebody left in sessions of the server that the next one gets: a pooler that shares them does not clear it away. */
import pg from 'pg'

/**
 * Settings that a pooler follows for each of its clients are none, nor are those that it makes itself (`connectQuery`), nor statements
 * that it keeps by names of its own.
 */
const remainsOf = (own: readonly string[]) => `
  select 'listens to ' || channel as what from pg_listening_channels() as channel
  union all select 'holds an advisory lock' from pg_locks where pid = pg_backend_pid() and locktype = 'advisory'
  union all select 'has a temporary table' from pg_class where relnamespace = pg_my_temp_schema() and relkind = 'r'
  union all select 'has set ' || name from pg_settings where source = 'session'
    and lower(name) not in (${['application_name', 'client_encoding', 'datestyle', 'timezone', 'standard_conforming_strings', ...own].map((name) => `'${name}'`).join(', ')})
  union all select 'holds a cursor open' from pg_cursors where is_holdable
  union all select 'has prepared ' || name from pg_prepared_statements where name not like 'PGBOUNCER\\_%'`

/** `sessions` of the server at once through the pooler, and in each of them what somebody left. Returns how many, and what was found. */
export async function findRemains(url: string, sessions: number, connectQuery: string) {
  const own = [...connectQuery.matchAll(/set (\w+)/g)].map(([, name]) => name!)
  const clients = Array.from(
    { length: sessions },
    () => new pg.Client({ connectionString: url, query_timeout: 10_000 }),
  )
  for (const client of clients) client.on('error', () => undefined)
  try {
    const found = new Map<number, string[]>()
    // Each transaction keeps its session until all are looked at.
    for (const client of clients) {
      await client.connect()
      await client.query('begin')
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
      const remains = await client.query<{ what: string }>(remainsOf(own))
      found.set(
        rows[0]!.pid,
        remains.rows.map(({ what }) => what),
      )
    }
    return { sessions: found.size, remains: [...found.values()].flat() }
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}
