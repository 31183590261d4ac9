/** Opens database, file store, keys and mail. Loads large modules on demand. */
import type { Config } from './config.ts'
import { type ConnectedDatabase, createDatabase } from './db/database.ts'
import { assertMigrated } from './db/migrations.ts'
import { createEventNotifications } from './db/processes.ts'
import { assertOwnSessions } from './db/session-settings.ts'
import type { ContentStore } from './files/file-types.ts'
import { createPictureMaker } from './files/picture-maker.ts'
import type { FindFiles } from './files/store-owner.ts'
import { createCustody, createEnvelopeCipher } from './keys/envelope-encryption.ts'
import type { CoinPlan } from './keys/key-types.ts'
import { createLocalKeyVault } from './keys/key-vault.ts'
import { createPasswordHasher } from './keys/password-hasher.ts'
import {
  assertDatabaseNotLost,
  assertKeySharesHeld,
  assertKeysHeld,
  assertVaultBelongs,
  createVaultCheck,
  isVaultKnown,
} from './keys/vault-identity.ts'
import { createMailer } from './mail/mailer.ts'
import { findSampleFiles } from './modules/assets/pinned-files.ts'
import { boundedCheck } from './shared/async.ts'
import { DomainError } from './shared/errors.ts'
import type { Log } from './shared/log.ts'
import { makePrivateFolders } from './shared/private-files.ts'
import { noopTelemetry, type Telemetry } from './telemetry/telemetry-types.ts'

export type Infrastructure = Awaited<ReturnType<typeof openInfrastructure>>

interface OpenOptions {
  /** A service migrates the database and owns the embedded parts. A command does not. */
  isService: boolean
  telemetry?: Telemetry
  /** False disables read compiler and write batching, so that tests can compare responses. Default: true. */
  fastPaths?: boolean
}

/** Throws if a part is missing, incompatible or belongs to another installation. */
export async function openInfrastructure(
  config: Config,
  log: Log,
  { isService, telemetry = noopTelemetry, fastPaths = true }: OpenOptions,
) {
  const { dir } = config
  await makePrivateFolders(dir)
  const postgres = config.database.url ? undefined : await startDatabase(dir, log, isService)
  const options = { isService, telemetry, fastPaths, embeddedUrl: postgres?.url }
  const { database, databaseUrl } = await openDatabase(config, log, options).catch(async (error: unknown) => {
    await postgres?.stop()
    throw error
  })
  const closeDatabase = async () => {
    await database.close()
    await postgres?.stop()
  }
  const { installationId, vault, contentStore } = await openKeysAndFiles(config, database, isService).catch(
    async (error: unknown) => {
      await closeDatabase()
      throw error
    },
  )
  const notifications = createEventNotifications(databaseUrl, database, log)
  const mailDir = `${dir}/mail`
  return {
    config,
    log,
    database,
    /** Connection URL without a pooler, for sessions with state. */
    databaseUrl,
    notifications,
    contentStore,
    vault,
    keyRing: vault.ring,
    custody: createCustody({ vault, keyPairs }),
    envelopeCipher: createEnvelopeCipher({ vault }),
    passwords: createPasswordHasher(),
    pictures: createPictureMaker(),
    mailer: createMailer({ ...config.mail, dir: mailDir, log, telemetry, showLinks: !config.production }),
    telemetry,
    isService,
    /** Undefined before the first start of a service. */
    installationId,
    /** True for an external database. */
    isDatabaseThere: postgres ? boundedCheck(postgres.isIntact) : async () => true,
    /** Parts whose folders are missing or of another installation, except database and file store. */
    missingFolders: createFolderCheck(config, database, installationId),
    parts: {
      database: postgres ? `embedded PostgreSQL in ${dir}/postgres` : 'DATABASE_URL',
      chain: config.chain.rpcUrl ? 'CHAIN_RPC_URL' : `embedded anvil with its state in ${dir}/chain`,
      files: locateFiles(config),
      keys: config.keys.key ? `KEY_ENCRYPTION_KEY with key shares in ${dir}/keys` : `keys in ${dir}/keys`,
      mail: config.mail.smtpUrl ? 'SMTP_URL' : `files in ${mailDir}`,
    },
    async close() {
      await notifications.close()
      await closeDatabase()
    },
    /** Stops embedded servers immediately, even while requests use them. */
    abandon: async () => postgres?.stop(),
  }
}

/** Loading takes 0.2 seconds, and many commands use no key pair. */
const loadKeyPairs = async () => (await import('./chain/transaction.ts')).keyPairs
const keyPairs = {
  createKeyPair: async () => (await loadKeyPairs()).createKeyPair(),
  signText: async (privateKey: Uint8Array, text: string) => (await loadKeyPairs()).signText(privateKey, text),
  signCoins: async (privateKey: Uint8Array, plans: readonly CoinPlan[]) =>
    (await loadKeyPairs()).signCoins(privateKey, plans),
}

async function startDatabase(dir: string, log: Log, isService: boolean) {
  const { startEmbeddedDatabase } = await import('./keys/vault-identity.ts')
  return startEmbeddedDatabase(dir, log, isService)
}

