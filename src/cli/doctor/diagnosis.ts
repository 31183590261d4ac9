/** Results of the checks of `annal doctor`, and access to the checked parts. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { memoizeAsync } from '../../shared/async.ts'
import type { Log } from '../../shared/log.ts'
import { counted } from '../terminal.ts'

/** State of a check. `skipped`: the check depends on something that another check reports as missing. */
export type State = 'ok' | 'info' | 'warning' | 'error' | 'skipped'

export type Diagnosis = { state: State; finding: string; fix?: string }

/** Results of a check, which may return the last one. A returned sentence is reported as ok if there is no warning and no error. */
export type Diagnoses = AsyncGenerator<Diagnosis, unknown>
/** Checks by name, in output order. A check may throw SkippedError, and FixableError, which is reported as an error. */
export type Checks = Record<string, (parts: Parts) => Diagnoses>

export const ok = (finding: string): Diagnosis => ({ state: 'ok', finding })
export const info = (finding: string, fix?: string): Diagnosis => ({ state: 'info', finding, ...(fix && { fix }) })
export const warning = (finding: string, fix: string): Diagnosis => ({ state: 'warning', finding, fix })
export const failure = (finding: string, fix: string): Diagnosis => ({ state: 'error', finding, fix })

/** The check cannot run because of a problem that another check reports. */
export class SkippedError extends Error {
  override readonly name = 'SkippedError'
}

export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB']

export function formatBytes(amount: number): string {
  const power = amount < 1 ? 0 : Math.min(Math.floor(Math.log10(amount) / 3), UNITS.length - 1)
  const value = amount / 1000 ** power
  return `${value.toFixed(power > 0 && value < 10 ? 1 : 0)} ${UNITS[power]}`
}

export function formatDuration(milliseconds: number): string {
  const seconds = Math.abs(milliseconds) / 1000
  if (seconds < 1) return `${Math.abs(milliseconds).toFixed(0)} ms`
  if (seconds < 120) return counted(Math.round(seconds), 'second')
  if (seconds < 7_200) return counted(Math.round(seconds / 60), 'minute')
  return seconds < 172_800 ? counted(Math.round(seconds / 3_600), 'hour') : counted(Math.round(seconds / 86_400), 'day')
}

/** Parts of the installation. Each is opened on first use. Nothing is created. */
export type Parts = ReturnType<typeof createParts>

const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silentLog }

const skip = (reason: string) => () => {
  throw new SkippedError(reason)
}

export function createParts(env: NodeJS.ProcessEnv | undefined, version: string) {
  const closings: (() => Promise<unknown>)[] = []
  const readConfig = memoizeAsync(async () => (await import('../../config.ts')).readConfig(env))
  /** Returns the configuration. Throws SkippedError if it is invalid. */
  const config = () => readConfig().catch(skip('The configuration is invalid.'))

  /** Returns the direct connection URL of the database. Throws SkippedError if there is no database yet. */
  const openDatabaseUrl = memoizeAsync(async () => {
    const { database, dir } = await config()
    if (database.directUrl !== undefined) return database.directUrl
    const { assertClusterNotLost } = await import('../../keys/vault-identity.ts')
    await assertClusterNotLost(dir)
    if (!existsSync(join(dir, 'postgres'))) throw new SkippedError(`No server was ever started in ${dir}.`)
    const { startEmbeddedPostgres } = await import('../../embedded/embedded-postgres.ts')
    const server = await startEmbeddedPostgres({ dir, log: silentLog })
    closings.push(() => server.stop())
    return server.url
  })

  /** Returns the database client. Throws SkippedError if the database is missing, does not respond, or is not migrated. */
  const database = memoizeAsync(async () => {
    const url = await openDatabaseUrl().catch((error: unknown) => {
      throw error instanceof SkippedError ? error : new SkippedError('The database is not available.')
    })
    const { assertMigrated } = await import('../../db/migrations.ts')
    await assertMigrated(url).catch(skip('The database does not answer, or does not fit this version.'))
    const { createDatabase } = await import('../../db/database.ts')
    const opened = createDatabase({ url, pool: 4, log: silentLog })
    closings.unshift(() => opened.close())
    return opened
  })

  const close = async () => {
    for (const closePart of closings) await closePart()
  }
  return { version, env, readConfig, config, openDatabaseUrl, database, close }
}
