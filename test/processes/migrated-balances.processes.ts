/** The migrations that note balances beside transfers from before them, while an earlier version goes on writing. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { invariants } from '../../src/domain/invariants/check-invariants.ts'
import { applyMigrations, readMigrationStatus } from '../../src/platform/database/migrations.ts'
import { deploy, type Migrated, migrationsBefore, openEmptyDatabase, schemaOf } from '../server/migrated.ts'

const FIRST = '20261122231500_note_balances'
const LAST = '20261122231600_note_earlier_balances'
/** Of each of the wallets. */
const TRANSFERS = [3, 6_000, 0, 500]

let database: Migrated
let dir: string

const wallet = (n: number) => `01980000-0000-7000-8000-00000000000${n}`

/** As an earlier version writes: 1.5 NUM each, and every second time 1 point besides. */
const move = (n: number, count: number) =>
  database.client.query(
    `with paid as (
       update wallets set num = num + 1.5 * $2::int, points = points + $2::int / 2 where user_id = $1
     ), made as materialized (
       select n, uuidv7() as id from generate_series(1, $2::int) as n
     ), moved as (
       insert into transfers (id, reference) select id, 'deposit:' || id from made
     )
     insert into entries (transfer_id, position, wallet_id, book, currency, amount)
     select made.id, line.* from made, lateral (values
       (1, $1::uuid, null::book, 'NUM'::currency, 1.5::numeric), (2, null, 'DEPOSITS', 'NUM', -1.5)) as line
     union all
     select made.id, line.* from made, lateral (values
       (3, $1::uuid, null::book, 'POINTS'::currency, 1::numeric), (4, null, 'PROMOTION', 'POINTS', -1)) as line where made.n % 2 = 0`,
    [wallet(n), count],
  )

const broken = async () => {
  const found: object[] = []
  for (const { id, query } of invariants) {
    if (['I2', 'C9'].includes(id)) found.push(...(await database.client.query(query)).rows)
  }
  return found
}

const countNoted = async () => {
  const { rows } = await database.client.query<{ count: number }>(
    'select count(*)::int as count from statement_balances',
  )
  return rows[0]!.count
}

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-balances-'))
  database = await openEmptyDatabase()
  await applyMigrations(database.url, await migrationsBefore(FIRST, dir))
  for (const [n, count] of TRANSFERS.entries()) {
    await database.client.query(
      `insert into users (id, username, email, password_hash, display_name) values ($1, $2, $2 || '@x.io', '', '')`,
      [wallet(n), `user${n}`],
    )
    await database.client.query('insert into wallets (user_id, address) values ($1, $2)', [wallet(n), `0x${n}`])
    if (count) await move(n, count)
  }
})
afterEach(async () => {
  await database.close()
  await rm(dir, { recursive: true, force: true })
})

it.each([
  ['by us', (url: string) => applyMigrations(url)],
  ['by the engine of Prisma', (url: string) => deploy(url)],
])('balances from before are noted %s', async (_, apply) => {
  expect(await apply(database.url)).toContain(LAST)
  expect(await countNoted()).toBeGreaterThan(1)
  expect(await broken()).toEqual([])
  const empty = await openEmptyDatabase()
  await applyMigrations(empty.url)
  expect(await schemaOf(database)).toEqual(await schemaOf(empty))
  await empty.close()
})

it('they are noted from where an interruption left it, with what an earlier version writes meanwhile', async () => {
  await applyMigrations(database.url, await migrationsBefore(LAST, dir))
  await database.client.query('select note_earlier_balances(2900)')
  const noted = await countNoted()
  expect(noted).toBeGreaterThan(0)
  const status = await readMigrationStatus(database.url)
  expect(status.progress).toMatchObject({ name: LAST, done: 4_349, total: 9_754 })
  // Behind what is noted, in the middle of it, before it, and where nothing was.
  for (const n of TRANSFERS.keys()) await move(n, 700)
  expect(await applyMigrations(database.url)).toContain(LAST)
  await move(1, 500)
  expect(await countNoted()).toBeGreaterThan(noted)
  expect(await broken()).toEqual([])
})
