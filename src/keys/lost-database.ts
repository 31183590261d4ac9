/** An empty database beside keys of accounts is not theirs: a name with a slip in it, or a restore that is not done yet. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readMigrationStatus } from '../db/migrations.ts'
import { FixableError } from '../shared/operator-errors.ts'
import { createKeyShares } from './key-shares.ts'

async function holdsKeyShares(dir: string): Promise<boolean> {
  const keysDir = join(dir, 'keys')
  const keyShares = createKeyShares({ dir: join(keysDir, 'counterparts'), deletedDir: join(keysDir, 'deleted') })
  for await (const _owner of keyShares.owners()) return true
  return false
}

const lost = (dir: string, finding: string, fix: string) =>
  new FixableError(
    `${finding}, and ${join(dir, 'keys')} holds keys of accounts.`,
    `${fix} For a new installation set ANNAL_DIR to another folder.`,
  )

/** Raises a FixableError where the embedded database in `dir` is gone and the keys of its accounts are there. */
export async function assertClusterNotLost(dir: string): Promise<void> {
  const folder = join(dir, 'postgres')
  if (existsSync(join(folder, 'PG_VERSION')) || !(await holdsKeyShares(dir))) return
  if (!existsSync(folder)) throw lost(dir, `${folder} is missing`, 'Restore it from the backup.')
  throw lost(dir, `${folder} is empty`, 'Mount it, or restore it from the backup.')
}

/** Raises a FixableError where the database was never migrated and there are keys of accounts in `dir`. */
export async function assertDatabaseNotLost(databaseUrl: string, dir: string): Promise<void> {
  if (!(await holdsKeyShares(dir)) || (await readMigrationStatus(databaseUrl)).applied.length > 0) return
  throw lost(dir, 'The database is empty', 'Name that of the accounts in DATABASE_URL, or restore it from the backup.')
}
