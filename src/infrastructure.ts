/**
 * The real parts behind the ports, embedded or shared as the configuration says. What the process and the command line open and close.
 * What is large is loaded when it is opened: a command pays for what it needs.
 */
import { type Config, ConfigError } from './config.ts'
import { assertOwnSessions } from './db/assert-own-sessions.ts'
import { type ConnectedDatabase, createDatabase } from './db/database.ts'
import { createEventNotifications } from './db/event-notifications.ts'
import { assertMigrated } from './db/migrations.ts'
import type { ContentCredentials, ContentStore, PictureMaker } from './files/file-types.ts'
import { createPictureMaker } from './files/pictures/picture-maker.ts'
import type { FindFiles } from './files/store-owner.ts'
import { createCustody } from './keys/custody.ts'
import { createEnvelopeCipher } from './keys/envelope-cipher.ts'
import type { CoinPlan, Custody, EnvelopeCipher, KeyRing, KeyVault } from './keys/key-types.ts'
import { createLocalKeyVault } from './keys/local-key-vault.ts'
import { assertDatabaseNotLost } from './keys/lost-database.ts'
import { createPasswordHasher, type WatchedHasher } from './keys/passwords.ts'
import {
  assertKeySharesHeld,
  assertKeysHeld,
  assertVaultBelongs,
  createVaultCheck,
  isVaultKnown,
} from './keys/vault-identity.ts'
import type { Mailer } from './mail/mail-types.ts'
import { createMailer } from './mail/mailer.ts'
import { findSampleFiles } from './modules/assets/sample-files.ts'
import {
  createContentCredentials,
  findSigningIdentity,
  readTrustList,
} from './modules/content-credentials/content-credentials.ts'
import type { FeedNotifications } from './modules/events/notification-types.ts'
import { boundedCheck } from './shared/async.ts'
import { DomainError } from './shared/errors.ts'
import type { Log } from './shared/log.ts'
import { FixableError } from './shared/operator-errors.ts'
import { makePrivateFolders } from './shared/private-files.ts'
import { silentTelemetry, type Telemetry } from './telemetry/telemetry-types.ts'

/** The parts that are open. */
export interface Installation {
  config: Config
  log: Log
  database: ConnectedDatabase
  /** Leads to sessions of our own, past any pooler that shares them. */
  databaseUrl: string
  notifications: FeedNotifications
  contentStore: ContentStore
  vault: KeyVault
  keyRing: KeyRing
  custody: Custody
  envelopeCipher: EnvelopeCipher
  passwords: WatchedHasher
  pictures: PictureMaker
  contentCredentials: ContentCredentials
  mailer: Mailer
  telemetry: Telemetry
  /** True for a service, which owns the embedded parts. False for a command, which may use those of a running service. */
  isService: boolean
  /** Identity of this installation, which its folders and its bucket bear. Undefined before the first start of a server. */
  owner: string | undefined
  /** Returns whether the folder of the embedded database is still there. True where the database is elsewhere. */
  isDatabaseThere(): Promise<boolean>
  /** Names of the parts whose folders are missing or belong to another installation, besides database and file store. */
  missingFolders(): Promise<string[]>
  /** What is embedded, for people: a name and where it is. */
  parts: Record<'database' | 'chain' | 'files' | 'keys' | 'mail', string>
  close(): Promise<void>
  /** Stops what is embedded, whoever of this process still asks it. */
  abandon(): Promise<void>
}

/** Options of opening an installation. */
export interface OpenOptions {
  /** True for a service: it migrates the database and owns the embedded parts. False for a command. */
  mayMigrate: boolean
  /** Whom the parts tell what happens; nobody when left out. */
  telemetry?: Telemetry
}

/**
 * Brings up database, file store and keys. Raises when a part cannot be had, the database does not fit this version, the
 * keys are those of another database, or key and certificates of Content Credentials do not fit.
 */
