/** Applies missing migrations and records them in Prisma's table `_prisma_migrations`, as Prisma does. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { installJobs } from '../jobs/jobs.ts'
import { FixableError } from '../shared/operator-errors.ts'
import { DatabaseClient } from './database-client.ts'
import { assertSettings, MIGRATION_LOCK, timeouts } from './session-settings.ts'

/** Idle time after which the server ends the session that holds the migration lock, in milliseconds. */
const SILENCE_MS = 20_000

/** SQLSTATEs of a session that the server ended because it was idle, and of a missing privilege. */
const [IDLE_SESSION_TIMEOUT, INSUFFICIENT_PRIVILEGE] = ['57P05', '42501']

const codeOf = (error: unknown) => (error as { code?: string } | undefined)?.code

function explainRights(error: unknown): unknown {
  const isMissing = (each: unknown) => codeOf(each) === INSUFFICIENT_PRIVILEGE
  if (!(error instanceof Error) || !(isMissing(error) || isMissing(error.cause))) return error
  return new FixableError(
    `The database role of Annal lacks a privilege: ${error.message}.`,
    'Make the role the owner of the database and its objects (ALTER DATABASE … OWNER TO …), or run `annal migrate` as the owner first.',
    { cause: error },
  )
}

export const migrationsFolder = fileURLToPath(new URL('../../prisma/migrations', import.meta.url))

interface Migration {
  /** Folder name: `<time>_<verb>_<noun>`. */
  name: string
  script: string
  /** SHA-256 of the script in hexadecimal. Prisma and Annal use it to detect an edited migration. */
  checksum: string
}

export const readMigrations = async (folder: string): Promise<Migration[]> => {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  const reading = names.sort().map(async (name) => {
    const script = await readFile(join(folder, name, 'migration.sql'), 'utf8')
    return { name, script, checksum: createHash('sha256').update(script).digest('hex') }
  })
  return await Promise.all(reading)
}

interface AppliedRow {
  name: string
  checksum: string
  /** Null if the migration was interrupted. */
  finishedAt: Date | null
}

const hasHistory = `to_regclass('_prisma_migrations') IS NOT NULL`

