/** Keeps a database equal to `prisma/schema.prisma`, by Prisma's engine, in Prisma's folders and table. */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DiffTarget, MigrationList, SchemasContainer } from '@prisma/schema-engine-wasm'
import pg from 'pg'
import { type MigrationLock, SILENCE, takeMigrationLock } from './migration-lock.ts'
import { withSchemaEngine } from './schema-engine.ts'

const schemaFile = fileURLToPath(new URL('../../../prisma/schema.prisma', import.meta.url))
export const migrationsFolder = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url))

/** Milliseconds. A migration itself, and waiting for another process that migrates and lives, takes as long as it takes. */
const CONNECT_TIMEOUT = 5_000

const noFilters = { externalTables: [], externalEnums: [] }

const readMigrations = async (folder: string): Promise<MigrationList> => {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  const directories = names.sort().map(async (path) => {
    const value = await readFile(join(folder, path, 'migration.sql'), 'utf8')
    return { path, migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value } } }
  })
  return {
    baseDir: folder,
    lockfile: {
      path: 'migration_lock.toml',
      content: await readFile(join(folder, 'migration_lock.toml'), 'utf8'),
    },
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(directories),
  }
}

const readSchema = async (): Promise<SchemasContainer> => ({
  files: [{ path: schemaFile, content: await readFile(schemaFile, 'utf8') }],
})

interface AppliedRow {
  name: string
  checksum: string
  finished: boolean
}

const readApplied = async (client: pg.Client): Promise<AppliedRow[]> => {
  const table = await client.query<{ found: boolean }>(`SELECT to_regclass('_prisma_migrations') IS NOT NULL AS found`)
  if (!table.rows[0]?.found) return []
  const { rows } = await client.query<AppliedRow>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
       FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
  )
  return rows
}

/**
 * Which migrations are missing, and which began and never ended. Raises when an applied one was edited since, and when one
 * is not known here: an older version would read and write tables that it does not understand.
 */
const compare = (applied: AppliedRow[], { migrationDirectories }: MigrationList) => {
  const unknown = applied.filter(({ name }) => !migrationDirectories.some(({ path }) => path === name))
  if (unknown.length > 0) {
    const names = unknown.map(({ name }) => name).join(', ')
    throw new Error(
      `The database was migrated by a newer version of Annal (${names}). Run that version, or restore a backup from before it.`,
    )
  }
  const missing = migrationDirectories.filter(({ path, migrationFile: { content } }) => {
    const row = applied.find(({ name, finished }) => name === path && finished)
    if (row && row.checksum !== createHash('sha256').update(content.value).digest('hex')) {
      throw new Error(
        `The migration ${path} was edited after it was applied to this database. Restore its file, and write a new migration for the change.`,
      )
    }
    return row === undefined
  })
  return { missing, unfinished: applied.filter(({ finished }) => !finished) }
}

/**
 * Joins a migration's transaction, so that it is either applied and marked so or neither, whenever we are killed. The
 * engine marks it too, in a later transaction.
 */
const markFinished = `\n;\nUPDATE _prisma_migrations SET finished_at = now() WHERE finished_at IS NULL AND rolled_back_at IS NULL`

/**
 * Applies what is missing, in the order of the folders' names, and returns the names. Safe when several processes start
 * at once: one applies, the others wait. A migration is one transaction: one that fails raises and leaves the database
 * as it was before, and the next call tries it again. Raises when an applied migration was edited, and when another process took
 * over because nothing was heard from this one for `silence` milliseconds.
 */
export const applyMigrations = async (
  databaseUrl: string,
  folder = migrationsFolder,
  silence = SILENCE,
): Promise<string[]> => {
  const migrationsList = await readMigrations(folder)
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_TIMEOUT })
  // A connection that is lost is found by the next statement.
  client.on('error', () => undefined)
  await client.connect()
  let lock: MigrationLock | undefined
  try {
    // The engine takes longer to start than all the rest, and mostly nothing is missing.
    if (compare(await readApplied(client), migrationsList).missing.length === 0) return []
    lock = await takeMigrationLock(client, silence)
    const { fence } = lock
    const { missing, unfinished } = compare(await readApplied(client), migrationsList)
    if (missing.length === 0) return []
    const names = new Map(missing.map(({ path, migrationFile }) => [migrationFile.content.value, path]))
    let failure: Error | undefined
    const { appliedMigrationNames } = await withSchemaEngine(
      databaseUrl,
      async (engine) => {
        for (const { name } of unfinished) await engine.markMigrationRolledBack({ migrationName: name })
        return await engine.applyMigrations({ migrationsList, filters: noFilters })
      },
      async (script, send) => {
        const name = names.get(script)
        if (name === undefined) return await send(script)
        return await send(fence + script + markFinished).catch((cause: Error) => {
          failure = new Error(`The migration ${name} failed and left nothing behind: ${cause.message}`, { cause })
          throw cause
        })
      },
      silence,
    ).catch((error: unknown) => {
      // The engine tells its own story of it, without PostgreSQL's sentence.
      throw failure ?? error
    })
    lock.release()
    // Plans for tables that were never analysed are slow ones, until autovacuum comes by.
    await client.query('ANALYZE')
    return appliedMigrationNames
  } finally {
    lock?.release()
    await client.end()
  }
}

/** Raises unless the database has exactly the migrations of this version. Changes nothing. */
export const assertMigrated = async (databaseUrl: string, folder = migrationsFolder): Promise<void> => {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_TIMEOUT })
  await client.connect()
  try {
    const { missing } = compare(await readApplied(client), await readMigrations(folder))
    if (missing.length === 0) return
    const names = missing.map(({ path }) => path).join(', ')
    throw new Error(`The database lacks migrations (${names}). Start the server, or run npm run migrate.`)
  } finally {
    await client.end()
  }
}

/**
 * The SQL that leads from the migrations to `schema.prisma`; empty when they are equal. Works in a temporary database
 * on the server of `databaseUrl`, whose user must be allowed to create one.
 */
export const diffMigrations = async (databaseUrl: string, folder = migrationsFolder): Promise<string> => {
  const from: DiffTarget = { tag: 'migrations', ...(await readMigrations(folder)) }
  const to: DiffTarget = { tag: 'schemaDatamodel', ...(await readSchema()) }
  const { stdout } = await withSchemaEngine(databaseUrl, (engine) =>
    engine.diff({ from, to, script: true, exitCode: null, filters: noFilters }),
  )
  const script = stdout?.trim() ?? ''
  return script === '-- This is an empty migration.' ? '' : script
}

/**
 * Writes a new migration folder from what `diffMigrations` says; an empty one to fill by hand when nothing differs.
 * `name` is `verb_noun`. Returns the path of its `migration.sql`. Applies nothing.
 */
export const createMigration = async (
  databaseUrl: string,
  name: string,
  migrations = migrationsFolder,
): Promise<string> => {
  if (!/^[a-z][a-z0-9_]{2,60}$/.test(name)) {
    throw new Error(`"${name}" is no name for a migration. Use lower case and underscores, as in add_orders.`)
  }
  const script = await diffMigrations(databaseUrl, migrations)
  const time = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
  const folder = join(migrations, `${time}_${name}`)
  const file = join(folder, 'migration.sql')
  await mkdir(folder)
  await writeFile(file, script === '' ? '-- Write the migration here: it runs as one transaction.\n' : `${script}\n`)
  return file
}
