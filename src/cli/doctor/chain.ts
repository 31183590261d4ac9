/** Checks of the chain: the node, the registry, who pays for commits, and what waits for it. */
import type { Rpc } from '../../chain/rpc.ts'
import type { Config } from '../../config.ts'
import { findSetting, settingKeys } from '../../db/key-value-store.ts'
import { fromUnits } from '../../shared/money.ts'
import { type Diagnosis, right, SkippedError, span, toKnow, warning, wrong } from './diagnosis.ts'
import { findNewestFinal } from './doctor-statements.ts'
import type { Parts } from './parts.ts'

const RPC_MS = 5_000
const OLD_BLOCK_MS = 300_000

interface Block {
  number: string
  timestamp: string
  baseFeePerGas?: string
}

/** Asks the configured node. Raises SkippedError where the chain is embedded. */
export const node = async (chain: Config['chain']): Promise<Rpc> => {
  if (!chain.rpcUrl) throw new SkippedError('The chain is embedded: the server drives it.')
  const { createRpc } = await import('../../chain/rpc.ts')
  return createRpc({ url: chain.rpcUrl, timeout: RPC_MS })
}

/** What the installation remembers; nothing where there is no database. */
async function remembered({ database }: Parts, key: string): Promise<string | undefined> {
  const opened = await database().catch(() => undefined)
  const rows = await opened?.database.query(findSetting, { key })
  return rows?.[0]?.value
}

function diagnoseChainId(parts: { chainId: number; meant: number | undefined; first: string | undefined }): Diagnosis {
  const { chainId, meant, first } = parts
  const fix = 'Point CHAIN_RPC_URL to a node of the right chain. Nothing is signed until then.'
  if (meant !== undefined && meant !== chainId)
    return wrong(`CHAIN_ID says ${meant}, and the node is on chain ${chainId}.`, fix)
  if (first !== undefined && Number(first) !== chainId) {
    return wrong(`The commits here are on chain ${first}, and the node is on chain ${chainId}.`, fix)
  }
  if (meant === undefined && first === undefined) {
    const finding = `The node is on chain ${chainId}, which the first start takes for good.`
    return warning(finding, `Set CHAIN_ID=${chainId} if that is the one.`)
  }
  return right(`The node is on chain ${chainId}.`)
}

async function diagnoseRegistry(parts: Parts, rpc: Rpc, chainId: number): Promise<Diagnosis> {
  const { NO_REGISTRY_CHOSEN, registrySetting } = await import('../../chain/registry/registry.ts')
  const { chain } = await parts.config()
  const address = chain.registryAddress ?? (await remembered(parts, registrySetting(chainId)))
  if (address === undefined) {
    if (chain.mayDeployRegistry) return toKnow('The first start deploys a registry contract (CHAIN_DEPLOY_REGISTRY).')
    const [finding, ...ways] = NO_REGISTRY_CHOSEN.split(/(?<=\.) /)
    return wrong(finding!, ways.join(' '))
  }
  const code = await rpc.call<string>('eth_getCode', address, 'latest')
  if (code !== '0x') return right(`The registry stands at ${address}.`)
  const fix =
    "Set CHAIN_REGISTRY_ADDRESS right, or restore the chain's data; docs/operations.md tells of chains that were reset."
  return wrong(`There is no registry at ${address}.`, fix)
}

/** Checks whether the folder of the embedded chain is that of this installation. The chain itself is the server's to start. */
async function checkEmbeddedChain(parts: Parts): Promise<Diagnosis[]> {
  const { dir } = await parts.config()
  const owner = await remembered(parts, settingKeys.vault)
  if (owner === undefined) throw new SkippedError('The chain is embedded: the server drives it.')
  const { hasSavedChain, isOwnChain, judgeChain, lostChain } = await import('../../embedded/chain-owner.ts')
  const { chainId } = await import('../../embedded/anvil-process.ts')
  const { registrySetting } = await import('../../chain/registry/registry.ts')
  const isNeeded = (await remembered(parts, registrySetting(chainId))) !== undefined
  const isLost = isNeeded && !(await isOwnChain(dir, owner)) && !hasSavedChain(dir)
  const problem = (await judgeChain(dir, owner)) ?? (isLost ? lostChain(dir, owner) : undefined)
  if (problem) throw problem
  return [right('The folder of the embedded chain belongs to this installation.')]
}

/** Whether the node answers, is of the right chain, follows it, and knows the registry. */
export async function checkChain(parts: Parts): Promise<Diagnosis[]> {
  const { chain } = await parts.config()
  if (!chain.rpcUrl) return checkEmbeddedChain(parts)
  const rpc = await node(chain)
  const { explainError } = await import('../../shared/operator-errors.ts')
  const { isUnavailable } = await import('../../shared/errors.ts')
  try {
    const chainId = Number(await rpc.call<string>('eth_chainId'))
    const identity = diagnoseChainId({ chainId, meant: chain.id, first: await remembered(parts, settingKeys.chain) })
    if (identity.state === 'wrong') return [identity]
    return [identity, await diagnoseHead(rpc), await diagnoseRegistry(parts, rpc, chainId)]
  } catch (error) {
    if (!isUnavailable(error)) throw error
    return [wrong(explainError(error), 'Bring the node back, or point CHAIN_RPC_URL to another one of the same chain.')]
  }
}

