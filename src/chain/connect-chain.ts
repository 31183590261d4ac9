/** The chain of an installation, embedded or shared as the configuration says, with all that writes to it and reads it. */

import { type Config, ConfigError } from '../config.ts'
import { findSetting } from '../db/key-value-store.ts'
import type { Infrastructure } from '../infrastructure.ts'
import { createCoinService } from '../modules/coins/coin-service.ts'
import type { Coins } from '../modules/coins/coin-types.ts'
import { createDepositBooks } from '../modules/coins/deposit-books.ts'
import type { DepositWatcher } from '../modules/coins/deposits/deposits.ts'
import type { CoinMover } from '../modules/coins/treasury/treasury-worker.ts'
import { actionNids, createDescribeCommit } from '../modules/commits/commit-data.ts'
import { createOwnHistories } from '../modules/commits/local-sources.ts'
import type { Log } from '../shared/log.ts'
import type { Histories } from './chain-types.ts'
import type { GasQuote } from './gas-quote.ts'
import type { RelayAccount } from './keys.ts'
import type { Registry } from './registry/registry.ts'
import type { Relay } from './relay/options.ts'

/** A chain to write to, the relay that does, the watcher that credits what comes in over it, and the mover that gathers that. */
export interface ChainConnection {
  registry: Registry
  relay: Relay
  /** What commits are charged for gas; undefined where that is configured. */
  gasQuote: GasQuote | undefined
  deposits: DepositWatcher
  coins: CoinMover
  /** What is asked before coins are withdrawn, and before an address's key is destroyed. */
  chainCoins: Coins
  /** The account that deposits are gathered in and withdrawals are paid from. */
  treasury: RelayAccount
  histories: Histories
  close(): Promise<void>
}

const relayKeysOf = async ({ relayKeys }: Config['chain']) =>
  relayKeys ?? [(await import('../embedded/embedded-anvil.ts')).developmentKey]

/** Addresses of the relay accounts that are configured. */
async function relayAddresses({ chain }: Config): Promise<string[]> {
  const { createRelayAccount } = await import('./keys.ts')
  return (await relayKeysOf(chain)).map((key) => createRelayAccount(key).address)
}

/** The same, and those that are said to have been. */
const namedRelays = async (config: Config) => [...(await relayAddresses(config)), ...config.chain.earlierRelays]

/** Addresses of the accounts whose commits are this installation's: relay accounts that are configured, and those that were. */
export async function recordersOf(config: Config, { database }: Pick<Infrastructure, 'database'>): Promise<string[]> {
  const { findRecorders } = await import('./recorders.ts')
  return [...(await findRecorders(database, await namedRelays(config)))]
}

const ANVIL_FINAL_DEPTH = 64
const ANVIL_DOUBT_MS = 3_000

/** The installation that the folder of the embedded chain belongs to, and its database. */
type Owner = Pick<Infrastructure, 'database' | 'installationId' | 'isService'>

/** The registry on the embedded chain, as the database remembers it. */
async function findEmbeddedRegistry(database: Infrastructure['database']): Promise<string | undefined> {
  const { chainId } = await import('../embedded/anvil-process.ts')
  const { registrySetting } = await import('./registry/registry.ts')
  return (await database.query(findSetting, { key: registrySetting(chainId) }))[0]?.value
}

/**
 * Starts the embedded chain, or uses that of the running service. Throws FixableError when its folder belongs to another installation, or is empty although the
 * database has commits.
 */
async function startChain(config: Config, log: Log, { database, installationId: owner, isService }: Owner) {
  if (owner === undefined) return startAnvil(config, log, isService)
  const { claimChain, hasSavedChain, isOwnChain, findForeignChain, lostChain } = await import(
    '../embedded/anvil-process.ts'
  )
  const { dir } = config
  const problem = await findForeignChain(dir, owner)
  if (problem) throw problem
  if (await isOwnChain(dir, owner)) return startAnvil(config, log, isService)
  const registry = await findEmbeddedRegistry(database)
  if (registry !== undefined && !hasSavedChain(dir)) throw lostChain(dir, owner)
  const anvil = await startAnvil(config, log, isService)
  try {
    if (registry !== undefined) {
      const [{ createRpc }, { isChainOf }] = await Promise.all([import('./rpc.ts'), import('./registry/start.ts')])
      const place = { rpc: createRpc({ url: anvil.rpcUrl }), database, chainId: anvil.chainId, address: registry }
      if (!(await isChainOf(place))) throw lostChain(dir, owner)
    }
    await claimChain(dir, owner)
  } catch (error) {
    await anvil.stop()
    throw error
  }
  return anvil
}

async function startAnvil(config: Config, log: Log, isService: boolean) {
  const { startEmbeddedAnvil } = await import('../embedded/embedded-anvil.ts')
  const { confirmations, depositConfirmations, embeddedDeposits } = config.chain
  // anvil calls a block final when two epochs of 32 lie on top.
  const wanted = depositConfirmations === 'finalized' ? ANVIL_FINAL_DEPTH : depositConfirmations
  const depth = embeddedDeposits ? Math.max(confirmations, wanted) : confirmations
  return startEmbeddedAnvil({ dir: config.dir, log, confirmations: depth, isService })
}

