/** PostgreSQL settings that an operator made for the role, the database or the server. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { applyMigrations, prepareDatabase } from '../../../src/db/migrations.ts'
import { assertOwnSessions } from '../../../src/db/session-settings.ts'
import { eventually } from '../../support/eventually.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

const LOCK = 72_707_369
const LIMIT = 200

let test: TestDatabase
let name: string
let operator: pg.Client

beforeEach(async () => {
  test = await createTestDatabase()
  name = new URL(test.url).pathname.slice(1)
  operator = new pg.Client({ connectionString: test.url })
  await operator.connect()
})
afterEach(async () => {
  await operator.end()
  await test.drop()
})

it.each([
  ['client_min_messages', 'error', 'error'],
  ['datestyle', `'SQL, DMY'`, 'SQL, DMY'],
  ['default_transaction_isolation', `'serializable'`, 'serializable'],
  ['default_transaction_read_only', 'on', 'on'],
  ['session_replication_role', 'replica', 'replica'],
  ['standard_conforming_strings', 'off', 'off'],
])(
  'rejects a database whose sessions have another %s, before reading or creating anything',
  async (setting, value, shown) => {
    await operator.query(`alter database ${name} set ${setting} = ${value}`)
    const reported = `(${setting} is ${shown}). Change the settings: ALTER ROLE … SET ${setting} = `
    await expect(assertOwnSessions(test.url)).rejects.toThrow(reported)
    await expect(prepareDatabase(test.url)).rejects.toThrow(reported)
  },
)

async function pretendVersion(number: number, version: string) {
  await operator.query(`
    create schema older;
    create function older.current_setting(setting text) returns text language sql as $$
      select case setting when 'server_version_num' then '${number}' when 'server_version' then '${version}'
        else pg_catalog.current_setting(setting) end $$;
    alter database ${name} set search_path = older, pg_catalog, public`)
}

it('rejects an outdated PostgreSQL version before creating anything', async () => {
  await pretendVersion(170_004, '17.4')
  const reported =
    'The database server is PostgreSQL 17.4, but Annal requires PostgreSQL 18 or later. Upgrade the server'
  await expect(assertOwnSessions(test.url)).rejects.toThrow(reported)
  await expect(prepareDatabase(test.url)).rejects.toThrow(reported)
})

it.each([
  ['a role that cannot create tables', '', 'permission denied for schema public'],
  ['a role that cannot create schemas', 'grant create on schema public to', `permission denied for database`],
])('the error message explains how to fix %s', async (_, grant, reason) => {
  const role = `${name}_guest`
  const url = new URL(test.url)
  Object.assign(url, { username: role, password: 'guest' })
  await operator.query('drop schema public, jobs cascade; create schema public; grant usage on schema public to public')
  await operator.query(`create role ${role} login password 'guest'`)
  try {
    if (grant) await operator.query(`${grant} ${role}`)
    await expect(prepareDatabase(url.href)).rejects.toThrow(reason)
    await expect(prepareDatabase(url.href)).rejects.toThrow('Make the role the owner of the database and its objects')
  } finally {
    await operator.query(`drop owned by ${role}; drop role ${role}`)
  }
})

it('reports an empty search path of the database', async () => {
  await operator.query(`alter database ${name} set search_path = ''`)
  await expect(prepareDatabase(test.url)).rejects.toThrow(
    'No schema in the search path of the database role exists (search_path is ""). Set a valid search path: ALTER ROLE … SET search_path = public.',
  )
})

it('rejects a database that is not UTF-8 before creating a table', async () => {
  const url = new URL(test.url)
  url.pathname = `/${name}_ascii`
  await operator.query(`create database ${name}_ascii template template0 encoding 'SQL_ASCII' locale 'C'`)
  try {
    await expect(prepareDatabase(url.href)).rejects.toThrow(
      'The encoding of the database is SQL_ASCII, but Annal requires UTF-8',
    )
  } finally {
    await operator.query(`drop database ${name}_ascii`)
  }
})

async function changeLate<T>(change: () => Promise<T>): Promise<T> {
  for (const setting of ['statement_timeout', 'lock_timeout', 'transaction_timeout'])
    await operator.query(`alter database ${name} set ${setting} = ${LIMIT}`)
  await operator.query(`select pg_advisory_lock(${LOCK})`)
  const changing = change()
  let isOver = false
  const settled = changing
    .catch(() => {})
    .finally(() => {
      isOver = true
    })
  const longWaits = `
    select from pg_locks join pg_stat_activity using (pid)
    where objid = ${LOCK} and not granted and datname = current_database() and clock_timestamp() - query_start > '${3 * LIMIT} ms'`
  await eventually(async () => isOver || (await operator.query(longWaits)).rows.length > 0, Boolean)
  await operator.query(`select pg_advisory_unlock(${LOCK})`)
  await settled
  return changing
}

it('migrations ignore the timeouts of the database role, also while waiting for other migrations', async () => {
  const folder = await createTemporaryFolder()
  await operator.query('drop schema public, jobs cascade; create schema public')
  await writeFile(join(folder, 'migration_lock.toml'), 'provider = "postgresql"')
  await mkdir(join(folder, '20270101000000_long'))
  const script = `create table words (word text); select pg_sleep(${(2 * LIMIT) / 1000});`
  await writeFile(join(folder, '20270101000000_long', 'migration.sql'), script)
  expect(await changeLate(() => applyMigrations(test.url, folder))).toEqual(['20270101000000_long'])
})

it('the creation of job indexes ignores the timeouts of the database role', async () => {
  await operator.query('drop index jobs.active_jobs_idx')
  expect(await changeLate(() => prepareDatabase(test.url))).toEqual([])
  const { rows } = await operator.query(`select to_regclass('jobs.active_jobs_idx') is not null as made`)
  expect(rows).toEqual([{ made: true }])
})
