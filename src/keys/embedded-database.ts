import { type EmbeddedPostgres, startEmbeddedPostgres } from '../embedded/embedded-postgres.ts'
import type { Log } from '../shared/log.ts'
import { makePrivateFolders } from '../shared/private-files.ts'
import { assertClusterNotLost } from './lost-database.ts'

/** Starts the embedded database of the installation in `dir`. Throws as `makePrivateFolders`, `assertClusterNotLost` and `startEmbeddedPostgres` do. */
export async function startEmbeddedDatabase(dir: string, log: Log, isService = false): Promise<EmbeddedPostgres> {
  await makePrivateFolders(dir)
  await assertClusterNotLost(dir)
  return startEmbeddedPostgres({ dir, log, isService })
}
