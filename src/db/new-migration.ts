/** Development tool: `npm run migrate:new -- <verb_noun>` writes a migration for the changes in schema.prisma. */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DiffTarget, MigrationList } from '@prisma/schema-engine-wasm'
import { readConfig } from '../config.ts'
import { startEmbeddedPostgres } from '../embedded/embedded-postgres.ts'
import { createLog } from '../telemetry/log.ts'
import { migrationsFolder, readMigrations } from './migrations.ts'
import { withSchemaEngine } from './schema-engine.ts'

const schemaFile = fileURLToPath(new URL('../../prisma/schema.prisma', import.meta.url))

/** Returns a folder of migrations in the format of Prisma's engine. */
export const listMigrations = async (folder = migrationsFolder): Promise<MigrationList> => ({
  baseDir: folder,
  lockfile: { path: 'migration_lock.toml', content: await readFile(join(folder, 'migration_lock.toml'), 'utf8') },
  shadowDbInitScript: '',
  migrationDirectories: (await readMigrations(folder)).map(({ name, script }) => ({
    path: name,
    migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: script } },
  })),
})

/**
 * Returns the SQL that leads from the migrations to `schema.prisma`, or an empty string if they match. Creates a
 * temporary database on the server, so the user of `databaseUrl` needs the right to create one.
 */
export const diffMigrations = async (databaseUrl: string, folder = migrationsFolder): Promise<string> => {
  const from: DiffTarget = { tag: 'migrations', ...(await listMigrations(folder)) }
  const files = [{ path: schemaFile, content: await readFile(schemaFile, 'utf8') }]
  const to: DiffTarget = { tag: 'schemaDatamodel', files }
  const filters = { externalTables: [], externalEnums: [] }
  const { stdout } = await withSchemaEngine(databaseUrl, (engine) =>
    engine.diff({ from, to, script: true, exitCode: null, filters }),
  )
  const script = stdout?.trim() ?? ''
  return script === '-- This is an empty migration.' ? '' : script
}

/**
 * Writes a new migration folder with the SQL of `diffMigrations`, or an empty script if nothing differs. `name` is
 * `verb_noun`. Returns the path of its `migration.sql`. Does not apply it.
 */
export const createMigration = async (databaseUrl: string, name: string, migrations = migrationsFolder) => {
  if (!/^[a-z][a-z0-9_]{2,60}$/.test(name)) {
    throw new Error(`"${name}" is not a valid name for a migration. Use lower case and underscores, as in add_orders.`)
  }
  const script = await diffMigrations(databaseUrl, migrations)
  const time = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
  const folder = join(migrations, `${time}_${name}`)
  const file = join(folder, 'migration.sql')
  await mkdir(folder)
  await writeFile(file, script === '' ? '-- Write the migration here: it runs as one transaction.\n' : `${script}\n`)
  return file
}

async function run(name: string | undefined): Promise<string> {
  if (!name) throw new Error('Usage: npm run migrate:new -- <verb_noun>')
  const { database, dir, logLevel } = readConfig()
  const embedded = database.directUrl ? undefined : await startEmbeddedPostgres({ dir, log: createLog(logLevel) })
  try {
    const file = await createMigration(database.directUrl ?? embedded!.url, name)
    return `Wrote ${file}. Read it, complete it, and apply it with npm run annal -- migrate.`
  } finally {
    await embedded?.stop()
  }
}

if (import.meta.main) {
  try {
    process.stdout.write(`${await run(process.argv[2])}\n`)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}
