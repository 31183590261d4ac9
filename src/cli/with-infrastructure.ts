/** Opens the parts that a command needs, and closes them afterwards. Modules are loaded on demand, so that help and usage errors are fast. */

import type { App, OpenChain } from '../app.ts'
import type { Coins } from '../chain/chain-types.ts'
import type { ConnectedDatabase } from '../db/database.ts'
import type { Infrastructure } from '../infrastructure.ts'
import { red, report, terminal } from './terminal.ts'

async function readConfigAndLog() {
  const { readConfig } = await import('../config.ts')
  const { createLog } = await import('../telemetry/log.ts')
  const config = readConfig(terminal().env)
  return { config, log: createLog(config.logLevel === 'info' ? 'warn' : config.logLevel) }
}

/**
 * Calls `work` with the infrastructure of this installation. Uses the embedded database of a running service, or starts it. Throws if the database
 * does not match this version.
 */
export async function withInfrastructure<T>(work: (infrastructure: Infrastructure) => Promise<T>): Promise<T> {
  const { config, log } = await readConfigAndLog()
  const { openInfrastructure } = await import('../infrastructure.ts')
  const infrastructure = await openInfrastructure(config, log, { isService: false })
  try {
    // Loading modules blocks the process, which the stall detection would report.
    await loadApp()
    infrastructure.database.startStallDetection()
    return await work(infrastructure)
  } finally {
    await infrastructure.close()
  }
}

type Settings = Awaited<ReturnType<typeof readConfigAndLog>>

/** Calls `work` with the connection URL of the database. Starts the embedded database if it is not running. Does not check the tables. */
export async function withDatabaseUrl<T>(work: (databaseUrl: string, settings: Settings) => Promise<T>): Promise<T> {
  const settings = await readConfigAndLog()
  const { url, directUrl } = settings.config.database
  if (directUrl) {
    const { assertOwnSessions } = await import('../db/session-settings.ts')
    await assertOwnSessions(directUrl, url === directUrl ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL')
    return work(directUrl, settings)
  }
  const { startEmbeddedDatabase } = await import('../keys/vault-identity.ts')
  const embedded = await startEmbeddedDatabase(settings.config.dir, settings.log)
  try {
    return await work(embedded.url, settings)
  } finally {
    await embedded.stop()
  }
}

/** Calls `work` with only the database, which opens faster than the whole infrastructure. */
export const withDatabase = <T>(work: (database: ConnectedDatabase) => Promise<T>): Promise<T> =>
  withDatabaseUrl(async (url, { config, log }) => {
    const { assertMigrated } = await import('../db/migrations.ts')
    const { createDatabase } = await import('../db/database.ts')
    await assertMigrated(url)
    const database = createDatabase({ url, pool: config.database.pool, log })
    database.startStallDetection()
    try {
      return await work(database)
    } finally {
      await database.close()
    }
  })

export function localUrl({ host, port }: { host: string; port: number }): string {
  const address = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}

const publicUrlOf = ({ config }: Infrastructure) => config.publicUrl ?? `http://localhost:${config.port}`

/** Calls `work` with a connection to the chain. Starts the embedded chain if it is not running. */
export async function withChain<T>(infrastructure: Infrastructure, work: (chain: OpenChain) => Promise<T>): Promise<T> {
  const { loadModules, openChain } = await loadApp()
  const chain = await openChain(infrastructure, publicUrlOf(infrastructure), await loadModules())
  try {
    return await work(chain)
  } finally {
    await chain.close()
  }
}

const loadApp = () => import('../app.ts')

export const loadContentCredentials = async () =>
  (await (await loadApp()).loadModules(['contentCredentials'])).contentCredentials!

export const loadCoins = async () => {
  const { coins } = await (await loadApp()).loadModules(['coins'])
  return coins!.loadOperations()
}

async function openApp(infrastructure: Infrastructure, coins?: Coins): Promise<App> {
  const { createApp, loadModules } = await loadApp()
  // The server's relay finds new commits by polling.
  const relay = { wake() {} }
  return createApp({
    ...infrastructure,
    ...(coins && { coins }),
    ...{ relay, modules: await loadModules(), publicUrl: publicUrlOf(infrastructure) },
  })
}

export const withApp = <T>(work: (layer: App, infrastructure: Infrastructure) => Promise<T>): Promise<T> =>
  withInfrastructure(async (infrastructure) => work(await openApp(infrastructure), infrastructure))

/**
 * Calls `work` with a context that has all keys and the coins on the chain, which the deletion of an account requires. If the chain does not
 * respond, use cases read the balances from the database.
 */
export const withKeysAndCoins = <T>(work: (layer: App, infrastructure: Infrastructure) => Promise<T>): Promise<T> =>
  withInfrastructure(async (infrastructure) => {
    const { database, keyRing, config } = infrastructure
    const { assertKeysHeld, assertKeySharesHeld } = await import('../keys/vault-identity.ts')
    const { WrongChainError } = await import('../chain/registry/registry.ts')
    await assertKeysHeld(database, keyRing, config.dir)
    await assertKeySharesHeld(database, config.dir)
    return withChain(infrastructure, async ({ registry, coins }) => {
      await registry.readChainId().catch((error: unknown) => {
        if (error instanceof WrongChainError) throw error
        report(red('The chain does not answer. Coins that were received but are not credited yet would be lost.'))
      })
      return work(await openApp(infrastructure, coins), infrastructure)
    })
  })
