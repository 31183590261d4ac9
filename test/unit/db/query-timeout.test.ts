import { expect, it } from 'vitest'
import { float, int, statement } from '../../../src/db/sql.ts'
import { createOwnDatabase } from '../../support/own-database.ts'

const PATIENCE_MS = 1_000

const { open } = await createOwnDatabase()
const database = open({ pool: 2, responseTimeoutMs: PATIENCE_MS })

const answer = { columns: { n: int } }
const sleeping = { ...answer, parameters: { seconds: float } }
const sleep = 'select 1 as n from (select pg_sleep($seconds)) as slept'
const slow = statement('test_unanswered_slow', sleeping, sleep)
const long = statement('test_unanswered_long', { ...sleeping, patience: 60_000 }, sleep)
const one = statement('test_unanswered_one', answer, 'select 1 as n')

it('reports a statement without a response as a database outage, and executes other statements', async () => {
  const asked = expect(database.query(slow, { seconds: 4 })).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(await database.query(one)).toEqual([{ n: 1 }])
  await asked
  expect(await database.query(one)).toEqual([{ n: 1 }])
})

it('rolls back a transaction if one of its statements gets no response', async () => {
  const write = statement('test_unanswered_write', {}, `insert into key_values (key, value) values ('test', '1')`)
  const work = database.transaction(async (query) => {
    await query(write)
    await query(slow, { seconds: 4 })
  })
  await expect(work).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  const left = statement('test_unanswered_left', answer, `select count(*)::int as n from key_values where key = 'test'`)
  expect(await database.query(left)).toEqual([{ n: 0 }])
})

it('a statement with its own timeout does not change the timeout of later statements', async () => {
  expect(await database.transaction((query) => query(long, { seconds: 2.2 }))).toEqual([{ n: 1 }])
  await expect(database.query(slow, { seconds: 4 })).rejects.toMatchObject({ code: 'UNAVAILABLE' })
})

it('keeps a busy database connection that responds', async () => {
  const slept = await database.transaction(async (query) => {
    for (let left = 30; left > 1; left -= 1) await query(slow, { seconds: 0.07 })
    return query(slow, { seconds: 0.07 })
  })
  expect(slept).toEqual([{ n: 1 }])
})
