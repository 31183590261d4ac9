/** Checks of the chain and the coins. */
import { createRelayAccount } from '../../chain/keys.ts'
import { NO_REGISTRY_CHOSEN, registrySetting } from '../../chain/registry/registry.ts'
import { createRpc, type Rpc } from '../../chain/rpc.ts'
import { findSetting, keyValueKeys } from '../../db/key-value-store.ts'
import { assertOwnChain, chainId as embeddedChainId } from '../../embedded/embedded-anvil.ts'
import { createLocalKeyVault } from '../../keys/key-vault.ts'
import { isVaultKnown } from '../../keys/vault-identity.ts'
import { isUnavailable } from '../../shared/errors.ts'
import { fromUnits } from '../../shared/money.ts'
import { explainError } from '../../shared/operator-errors.ts'
import { loadCoins } from '../with-infrastructure.ts'
import {
  type Checks,
  type Diagnosis,
  failure,
  formatDuration,
  info,
  ok,
  type Parts,
  SkippedError,
  warning,
} from './diagnosis.ts'

const RPC_MS = 5_000
const OLD_BLOCK_MS = 300_000

type Block = { number: string; timestamp: string; baseFeePerGas?: string }

const readHead = (rpc: Rpc) => rpc.call<Block>('eth_getBlockByNumber', 'latest', false)

const EMBEDDED = 'The chain is embedded: only the server uses it.'

/** Connects to the configured node. Throws SkippedError for the embedded chain, and if the node does not respond, which `checkChain` reports. */
async function connectNode(parts: Parts) {
  const { chain } = await parts.config()
  if (!chain.rpcUrl) throw new SkippedError(EMBEDDED)
  const rpc = createRpc({ url: chain.rpcUrl, timeout: RPC_MS })
  const head = await readHead(rpc).catch((error: unknown) => {
    throw isUnavailable(error) ? new SkippedError('The chain does not answer.') : error
  })
  return { chain, rpc, head }
}

/** Returns a value of the key-value store. Returns undefined without a database. */
async function readValue({ database }: Parts, key: string): Promise<string | undefined> {
  const rows = await (await database().catch(() => undefined))?.query(findSetting, { key })
  return rows?.[0]?.value
}

/** Checks the data folder of the embedded chain without starting the chain. */
async function checkEmbeddedChain(parts: Parts): Promise<string> {
  const { dir } = await parts.config()
  const installationId = await readValue(parts, keyValueKeys.vault)
  if (installationId === undefined) throw new SkippedError(EMBEDDED)
  const isNeeded = (await readValue(parts, registrySetting(embeddedChainId))) !== undefined
  if (isNeeded) assertOwnChain(dir, installationId)
  return 'The folder of the embedded chain belongs to this installation.'
}

function diagnoseChainId(chainId: number, expected: number | undefined, first: string | undefined): Diagnosis {
  const fix = 'Set CHAIN_RPC_URL to a node of the right chain. Until then, Annal signs nothing.'
  if (expected !== undefined && expected !== chainId)
    return failure(`CHAIN_ID is ${expected}, but the node is on chain ${chainId}.`, fix)
  if (first !== undefined && Number(first) !== chainId)
    return failure(`The commits of this installation are on chain ${first}, but the node is on chain ${chainId}.`, fix)
  if (expected !== undefined || first !== undefined) return ok(`The node is on chain ${chainId}.`)
  const finding = `The node is on chain ${chainId}. The first start chooses it permanently.`
  return warning(finding, `Set CHAIN_ID=${chainId} if it is the right one.`)
}

async function diagnoseHead(rpc: Rpc): Promise<Diagnosis> {
  const head = await readHead(rpc)
  // Some nodes do not support this method.
  const isSyncing = await rpc.call<unknown>('eth_syncing').catch(() => false)
  const age = Math.max(Date.now() - Number(head.timestamp) * 1_000, 0)
  const finding = `The newest block is ${Number(head.number)}, ${formatDuration(age)} old.`
  if (isSyncing) return warning(`The node is syncing. ${finding}`, 'Wait until it is synced, or use another one.')
  const fix = 'Check whether the node follows its chain. Ignore this for a chain that mines only on demand.'
  return age <= OLD_BLOCK_MS ? ok(finding) : warning(finding, fix)
}

async function diagnoseRegistry(parts: Parts, rpc: Rpc, chainId: number): Promise<Diagnosis> {
  const { chain } = await parts.config()
  const address = chain.registryAddress ?? (await readValue(parts, registrySetting(chainId)))
  if (address === undefined) {
    if (chain.mayDeployRegistry) return info('The first start deploys a registry contract (CHAIN_DEPLOY_REGISTRY).')
    const [finding, ...ways] = NO_REGISTRY_CHOSEN.split(/(?<=\.) /)
    return failure(finding!, ways.join(' '))
  }
  const code = await rpc.call<string>('eth_getCode', address, 'latest')
  if (code !== '0x') return ok(`The registry is at ${address}.`)
  const fix =
    'Correct CHAIN_REGISTRY_ADDRESS. For a chain that was reset, see docs/how-to/recover-from-a-chain-outage.md.'
  return failure(`There is no registry at ${address}.`, fix)
}

