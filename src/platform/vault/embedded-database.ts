import type { Log } from '../../domain/ports/log.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../embedded/embedded-postgres.ts'
import { closeFolders } from '../private-folders.ts'
import { assertClusterNotLost } from './lost-database.ts'

/** Starts the embedded database of the installation in `dir`, or joins it. Raises as `closeFolders` and `assertClusterNotLost` do, and what the start raises. */
export async function startEmbeddedDatabase(dir: string, log: Log): Promise<EmbeddedPostgres> {
  await closeFolders(dir)
  await assertClusterNotLost(dir)
  return startEmbeddedPostgres({ dir, log })
}
