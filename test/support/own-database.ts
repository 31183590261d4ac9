import pg from 'pg'
import { type ConnectedDatabase, createDatabase } from '../../src/db/database.ts'
import { atEnd } from './at-end.ts'
import { createTestDatabase } from './test-database.ts'
import { createTestLog } from './test-log.ts'

/** Creates a database and a connection of an operator. After the tests of the file, both are closed and the database is dropped. */
export async function createOwnDatabase() {
  const { url, drop } = await createTestDatabase()
  atEnd(drop)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  atEnd(() => client.end())
  const open = (options: { pool: number; responseTimeoutMs?: number }): ConnectedDatabase => {
    const database = createDatabase({ url, log: createTestLog(), ...options })
    atEnd(() => database.close())
    return database
  }
  return { url, client, open }
}