async function diagnoseHead(rpc: Rpc): Promise<Diagnosis> {
  const head = await rpc.call<Block>('eth_getBlockByNumber', 'latest', false)
  // A node that does not tell is not asked again.
  const syncing = await rpc.call<unknown>('eth_syncing').catch(() => false)
  if (syncing)
    return warning(
      `The node is syncing, at block ${Number(head.number)}.`,
      'Wait until it has caught up, or take another one.',
    )
  const age = Date.now() - Number(head.timestamp) * 1_000
  const finding = `The newest block is ${Number(head.number)}, ${span(Math.max(age, 0))} old.`
  const fix = 'Look whether the node follows its chain; a chain that only mines when somebody writes may rest.'
  return age > OLD_BLOCK_MS ? warning(finding, fix) : right(finding)
}

/** Gas of one commit where none was ever final: the contract's usual one, rounded up. */
const GAS_OF_COMMIT = 120_000n
const FEW_COMMITS = 1_000n

async function gasOfCommit(parts: Parts, rpc: Rpc): Promise<bigint> {
  const opened = await parts.database().catch(() => undefined)
  const [newest] = (await opened?.database.query(findNewestFinal)) ?? []
  if (!newest) return GAS_OF_COMMIT
  const receipt = await rpc.call<{ gasUsed: string } | null>('eth_getTransactionReceipt', newest.hash)
  return receipt ? BigInt(receipt.gasUsed) : GAS_OF_COMMIT
}

/** What relay accounts hold, and for how many commits that is enough. */
export async function checkRelayAccounts(parts: Parts): Promise<Diagnosis[]> {
  const { chain } = await parts.config()
  const rpc = await node(chain)
  const { createRelayAccount } = await import('../../chain/keys.ts')
  const { isUnavailable } = await import('../../shared/errors.ts')
  const head = await rpc.call<Block>('eth_getBlockByNumber', 'latest', false).catch((error: unknown) => {
    throw isUnavailable(error) ? new SkippedError('The chain does not answer.') : error
  })
  const price = BigInt(await rpc.call<string>('eth_gasPrice'))
  const gas = await gasOfCommit(parts, rpc)
  const diagnoses: Diagnosis[] = []
  if (BigInt(head.baseFeePerGas ?? '0x0') > chain.maxFeePerGas) {
    const finding = 'The base fee of the chain is above CHAIN_MAX_FEE_GWEI: commits wait.'
    diagnoses.push(wrong(finding, 'Raise CHAIN_MAX_FEE_GWEI, or wait until gas is cheaper.'))
  }
  for (const { address } of (chain.relayKeys ?? []).map(createRelayAccount)) {
    const balance = BigInt(await rpc.call<string>('eth_getBalance', address, 'latest'))
    const commits = price > 0n ? balance / (gas * price) : undefined
    const finding = `${address} holds ${fromUnits(balance)} coins${commits === undefined ? '' : `, enough for about ${commits} commits at ${gas} gas and the present price`}.`
    const fix = `Send coins to ${address}; its commits wait when it is empty.`
    if (commits === 0n) diagnoses.push(wrong(finding, fix))
    else diagnoses.push(commits !== undefined && commits < FEW_COMMITS ? warning(finding, fix) : right(finding))
  }
  return diagnoses
}

const LONG_WAIT_MS = 15 * 60_000

/** What is on its way to the chain, and how long it has been. */
export async function checkRelay(parts: Parts): Promise<Diagnosis[]> {
  const { database } = await parts.database()
  const { countByStatus, findWaiting } = await import('../../chain/relay/commit-signer.sql.ts')
  const waiting = await database.query(findWaiting)
  const counts = await database.query(countByStatus)
  const diagnoses: Diagnosis[] = []
  if (waiting.length) {
    const [first] = waiting
    const finding = `${waiting.length} commits wait because they could not be made ready, such as ${first!.nid}: ${first!.last_error}`
    diagnoses.push(wrong(finding, '`annal relay` lists them; mend the reason, then `annal relay --retry`.'))
  }
  for (const { status, count, oldest } of counts) {
    const age = Date.now() - oldest.getTime()
    if (status === 'FAILED') diagnoses.push(toKnow(`${count} commits could not reach the chain and were refunded.`))
    else if (age > LONG_WAIT_MS && !waiting.length) {
      const finding = `${count} commits are ${status}, the oldest for ${span(age)}.`
      diagnoses.push(
        warning(finding, "Look at the checks of the chain, and for `Commits wait for the chain` in the server's log."),
      )
    }
  }
  const open = counts.filter(({ status }) => status !== 'FAILED').reduce((sum, { count }) => sum + count, 0)
  if (diagnoses.every(({ state }) => state === 'to know'))
    diagnoses.unshift(right(`${open} commits are on their way to the chain; none is stuck.`))
  return diagnoses
}
