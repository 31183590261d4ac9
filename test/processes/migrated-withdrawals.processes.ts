/** The migration that has withdrawals ended again which were refused after they had been confirmed. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { applyMigrations } from '../../src/platform/database/migrations.ts'
import { type Migrated, migrationsBefore, openEmptyDatabase } from '../server/migrated.ts'

const NAME = '20261126213500_end_refused_withdrawals_again'
const USER = '01980000-0000-7000-8000-000000000001'

let database: Migrated
let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-withdrawals-'))
  database = await openEmptyDatabase()
  await applyMigrations(database.url, await migrationsBefore(NAME, dir))
})
afterEach(async () => {
  await database.close()
  await rm(dir, { recursive: true, force: true })
})

/** A withdrawal that counts as confirmed, whose move became this. */
const confirm = (nonce: number, moved: 'FINAL' | 'FAILED') =>
  database.client.query(
    `with made as (
       insert into coin_moves (kind, sender, nonce, recipient, wallet_id, amount, status, transaction_hash, block_number, block_hash, arrived, fee)
       values ('WITHDRAWAL', '0x2', $1, '0x3', '${USER}', 2, $2::coin_move_status, 'hash', 7, 'block', case $2 when 'FINAL' then 1 else 0 end, 1)
       returning id
     )
     insert into withdrawals (wallet_id, recipient, amount, fee, gas_limit, status, move_id, due_at, settled_at)
     select '${USER}', '0x3', 1, 1, 21000, 'CONFIRMED', id, now(), now() from made`,
    [nonce, moved],
  )

it('has what was refused ended again, and nothing that arrived', async () => {
  await database.client.query(
    `insert into users (id, username, email, password_hash, display_name) values ('${USER}', 'ana', 'ana@example.org', 'x', 'Ana')`,
  )
  await database.client.query(`insert into wallets (user_id, address) values ('${USER}', '0x1')`)
  await confirm(0, 'FINAL')
  await confirm(1, 'FAILED')
  expect(await applyMigrations(database.url)).toContain(NAME)
  const { rows } = await database.client.query(
    `select m.status as moved, x.status, x.settled_at is null as open from withdrawals x join coin_moves m on m.id = x.move_id order by m.nonce`,
  )
  expect(rows).toEqual([
    { moved: 'FINAL', status: 'CONFIRMED', open: false },
    { moved: 'FAILED', status: 'SENDING', open: true },
  ])
})