/** A service migrates the database first. */
async function openDatabase(
  config: Config,
  log: Log,
  { isService, telemetry, fastPaths, embeddedUrl }: Required<OpenOptions> & { embeddedUrl: string | undefined },
) {
  const { url = embeddedUrl!, directUrl: databaseUrl = url, pool } = config.database
  const isPooled = embeddedUrl === undefined && url !== databaseUrl
  if (embeddedUrl === undefined) await assertOwnSessions(databaseUrl, isPooled ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL')
  if (isService) {
    await assertDatabaseNotLost(databaseUrl, config.dir)
    const { prepareDatabase } = await import('./db/migrations.ts')
    const migrations = await prepareDatabase(databaseUrl)
    if (migrations.length) log.info({ migrations }, 'Migrations applied')
  } else await assertMigrated(databaseUrl)
  return { database: createDatabase({ url, pool, isPooled, log, tracer: telemetry.tracer, fastPaths }), databaseUrl }
}

/** A service claims a new key vault and file store, and checks that they belong to this database. */
async function openKeysAndFiles(config: Config, database: ConnectedDatabase, isService: boolean) {
  const { dir } = config
  // Before the first start of a service, an installation has neither key shares nor files.
  const isFirstStart = !(await isVaultKnown(database))
  const installationId = await assertVaultBelongs(database, dir, isService)
  const vault = createLocalKeyVault({ ...config.keys, dir, id: installationId })
  if (isService) {
    await assertKeysHeld(database, vault.ring, dir)
    if (!isFirstStart) await assertKeySharesHeld(database, dir)
  }
  const contentStore = await openContentStore(config, {
    owner: installationId,
    mayClaim: isService,
    isFirstStart,
    findFiles: async () => (await database.query(findSampleFiles)).map(({ nid }) => nid),
  })
  return {
    installationId,
    vault,
    contentStore: { ...contentStore, isReachable: boundedCheck(contentStore.isReachable) },
  }
}

const CLAIM_MS = 3_000

interface StoreOptions {
  owner: string | undefined
  /** True for a service, which claims a store without owner. */
  mayClaim: boolean
  isFirstStart: boolean
  /** CIDs that the store must have if it belongs to this database. */
  findFiles: FindFiles
}

/** Throws WrongStoreError for the store of another installation, or an empty store that must not be empty. */
async function openContentStore(
  { files, dir }: Config,
  { owner, mayClaim, isFirstStart, findFiles }: StoreOptions,
): Promise<ContentStore> {
  const expected: FindFiles = isFirstStart ? async () => [] : findFiles
  const owned = { owner, findFiles, mayBeUnmarked: !mayClaim }
  if (files.s3) {
    const [{ createS3ContentStore }, { createS3Bucket }, { claimStore, ownedBucket }] = await Promise.all([
      import('./files/s3-store.ts'),
      import('./files/s3-bucket.ts'),
      import('./files/store-owner.ts'),
    ])
    if (owner !== undefined && mayClaim) {
      const claim = claimStore(ownedBucket(createS3Bucket({ ...files.s3, timeoutMs: CLAIM_MS })), owner, expected)
      // A service starts even if the storage is unreachable. Garbage collection checks the owner again.
      await claim.catch((error: unknown) => {
        if (!(error instanceof DomainError)) throw error
      })
    }
    return createS3ContentStore({ ...files.s3, graceSeconds: files.garbageGraceSeconds, ...owned })
  }
  if (files.kuboUrl) {
    const { createKuboContentStore } = await import('./files/kubo-store.ts')
    return createKuboContentStore({ url: files.kuboUrl })
  }
  const [{ createContentStore }, { claimStore, ownedBlocks }] = await Promise.all([
    import('./files/content-store.ts'),
    import('./files/store-owner.ts'),
  ])
  const blocks = `${dir}/blocks`
  if (owner !== undefined && mayClaim) await claimStore(ownedBlocks(blocks), owner, expected)
  return createContentStore({ dir: blocks, ...owned })
}

/** Never contains a password. */
function locateFiles({ files, dir }: Config): string {
  if (files.s3) return `blocks in the bucket ${files.s3.bucket}`
  return files.kuboUrl ? `Kubo at ${new URL(files.kuboUrl).host}` : `blocks in ${dir}/blocks`
}

function createFolderCheck({ dir, chain }: Config, database: ConnectedDatabase, installationId: string | undefined) {
  if (installationId === undefined) return async () => []
  const hasVault = boundedCheck(createVaultCheck(database, dir, installationId))
  const hasChain = boundedCheck(async () => {
    ;(await import('./embedded/embedded-anvil.ts')).assertOwnChain(dir, installationId)
    return true
  })
  return async () => {
    const [isVaultThere, isChainThere] = await Promise.all([hasVault(), chain.rpcUrl ? true : hasChain()])
    return [...(isVaultThere ? [] : ['key vault']), ...(isChainThere ? [] : ['chain'])]
  }
}
