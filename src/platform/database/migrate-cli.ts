/** `npm run migrate` applies the migrations; `npm run migrate:new -- <name>` writes the next one from schema.prisma. */
import { readConfig } from '../../config.ts'
import type { Log } from '../../domain/ports.ts'
import { startEmbeddedPostgres } from '../embedded/embedded-postgres.ts'
import { createLog } from '../log.ts'
import { createMigration } from './migrations.ts'
import { prepareDatabase } from './prepare-database.ts'

const usage = 'Usage: npm run migrate, or npm run migrate:new -- <verb_noun>\n'

interface MigrateOptions {
  /** The database; without it the embedded one of `dir`, which is started when it does not run. */
  databaseUrl?: string
  dir: string
  log: Log
}

const withDatabase = async <T>({ databaseUrl, dir, log }: MigrateOptions, work: (url: string) => Promise<T>) => {
  if (databaseUrl) return await work(databaseUrl)
  const embedded = await startEmbeddedPostgres({ dir, log })
  try {
    return await work(embedded.url)
  } finally {
    await embedded.stop()
  }
}

/** Carries out the arguments and returns what to tell the operator. */
export const migrate = async (options: MigrateOptions, [command, name]: string[]): Promise<string> => {
  if (command === 'new' && name) {
    const file = await withDatabase(options, (url) => createMigration(url, name))
    return `Wrote ${file}. Read it, complete it, and apply it with npm run migrate.\n`
  }
  if (command !== undefined) throw new Error(usage)
  const applied = await withDatabase(options, prepareDatabase)
  return applied.length === 0 ? 'Nothing to apply.\n' : `Applied ${applied.join(', ')}.\n`
}

if (import.meta.main) {
  try {
    const config = readConfig()
    const options = { databaseUrl: config.database.url, dir: config.dir, log: createLog(config.logLevel) }
    process.stdout.write(await migrate(options, process.argv.slice(2)))
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}