/** Gas use of the contract per commit, rounded up. */
const COMMIT_GAS = 120_000n
const FEW_COMMITS = 1_000n

export const chainChecks = {
  /** Checks that the node responds, is on the right chain and synced, and has the registry. */
  async *chain(parts) {
    const { chain } = await parts.config()
    if (!chain.rpcUrl) return checkEmbeddedChain(parts)
    const rpc = createRpc({ url: chain.rpcUrl, timeout: RPC_MS })
    try {
      const chainId = Number(await rpc.call<string>('eth_chainId'))
      const identity = diagnoseChainId(chainId, chain.id, await readValue(parts, keyValueKeys.chain))
      yield identity
      if (identity.state === 'error') return
      yield await diagnoseHead(rpc)
      yield await diagnoseRegistry(parts, rpc, chainId)
    } catch (error) {
      if (!isUnavailable(error)) throw error
      yield failure(explainError(error), 'Restart the node, or set CHAIN_RPC_URL to another node of the same chain.')
    }
  },

  async *'relay-accounts'(parts) {
    const { chain, rpc, head } = await connectNode(parts)
    const cost = COMMIT_GAS * BigInt(await rpc.call<string>('eth_gasPrice'))
    const finding = 'The base fee of the chain is above CHAIN_MAX_FEE_GWEI: commits wait.'
    if (BigInt(head.baseFeePerGas ?? '0x0') > chain.maxFeePerGas)
      yield failure(finding, 'Raise CHAIN_MAX_FEE_GWEI, or wait until gas is cheaper.')
    for (const { address } of (chain.relayKeys ?? []).map(createRelayAccount)) {
      const balance = BigInt(await rpc.call<string>('eth_getBalance', address, 'latest'))
      const commits = cost > 0n ? balance / cost : undefined
      const enough = commits === undefined ? '' : `, enough for about ${commits} commits at the current gas price`
      const finding = `${address} holds ${fromUnits(balance)} coins${enough}.`
      const fix = `Send coins to ${address}. Its commits wait while it is empty.`
      if (commits === 0n) yield failure(finding, fix)
      else yield commits !== undefined && commits < FEW_COMMITS ? warning(finding, fix) : ok(finding)
    }
  },

  /** Checks that the chain reports finalized blocks if deposits need them, and that the configured token exists. */
  async *deposits(parts) {
    const { chain, rpc, head } = await connectNode(parts)
    const { depositConfirmations, tokenAddress } = chain
    if (depositConfirmations === 'finalized') {
      const final = await rpc.call<Block | null>('eth_getBlockByNumber', 'finalized', false).catch(() => null)
      const behind = Number(head.number) - Number(final?.number)
      const finding = 'The chain does not report a final block, so no deposit is credited.'
      if (final) yield ok(`Deposits are credited when their block is final, now ${behind} blocks behind the newest.`)
      else yield failure(finding, 'Set CHAIN_DEPOSIT_CONFIRMATIONS to a number of blocks.')
    } else yield ok(`Deposits are credited after ${depositConfirmations} confirmations.`)
    if (tokenAddress === undefined) return
    const { readDecimals } = await loadCoins()
    try {
      const decimals = await readDecimals(rpc, tokenAddress)
      yield ok(`Deposits of the token at ${tokenAddress} (${decimals} decimals) are credited.`)
      yield info('Tokens stay at the deposit addresses. The treasury needs coins to pay withdrawals of them.')
    } catch (error) {
      yield failure((error as Error).message, 'Correct CHAIN_TOKEN_ADDRESS. Until then, no deposit is credited.')
    }
  },

  /** Checks the balance of the treasury, and that no previous treasury has coins. */
  async *treasury(parts) {
    const { chain, rpc } = await connectNode(parts)
    const { dir, keys } = await parts.config()
    const database = await parts.database()
    // Without CHAIN_TREASURY_KEY, the address depends on a key that the first start creates.
    if (chain.treasuryKey === undefined && !(await isVaultKnown(database)))
      return 'There are no keys yet. The first start creates the treasury.'
    const { createTreasury, findCoinsAtEarlier } = await loadCoins()
    const { address } = createTreasury(chain.treasuryKey, createLocalKeyVault({ ...keys, dir }))
    const balance = BigInt(await rpc.call<string>('eth_getBalance', address, 'latest'))
    yield ok(`The treasury ${address} holds ${fromUnits(balance)} coins.`)
    const fix = 'Set CHAIN_TREASURY_KEY back until they are paid out (docs/how-to/operate-the-treasury.md).'
    for (const { address: earlier, held } of await findCoinsAtEarlier(rpc, database, address)) {
      yield failure(`${fromUnits(held)} coins of users are at the earlier treasury ${earlier}.`, fix)
    }
  },
} satisfies Checks
