import { type EmbeddedPostgres, startEmbeddedPostgres } from '../embedded/embedded-postgres.ts'
import type { Log } from '../shared/log.ts'
import { closeFolders } from '../shared/private-folders.ts'
import { assertClusterNotLost } from './lost-database.ts'

/** Starts the embedded database of the installation in `dir`. Throws as `closeFolders`, `assertClusterNotLost` and `startEmbeddedPostgres` do. */
export async function startEmbeddedDatabase(dir: string, log: Log, isService = false): Promise<EmbeddedPostgres> {
  await closeFolders(dir)
  await assertClusterNotLost(dir)
  return startEmbeddedPostgres({ dir, log, isService })
}
