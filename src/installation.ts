/**
 * The real parts behind the ports, embedded or shared as the configuration says. What the process and the command line open and close.
 * What is large is loaded when it is opened: a command pays for what it needs.
 */
import type { CoinMover } from './chain/coins/mover.ts'
import type { DepositWatcher } from './chain/deposits/deposits.ts'
import type { GasQuote } from './chain/gas-quote.ts'
import type { RelayAccount } from './chain/keys.ts'
import type { Registry } from './chain/registry/registry.ts'
import type { Relay } from './chain/relay/options.ts'
import type { Watch } from './chain/watch.ts'
import type { Config } from './config.ts'
import { createMailer } from './delivery/mailer.ts'
import { actionNids } from './domain/asset/action.ts'
import { createDescribeCommit } from './domain/asset/commit-data.ts'
import { DomainError } from './domain/errors.ts'
import type {
  CoinPlan,
  Coins,
  ContentCredentials,
  ContentStore,
  Custody,
  EnvelopeCipher,
  FeedNotifications,
  Histories,
  KeyRing,
  KeyVault,
  Log,
  Mailer,
  PictureMaker,
} from './domain/ports.ts'
import { silentTelemetry, type Telemetry } from './domain/telemetry.ts'
import { createCoinService } from './domain/wallet/coin-service.ts'
import { createDepositBooks } from './domain/wallet/deposit-books.ts'
import { createOwnHistories } from './own-history.ts'
import {
  createContentCredentials,
  findSigningIdentity,
  readTrustList,
} from './platform/content-credentials/content-credentials.ts'
import { type ConnectedDatabase, createDatabase } from './platform/database/database.ts'
import { createEventNotifications } from './platform/database/event-notifications.ts'
import { assertMigrated } from './platform/database/migrations.ts'
import { lookAtWays } from './platform/database/pooler.ts'
import { createPasswordHasher, type WatchedHasher } from './platform/passwords.ts'
import { createPictureMaker } from './platform/pictures/picture-maker.ts'
import { closeFolders } from './platform/private-folders.ts'
import { createCustody } from './platform/vault/custody.ts'
import { createEnvelopeCipher } from './platform/vault/envelope-cipher.ts'
import { createLocalKeyVault } from './platform/vault/local-key-vault.ts'
import { assertDatabaseNotLost } from './platform/vault/lost-database.ts'
import { assertKeysHeld, assertVaultBelongs } from './platform/vault/vault-identity.ts'

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
  /** What is embedded, for people: a name and where it is. */
  parts: Record<'database' | 'chain' | 'files' | 'keys' | 'mail', string>
  close(): Promise<void>
}

/** A chain to write to, the relay that does, the watcher that credits what comes in over it, and the mover that gathers that. */
export interface ChainConnection {
  registry: Registry
  relay: Relay
  /** What commits are charged for gas; undefined where that is configured. */
  gasQuote: GasQuote | undefined
  deposits: DepositWatcher
  /** Finds what others commit to files of ours. */
  foreign: Watch
  coins: CoinMover
  /** What is asked before coins are withdrawn, and before an address's key is destroyed. */
  chainCoins: Coins
  /** The account that deposits are gathered in and withdrawals are paid from. */
  treasury: RelayAccount
  histories: Histories
  close(): Promise<void>
}

/** What whoever opens an installation may do to it. */
export interface OpenOptions {
  /** Whether the database may be changed to fit this version. The server may; a command beside it must not. */
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
  await closeFolders(config.dir)
  // What does not fit is told before anything is opened.
  const { contentCredentials } = config
  if (mayMigrate) findSigningIdentity(contentCredentials, config.dir)
  if (mayMigrate && contentCredentials.trustList !== undefined) readTrustList(contentCredentials.trustList)
  const postgres = config.database.url ? undefined : await startDatabase(config, log)
  const { url = postgres!.localUrl, directUrl: databaseUrl = url, pool } = config.database
  const pooler = postgres ? undefined : await lookAtWays({ url, directUrl: databaseUrl })
  const applied = await prepare(databaseUrl, config.dir, mayMigrate).catch(async (error: unknown) => {
    await postgres?.stop()
    throw error
  })
  if (applied.length) log.info({ migrations: applied }, 'Migrations were applied')
  const database = createDatabase({
    url,
    pool,
    pooler,
    replicas: config.database.replicas,
    log,
    tracer: telemetry.tracer,
  })
  const openKeysAndFiles = async () => {
    const name = await assertVaultBelongs({ database, dir: config.dir, mayRemember: mayMigrate })
    const vault = createLocalKeyVault({ ...config.keys, dir: config.dir })
    // Commands tell an operator what is wrong, also then.
    if (mayMigrate) await assertKeysHeld(database, vault.ring, config.dir)
    return { vault, contentStore: await openContentStore(config, { owner: name, mayClaim: mayMigrate, log }) }
  }
  const { vault, contentStore } = await openKeysAndFiles().catch(async (error: unknown) => {
    await database.close()
    await postgres?.stop()
    throw error
  })
  const notifications = createEventNotifications({ url: databaseUrl, database, log })
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
  }
}

