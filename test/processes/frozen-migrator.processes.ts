import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { applyMigrations } from '../../src/db/migrations.ts'
import { eventually } from '../support/eventually.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

/** Milliseconds. */
const SILENCE = 2_000
const GATE = 4711

let folder: string
let testDatabase: TestDatabase
let database: pg.Client
let frozen: ChildProcess | undefined

const names = ['20270101000000_first', '20270102000000_second']

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = new pg.Client({ connectionString: testDatabase.url })
  await database.connect()
  await database.query('drop schema public, jobs cascade; create schema public')
  folder = await mkdtemp(join(tmpdir(), 'annal-migrations-'))
  await writeFile(join(folder, 'migration_lock.toml'), 'provider = "postgresql"')
  const scripts = [
    `select pg_advisory_xact_lock(${GATE}); create table first_words (word text);`,
    `create table second_words (word text); insert into second_words values ('once');`,
  ]
  for (const [index, name] of names.entries()) {
    await mkdir(join(folder, name))
    await writeFile(join(folder, name, 'migration.sql'), scripts[index]!)
  }
})
afterAll(async () => {
  frozen?.kill('SIGKILL')
  await database?.end()
  await testDatabase?.drop()
  await rm(folder, { recursive: true, force: true })
})

it('a process frozen during a migration delays the next migration for a limited time, and changes nothing later', async () => {
  await database.query('select pg_advisory_lock($1)', [GATE])
  const args = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'migrator.ts')]
  frozen = spawn(process.execPath, [...args, testDatabase.url, folder, String(SILENCE)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said = text(frozen.stdout!)
  const find = 'select from pg_locks where objid = $1 and not granted'
  await eventually(async () => (await database.query(find, [GATE])).rows.length === 1)
  frozen.kill('SIGSTOP')
  const heir = applyMigrations(testDatabase.url, folder, SILENCE)
  await database.query('select pg_advisory_unlock($1)', [GATE])
  expect(await heir).toEqual([names[1]])

  const ended = once(frozen, 'exit')
  frozen.kill('SIGCONT')
  expect(await ended).toEqual([0, null])
  expect(await said).toContain('Another process took over the migration')
  const { rows } = await database.query('select word from second_words')
  expect(rows).toEqual([{ word: 'once' }])
  expect(await applyMigrations(testDatabase.url, folder, SILENCE)).toEqual([])
})
