/** Development tool: `npm run migrate:new -- <verb_noun>` writes a migration for the changes in schema.prisma. */
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlQuery,
} from '@prisma/driver-adapter-utils'
import { type DiffTarget, type MigrationList, SchemaEngine } from '@prisma/schema-engine-wasm'
import type pg from 'pg'
import { readConfig } from '../config.ts'
import { startEmbeddedPostgres } from '../embedded/embedded-postgres.ts'
import { createLog } from '../telemetry/log.ts'
import { createPool, DatabaseClient } from './database-client.ts'
import { migrationsFolder, readMigrations } from './migrations.ts'

const schemaFile = fileURLToPath(new URL('../../prisma/schema.prisma', import.meta.url))

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
  const options = { from, to, script: true, exitCode: null, filters: { externalTables: [], externalEnums: [] } }
  const { stdout } = await withSchemaEngine(databaseUrl, (engine) => engine.diff(options))
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

/**
 * Type IDs of PostgreSQL's one-byte "char" and of its array. The adapter knows only the array, and the engine expects
 * a character. No catalog query of the engine returns an array of "char".
 */
const CATALOG_CHAR = 18
const CATALOG_CHAR_ARRAY = 1002
const { Character, CharacterArray } = ColumnTypeEnum

/**
 * Connects with a single connection, because the engine's lock belongs to a session. PostgreSQL gets a script in one
 * message. The adapter would split it at every semicolon, even inside a function body.
 */
async function connect(url: string, afterDispose?: () => Promise<void>): Promise<SqlDriverAdapter> {
  const pool = createPool({ connectionString: url, max: 1, connectionTimeoutMillis: 5_000 })
  // Errors of idle connections are ignored, because the pool replaces lost connections.
  pool.on('error', () => undefined)
  const query = pool.query.bind(pool)
  const readable = Object.assign(pool, {
    query: async (config: pg.QueryConfig) => {
      const result = await query(config)
      for (const field of result.fields) if (field.dataTypeID === CATALOG_CHAR) field.dataTypeID = CATALOG_CHAR_ARRAY
      return result
    },
  })
  const adapter = await new PrismaPg(readable).connect()
  const queryRaw = adapter.queryRaw.bind(adapter)
  let disposing: Promise<void> | undefined
  return Object.assign(adapter, {
    queryRaw: async (sql: SqlQuery) => {
      const result = await queryRaw(sql)
      return { ...result, columnTypes: result.columnTypes.map((type) => (type === CharacterArray ? Character : type)) }
    },
    executeScript: async (script: string) => void (await query(script)),
    // The engine leaves some adapters open. `withSchemaEngine` closes all of them.
    dispose: () => (disposing ??= pool.end().then(afterDispose)),
  })
}

/** Connects to a new shadow database. The adapter's own method would connect to the database of the URL instead. */
async function connectToShadow(url: string): Promise<SqlDriverAdapter> {
  const name = `annal_shadow_${randomUUID().replaceAll('-', '')}`
  const administer = async (sql: string) => {
    const client = new DatabaseClient({ connectionString: url, connectionTimeoutMillis: 5_000 })
    await client.connect()
    await client.query(sql).finally(() => client.end())
  }
  await administer(`CREATE DATABASE ${name}`)
  const shadow = new URL(url)
  shadow.pathname = `/${name}`
  return await connect(shadow.href, () => administer(`DROP DATABASE ${name} WITH (FORCE)`))
}

/** Runs `work` with an engine for the database. Throws the engine's message as an Error. */
export async function withSchemaEngine<T>(databaseUrl: string, work: (engine: SchemaEngine) => Promise<T>) {
  const open: Promise<SqlDriverAdapter>[] = []
  const track = (connecting: Promise<SqlDriverAdapter>) => {
    open.push(connecting)
    return connecting
  }
  const factory = bindMigrationAwareSqlAdapterFactory({
    provider: 'postgres',
    adapterName: '@prisma/adapter-pg',
    connect: () => track(connect(databaseUrl)),
    connectToShadowDb: () => track(connectToShadow(databaseUrl)),
  })
  const engine = await SchemaEngine.new({ datamodels: undefined }, () => undefined, factory)
  try {
    return await work(engine)
  } finally {
    engine.free()
    for (const result of await Promise.allSettled(open)) if (result.status === 'fulfilled') await result.value.dispose()
  }
}

if (import.meta.main) {
  const [name] = process.argv.slice(2)
  if (!name) throw new Error('Usage: npm run migrate:new -- <verb_noun>')
  const { database, dir, logLevel } = readConfig()
  const embedded = database.directUrl ? undefined : await startEmbeddedPostgres({ dir, log: createLog(logLevel) })
  try {
    const file = await createMigration(database.directUrl ?? embedded!.url, name)
    process.stdout.write(`Wrote ${file}. Read it, complete it, and apply it with npm run annal -- migrate.\n`)
  } finally {
    await embedded?.stop()
  }
}
