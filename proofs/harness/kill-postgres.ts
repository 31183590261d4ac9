/** The end of the PostgreSQL that a proof owns, from which it comes back. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { until } from '../../test/support/eventually.ts'

const takesConnections = async (url: string) => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** SIGKILL for the server whose data lies in `dir`. Fulfilled once it takes connections at `url` again. */
export async function killPostmaster(dir: string, url: string): Promise<void> {
  const pid = Number((await readFile(join(dir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
  process.kill(pid, 'SIGKILL')
  // The harness starts it again by itself.
  await until('PostgreSQL is gone', async () => !(await takesConnections(url)), 10_000)
  await until('PostgreSQL is back', () => takesConnections(url), 60_000, 20)
}
