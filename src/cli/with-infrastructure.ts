/** Opens what a command needs, and closes it after the command. Modules are loaded when needed, so that help and usage errors are fast. */
import type { Coins } from '../chain/chain-types.ts'
import type { ConnectedDatabase } from '../db/database.ts'
import type { Infrastructure } from '../infrastructure.ts'
import type { OpenChain } from '../open-chain.ts'
import type { ServiceLayer } from '../services.ts'
import { red, report, terminal } from './terminal.ts'

/** The operator, as the caller of use cases. */
export const operator = { kind: 'system' } as const
/** Idempotency context of a command without an idempotency key. */
export const withoutKey = () => ({ key: undefined, replayed: false })

async function readConfigAndLog() {
  const { readConfig } = await import('../config.ts')
  const { createLog } = await import('../telemetry/log.ts')
  const config = readConfig(terminal().env)
  return { config, log: createLog(config.logLevel === 'info' ? 'warn' : config.logLevel) }
}

/**
 * Calls `work` with the parts of this installation. Uses the embedded database of a running service, or starts it. Does not migrate the database.
 * `load`: loads modules that `work` needs, before the database starts to watch for standstills. Throws if the database does not fit this version.
 */
export async function withInfrastructure<T>(
  work: (infrastructure: Infrastructure) => Promise<T>,
  load: () => Promise<unknown> = async () => {},
): Promise<T> {
  const { config, log } = await readConfigAndLog()
  const { openInfrastructure } = await import('../infrastructure.ts')
  const infrastructure = await openInfrastructure(config, log, { isService: false })
  try {
    await load()
    infrastructure.database.watchStandstills()
    return await work(infrastructure)
  } finally {
    await infrastructure.close()
  }
}

/**
 * Calls `work` with the connection URL of the database and the data folder. Starts the embedded database if none runs. Does not check the tables.
 * Throws ConfigError.
 */
export async function withDatabaseUrl<T>(work: (databaseUrl: string, dir: string) => Promise<T>): Promise<T> {
  const { config, log } = await readConfigAndLog()
  const { dir } = config
  const { url, directUrl } = config.database
  if (directUrl) {
    const { assertOwnSessions } = await import('../db/session-settings.ts')
    await assertOwnSessions(directUrl, url === directUrl ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL')
    return work(directUrl, dir)
  }
  const { startEmbeddedDatabase } = await import('../keys/lost-database.ts')
  const embedded = await startEmbeddedDatabase(dir, log)
  try {
    return await work(embedded.localUrl, dir)
  } finally {
    await embedded.stop()
  }
}

/** Calls `work` with the database only, which opens faster than all parts. Throws as `withInfrastructure` does. */
export const withDatabase = <T>(work: (database: ConnectedDatabase) => Promise<T>): Promise<T> =>
  withDatabaseUrl(async (url) => {
    const { config, log } = await readConfigAndLog()
    const { assertMigrated } = await import('../db/migrations.ts')
    const { createDatabase } = await import('../db/database.ts')
    await assertMigrated(url)
    const database = createDatabase({ url, pool: config.database.pool, log })
    database.watchStandstills()
    try {
      return await work(database)
    } finally {
      await database.close()
    }
  })

/** Returns the URL of a server with this configuration, for callers on this machine. */
export function localUrl({ host, port }: { host: string; port: number }): string {
  const address = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}

const publicUrlOf = ({ config }: Infrastructure) => config.publicUrl ?? `http://localhost:${config.port}`

/** Calls `work` with a connection to the chain. Starts the embedded chain if none runs. */
export async function withChain<T>(infrastructure: Infrastructure, work: (chain: OpenChain) => Promise<T>): Promise<T> {
  const { openChain } = await import('../open-chain.ts')
  const chain = await openChain(infrastructure, publicUrlOf(infrastructure))
  try {
    return await work(chain)
  } finally {
    await chain.close()
  }
}

const loadServices = () => import('../services.ts')

async function openServices(infrastructure: Infrastructure, coins: Coins): Promise<ServiceLayer> {
  const { createServices } = await loadServices()
  // The relay of the server finds new commits when it polls.
  const relay = { wake() {} }
  return createServices({ ...infrastructure, relay, coins, publicUrl: publicUrlOf(infrastructure) })
}

/** Calls `work` with the services of this installation. Throws as `withInfrastructure` does. */
export const withServices = <T>(
  work: (layer: ServiceLayer, infrastructure: Infrastructure) => Promise<T>,
): Promise<T> =>
  withInfrastructure(async (infrastructure) => {
    const { noCoins } = await loadServices()
    return work(await openServices(infrastructure, noCoins), infrastructure)
  }, loadServices)

/** Throws WrongChainError. Only warns if the chain does not answer. */
async function checkChainId({ registry }: OpenChain): Promise<void> {
  const { WrongChainError } = await import('../chain/registry/registry.ts')
  await registry.readChainId().catch((error: unknown) => {
    if (error instanceof WrongChainError) throw error
    report(red('The chain does not answer. Coins that were received but are not credited yet would be lost.'))
  })
}

/**
 * Calls `work` with services that see all keys and the coins on the chain, as the deletion of an account needs them. Throws as `withInfrastructure`
 * does, and if the vault lacks keys or the chain is another one. If the chain does not answer, services use the balances in the database.
 */
export const withKeysAndCoins = <T>(
  work: (layer: ServiceLayer, infrastructure: Infrastructure) => Promise<T>,
): Promise<T> =>
  withInfrastructure(
    async (infrastructure) => {
      const { database, keyRing, config } = infrastructure
      const { assertKeysHeld, assertKeySharesHeld } = await import('../keys/vault-identity.ts')
      await assertKeysHeld(database, keyRing, config.dir)
      await assertKeySharesHeld(database, config.dir)
      return withChain(infrastructure, async (chain) => {
        await checkChainId(chain)
        return work(await openServices(infrastructure, chain.coins), infrastructure)
      })
    },
    () => Promise.all([loadServices(), import('../keys/vault-identity.ts'), import('../open-chain.ts')]),
  )
