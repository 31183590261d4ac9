/** The real parts behind the ports, embedded or shared as the configuration says. What the process and the command line open and close. */

import { mkdir } from 'node:fs/promises'
import { createKeyPair, signText } from './chain/keys.ts'
import { createRegistry, type Registry } from './chain/registry.ts'
import { createRelay, type Relay } from './chain/relay.ts'
import type { Config } from './config.ts'
import { actionNids } from './domain/asset/action.ts'
import { createDescribeCommit } from './domain/asset/commit-data.ts'
import type { ContentStore, Custody, KeyVault, Log, PasswordHasher } from './domain/ports.ts'
import { createContentStore } from './files/content-store.ts'
import { createCustody } from './platform/custody.ts'
import { type ConnectedDatabase, createDatabase } from './platform/database.ts'
import { developmentKey, startEmbeddedAnvil } from './platform/embedded-anvil.ts'
import { startEmbeddedPostgres } from './platform/embedded-postgres.ts'
import { createKeyVault } from './platform/key-vault.ts'
import { applyMigrations } from './platform/migrations.ts'
import { createPasswordHasher } from './platform/passwords.ts'

export interface Installation {
  config: Config
  log: Log
  database: ConnectedDatabase
  databaseUrl: string
  contentStore: ContentStore
  vault: KeyVault
  custody: Custody
  passwords: PasswordHasher
  /** What is embedded, for people: a name and where it is. */
  parts: Record<'database' | 'chain' | 'files' | 'keys', string>
  close(): Promise<void>
}

/** A chain to write to, and the relay that does. */
export interface ChainConnection {
  registry: Registry
  relay: Relay
  rpcUrl: string
  close(): Promise<void>
}

/** Brings up database, file store and keys, and applies migrations. Raises when a part cannot be had. */
export async function openInstallation(config: Config, log: Log): Promise<Installation> {
  const postgres = config.database.url ? undefined : await startEmbeddedPostgres({ dir: config.dir, log })
  const databaseUrl = config.database.url ?? postgres!.url
  const applied = await applyMigrations(databaseUrl).catch(async (error: unknown) => {
    await postgres?.stop()
    throw error
  })
  if (applied.length) log.info({ migrations: applied }, 'Migrations were applied')
  const database = createDatabase({ url: databaseUrl, pool: config.database.pool, log })
  // Where mail goes that no server is configured for.
  await mkdir(`${config.dir}/mail`, { recursive: true })
  const vault = createKeyVault({ key: config.keyEncryptionKey, dir: config.dir })
  return {
    config,
    log,
    database,
    databaseUrl,
    contentStore: await openContentStore(config),
    vault,
    custody: createCustody({ vault, keyPairs: { createKeyPair, signText } }),
    passwords: createPasswordHasher(),
    parts: {
      database: postgres ? `embedded PostgreSQL in ${config.dir}/postgres` : 'DATABASE_URL',
      chain: config.chain.rpcUrl ? 'CHAIN_RPC_URL' : `embedded anvil with its state in ${config.dir}/chain`,
      files: config.files.ipfsApiUrl ?? `blocks in ${config.dir}/blocks`,
      keys: config.keyEncryptionKey ? 'KEY_ENCRYPTION_KEY' : `key in ${config.dir}/keys`,
    },
    async close() {
      await database.close()
      await postgres?.stop()
    },
  }
}

/** Connects to the chain, starting the embedded one if none is configured. The relay is not started yet. */
export async function connectChain(
  { config, log, ...installation }: Installation,
  publicUrl: string,
): Promise<ChainConnection> {
  const { rpcUrl, registryAddress, id, relayKeys, confirmations, provider } = config.chain
  const anvil = rpcUrl ? undefined : await startEmbeddedAnvil({ dir: config.dir, log, confirmations })
  const url = rpcUrl ?? anvil!.rpcUrl
  const registry = createRegistry({
    rpcUrl: url,
    database: installation.database,
    address: registryAddress,
    chainId: id ?? anvil?.chainId,
  })
  const relay = createRelay({
    ...installation,
    registry,
    log,
    describe: createDescribeCommit({ provider, publicUrl, actionNids: actionNids(installation.contentStore) }),
    relayKeys: relayKeys ?? [developmentKey],
    confirmations,
  })
  return {
    registry,
    relay,
    rpcUrl: url,
    async close() {
      await relay.stop()
      await anvil?.stop()
    },
  }
}

async function openContentStore({ files, dir }: Config): Promise<ContentStore> {
  if (!files.ipfsApiUrl) return createContentStore({ dir: `${dir}/blocks` })
  // Its client is large, and most installations never need it.
  const { createKuboContentStore } = await import('./files/kubo-store.ts')
  return createKuboContentStore({ url: files.ipfsApiUrl })
}
