import { expect, it } from 'vitest'
import { checkTables, partsSql } from '../../../src/db/invariants/check-invariants.ts'
import { createOwnDatabase } from '../../support/own-database.ts'

const { client: operator, open } = await createOwnDatabase()
const database = open({ pool: 1 })

it('`annal check` expects exactly the database objects of the migrations (use --update after a new migration)', async () => {
  const { rows } = await operator.query<{ name: string }>(`${partsSql} order by 1`)
  const names = rows.map(({ name }) => name).sort()
  await expect(`${JSON.stringify(names, null, 2)}\n`).toMatchFileSnapshot(
    '../../../src/db/invariants/parts-of-tables.json',
  )
})

it('`annal check` reports a missing database object and an invalid index by name', async () => {
  expect((await checkTables(database)).rows).toEqual([])
  await operator.query(`
    alter table entries drop constraint entries_pkey;
    alter table assets drop constraint assets_owner_id_fkey;
    alter table entries drop constraint entries_amount_not_zero;
    drop index assets_sha256_id_idx;
    drop trigger access_tokens_notify_ended on access_tokens`)
  await operator.query(`insert into key_values (key, value) values ('one', 'same'), ('other', 'same')`)
  await expect(
    operator.query('create unique index concurrently key_values_value_key on key_values (value)'),
  ).rejects.toMatchObject({ code: '23505' })
  const missing = [
    'access_tokens.access_tokens_notify_ended',
    'assets.assets_owner_id_fkey',
    'assets.assets_sha256_id_idx',
    'entries.entries_amount_not_zero',
    'entries.entries_pkey',
  ].map((subject) => ({ subject, problem: 'is missing' }))
  const unfinished = { subject: 'key_values.key_values_value_key', problem: 'is an index that was not finished' }
  expect((await checkTables(database)).rows).toEqual([...missing, unfinished])
})
