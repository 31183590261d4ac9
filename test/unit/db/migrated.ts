/** Databases for the tests of migrations. */
import { cp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { SchemaEngine } from '@prisma/schema-engine-wasm'
import pg from 'pg'
import { listMigrations, withSchemaEngine } from '../../../src/db/new-migration.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

export const filters = { externalTables: [], externalEnums: [] }

export interface Migrated {
  url: string
  client: pg.Client
  close(): Promise<void>
}

export async function openEmptyDatabase(): Promise<Migrated> {
  const database: TestDatabase = await createTestDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query('drop schema public, jobs cascade; create schema public')
  return {
    url: database.url,
    client,
    async close() {
      await client.end()
      await database.drop()
    },
  }
}

export async function migrationsBefore(end: string, dir: string): Promise<string> {
  const folder = join(dir, end)
  await cp('prisma/migrations', folder, { recursive: true })
  const names = (await readdir(folder)).filter((name) => name >= end && name < 'a')
  await Promise.all(names.map((name) => rm(join(folder, name), { recursive: true })))
  return folder
}

export const deploy = async (url: string, migrations?: string) => {
  const migrationsList = await listMigrations(migrations)
  const apply = (engine: SchemaEngine) => engine.applyMigrations({ migrationsList, filters })
  return (await withSchemaEngine(url, apply)).appliedMigrationNames
}

export const schemaOf = async ({ client }: Migrated) => {
  const { rows } = await client.query<{ definition: string }>(
    `select format('%s.%s %s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid)) as definition
       from pg_attribute join pg_class c on c.oid = attrelid left join pg_attrdef on (adrelid, adnum) = (attrelid, attnum)
       where relnamespace = 'public'::regnamespace and attnum > 0
     union all select format('%s %s %s', relname, relpersistence, reloptions) from pg_class where relnamespace = 'public'::regnamespace
     union all select indexdef from pg_indexes where schemaname = 'public'
     union all select format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint where connamespace = 'public'::regnamespace
     union all select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
     union all select pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = tgrelid where relnamespace = 'public'::regnamespace and not tgisinternal
     union all select format('%s %s %s', enumtypid::regtype, enumsortorder, enumlabel) from pg_enum
     order by definition`,
  )
  return rows.map(({ definition }) => definition)
}
