/** Our migration runner and Prisma's engine are compatible: each continues where the other stopped. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { applyMigrations } from '../../src/db/migrations.ts'
import { listMigrations, withSchemaEngine } from '../../src/db/new-migration.ts'
import { deploy, filters, type Migrated, openEmptyDatabase, schemaOf } from '../unit/db/migrated.ts'

let ours: Migrated
let prismas: Migrated
let folder: string

beforeEach(async () => {
  ;[ours, prismas] = await Promise.all([openEmptyDatabase(), openEmptyDatabase()])
  folder = await mkdtemp(join(tmpdir(), 'annal-migrations-'))
  await writeFile(join(folder, 'migration_lock.toml'), 'provider = "postgresql"')
})
afterEach(async () => {
  await Promise.all([ours.close(), prismas.close()])
  await rm(folder, { recursive: true, force: true })
})

const writeMigration = async (name: string, script: string) => {
  await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, name, 'migration.sql'), script)
}

const status = async (url: string) => {
  const migrationsList = await listMigrations()
  return await withSchemaEngine(url, (engine) =>
    engine.diagnoseMigrationHistory({ migrationsList, filters, optInToShadowDatabase: false }),
  )
}

const nextOfPrisma = async (url: string) => {
  const migrationsList = await listMigrations()
  return (await withSchemaEngine(url, (engine) => engine.devDiagnostic({ migrationsList, filters }))).action
}

const historyOf = async ({ client }: Migrated) => {
  const { rows } = await client.query(
    `select id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' as has_id, checksum, migration_name, logs,
       applied_steps_count, finished_at >= started_at as is_finished, rolled_back_at >= started_at as is_rolled_back
     from _prisma_migrations order by started_at`,
  )
  return rows
}

it('Prisma and Annal create the same tables and the same migration history', async () => {
  expect(await applyMigrations(ours.url)).toEqual(await deploy(prismas.url))
  const schema = await schemaOf(ours)
  expect(schema).toContainEqual(expect.stringContaining('enqueue'))
  expect(schema).toEqual(await schemaOf(prismas))
  expect(await historyOf(ours)).toEqual(await historyOf(prismas))
})

it('Prisma and Annal find no pending migration and no drift after the other tool migrated', async () => {
  await applyMigrations(ours.url)
  await deploy(prismas.url)
  expect(await deploy(ours.url)).toEqual([])
  expect(await applyMigrations(prismas.url)).toEqual([])
  expect(await status(ours.url)).toEqual({
    history: null,
    failedMigrationNames: [],
    editedMigrationNames: [],
    hasMigrationsTable: true,
  })
  expect(await nextOfPrisma(ours.url)).toEqual({ tag: 'createMigration' })
  await ours.client.query('alter table assets add column drifted text')
  expect(await nextOfPrisma(ours.url)).toMatchObject({ tag: 'reset', reason: expect.stringContaining('drifted') })
})

it('Prisma and Annal continue where the other tool stopped', async () => {
  await writeMigration('20270101000000_first', 'create table first_words (word text);')
  await applyMigrations(ours.url, folder)
  await deploy(prismas.url, folder)
  await writeMigration('20270102000000_second', 'create table second_words (word text) -- the end')
  expect(await deploy(ours.url, folder)).toEqual(['20270102000000_second'])
  expect(await applyMigrations(prismas.url, folder)).toEqual(['20270102000000_second'])
  expect(await historyOf(ours)).toEqual(await historyOf(prismas))
})

it('Prisma and Annal reject a database with foreign tables', async () => {
  await writeMigration('20270101000000_first', 'create table first_words (word text);')
  for (const { client } of [ours, prismas]) await client.query('create table others (word text)')
  await expect(applyMigrations(ours.url, folder)).rejects.toThrow(/a separate database/)
  await expect(deploy(prismas.url, folder)).rejects.toThrow(/not empty/)
  expect(await schemaOf(ours)).toEqual(await schemaOf(prismas))
})
