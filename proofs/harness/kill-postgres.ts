/** Kills the proof's PostgreSQL server, which is then restarted. */
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

/** Sends SIGKILL to the server of the data folder `dir`. Resolves when it accepts connections at `url` again. */
export async function killPostmaster(dir: string, url: string): Promise<void> {
  const pid = Number((await readFile(join(dir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
  process.kill(pid, 'SIGKILL')
  // The harness restarts the server automatically.
  await until('PostgreSQL is gone', async () => !(await takesConnections(url)), 10_000)
  await until('PostgreSQL is back', () => takesConnections(url), 60_000, 20)
}
