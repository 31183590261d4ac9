/** Brings a database to this version: runs the migrations that it lacks, and remembers them in Prisma's table as Prisma does. */
import pg from 'pg'
import { FixableError } from '../fixable-error.ts'
import { DatabaseClient } from './database-client.ts'
import { explainRights } from './explain-rights.ts'
import { type Migration, migrationsFolder, readMigrations } from './migration-files.ts'
import { type MigrationLock, SILENCE_MS, takeMigrationLock } from './migration-lock.ts'
import { assertSettings } from './session-settings.ts'

/** Milliseconds. A migration itself, and waiting for another process that migrates and lives, takes as long as it takes. */
const CONNECT_TIMEOUT_MS = 5_000

interface AppliedRow {
  name: string
  checksum: string
  /** Null of one that was interrupted. */
  finishedAt: Date | null
}

const hasHistory = `to_regclass('_prisma_migrations') IS NOT NULL`

/** As Prisma's engine creates it. */
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

/** Of ours nothing is left of one that was interrupted; Prisma's engine remembers that it began. */
const giveUpUnfinished = `
  UPDATE _prisma_migrations SET rolled_back_at = now() WHERE finished_at IS NULL AND rolled_back_at IS NULL`

/** Joins the script's transaction: a migration is applied and remembered or neither, whenever we are killed. */
const rememberSql = ({ name, checksum }: Migration) => `
  INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
  VALUES (gen_random_uuid(), '${checksum}', ${pg.escapeLiteral(name)}, clock_timestamp(), 1)`

const readApplied = async (client: pg.Client): Promise<AppliedRow[]> => {
  const table = await client.query<{ isThere: boolean }>(`SELECT ${hasHistory} AS "isThere"`)
  if (!table.rows[0]?.isThere) return []
  const { rows } = await client.query<AppliedRow>(
    `SELECT migration_name AS name, checksum, finished_at AS "finishedAt"
       FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY name`,
  )
  return rows
}

/**
 * The migrations that the database lacks. Raises when an applied one was edited since, and when one is not known here: an
 * older version would read and write tables that it does not understand.
 */
const findMissing = async (client: pg.Client, migrations: Migration[]): Promise<Migration[]> => {
  const applied = await readApplied(client)
  const unknown = applied.filter((row) => !migrations.some(({ name }) => name === row.name))
  if (unknown.length > 0) {
    const names = unknown.map(({ name }) => name).join(', ')
    throw new FixableError(
      `The database was migrated by a newer version of Annal (${names}).`,
      'Run that version, or restore a backup from before it.',
    )
  }
  return migrations.filter(({ name, checksum, earlierChecksum }) => {
    const row = applied.find((each) => each.name === name && each.finishedAt)
    if (row && row.checksum !== checksum && row.checksum !== earlierChecksum) {
      throw new FixableError(
        `The migration ${name} was edited after it was applied to this database.`,
        'Restore its file, and write a new migration for the change.',
      )
    }
    return row === undefined
  })
}

/** Raises when somebody else's tables stand where ours are to be made. */
const openHistory = async (client: pg.Client): Promise<void> => {
  const { rows } = await client.query<{ isForeign: boolean }>(
    `SELECT NOT ${hasHistory} AND EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema()) AS "isForeign"`,
  )
  if (rows[0]?.isForeign) {
    throw new FixableError('The database holds tables that are not of Annal.', 'Give Annal a database of its own.')
  }
  await client.query(createHistory)
  await client.query(giveUpUnfinished)
}

/** Prisma's engine knows no other checksum than that of the script. */
const forgetEarlierChecksums = async (client: pg.Client, migrations: Migration[]): Promise<void> => {
  for (const { name, checksum, earlierChecksum } of migrations) {
    if (earlierChecksum === undefined) continue
    await client.query('UPDATE _prisma_migrations SET checksum = $1 WHERE migration_name = $2 AND checksum = $3', [
      ...[checksum, name, earlierChecksum],
    ])
  }
}

