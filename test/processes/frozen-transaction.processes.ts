import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type ConnectedDatabase, createDatabase } from '../../src/db/database.ts'
import { boolean, int, statement, text } from '../../src/db/sql.ts'
import { eventually } from '../support/eventually.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { createTestLog } from '../support/test-log.ts'

let testDatabase: TestDatabase
let database: ConnectedDatabase
const endings: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = createDatabase({ url: testDatabase.url, pool: 2, log: createTestLog() })
})
afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})
afterAll(async () => {
  await database?.close()
  await testDatabase?.drop()
})

const write = statement(
  'test_others_write',
  { columns: { value: text } },
  `insert into key_values (key, value) values ('row', 'of others')
   on conflict (key) do update set value = excluded.value returning value`,
)
const pid = statement('test_pid', { columns: { pid: int } }, 'select pg_backend_pid() as pid')
const end = statement(
  'test_end',
  { parameters: { pid: int }, columns: { ended: boolean } },
  'select pg_terminate_backend($pid, 5000) as ended',
)
const late = statement('test_late', { columns: { key: text } }, `select key from key_values where value = 'late'`)

const start = (script: string, ...own: string[]) => {
  const args = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, script), testDatabase.url, ...own]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  endings.push(() => {
    child.kill('SIGKILL')
    return ended
  })
  const lines = createInterface(child.stdout)
  const next = async () => ((await once(lines, 'line')) as [string])[0]
  return { child, next, ended }
}

it('a process frozen during a transaction releases its locks, and continues when it resumes', async () => {
  await database.query(write)
  const { child, next, ended } = start('transaction-holder.ts')
  expect(await next()).toBe('held')
  child.kill('SIGSTOP')
  const written = await eventually(() => database.query(write).catch(({ code }) => code), Array.isArray, 30_000)
  expect(written).toEqual([{ value: 'of others' }])

  child.kill('SIGCONT')
  const reported = next()
  child.stdin.write('go on\n')
  expect(await reported).toBe('UNAVAILABLE of others')
  expect(await ended).toEqual([0, null])
})

it('a connection lost during a transaction ends the transaction, not the process', async () => {
  await database.query(write)
  const lost = database.transaction(async (query) => {
    const [own] = await query(pid)
    expect(await database.query(end, { pid: own!.pid })).toEqual([{ ended: true }])
    await database.query(pid)
    await query(write)
  })
  await expect(lost).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(await database.query(write)).toEqual([{ value: 'of others' }])
})

async function writesAfterwards(gate: number, ...state: string[]) {
  const holder = new pg.Client({ connectionString: testDatabase.url })
  await holder.connect()
  endings.push(() => holder.end())
  await holder.query('select pg_advisory_lock($1)', [gate])
  const { child, next } = start('late-writer.ts', String(gate), ...state)
  const find = 'select from pg_locks where objid = $1 and not granted'
  await eventually(async () => (await holder.query(find, [gate])).rows.length === 1)
  child.kill('SIGSTOP')
  await holder.query('select pg_sleep(2)')
  await holder.query('select pg_advisory_unlock($1)', [gate])
  const said = next()
  child.kill('SIGCONT')
  return said
}

it('a process that resumes after a long freeze does not execute its old work', async () => {
  expect(await writesAfterwards(4712)).toBe('UNAVAILABLE, then written')
  expect(await database.query(late)).toEqual([{ key: 'second' }])
})

it('a process that is still starting continues after any freeze', async () => {
  expect(await writesAfterwards(4713, 'starting')).toBe('written, then written')
})
