/** Checks of the chain, the relay and the coins. */
import type { Rpc } from '../../chain/rpc.ts'
import { findSetting, keyValueKeys } from '../../db/key-value-store.ts'
import { fromUnits } from '../../shared/money.ts'
import { loadCoins } from '../with-infrastructure.ts'
import { type Diagnosis, failure, formatDuration, info, ok, type Parts, SkippedError, warning } from './diagnosis.ts'
import { findNewestFinal } from './doctor.sql.ts'

const RPC_MS = 5_000
const OLD_BLOCK_MS = 300_000

interface Block {
  number: string
  timestamp: string
  baseFeePerGas?: string
}

const readHead = (rpc: Rpc) => rpc.call<Block>('eth_getBlockByNumber', 'latest', false)

/** Connects to the configured node. Throws SkippedError for the embedded chain. */
async function connectNode(parts: Parts) {
  const { chain } = await parts.config()
  if (!chain.rpcUrl) throw new SkippedError('The chain is embedded: only the server uses it.')
  const { createRpc } = await import('../../chain/rpc.ts')
  return { chain, rpc: createRpc({ url: chain.rpcUrl, timeout: RPC_MS }) }
}

/**
 * Connects to the configured node and reads the newest block. Throws SkippedError if the node does not respond,
 * because `checkChain` reports this.
 */
