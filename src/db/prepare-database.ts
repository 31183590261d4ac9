import { installJobs } from '../jobs/jobs.ts'
import { explainRights } from './explain-rights.ts'
import { applyMigrations } from './migrations.ts'

/**
 * Makes or updates all tables: ours, and those of the job queue. Returns the migrations that were applied. Safe when several
 * processes start at once: one does it, the others wait. Raises as `applyMigrations` does.
 */
export async function prepareDatabase(databaseUrl: string): Promise<string[]> {
  const applied = await applyMigrations(databaseUrl)
  await installJobs(databaseUrl).catch((error: unknown) => {
    throw explainRights(error)
  })
  return applied
}