/** The same definition as that of Prisma's engine. */
const createHistory = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id                  VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum            VARCHAR(64) NOT NULL,
    finished_at         TIMESTAMPTZ,
    migration_name      VARCHAR(255) NOT NULL,
    logs                TEXT,
    rolled_back_at      TIMESTAMPTZ,
    started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`

/** Marks interrupted migrations as rolled back. Their transactions left no changes in the database. */
const rollBackUnfinished = `
  UPDATE _prisma_migrations SET rolled_back_at = now() WHERE finished_at IS NULL AND rolled_back_at IS NULL`

/** Records a migration in the script's transaction, so that a killed process leaves neither changes nor record. */
const recordSql = ({ name, checksum }: Migration) => `
  INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
  VALUES (gen_random_uuid(), '${checksum}', ${pg.escapeLiteral(name)}, clock_timestamp(), 1)`

const readApplied = async (client: pg.Client): Promise<AppliedRow[]> => {
  const table = await client.query(`SELECT WHERE ${hasHistory}`)
  if (table.rowCount === 0) return []
  const { rows } = await client.query<AppliedRow>(
    `SELECT migration_name AS name, checksum, finished_at AS "finishedAt"
       FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY name`,
  )
  return rows
}

/** Names of the migrations before the first release. They were replaced by one initial migration. */
const PRE_RELEASE = /^2026112[1-6]\d{6}_/
/** Last Git commit that has the migrations of `PRE_RELEASE`. */
const PRE_RELEASE_COMMIT = '9b0c61da'

const assertKnown = (applied: readonly AppliedRow[], migrations: readonly Migration[]): void => {
  const unknown = applied.filter((row) => !migrations.some(({ name }) => name === row.name))
  if (unknown.length === 0) return
  if (unknown.some(({ name }) => PRE_RELEASE.test(name))) {
    throw new FixableError(
      `The database was created by a development version of Annal before the first release, and cannot be upgraded.`,
      `Start with an empty database or data folder, or check out Git commit ${PRE_RELEASE_COMMIT} to keep using the old one.`,
    )
  }
  throw new FixableError(
    `The database was migrated by a newer version of Annal (${unknown.map(({ name }) => name).join(', ')}).`,
    'Run the newer version, or restore a backup that is older than the migration.',
  )
}

const findMissing = async (client: pg.Client, migrations: Migration[]): Promise<Migration[]> => {
  const applied = await readApplied(client)
  assertKnown(applied, migrations)
  return migrations.filter(({ name, checksum }) => {
    const row = applied.find((each) => each.name === name && each.finishedAt)
    if (row && row.checksum !== checksum) {
      throw new FixableError(
        `The migration ${name} was edited after it was applied to this database.`,
        'Restore its file, and write a new migration for the change.',
      )
    }
    return row === undefined
  })
}

/** Creates the history table. Throws if the database contains tables of another application. */
const openHistory = async (client: pg.Client): Promise<void> => {
  const foreign = `SELECT FROM pg_tables WHERE schemaname = current_schema() AND NOT ${hasHistory} LIMIT 1`
  if ((await client.query(foreign)).rowCount) {
    throw new FixableError('The database contains tables of another application.', 'Use a separate database for Annal.')
  }
  await client.query(createHistory)
  await client.query(rollBackUnfinished)
}

/**
 * Waits without a timeout until no other process migrates. Returns a function that runs a script in one transaction. A
 * session lock lives as long as its connection, even while its process is frozen. The server therefore ends silent
 * sessions. Scripts run in the session that holds the lock, so a process that resumes later cannot change anything.
 */
const acquireMigrationLock = async (client: pg.Client, silence: number) => {
  // A running script and a wait for the lock do not count as idle.
  await client.query(`SET idle_session_timeout = ${silence}`)
  for (const name of timeouts) await client.query(`SET ${name} = 0`)
  await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK])
  let isLost = false
  client.on('error', (error) => {
    isLost ||= codeOf(error) === IDLE_SESSION_TIMEOUT
  })
  // The script is one message. The server runs it completely or not at all, even if this process dies.
  return (script: string) =>
    client.query(script).catch((error: Error) => {
      const isOver = isLost || codeOf(error) === IDLE_SESSION_TIMEOUT
      throw isOver ? new Error('Another process took over the migration.', { cause: error }) : error
    })
}

const applyMissing = async (client: pg.Client, migrations: Migration[], silence: number): Promise<string[]> => {
  const run = await acquireMigrationLock(client, silence)
  const missing = await findMissing(client, migrations)
  if (missing.length === 0) return []
  await openHistory(client)
  for (const migration of missing) {
    await run(`${migration.script}\n;${recordSql(migration)}`).catch((cause: Error) => {
      throw new Error(`The migration ${migration.name} failed and was rolled back: ${cause.message}`, { cause })
    })
  }
  // Without table statistics, query plans are slow until autovacuum runs.
  await client.query('ANALYZE')
  return missing.map(({ name }) => name)
}

const withClient = async <T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new DatabaseClient({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 })
  await client.connect()
  try {
    await assertSettings(client)
    return await work(client)
  } catch (error) {
    throw explainRights(error)
  } finally {
    await client.end()
  }
}

/**
 * Applies missing migrations in the order of their names, each in one transaction. Returns their names. If several
 * processes start together, one applies the migrations and the others wait.
 *
 * Throws if a migration fails or was edited, if the tables belong to another application, or if another process took
 * over after `silence` milliseconds of inactivity. Throws the errors of `assertSettings`.
 */
export const applyMigrations = async (databaseUrl: string, folder = migrationsFolder, silence = SILENCE_MS) => {
  const migrations = await readMigrations(folder)
  return await withClient(databaseUrl, async (client) => {
    // Usually no migration is missing, and the process need not wait for the lock.
    const missing = await findMissing(client, migrations)
    return missing.length === 0 ? [] : await applyMissing(client, migrations, silence)
  })
}

export const assertMigrated = async (databaseUrl: string, folder = migrationsFolder): Promise<void> => {
  const migrations = await readMigrations(folder)
  const missing = await withClient(databaseUrl, (client) => findMissing(client, migrations))
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name).join(', ')
  throw new FixableError(
    `The database lacks migrations (${names}).`,
    'Create a backup, then start the service of this version or run `annal migrate`.',
  )
}

export const readMigrationStatus = async (databaseUrl: string) => {
  const migrations = await readMigrations(migrationsFolder)
  return await withClient(databaseUrl, async (client) => ({
    pending: (await findMissing(client, migrations)).map(({ name }) => name),
    applied: (await readApplied(client)).flatMap(({ name, finishedAt }) =>
      finishedAt ? [{ name, appliedAt: finishedAt }] : [],
    ),
  }))
}

/** Creates or updates all tables, including those of the job queue. Returns and throws like `applyMigrations`. */
export async function prepareDatabase(databaseUrl: string): Promise<string[]> {
  const applied = await applyMigrations(databaseUrl)
  await installJobs(databaseUrl).catch((error: unknown) => {
    throw explainRights(error)
  })
  return applied
}