/** The curve's library takes a fifth of a second to load, and commands that neither make nor use a key do without. */
const loadKeyPairs = () => import('./chain/key-pairs.ts')
const keyPairs = {
  createKeyPair: async () => (await loadKeyPairs()).keyPairs.createKeyPair(),
  signText: async (privateKey: Uint8Array, text: string) => (await loadKeyPairs()).keyPairs.signText(privateKey, text),
  signCoins: async (privateKey: Uint8Array, plans: readonly CoinPlan[]) =>
    (await loadKeyPairs()).keyPairs.signCoins(privateKey, plans),
}

async function startDatabase({ dir }: Config, log: Log) {
  const { startEmbeddedDatabase } = await import('./platform/vault/embedded-database.ts')
  return startEmbeddedDatabase(dir, log)
}

/** Returns the migrations that were applied. */
async function prepare(databaseUrl: string, dir: string, mayMigrate: boolean): Promise<string[]> {
  if (mayMigrate) {
    await assertDatabaseNotLost(databaseUrl, dir)
    return (await import('./platform/database/prepare-database.ts')).prepareDatabase(databaseUrl)
  }
  await assertMigrated(databaseUrl)
  return []
}

const relayKeysOf = async ({ relayKeys }: Config['chain']) =>
  relayKeys ?? [(await import('./platform/embedded/embedded-anvil.ts')).developmentKey]

/** Addresses of the relay accounts that are configured. */
export async function relayAddresses({ chain }: Config): Promise<string[]> {
  const { createRelayAccount } = await import('./chain/keys.ts')
  return (await relayKeysOf(chain)).map((key) => createRelayAccount(key).address)
}

const ANVIL_FINAL_DEPTH = 64

async function startChain(config: Config, log: Log) {
  const { startEmbeddedAnvil } = await import('./platform/embedded/embedded-anvil.ts')
  const { confirmations, depositConfirmations, embeddedDeposits } = config.chain
  // anvil calls a block final when two epochs of 32 lie on top.
  const wanted = depositConfirmations === 'finalized' ? ANVIL_FINAL_DEPTH : depositConfirmations
  const depth = embeddedDeposits ? Math.max(confirmations, wanted) : confirmations
  return startEmbeddedAnvil({ dir: config.dir, log, confirmations: depth })
}

/** The embedded chain, for who only keeps it open for other processes; undefined where another chain is configured. */
export const startEmbeddedChain = async (config: Config, log: Log): Promise<{ stop(): Promise<void> } | undefined> =>
  config.chain.rpcUrl ? undefined : startChain(config, log)

const noDeposits: DepositWatcher = { start() {}, async stop() {} }