async function connectAnsweringNode(parts: Parts) {
  const { chain, rpc } = await connectNode(parts)
  const { isUnavailable } = await import('../../shared/errors.ts')
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
async function checkEmbeddedChain(parts: Parts): Promise<Diagnosis[]> {
  const { dir } = await parts.config()
  const installationId = await readValue(parts, keyValueKeys.vault)
  if (installationId === undefined) throw new SkippedError('The chain is embedded: only the server uses it.')
  const { chainId, hasSavedChain, isOwnChain, lostChain } = await import('../../embedded/embedded-anvil.ts')
  const { registrySetting } = await import('../../chain/registry/registry.ts')
  const isNeeded = (await readValue(parts, registrySetting(chainId))) !== undefined
  const isOwn = await isOwnChain(dir, installationId)
  if (isNeeded && !isOwn && !hasSavedChain(dir)) throw lostChain(dir, installationId)
  return [ok('The folder of the embedded chain belongs to this installation.')]
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
  if (isSyncing)
    return warning(
      `The node is syncing, at block ${Number(head.number)}.`,
      'Wait until it is synced, or use another one.',
    )
  const age = Math.max(Date.now() - Number(head.timestamp) * 1_000, 0)
  const finding = `The newest block is ${Number(head.number)}, ${formatDuration(age)} old.`
  if (age <= OLD_BLOCK_MS) return ok(finding)
  return warning(
    finding,
    'Check whether the node follows its chain. Ignore this for a chain that mines only on demand.',
  )
}

async function diagnoseRegistry(parts: Parts, rpc: Rpc, chainId: number): Promise<Diagnosis> {
  const { NO_REGISTRY_CHOSEN, registrySetting } = await import('../../chain/registry/registry.ts')
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
    'Correct CHAIN_REGISTRY_ADDRESS, or restore the data of the chain. docs/how-to/recover-from-a-chain-outage.md describes a chain that was reset.'
  return failure(`There is no registry at ${address}.`, fix)
}

/** Checks that the node responds, is on the right chain and synced, and has the registry. */
export async function checkChain(parts: Parts): Promise<Diagnosis[]> {
  if (!(await parts.config()).chain.rpcUrl) return checkEmbeddedChain(parts)
  const { chain, rpc } = await connectNode(parts)
  const { explainError } = await import('../../shared/operator-errors.ts')
  const { isUnavailable } = await import('../../shared/errors.ts')
  try {
    const chainId = Number(await rpc.call<string>('eth_chainId'))
    const identity = diagnoseChainId(chainId, chain.id, await readValue(parts, keyValueKeys.chain))
    if (identity.state === 'error') return [identity]
    return [identity, await diagnoseHead(rpc), await diagnoseRegistry(parts, rpc, chainId)]
  } catch (error) {
    if (!isUnavailable(error)) throw error
    return [failure(explainError(error), 'Restart the node, or set CHAIN_RPC_URL to another node of the same chain.')]
  }
}

/** Gas per commit until the first commit is final: the contract's gas use, rounded up. */
const DEFAULT_COMMIT_GAS = 120_000n
const FEW_COMMITS = 1_000n

async function readCommitGas(parts: Parts, rpc: Rpc): Promise<bigint> {
  const database = await parts.database().catch(() => undefined)
  const [newest] = (await database?.query(findNewestFinal)) ?? []
  if (!newest) return DEFAULT_COMMIT_GAS
  const receipt = await rpc.call<{ gasUsed: string } | null>('eth_getTransactionReceipt', newest.hash)
  return receipt ? BigInt(receipt.gasUsed) : DEFAULT_COMMIT_GAS
}

/** Checks the balances of the relay accounts. */
export async function checkRelayAccounts(parts: Parts): Promise<Diagnosis[]> {
  const { chain, rpc, head } = await connectAnsweringNode(parts)
  const { createRelayAccount } = await import('../../chain/keys.ts')
  const price = BigInt(await rpc.call<string>('eth_gasPrice'))
  const gas = await readCommitGas(parts, rpc)
  const diagnoses: Diagnosis[] = []
  if (BigInt(head.baseFeePerGas ?? '0x0') > chain.maxFeePerGas) {
    const finding = 'The base fee of the chain is above CHAIN_MAX_FEE_GWEI: commits wait.'
    diagnoses.push(failure(finding, 'Raise CHAIN_MAX_FEE_GWEI, or wait until gas is cheaper.'))
  }
  for (const { address } of (chain.relayKeys ?? []).map(createRelayAccount)) {
    const balance = BigInt(await rpc.call<string>('eth_getBalance', address, 'latest'))
    const commits = price > 0n ? balance / (gas * price) : undefined
    const enough = commits === undefined ? '' : `, enough for about ${commits} commits at the current gas price`
    const finding = `${address} holds ${fromUnits(balance)} coins${enough}.`
    const fix = `Send coins to ${address}. Its commits wait while it is empty.`
    if (commits === 0n) diagnoses.push(failure(finding, fix))
    else diagnoses.push(commits !== undefined && commits < FEW_COMMITS ? warning(finding, fix) : ok(finding))
  }
  return diagnoses
}

const LONG_WAIT_MS = 15 * 60_000

/** Checks the commits that are not final yet. */
export async function checkRelay(parts: Parts): Promise<Diagnosis[]> {
  const database = await parts.database()
  const { countByStatus, findWaiting } = await import('../../chain/relay/relay.sql.ts')
  const waiting = await database.query(findWaiting)
  const counts = await database.query(countByStatus)
  const diagnoses: Diagnosis[] = []
  const [first] = waiting
  if (first) {
    const finding = `${waiting.length} commits wait because they could not be prepared, such as ${first.nid}: ${first.last_error}`
    diagnoses.push(failure(finding, 'List them with `annal relay`, fix the reason, then run `annal relay --retry`.'))
  }
  for (const { status, count, oldest } of counts) {
    const age = Date.now() - oldest.getTime()
    if (status === 'FAILED') diagnoses.push(info(`${count} commits could not reach the chain and were refunded.`))
    else if (age > LONG_WAIT_MS && !first) {
      const finding = `${count} commits are ${status}, the oldest for ${formatDuration(age)}.`
      const fix = 'See the checks of the chain, and search the log of the server for `Relay failed`.'
      diagnoses.push(warning(finding, fix))
    }
  }
  const open = counts.filter(({ status }) => status !== 'FAILED').reduce((sum, { count }) => sum + count, 0)
  if (diagnoses.every(({ state }) => state === 'info'))
    diagnoses.unshift(ok(`${open} commits are on their way to the chain. None is stuck.`))
  return diagnoses
}

/** Checks that the chain reports finalized blocks if deposits need them, and that the configured token exists. */
export async function checkDeposits(parts: Parts): Promise<Diagnosis[]> {
  const { chain, rpc, head } = await connectAnsweringNode(parts)
  const { depositConfirmations, tokenAddress } = chain
  const diagnoses: Diagnosis[] = []
  if (depositConfirmations === 'finalized') {
    const final = await rpc.call<Block | null>('eth_getBlockByNumber', 'finalized', false).catch(() => null)
    const behind = Number(head.number) - Number(final?.number)
    diagnoses.push(
      final
        ? ok(`Deposits are credited when their block is final, now ${behind} blocks behind the newest.`)
        : failure(
            'CHAIN_DEPOSIT_CONFIRMATIONS is finalized, but the chain does not report a final block: no deposit is credited.',
            'Set CHAIN_DEPOSIT_CONFIRMATIONS to a number of blocks.',
          ),
    )
  } else diagnoses.push(ok(`Deposits are credited after ${depositConfirmations} confirmations.`))
  if (tokenAddress === undefined) return diagnoses
  const { readDecimals } = await loadCoins()
  try {
    const decimals = await readDecimals(rpc, tokenAddress)
    diagnoses.push(
      ok(`Deposits of the token at ${tokenAddress} (${decimals} decimals) are credited.`),
      info('Tokens stay at the deposit addresses. The treasury needs coins to pay withdrawals of them.'),
    )
  } catch (error) {
    const fix = 'Correct CHAIN_TOKEN_ADDRESS. Until then, no deposit is credited.'
    diagnoses.push(failure((error as Error).message, fix))
  }
  return diagnoses
}

/** Checks the balance of the treasury, and that no previous treasury has coins. */
export async function checkTreasury(parts: Parts): Promise<Diagnosis[]> {
  const { chain, rpc } = await connectAnsweringNode(parts)
  const { dir, keys } = await parts.config()
  const database = await parts.database()
  const { isVaultKnown } = await import('../../keys/vault-identity.ts')
  // Without CHAIN_TREASURY_KEY, the address depends on a key that the first start creates.
  if (chain.treasuryKey === undefined && !(await isVaultKnown(database)))
    return [info('There are no keys yet. The first start creates the treasury.')]
  const { createLocalKeyVault } = await import('../../keys/key-vault.ts')
  const { createTreasury, findCoinsAtEarlier } = await loadCoins()
  const { address } = createTreasury(chain.treasuryKey, createLocalKeyVault({ ...keys, dir }))
  const balance = BigInt(await rpc.call<string>('eth_getBalance', address, 'latest'))
  const previous = await findCoinsAtEarlier(rpc, database, address)
  return [
    ok(`The treasury ${address} holds ${fromUnits(balance)} coins.`),
    ...previous.map(({ address: earlier, held }) =>
      failure(
        `${fromUnits(held)} coins of users are at the earlier treasury ${earlier}, but withdrawals are paid from ${address} only. Set CHAIN_TREASURY_KEY back until they are paid out. The ledger does not know coins sent between treasuries: "annal check" reports them as missing at the first one (H6).`,
        'docs/how-to/operate-the-treasury.md describes how to replace the treasury key.',
      ),
    ),
  ]
}
