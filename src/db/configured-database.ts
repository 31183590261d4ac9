/** What the commands of developers and operators on the database's tables have in common. */
import { readConfig } from '../config.ts'
import { startEmbeddedPostgres } from '../embedded/embedded-postgres.ts'
import { createLog } from '../telemetry/log.ts'

/** Works on the database of the configuration, or on the embedded one, which is started when it does not run. */
async function withConfiguredDatabase<T>(work: (databaseUrl: string) => Promise<T>): Promise<T> {
  const { database, dir, logLevel } = readConfig()
  if (database.directUrl) return await work(database.directUrl)
  const embedded = await startEmbeddedPostgres({ dir, log: createLog(logLevel) })
  try {
    return await work(embedded.localUrl)
  } finally {
    await embedded.stop()
  }
}

/** Carries out a command on the database and tells what it answers. What it raises is told, too, and ends the process with 1. */
export async function runOnDatabase(command: (databaseUrl: string) => Promise<string>): Promise<void> {
  try {
    process.stdout.write(`${await withConfiguredDatabase(command)}\n`)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}
