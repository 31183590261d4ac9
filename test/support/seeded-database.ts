import pg from 'pg'
import { seedGrowth } from '../../bench/growth/seed.ts'
import { sizeOf } from '../../bench/growth/seed-statements.ts'
import { createTestDatabase, type TestDatabase } from './test-database.ts'

/** Creates a database with 10,000 commits and proportional other data, and a connection to it. Its keys cannot be decrypted. */
export async function createSeededDatabase(): Promise<{ database: TestDatabase; client: pg.Client }> {
  const database = await createTestDatabase()
  const sealed = { wrappedDataKey: new Uint8Array(60), sealedPrivateKey: new Uint8Array(60) }
  await seedGrowth(database.url, { size: sizeOf(10_000), key: { version: 2, vaultKeyId: 'seeded', ...sealed } })
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  return { database, client }
}
