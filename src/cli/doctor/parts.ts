/** What checks look at, each opened when it is first asked for: what cannot be had keeps no other check from being made. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import type { ConnectedDatabase } from '../../db/database.ts'
import type { Log } from '../../shared/log.ts'
import { SkippedError } from './diagnosis.ts'

/** What an installation is examined by. */
export interface Parts {
  /** This version of Annal. */
  readonly version: string
  /** Variables as they are set; undefined: the process's. */
  readonly env: NodeJS.ProcessEnv | undefined
  /** Raises ConfigError. */
  readConfig(): Promise<Config>
  /** Raises SkippedError where the configuration is wrong. */
  config(): Promise<Config>
  /** Where the database is, past any pooler. Raises SkippedError where there is none yet, and what the embedded server's start raises. */
  openDatabaseUrl(): Promise<string>
  /** The database with its address. Raises SkippedError where there is none, it does not answer, or it is not migrated. */
  database(): Promise<{ database: ConnectedDatabase; url: string }>
  /** Gives everything up that was opened. */
  close(): Promise<void>
}

/** No line of the log belongs between the doctor's. */
const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Parts of the installation that `env` configures. Opens nothing yet, and makes nothing that is not there. */
export function createParts(env: NodeJS.ProcessEnv | undefined, version: string): Parts {
  const closings: (() => Promise<unknown>)[] = []

  const readConfig = once(async () => (await import('../../config.ts')).readConfig(env))
  const config = () =>
    readConfig().catch(() => {
      throw new SkippedError('The configuration is wrong.')
    })

  const openDatabaseUrl = once(async () => {
    const { database, dir } = await config()
    if (database.directUrl !== undefined) return database.directUrl
    const { assertClusterNotLost } = await import('../../keys/lost-database.ts')
    await assertClusterNotLost(dir)
    if (!existsSync(join(dir, 'postgres'))) throw new SkippedError(`Nothing was ever started in ${dir}.`)
    const { startEmbeddedPostgres } = await import('../../embedded/embedded-postgres.ts')
    const server = await startEmbeddedPostgres({ dir, log: silent })
    closings.push(() => server.stop())
    return server.localUrl
  })

  const database = once(async () => {
    const url = await openDatabaseUrl().catch((error: unknown) => {
      throw error instanceof SkippedError ? error : new SkippedError('The database cannot be had.')
    })
    const { assertMigrated } = await import('../../db/migrations.ts')
    await assertMigrated(url).catch(() => {
      throw new SkippedError('The database does not answer, or does not fit this version.')
    })
    const { createDatabase } = await import('../../db/database.ts')
    const opened = createDatabase({ url, pool: 4, log: silent })
    closings.unshift(() => opened.close())
    return { database: opened, url }
  })

  return {
    version,
    env,
    readConfig,
    config,
    openDatabaseUrl,
    database,
    async close() {
      for (const close of closings) await close()
    },
  }
}
