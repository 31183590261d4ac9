/** What commands work on: the installation's parts, beside a running server or alone. */
import type { ChainConnection } from '../chain/connect-chain.ts'
import type { ConnectedDatabase } from '../db/database.ts'
import type { Infrastructure } from '../infrastructure.ts'
import type { Coins } from '../modules/coins/coin-types.ts'
import type { ServiceLayer } from '../services.ts'
import { red, say } from './output.ts'
import { terminal } from './terminal.ts'

/** An operator at a terminal reads sentences; the service's own diary is left out unless it is asked for. */
const quieter = (level: string) => (level === 'info' ? 'warn' : level)

/**
 * Carries out `work` on this installation's parts: those of a running server, or our own for as long as it takes. The database is not
 * migrated: that is the server's, which may be of another version. `load` brings in the modules that the work needs: on a slow machine that
 * takes longer than anybody waits, and is no standstill. Raises when the database does not fit this version.
 */
export async function withInstallation<T>(
  work: (installation: Infrastructure) => Promise<T>,
  load: () => Promise<unknown> = async () => {},
): Promise<T> {
  // Loaded when they are needed: help and a refusal must not wait for the whole service.
  const { readConfig } = await import('../config.ts')
  const config = readConfig(terminal().env)
  const { openInfrastructure } = await import('../infrastructure.ts')
  const { createLog } = await import('../telemetry/log.ts')
  const log = createLog(quieter(config.logLevel))
  const installation = await openInfrastructure(config, log, { isService: false })
  try {
    await load()
    installation.database.watchStandstills()
    return await work(installation)
  } finally {
    await installation.close()
  }
}

/**
 * Carries out `work` on the database's address, whatever its tables are: that of the configuration, or the embedded server's, which is
 * started when it does not run. Raises ConfigError.
 */
export async function withDatabaseUrl<T>(work: (databaseUrl: string, dir: string) => Promise<T>): Promise<T> {
  const { readConfig } = await import('../config.ts')
  const { database, dir, logLevel } = readConfig(terminal().env)
  const { url, directUrl } = database
  if (directUrl) {
    const { assertOwnSessions } = await import('../db/assert-own-sessions.ts')
    await assertOwnSessions(directUrl, url === directUrl ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL')
    return work(directUrl, dir)
  }
  const { startEmbeddedDatabase } = await import('../keys/lost-database.ts')
  const { createLog } = await import('../telemetry/log.ts')
  const embedded = await startEmbeddedDatabase(dir, createLog(quieter(logLevel)))
  try {
    return await work(embedded.localUrl, dir)
  } finally {
    await embedded.stop()
  }
}

/**
 * Carries out `work` on the database alone, which is loaded and opened sooner than a whole installation. Raises what `withInstallation`
 * raises.
 */
export const withDatabase = <T>(work: (database: ConnectedDatabase) => Promise<T>): Promise<T> =>
  withDatabaseUrl(async (url) => {
    const { readConfig } = await import('../config.ts')
    const { createLog } = await import('../telemetry/log.ts')
    const { assertMigrated } = await import('../db/migrations.ts')
    const { createDatabase } = await import('../db/database.ts')
    const { database: configured, logLevel } = readConfig(terminal().env)
    await assertMigrated(url)
    const database = createDatabase({ url, pool: configured.pool, log: createLog(quieter(logLevel)) })
    database.watchStandstills()
    try {
      return await work(database)
    } finally {
      await database.close()
    }
  })

/** Where callers reach the service, as a command knows it: its port may be another one. */
export const publicUrlOf = ({ config }: Infrastructure) => config.publicUrl ?? `http://localhost:${config.port}`

const loadServices = () => import('../services.ts')
const loadServicesAndChain = () =>
  Promise.all([loadServices(), import('../keys/vault-identity.ts'), import('../chain/connect-chain.ts')])

async function openServices(installation: Infrastructure, coins: Coins): Promise<ServiceLayer> {
  const { createServices } = await loadServices()
  // A commit made here is found by the server's relay on its next look.
  const relay = { wake() {} }
  return createServices({ ...installation, relay, coins, publicUrl: publicUrlOf(installation) })
}

/**
 * Carries out `work` on the services of this installation; what serves requests is not even loaded. Raises what
 * `withInstallation` raises.
 */
export const withServices = <T>(work: (layer: ServiceLayer, installation: Infrastructure) => Promise<T>): Promise<T> =>
  withInstallation(async (installation) => {
    const { noCoins } = await import('../modules/coins/coin-types.ts')
    return work(await openServices(installation, noCoins), installation)
  }, loadServices)

/** Raises WrongChainError. */
async function assertChain({ registry }: Pick<ChainConnection, 'registry'>): Promise<void> {
  const { WrongChainError } = await import('../chain/registry/registry.ts')
  await registry.readChainId().catch((error: unknown) => {
    if (error instanceof WrongChainError) throw error
    say(red('The chain does not answer: coins that came in and are not credited yet would be lost.'))
  })
}

/**
 * The same for what signs in somebody's name for the last time: it sees the coins on the chain, and has every key that a server has. Raises
 * what `withInstallation` raises, and an Error where the vault lacks keys, which would have what they wrap given up, or where the chain is another
 * one. Where none answers the books say what is there, which is told.
 */
export const withKeysAndCoins = <T>(
  work: (layer: ServiceLayer, installation: Infrastructure) => Promise<T>,
): Promise<T> =>
  withInstallation(async (installation) => {
    const { assertKeysHeld, assertKeySharesHeld } = await import('../keys/vault-identity.ts')
    await assertKeysHeld(installation.database, installation.keyRing, installation.config.dir)
    await assertKeySharesHeld(installation.database, installation.config.dir)
    const { connectChain } = await import('../chain/connect-chain.ts')
    const chain = await connectChain(installation, publicUrlOf(installation))
    try {
      await assertChain(chain)
      return await work(await openServices(installation, chain.chainCoins), installation)
    } finally {
      await chain.close()
    }
  }, loadServicesAndChain)
