/** Statements of requests where sessions of the server are shared (decision 50); PgBouncer itself is tried by `npm run prove -- pooler`. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findSetting } from '../../src/domain/settings.ts'
import { arrayOf, int, statement, text } from '../../src/domain/sql.ts'
import { createDatabase } from '../../src/platform/database/database.ts'
import { connectQuery, lookAtWays, type Pooler } from '../../src/platform/database/pooler.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { createTestLog } from '../support/test-log.ts'

let test: TestDatabase

beforeAll(async () => {
  test = await createTestDatabase()
})
afterAll(() => test.drop())

const kept = statement(
  'test_pooler_kept',
  { columns: { names: arrayOf(text), limit: int } },
  `select coalesce(array_agg(name order by name), '{}') as names,
     (select setting::int from pg_settings where name = 'statement_timeout') as limit
   from pg_prepared_statements`,
)

/** Asks what a session keeps, after a statement, a read and two reads in one turn. */
async function keptBehind(pooler: Pooler | undefined) {
  const database = createDatabase({ url: test.url, pool: 1, pooler, log: createTestLog() })
  try {
    await database.query(findSetting, { key: 'chain:id' })
    await database.transaction((query) => query(findSetting, { key: 'chain:id' }))
    const ids = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
    await Promise.all(ids.map((id) => database.read.user.findUnique({ where: { id }, select: { id: true } })))
    const [row] = await database.query(kept)
    return row!
  } finally {
    await database.close()
  }
}

it('A session of our own keeps statements by their names, and has our limits of time', async () => {
  const { names, limit } = await keptBehind(undefined)
  expect(names).toContain('setting_find')
  expect(names.length).toBeGreaterThan(2)
  expect(limit).toBe(8_000)
})

it('A shared session keeps nothing where the pooler does not keep statements, and its limits are the pooler’s', async () => {
  expect(await keptBehind({ keepsStatements: false })).toEqual({ names: [], limit: 0 })
})

it('A shared session keeps statements where the pooler does', async () => {
  expect((await keptBehind({ keepsStatements: true })).names).toContain('setting_find')
})

it('A pooler that keeps statements no more is noticed: one answer is 503, and the next ones go without names', async () => {
  const log = createTestLog()
  const database = createDatabase({ url: test.url, pool: 1, pooler: { keepsStatements: true }, log })
  try {
    const ask = () => database.query(findSetting, { key: 'chain:id' })
    await ask()
    // As if the next transaction had another session.
    await database.prisma.$executeRawUnsafe('deallocate all')
    await expect(ask()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(await ask()).toEqual([])
    expect((await database.query(kept))[0]!.names).toEqual([])
    expect(log.lines.filter(({ message }) => /does not support prepared statements/.test(message))).toHaveLength(1)
  } finally {
    await database.close()
  }
})

it('Two ways to different databases are refused', async () => {
  const other = await createTestDatabase()
  try {
    await expect(lookAtWays({ url: test.url, directUrl: other.url })).rejects.toThrow(/different databases/)
    const again = new URL(test.url)
    again.searchParams.set('application_name', 'direct')
    expect(await lookAtWays({ url: test.url, directUrl: again.href })).toBeUndefined()
  } finally {
    await other.drop()
  }
})

it('pgbouncer.ini says to sessions what a start asks for', () => {
  const ini = readFileSync(new URL('../../deploy/pgbouncer/pgbouncer.ini', import.meta.url), 'utf8')
  expect(ini).toContain(`connect_query='${connectQuery}'`)
  expect(ini).toMatch(/^pool_mode = transaction$/m)
})
