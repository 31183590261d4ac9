/** What others wrote to files before these were registered: it is read of a few at a time, however many wait. */
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findUnreadPast } from '../../src/chain/foreign/statements.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})
afterAll(async () => {
  await client?.end()
  await database?.drop()
})

it('does not sort the files that wait since the same moment, as after an upgrade', async () => {
  await client.query(
    `insert into watched_assets (nid, topic, past_to) select 'nid' || n, 'topic' || n, 0 from generate_series(1, 20000) as n`,
  )
  await client.query('analyze watched_assets')
  await client.query(`prepare unread as ${findUnreadPast.text}`)
  const { rows } = await client.query<{ 'QUERY PLAN': string }>('explain execute unread (20)')
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toContain('watched_assets_unread_idx')
  expect(plan).not.toMatch(/Sort|Seq Scan/)
  expect((await client.query('execute unread (20)')).rows).toHaveLength(20)
})
