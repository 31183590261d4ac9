/** The migration that notes where coins lie, while an earlier version goes on writing. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { invariants } from '../../src/domain/invariants/check-invariants.ts'
import { applyMigrations } from '../../src/platform/database/migrations.ts'
import { type Migrated, migrationsBefore, openEmptyDatabase } from '../server/migrated.ts'
import { until } from '../support/eventually.ts'

const NAME = '20261125090000_note_coins'

let database: Migrated
let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-coins-'))
  database = await openEmptyDatabase()
  await applyMigrations(database.url, await migrationsBefore(NAME, dir))
})
afterEach(async () => {
  await database.close()
  await rm(dir, { recursive: true, force: true })
})

/** So much comes in, of which a part is under way. */
const bring = (client: pg.Client, amount: number, underWay: number) =>
  client.query(
    `with made as (insert into transfers (id, reference) select id, 'deposit:' || id from (select uuidv7() as id) new returning id)
     insert into entries (transfer_id, position, book, currency, amount)
     select made.id, line.* from made, (values
       (1, 'REVENUE'::book, 'NUM'::currency, $1::numeric), (2, 'DEPOSITS', 'NUM', $2::numeric - $1), (3, 'UNDER_WAY', 'NUM', -$2)) as line`,
    [amount, underWay],
  )
const noted = async () => (await database.client.query('select at_addresses, under_way from coin_balances')).rows[0]
const broken = async () => (await database.client.query(invariants.find(({ id }) => id === 'C10')!.query)).rows

it('what was there is added up, what is written while it begins is in it, and what comes later is noted', async () => {
  await bring(database.client, 10, 4)
  const writer = new pg.Client({ connectionString: database.url })
  await writer.connect()
  await writer.query('begin')
  await bring(writer, 5, 1)
  const migrated = applyMigrations(database.url)
  await until('the migration waits for who writes', async () => {
    const { rows } = await database.client.query(
      `select from pg_locks where not granted and relation = 'entries'::regclass`,
    )
    return rows.length > 0
  })
  await writer.query('commit')
  await writer.end()
  expect(await migrated).toContain(NAME)
  expect(await noted()).toMatchObject({ at_addresses: '10.000000000000000000', under_way: '5.000000000000000000' })
  await bring(database.client, 2, 1)
  expect(await noted()).toMatchObject({ at_addresses: '11.000000000000000000', under_way: '6.000000000000000000' })
  expect(await broken()).toEqual([])
})

it('who gathers coins while the migration begins is waited for, and holds nothing up', async () => {
  const writer = new pg.Client({ connectionString: database.url })
  await writer.connect()
  await writer.query('begin')
  await writer.query('update coin_moves set updated_at = now() where false')
  const migrated = applyMigrations(database.url)
  await until('the migration waits for who moves coins', async () => {
    const { rows } = await database.client.query(
      `select from pg_locks where not granted and relation = 'coin_moves'::regclass`,
    )
    return rows.length > 0
  })
  await writer.query('update deposits set gathered_by = null where false')
  await writer.query('commit')
  await writer.end()
  expect(await migrated).toContain('20261125093000_note_lying_coins')
})

it('what is noted otherwise than the entries say is found, and the row cannot go', async () => {
  await bring(database.client, 3, 1)
  await applyMigrations(database.url)
  await database.client.query('update coin_balances set in_treasury = 1')
  expect(await broken()).toMatchObject([{ subject: 'in the treasury', booked: '0' }])
  await expect(database.client.query('delete from coin_balances')).rejects.toThrow('coin_balances')
  await expect(database.client.query('truncate coin_balances')).rejects.toThrow('coin_balances')
})