export async function openInstallation(
  config: Config,
  log: Log,
  { mayMigrate, telemetry = silentTelemetry }: OpenOptions,
): Promise<Installation> {
  await makePrivateFolders(config.dir)
  const { contentCredentials } = config
  if (mayMigrate) checkNamedFiles(config)
  const postgres = config.database.url ? undefined : await startDatabase(config, log, mayMigrate)
  const { url = postgres!.localUrl, directUrl: databaseUrl = url, pool } = config.database
  const isPooled = url !== databaseUrl
  if (!postgres) await assertOwnSessions(databaseUrl, isPooled ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL')
  const applied = await prepare(databaseUrl, config.dir, mayMigrate).catch(async (error: unknown) => {
    await postgres?.stop()
    throw error
  })
  if (applied.length) log.info({ migrations: applied }, 'Migrations applied')
  const database = createDatabase({
    url,
    pool,
    isPooled: isPooled && !postgres,
    log,
    tracer: telemetry.tracer,
  })
  const openKeysAndFiles = async () => {
    // A database that no server was ever started on has neither key shares nor files of its own.
    const isFirstStart = !(await isVaultKnown(database))
    const owner = await assertVaultBelongs({ database, dir: config.dir, mayRemember: mayMigrate })
    const vault = createLocalKeyVault({ ...config.keys, dir: config.dir, id: owner })
    // Commands tell an operator what is wrong, also then.
    if (mayMigrate) await assertKeysHeld(database, vault.ring, config.dir)
    if (mayMigrate && !isFirstStart) await assertKeySharesHeld(database, config.dir)
    const findFiles = async () => (await database.query(findSampleFiles)).map(({ nid }) => nid)
    const contentStore = await openContentStore(config, { owner, mayClaim: mayMigrate, isFirstStart, findFiles })
    return { owner, vault, contentStore: { ...contentStore, isReachable: boundedCheck(contentStore.isReachable) } }
  }
  const { owner, vault, contentStore } = await openKeysAndFiles().catch(async (error: unknown) => {
    await database.close()
    await postgres?.stop()
    throw error
  })
  const notifications = createEventNotifications({ url: databaseUrl, database, log })
  const isVaultThere = owner === undefined ? undefined : boundedCheck(createVaultCheck(database, config.dir, owner))
  const isChainThere =
    owner === undefined || config.chain.rpcUrl
      ? undefined
      : boundedCheck(async () => (await loadChainOwner()).isOwnChain(config.dir, owner))
  // Where mail goes that no server is configured for.
  const mailDir = `${config.dir}/mail`
  return {
    config,
    log,
    database,
    databaseUrl,
    notifications,
    contentStore,
    vault,
    keyRing: vault.ring,
    custody: createCustody({ vault, keyPairs }),
    envelopeCipher: createEnvelopeCipher({ vault }),
    passwords: createPasswordHasher(),
    pictures: createPictureMaker(),
    contentCredentials: createContentCredentials({ dir: config.dir, config: contentCredentials, log }),
    mailer: createMailer({
      ...config.mail,
      dir: mailDir,
      log,
      telemetry,
      showLinks: !config.production,
    }),
    telemetry,
    isService: mayMigrate,
    owner,
    isDatabaseThere: postgres ? boundedCheck(postgres.isIntact) : async () => true,
    async missingFolders() {
      const [vaultIsThere, chainIsThere] = await Promise.all([isVaultThere?.(), isChainThere?.()])
      return [...(vaultIsThere === false ? ['key vault'] : []), ...(chainIsThere === false ? ['chain'] : [])]
    },
    parts: {
      database: postgres ? `embedded PostgreSQL in ${config.dir}/postgres` : 'DATABASE_URL',
      chain: config.chain.rpcUrl ? 'CHAIN_RPC_URL' : `embedded anvil with its state in ${config.dir}/chain`,
      files: filesOf(config),
      keys: config.keys.key ? `KEY_ENCRYPTION_KEY with key shares in ${config.dir}/keys` : `keys in ${config.dir}/keys`,
      mail: config.mail.smtpUrl ? 'SMTP_URL' : `files in ${mailDir}`,
    },
    async close() {
      await notifications.close()
      await database.close()
      await postgres?.stop()
    },
    abandon: async () => postgres?.stop(),
  }
}

/** Reads the files that C2PA variables name. Raises ConfigError, and a FixableError for a damaged development certificate. */
function checkNamedFiles({ contentCredentials, dir }: Config): void {
  try {
    findSigningIdentity(contentCredentials, dir)
    if (contentCredentials.trustList !== undefined) readTrustList(contentCredentials.trustList)
  } catch (error) {
    throw error instanceof FixableError ? error : new ConfigError([(error as Error).message])
  }
}

const loadChainOwner = () => import('./embedded/chain-owner.ts')

/** The curve's library takes a fifth of a second to load, and commands that neither make nor use a key do without. */
const loadKeyPairs = () => import('./chain/key-pairs.ts')
const keyPairs = {
  createKeyPair: async () => (await loadKeyPairs()).keyPairs.createKeyPair(),
  signText: async (privateKey: Uint8Array, text: string) => (await loadKeyPairs()).keyPairs.signText(privateKey, text),
  signCoins: async (privateKey: Uint8Array, plans: readonly CoinPlan[]) =>
    (await loadKeyPairs()).keyPairs.signCoins(privateKey, plans),
}

async function startDatabase({ dir }: Config, log: Log, isService: boolean) {
  const { startEmbeddedDatabase } = await import('./keys/embedded-database.ts')
  return startEmbeddedDatabase(dir, log, isService)
}

/** Returns the migrations that were applied. */
async function prepare(databaseUrl: string, dir: string, mayMigrate: boolean): Promise<string[]> {
  if (mayMigrate) {
    await assertDatabaseNotLost(databaseUrl, dir)
    return (await import('./db/prepare-database.ts')).prepareDatabase(databaseUrl)
  }
  await assertMigrated(databaseUrl)
  return []
}

/** Milliseconds that a start waits to hear whose bucket it is. */
const CLAIM_MS = 3_000

const unlessAway = (error: unknown) => {
  if (!(error instanceof DomainError)) throw error
}

/** Location of the content store, for the startup banner. Never contains a password. */
function filesOf({ files, dir }: Config): string {
  if (files.s3) return `blocks in the bucket ${files.s3.bucket}`
  return files.kuboUrl ? `Kubo at ${new URL(files.kuboUrl).host}` : `blocks in ${dir}/blocks`
}

interface StoreOptions {
  owner: string | undefined
  /** True when a store that nobody owns yet may be given to this installation. A server may; a command must not. */
  mayClaim: boolean
  isFirstStart: boolean
  findFiles: FindFiles
}

/** Raises WrongStoreError for a folder or a bucket of another installation, and for an empty one where the database has files. */
async function openContentStore(
  { files, dir }: Config,
  { owner, mayClaim, isFirstStart, findFiles }: StoreOptions,
): Promise<ContentStore> {
  const expected: FindFiles = isFirstStart ? async () => [] : findFiles
  const owned = { owner, findFiles, mayBeUnmarked: !mayClaim }
  // All are large, and each installation needs one.
  if (files.s3) {
    const [{ createS3ContentStore }, { createS3Bucket }, { claimBucket }] = await Promise.all([
      import('./files/s3-store.ts'),
      import('./files/s3-bucket.ts'),
      import('./files/s3-owner.ts'),
    ])
    // A storage that is away keeps nobody from starting: a collection asks once more.
    if (owner !== undefined && mayClaim)
      await claimBucket(createS3Bucket({ ...files.s3, patience: CLAIM_MS }), owner, expected).catch(unlessAway)
    return createS3ContentStore({ ...files.s3, graceSeconds: files.garbageGraceSeconds, ...owned })
  }
  if (files.kuboUrl) {
    const { createKuboContentStore } = await import('./files/kubo-store.ts')
    return createKuboContentStore({ url: files.kuboUrl })
  }
  const [{ createContentStore }, { ownedBlocks }, { claimStore }] = await Promise.all([
    import('./files/content-store.ts'),
    import('./files/blocks-owner.ts'),
    import('./files/store-owner.ts'),
  ])
  const blocks = `${dir}/blocks`
  if (owner !== undefined && mayClaim) await claimStore(ownedBlocks(blocks), owner, expected)
  return createContentStore({ dir: blocks, ...owned })
}