/**
 * Raises ConfigError when this start would deploy a registry contract on the operator's chain without CHAIN_DEPLOY_REGISTRY. Does not
 * call the node.
 */
export async function assertRegistryChosen(
  { chain }: Config,
  { database }: Pick<Infrastructure, 'database'>,
): Promise<void> {
  const { rpcUrl, registryAddress, mayDeployRegistry, id } = chain
  if (rpcUrl === undefined || registryAddress !== undefined || mayDeployRegistry) return
  const { createRegistry, NO_REGISTRY_CHOSEN } = await import('./registry/registry.ts')
  if (await createRegistry({ rpcUrl, database, ...(id !== undefined && { chainId: id }) }).recall()) return
  throw new ConfigError([NO_REGISTRY_CHOSEN])
}

const noDeposits: DepositWatcher = { start() {}, async stop() {} }

/** Connects to the chain, starting the embedded one if none is configured. Relay and watcher are not started yet. */
export async function connectChain(
  { config, log, ...infrastructure }: Infrastructure,
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
    { createCoinMover },
    { createLastCoins },
    { createCoinQuotes },
    { createTreasury },
  ] = await Promise.all([
    import('./registry/registry.ts'),
    import('./relay/relay.ts'),
    import('../modules/coins/deposits/deposits.ts'),
    import('../modules/coins/treasury/treasury-worker.ts'),
    import('../modules/coins/treasury/last.ts'),
    import('../modules/coins/treasury/quote.ts'),
    import('../modules/coins/treasury/treasury.ts'),
  ])
  const relayKeys = await relayKeysOf(config.chain)
  const anvil = rpcUrl ? undefined : await startChain(config, log, infrastructure)
  if (anvil && embeddedDeposits && !anvil.isPrivate) {
    await anvil.stop()
    throw new ConfigError([
      'ANNAL_EMBEDDED_DEPOSITS is refused: on this system other programs can make coins on the embedded chain. Set CHAIN_RPC_URL.',
    ])
  }
  const url = rpcUrl ?? anvil!.rpcUrl
  const registry = createRegistry({
    rpcUrl: url,
    database: infrastructure.database,
    address: registryAddress,
    start: registryBlock,
    chainId: id ?? anvil?.chainId,
    tracer: infrastructure.telemetry.tracer,
  })
  const relay = createRelay({
    ...infrastructure,
    registry,
    log,
    describe: createDescribeCommit({ provider, publicUrl, actionNids: actionNids(infrastructure.contentStore) }),
    relayKeys,
    earlierRelays: config.chain.earlierRelays,
    confirmations,
    maxFeePerGas,
    commitsPerTransaction,
    meter: infrastructure.telemetry.meter,
    tracer: infrastructure.telemetry.tracer,
    // A single node of ours: what it does not have is lost, and an account has as many places as it likes.
    ...(anvil && { doubtPatience: ANVIL_DOUBT_MS, transactionsUnderWay: 256 }),
  })
  const watcher = createDepositWatcher({
    registry,
    books: createDepositBooks({ ...infrastructure, log }),
    databaseUrl: infrastructure.databaseUrl,
    log,
    confirmations: config.chain.depositConfirmations,
    token: config.chain.tokenAddress,
  })
  const treasury = createTreasury(config.chain.treasuryKey, infrastructure.vault)
  const { address } = treasury
  const { gasFee, gasFeeBounds } = config.money
  const { createGasQuote } = await import('./gas-quote.ts')
  const gasQuote = gasFeeBounds && createGasQuote(infrastructure.database, registry, { ...gasFeeBounds, first: gasFee })
  const coins = createCoinMover({
    ...{ ...infrastructure, registry, log, treasury, confirmations, maxFeePerGas },
    books: createCoinService(infrastructure),
    meter: infrastructure.telemetry.meter,
    ...(anvil && { doubtPatience: ANVIL_DOUBT_MS }),
  })
  return {
    registry,
    relay,
    gasQuote,
    coins,
    chainCoins: {
      ...createLastCoins({ registry, database: infrastructure.database, treasury: address, maxFeePerGas }),
      ...createCoinQuotes({ registry, treasury: address, relayAddresses: await relayAddresses(config), maxFeePerGas }),
    },
    treasury,
    histories: createOwnHistories({
      registry,
      contentStore: infrastructure.contentStore,
      recorders: () => recordersOf(config, infrastructure),
    }),
    // Whoever reaches an embedded chain makes as many coins on it as they like.
    deposits: anvil && !embeddedDeposits ? noDeposits : watcher,
    async close() {
      await Promise.all([relay.stop(), watcher.stop(), coins.stop()])
      await anvil?.stop()
    },
  }
}