const applyOne = async (lock: MigrationLock, migration: Migration): Promise<void> => {
  const { preparation } = migration
  if (preparation !== undefined) while ((await lock.run(preparation)).rows[0]?.has_more);
  await lock.run(`${migration.script}\n;${rememberSql(migration)}`)
}

const applyMissing = async (client: pg.Client, migrations: Migration[], silence: number): Promise<string[]> => {
  const lock = await takeMigrationLock(client, silence)
  const missing = await findMissing(client, migrations)
  if (missing.length === 0) return []
  await openHistory(client)
  for (const migration of missing) {
    await applyOne(lock, migration).catch((cause: Error) => {
      throw new Error(`The migration ${migration.name} failed and left nothing behind: ${cause.message}`, { cause })
    })
  }
  await forgetEarlierChecksums(client, migrations)
  // Plans for tables that were never analysed are slow ones, until autovacuum comes by.
  await client.query('ANALYZE')
  return missing.map(({ name }) => name)
}

const withClient = async <T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new DatabaseClient({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  // A connection that is lost is found by the next statement.
  client.on('error', () => undefined)
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
 * Applies what is missing, in the order of the folders' names, and returns the names. Safe when several processes start
 * at once: one applies, the others wait. A migration is one transaction: one that fails raises and leaves the database
 * as it was before, and the next call tries it again. Raises when an applied migration was edited, when the tables are somebody
 * else's, when another process took over because nothing was heard from this one for `silence` milliseconds, and as `assertSettings` does.
 */
export const applyMigrations = async (
  databaseUrl: string,
  folder = migrationsFolder,
  silence = SILENCE_MS,
): Promise<string[]> => {
  const migrations = await readMigrations(folder)
  return await withClient(databaseUrl, async (client) => {
    // Mostly nothing is missing, and nobody has to wait.
    const missing = await findMissing(client, migrations)
    return missing.length === 0 ? [] : await applyMissing(client, migrations, silence)
  })
}

/** Raises unless the database has exactly the migrations of this version. Changes nothing. */
export const assertMigrated = async (databaseUrl: string, folder = migrationsFolder): Promise<void> => {
  const migrations = await readMigrations(folder)
  const missing = await withClient(databaseUrl, (client) => findMissing(client, migrations))
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name).join(', ')
  throw new FixableError(
    `The database lacks migrations (${names}).`,
    'Start the server of this version, or carry out `annal migrate`; back up first.',
  )
}

/** Which migrations a database has, and lacks. */
export interface MigrationStatus {
  applied: { name: string; appliedAt: Date }[]
  pending: string[]
  /** How far the one is that is being prepared; null when none is. */
  progress: { name: string; done: number; total: number } | null
}

/** PostgreSQL's code for a table that is not there. */
const UNDEFINED_TABLE = '42P01'

const readProgress = async (client: pg.Client): Promise<MigrationStatus['progress']> => {
  try {
    const { rows } = await client.query<NonNullable<MigrationStatus['progress']>>(
      'SELECT migration AS name, done::float, greatest(done, total)::float AS total FROM migration_progress',
    )
    return rows[0] ?? null
  } catch (error) {
    if ((error as { code?: string }).code === UNDEFINED_TABLE) return null
    throw error
  }
}

/** Tells which migrations the database has, and which of this version it lacks. Changes nothing. Raises as `applyMigrations` does. */
export const readMigrationStatus = async (databaseUrl: string, folder = migrationsFolder): Promise<MigrationStatus> => {
  const migrations = await readMigrations(folder)
  return await withClient(databaseUrl, async (client) => ({
    pending: (await findMissing(client, migrations)).map(({ name }) => name),
    applied: (await readApplied(client)).flatMap(({ name, finishedAt }) =>
      finishedAt ? [{ name, appliedAt: finishedAt }] : [],
    ),
    progress: await readProgress(client),
  }))
}
