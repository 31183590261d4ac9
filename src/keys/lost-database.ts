/** Detects an empty database next to keys of accounts: a misspelled database name, or an unfinished restore. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readMigrationStatus } from '../db/migrations.ts'
import type { EmbeddedPostgres } from '../embedded/embedded-postgres.ts'
import type { Log } from '../shared/log.ts'
import { FixableError } from '../shared/operator-errors.ts'
import { makePrivateFolders } from '../shared/private-files.ts'
import { openKeyShares } from './key-vault.ts'

async function hasKeyShares(dir: string): Promise<boolean> {
  for await (const _owner of openKeyShares(dir).owners()) return true
  return false
}

const lost = (dir: string, finding: string, fix: string) =>
  new FixableError(
    `${finding}, but ${join(dir, 'keys')} holds keys of accounts.`,
    `${fix} For a new installation set ANNAL_DIR to another folder.`,
  )

/** Throws a FixableError if the embedded database in `dir` is missing but keys of its accounts exist. */
export async function assertClusterNotLost(dir: string): Promise<void> {
  const folder = join(dir, 'postgres')
  if (existsSync(join(folder, 'PG_VERSION')) || !(await hasKeyShares(dir))) return
  if (!existsSync(folder)) throw lost(dir, `${folder} is missing`, 'Restore it from the backup.')
  throw lost(dir, `${folder} is empty`, 'Mount it, or restore it from the backup.')
}

/** Throws a FixableError if the database was never migrated but keys of accounts exist in `dir`. */
export async function assertDatabaseNotLost(databaseUrl: string, dir: string): Promise<void> {
  if (!(await hasKeyShares(dir)) || (await readMigrationStatus(databaseUrl)).applied.length > 0) return
  throw lost(
    dir,
    'The database is empty',
    'Set DATABASE_URL to the database of the accounts, or restore it from the backup.',
  )
}

/** Starts the embedded database of the installation in `dir`. Throws the errors of `makePrivateFolders`, `assertClusterNotLost` and `startEmbeddedPostgres`. */
export async function startEmbeddedDatabase(dir: string, log: Log, isService = false): Promise<EmbeddedPostgres> {
  await makePrivateFolders(dir)
  await assertClusterNotLost(dir)
  const { startEmbeddedPostgres } = await import('../embedded/embedded-postgres.ts')
  return startEmbeddedPostgres({ dir, log, isService })
}
