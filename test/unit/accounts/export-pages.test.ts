/** The pages of an export contain each row once, and read only the rows that they return. */
import { beforeAll, describe, expect, it } from 'vitest'
import { seedGrowth } from '../../../bench/growth/seed.ts'
import { sizeOf } from '../../../bench/growth/seed-statements.ts'
import { valuesOf } from '../../../src/db/sql.ts'
import { type ExportPage, type ExportRow, exportPages } from '../../../src/modules/accounts/export-account.ts'
import { createOwnDatabase } from '../../support/own-database.ts'

const LIMIT = 20
const MANY = 1_000
const MOST_FOR_A_ROW = 10

const { url, client } = await createOwnDatabase()
let user: string

const more = [
  `insert into asset_links (asset_id, expires_at) select (select min(id::text) from assets where owner_id = $1)::uuid, now() + interval '1 day' from generate_series(1, ${MANY})`,
  `insert into refunds (order_id, transfer_id, points, num, points_before, num_before)
   select (select min(id::text) from orders where buyer_id = $1)::uuid, gen_random_uuid(), 0, .001, 0, n from generate_series(1, ${MANY}) as n`,
  `insert into refunds (order_id, transfer_id, points, num, points_before, num_before) select id, gen_random_uuid(), 0, .001, 0, 0 from orders where buyer_id = $1`,
  `insert into access_tokens (id, user_id, hash, name) select uuidv7(), $1, sha256(n::text::bytea), '' from generate_series(1, ${MANY}) as n`,
]

beforeAll(async () => {
  const key = {
    version: 2,
    vaultKeyId: 'seeded',
    wrappedDataKey: new Uint8Array(60),
    sealedPrivateKey: new Uint8Array(60),
  }
  await seedGrowth(url, { size: sizeOf(10_000), key })
  const { rows } = await client.query<{ id: string }>(`select id from users where username = 'seeded-1'`)
  user = rows[0]!.id
  await client.query('set session_replication_role = replica')
  for (const text of more) await client.query(text, text.includes('$1') ? [user] : [])
  await client.query('analyze')
  await client.query('set plan_cache_mode = force_generic_plan')
})

async function buffersOf(page: ExportPage, after: string): Promise<number> {
  const { rows } = await client.query(
    `explain (analyze, buffers, format json) ${page.text}`,
    valuesOf(page, { user, after, limit: LIMIT }),
  )
  const { Plan: plan } = rows[0]['QUERY PLAN'][0]
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}

async function readAll(page: ExportPage) {
  const found: string[] = []
  const buffers: number[] = []
  for (let after = ''; ; ) {
    const { rows } = await client.query<ExportRow>(page.text, valuesOf(page, { user, after, limit: LIMIT }))
    buffers.push(await buffersOf(page, after))
    found.push(...rows.map((row) => row.after))
    if (rows.length < LIMIT) return { found, buffers }
    after = rows.at(-1)!.after
  }
}

describe('pages of an export list', () => {
  it.each<[keyof typeof exportPages, string]>([
    ['commits', 'commits c join assets a on a.id = c.asset_id where a.owner_id = $1'],
    ['assets', 'assets where owner_id = $1'],
    ['transfers', '(select distinct transfer_id from entries where wallet_id = $1) own'],
    ['orders', 'orders where buyer_id = $1'],
    ['refunds', 'refunds r join orders o on o.id = r.order_id where o.buyer_id = $1'],
    ['assetLinks', 'asset_links l join assets a on a.id = l.asset_id where a.owner_id = $1'],
    ['sessions', 'access_tokens where user_id = $1'],
    ['events', 'events where owner_id = $1'],
  ])("the export pages of the %s return each row once and read only the user's own rows", async (list, from) => {
    const { rows } = await client.query<{ count: number }>(`select count(*)::int as count from ${from}`, [user])
    const { found, buffers } = await readAll(exportPages[list])
    expect(found.length).toBe(rows[0]!.count)
    expect(new Set(found).size).toBe(found.length)
    expect(Math.max(...buffers)).toBeLessThanOrEqual(MOST_FOR_A_ROW * LIMIT)
  })
})