/** Connects to the chain, starting the embedded one if none is configured. Relay and watcher are not started yet. */
export async function connectChain(
  { config, log, ...installation }: Installation,
  publicUrl: string,
): Promise<ChainConnection> {
  const {
    rpcUrl,
    registryAddress,
    registryBlock,
    id,
    confirmations,
    maxFeePerGas,
    commitsPerTransaction,
    provider,
    embeddedDeposits,
  } = config.chain
  const [
    { createRegistry },
    { createRelay },
    { createDepositWatcher },
    { createForeignWatcher },
    { createCoinMover },
    { createLastCoins },
    { createCoinQuotes },
    { createTreasury },
  ] = await Promise.all([
    import('./chain/registry/registry.ts'),
    import('./chain/relay/relay.ts'),
    import('./chain/deposits/deposits.ts'),
    import('./chain/foreign/commits.ts'),
    import('./chain/coins/mover.ts'),
    import('./chain/coins/last.ts'),
    import('./chain/coins/quote.ts'),
    import('./chain/coins/treasury.ts'),
  ])
  const relayKeys = await relayKeysOf(config.chain)
  const anvil = rpcUrl ? undefined : await startChain(config, log)
  if (anvil && embeddedDeposits && !anvil.isPrivate) {
    await anvil.stop()
    throw new Error(
      'ANNAL_EMBEDDED_DEPOSITS is refused: on this system other programs can make coins on the embedded chain. Set CHAIN_RPC_URL.',
    )
  }
  const url = rpcUrl ?? anvil!.rpcUrl
  const registry = createRegistry({
    rpcUrl: url,
    database: installation.database,
    address: registryAddress,
    start: registryBlock,
    chainId: id ?? anvil?.chainId,
    tracer: installation.telemetry.tracer,
  })
  const relay = createRelay({
    ...installation,
    registry,
    log,
    describe: createDescribeCommit({ provider, publicUrl, actionNids: actionNids(installation.contentStore) }),
    relayKeys,
    confirmations,
    maxFeePerGas,
    commitsPerTransaction,
    meter: installation.telemetry.meter,
    tracer: installation.telemetry.tracer,
    // A single node of ours: what it does not have is lost, and an account has as many places as it likes.
    ...(anvil && { doubtPatience: 3_000, transactionsUnderWay: 256 }),
  })
  const watcher = createDepositWatcher({
    registry,
    books: createDepositBooks({ ...installation, log }),
    databaseUrl: installation.databaseUrl,
    log,
    confirmations: config.chain.depositConfirmations,
    token: config.chain.tokenAddress,
  })
  const foreign = createForeignWatcher({
    ...{ ...installation, registry, log },
    own: [...(await relayAddresses(config)), ...config.chain.earlierRelays],
  })
  const treasury = createTreasury(config.chain.treasuryKey, installation.vault)
  const { address } = treasury
  const { gasFee, gasFeeBounds } = config.money
  const { createGasQuote } = await import('./chain/gas-quote.ts')
  const gasQuote = gasFeeBounds && createGasQuote(installation.database, registry, { ...gasFeeBounds, first: gasFee })
  const coins = createCoinMover({
    ...{ ...installation, registry, log, treasury, confirmations, maxFeePerGas },
    books: createCoinService(installation),
    meter: installation.telemetry.meter,
  })
  return {
    registry,
    relay,
    gasQuote,
    coins,
    chainCoins: {
      ...createLastCoins({ registry, database: installation.database, treasury: address, maxFeePerGas }),
      ...createCoinQuotes({ registry, treasury: address, relayAddresses: await relayAddresses(config), maxFeePerGas }),
    },
    treasury,
    histories: createOwnHistories({
      registry,
      contentStore: installation.contentStore,
      recorders: () => relayAddresses(config),
    }),
    // Whoever reaches an embedded chain makes as many coins on it as they like.
    deposits: anvil && !embeddedDeposits ? noDeposits : watcher,
    foreign,
    async close() {
      await Promise.all([relay.stop(), watcher.stop(), coins.stop(), foreign.stop()])
      await anvil?.stop()
    },
  }
}

/** Milliseconds that a start waits to hear whose bucket it is. */
const CLAIM_MS = 3_000

const unlessAway = (error: unknown) => {
  if (!(error instanceof DomainError)) throw error
}

/** Where files lie, for people. */
function filesOf({ files, dir }: Config): string {
  if (files.s3) return `blocks in the bucket ${files.s3.bucket}`
  return files.ipfs?.urls.join(', ') ?? `blocks in ${dir}/blocks`
}

/** Raises an Error for a bucket of another installation. `owner`: what tells installations apart. */
async function openContentStore(
  { files, dir }: Config,
  { owner, mayClaim, log }: { owner: string | undefined; mayClaim: boolean; log: Log },
): Promise<ContentStore> {
  // All are large, and each installation needs one.
  if (files.s3) {
    const [{ createS3ContentStore }, { createS3Bucket }, { claimBucket }] = await Promise.all([
      import('./files/s3-store.ts'),
      import('./files/s3-bucket.ts'),
      import('./files/s3-owner.ts'),
    ])
    // A storage that is away keeps nobody from starting: a collection asks once more.
    if (owner !== undefined && mayClaim)
      await claimBucket(createS3Bucket({ ...files.s3, patience: CLAIM_MS }), owner).catch(unlessAway)
    return createS3ContentStore({ ...files.s3, graceSeconds: files.garbageGraceSeconds, owner })
  }
  if (files.ipfs) {
    const { openKubo } = await import('./files/open-kubo.ts')
    return openKubo(files.ipfs, log)
  }
  const { createContentStore } = await import('./files/content-store.ts')
  return createContentStore({ dir: `${dir}/blocks` })
}
