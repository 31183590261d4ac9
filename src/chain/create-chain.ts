import type { Config } from '../config.ts'
import { findSetting } from '../db/key-value-store.ts'
import * as embedded from '../embedded/embedded-anvil.ts'
import type { Infrastructure } from '../infrastructure.ts'
import { actionNids, createDescribeCommit } from '../modules/commits/commits.ts'
import { createOwnHistories } from '../modules/commits/verify-history.ts'
import { unavailable } from '../shared/errors.ts'
import { ConfigError } from '../shared/operator-errors.ts'
import type { Coins } from './chain-types.ts'
import { createGasQuote } from './gas-quote.ts'
import { createRelayAccount } from './keys.ts'
import { createRegistry, NO_REGISTRY_CHOSEN, registrySetting } from './registry/registry.ts'
import { createRelay } from './relay/relay.ts'
import { findRecorders } from './relay/relay-parts.ts'

export type ChainConnection = Awaited<ReturnType<typeof createChain>>

const relayAddresses = ({ chain }: Config): string[] =>
  (chain.relayKeys ?? [embedded.developmentKey]).map((key) => createRelayAccount(key).address)

export const recordersOf = async (
  config: Config,
  { database }: Pick<Infrastructure, 'database'>,
): Promise<string[]> => [...(await findRecorders(database, [...relayAddresses(config), ...config.chain.earlierRelays]))]

/** Starts or joins the embedded chain. Throws FixableError if its folder is empty or another installation's. */
async function startChain({ config, database, log, isService, installationId }: Infrastructure) {
  const [registry] = await database.query(findSetting, { key: registrySetting(embedded.chainId) })
  if (installationId !== undefined) embedded.assertOwnChain(config.dir, installationId, registry === undefined)
  const { confirmations, depositConfirmations, embeddedDeposits } = config.chain
  // anvil finalizes a block after two epochs of 32 blocks.
  const wanted = depositConfirmations === 'finalized' ? 64 : depositConfirmations
  const depth = embeddedDeposits ? Math.max(confirmations, wanted) : confirmations
  return embedded.startEmbeddedAnvil({ dir: config.dir, log, confirmations: depth, isService })
}

/** Throws ConfigError if this start would deploy a registry contract without the operator's permission. */
export async function assertRegistryChosen(
  { chain }: Config,
  { database }: Pick<Infrastructure, 'database'>,
): Promise<void> {
  const { rpcUrl, registryAddress, mayDeployRegistry, id } = chain
  if (rpcUrl === undefined || registryAddress !== undefined || mayDeployRegistry) return
  if (await createRegistry({ rpcUrl, database, ...(id !== undefined && { chainId: id }) }).recall()) return
  throw new ConfigError([NO_REGISTRY_CHOSEN])
}

export async function createChain(infrastructure: Infrastructure, publicUrl: string) {
  const { config, database, contentStore } = infrastructure
  const { meter, tracer } = infrastructure.telemetry
  const { rpcUrl, registryAddress, registryBlock, id, relayKeys, embeddedDeposits, provider } = config.chain
  const anvil = rpcUrl ? undefined : await startChain(infrastructure)
  if (anvil && embeddedDeposits && !anvil.isPrivate) {
    await anvil.stop()
    throw new ConfigError([
      'ANNAL_EMBEDDED_DEPOSITS is refused: on this system other programs can make coins on the embedded chain. Set CHAIN_RPC_URL.',
    ])
  }
  const registry = createRegistry({
    ...{ rpcUrl: rpcUrl ?? anvil!.rpcUrl, chainId: id ?? anvil?.chainId, database, tracer },
    ...{ address: registryAddress, start: registryBlock },
  })
  // The embedded chain has one node, so a block that the node lacks is lost.
  const doubtPatience = anvil ? 3_000 : undefined
  const relay = createRelay({
    ...infrastructure,
    ...config.chain,
    ...{ registry, meter, tracer, doubtPatience },
    describe: createDescribeCommit({ provider, publicUrl, actionNids: actionNids(contentStore) }),
    relayKeys: relayKeys ?? [embedded.developmentKey],
    // The embedded chain has no limit of pending transactions per account.
    ...(anvil && { transactionsUnderWay: 256 }),
  })
  const { gasFee, gasFeeBounds } = config.money
  return {
    ...{ registry, relay, doubtPatience, relayAddresses: relayAddresses(config) },
    gasQuote: gasFeeBounds && createGasQuote(database, registry, { ...gasFeeBounds, first: gasFee }),
    histories: createOwnHistories({ registry, contentStore, recorders: () => recordersOf(config, infrastructure) }),
    isEmbedded: anvil !== undefined,
    async close(): Promise<void> {
      await relay.stop()
      await anvil?.stop()
    },
  }
}

export const noCoins: Coins = {
  treasury: async () => ({ address: '', balance: undefined }),
  async quote() {
    throw unavailable('The chain')
  },
  signLastTransfers: async () => ({ store: async () => true }),
}
