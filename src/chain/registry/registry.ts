import { setTimeout as delay } from 'node:timers/promises'
import { getCreateAddress } from 'ethers'
import type { Database } from '../../db/database-types.ts'
import { findSetting, insertSetting, keyValueKeys, replaceSetting } from '../../db/key-value-store.ts'
import { statement, text } from '../../db/sql.ts'
import type { CommitData } from '../../modules/commits/commits.ts'
import { undefinedIf } from '../../shared/async.ts'
import { isUnavailable } from '../../shared/errors.ts'
import type { Log } from '../../shared/log.ts'
import type { Tracer } from '../../telemetry/telemetry-types.ts'
import { type RelayAccount, toHex } from '../keys.ts'
import * as jsonRpc from '../rpc.ts'
import { chooseFees, isPoor, signTransaction } from '../transaction.ts'
import { findFirst, readAccounts, readView } from '../view.ts'
import * as abi from './abi.ts'

/** Error for a node whose chain is not the configured or stored chain. The relay must not sign anything. */
export class WrongChainError extends Error {
  override readonly name = 'WrongChainError'
}

export const isNoAnswer = (error: unknown): boolean =>
  jsonRpc.isRpcError(error) || error instanceof WrongChainError || isUnavailable(error)

/** A commit of an asset, as read from the chain. Anyone can write to the registry, so trust depends on `recorder`. */
export interface ChainCommit {
  recorder: string
  /** Text in the log, and the decoded commit data, which is undefined if the format is unknown. */
  text: string
  commitData: CommitData | undefined
  transactionHash: string
  blockNumber: number
  blockHash: string
  logIndex: number
}

export interface RegistryOptions {
  rpcUrl: string
  /** Database that stores chain ID and registry address. A verifier has no database, so it must set `address`. */
  database?: Database
  /** Address of an existing registry. If missing, the relay deploys one and stores its address. */
  address?: string
  /** First block of the registry's log. If missing, a search finds it, which needs a node that keeps old state. */
  start?: number | undefined
  chainId?: number
  tracer?: Tracer
}

export const NO_REGISTRY_CHOSEN =
  'This installation has no registry contract yet. ' +
  'Set CHAIN_REGISTRY_ADDRESS to the address of an existing ERC-7053 registry. ' +
  'Or set CHAIN_DEPLOY_REGISTRY=true to deploy one: the first account of CHAIN_RELAY_KEYS pays for about 450,000 gas.'

export const registrySetting = (chainId: number) => `${keyValueKeys.registry}${chainId}`

const readSetting = async (database: Database | undefined, key: string) =>
  (await database?.query(findSetting, { key }))?.[0]?.value

const BLOCKS_OF_PAGE = 50
/** Initial number of blocks per log request. The number grows after successes and shrinks after rejections. */
const FIRST_RANGE = 2_000
const LARGEST_RANGE = 100_000
export type Registry = ReturnType<typeof createRegistry>

export function createRegistry(options: RegistryOptions) {
  const { rpcUrl, database, address, start, chainId: expectedId, tracer } = options
  const rpc = jsonRpc.createRpc({ url: rpcUrl, ...(tracer && { tracer }) })
  let storedId: number | undefined
  /** Checks the node's chain. Throws WrongChainError unless `chainId` is this installation's chain. */
  const assertChain = async (chainId: number): Promise<void> => {
    if (expectedId !== undefined && chainId !== expectedId)
      throw new WrongChainError(`CHAIN_ID says ${expectedId}, but the node at ${rpc.host} is on chain ${chainId}.`)
    if (!database) return
    if (storedId === undefined) {
      const [row] = await database.query(insertSetting, { key: keyValueKeys.chain, value: String(chainId) })
      storedId = Number(row?.value ?? chainId)
    }
    if (chainId === storedId) return
    throw new WrongChainError(
      `The commits in this database are on chain ${storedId}, but the node at ${rpc.host} is on chain ${chainId}. ` +
        'Point CHAIN_RPC_URL at the right chain, or use a fresh database.',
    )
  }

  /** Returns the node's chain ID. Stores it if none is stored yet. Throws UNAVAILABLE, WrongChainError. */
  const readChainId = async (): Promise<number> => {
    const chainId = Number(await rpc.call<string>('eth_chainId'))
    await assertChain(chainId)
    return chainId
  }

  const findAddress = async (chainId: number): Promise<string | undefined> =>
    address ?? readSetting(database, registrySetting(chainId))

  const locate = async () => {
    const chainId = await readChainId()
    const at = await findAddress(chainId)
    return at === undefined ? undefined : { chainId, at }
  }

  const listBlocks = async (at: string, nid: string): Promise<number[]> => {
    const answer = await rpc.call<string>('eth_call', { to: at, data: abi.encodeGetCommits(nid) }, 'latest')
    // An empty result means that there is no contract at the address, so nothing was committed.
    return answer === '0x' ? [] : [...new Set(abi.decodeGetCommits(answer))]
  }

  /** Reads single blocks. Every node supports this, while many reject a range over a long history. */
  const readBlocks = async (at: string, topics: abi.LogTopics, blocks: readonly number[]): Promise<ChainCommit[]> => {
    const calls = blocks.map(jsonRpc.quantity).map((block) => ({
      ...{ method: 'eth_getLogs', params: [{ address: at, fromBlock: block, toBlock: block, topics }] },
    }))
    return (await rpc.batch(calls)).flatMap((outcome) => jsonRpc.resultOf<jsonRpc.LogReply[]>(outcome)).map(readLog)
  }

  async function* readRanges(at: string, topics: abi.LogTopics, fromBlock: number): AsyncGenerator<ChainCommit[]> {
    const readHead = async () => Number(await rpc.call<string>('eth_blockNumber'))
    let head = await readHead()
    let size = FIRST_RANGE
    for (let from = fromBlock; from <= head; ) {
      const to = Math.min(from + size - 1, head)
      const filter = { address: at, fromBlock: jsonRpc.quantity(from), toBlock: jsonRpc.quantity(to), topics }
      const logs = await rpc.call<jsonRpc.LogReply[]>('eth_getLogs', filter).catch((error: unknown) => {
        if (!jsonRpc.isRpcError(error) || to === from) throw error
      })
      if (logs) {
        yield logs.map(readLog)
        from = to + 1
        size = Math.min(Math.ceil(size * 1.25), LARGEST_RANGE)
        if (from > head) head = await readHead()
      } else size = Math.ceil((to - from + 1) / 2)
    }
  }

  const startOf = async (at: string, chainId: number) =>
    start ?? (await findStart({ rpc, database, chainId, address: at }))

  /** Lists the blocks, or returns undefined if the contract has no `getCommits` or its result exceeds a node limit. */
  const listIfItCan = (at: string, nid: string) => listBlocks(at, nid).catch(undefinedIf(jsonRpc.isRpcError))

  return {
    rpc,
    configuredAddress: address,
    ...{ readChainId, assertChain, findAddress },
    findStart: startOf,
    /** Returns the stored or configured chain and address. Undefined before the first commit. */
    async recall(): Promise<{ chainId: number; address: string } | undefined> {
      const stored = await readSetting(database, keyValueKeys.chain)
      const chainId = stored === undefined ? expectedId : Number(stored)
      const at = chainId === undefined ? undefined : await findAddress(chainId)
      return chainId === undefined || at === undefined ? undefined : { chainId, address: at }
    },
    hasCode: async (at: string, block = 'latest'): Promise<boolean> =>
      (await rpc.call<string>('eth_getCode', at, block)) !== '0x',
    /** Returns all commits of an asset by any account, oldest first. Throws UNAVAILABLE, WrongChainError. */
    async readCommits(nid: string): Promise<ChainCommit[]> {
      const { at } = (await locate()) ?? {}
      if (at === undefined) return []
      const commits = await readBlocks(at, abi.commitTopics(nid), await listBlocks(at, nid))
      return commits.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
    },
    /** Returns these accounts' commits of an asset, oldest first. Throws UNAVAILABLE, WrongChainError, RpcError. */
    async *readOwn(nid: string, recorders: readonly string[]): AsyncGenerator<ChainCommit[]> {
      const located = await locate()
      if (!located) return
      const { at, chainId } = located
      const topics = abi.ownTopics(nid, recorders)
      let blocks = await listIfItCan(at, nid)
      for (let read = 0; blocks && read < blocks.length; read += BLOCKS_OF_PAGE) {
        yield await readBlocks(at, topics, blocks.slice(read, read + BLOCKS_OF_PAGE))
        if (read > 0 && read + BLOCKS_OF_PAGE >= blocks.length) blocks = await listIfItCan(at, nid)
      }
      if (!blocks) yield* readRanges(at, topics, (await startOf(at, chainId)) ?? 0)
    },
    /** Returns all commits of these accounts since a block, oldest first. Throws UNAVAILABLE, WrongChainError. */
    async *readAll(recorders: readonly string[], fromBlock: number): AsyncGenerator<ChainCommit> {
      const located = await locate()
      if (!located) return
      const { at, chainId } = located
      const from = Math.max(fromBlock, (await startOf(at, chainId)) ?? 0)
      for await (const page of readRanges(at, abi.recorderTopics(recorders), from)) yield* page
    },
  }
}

const readLog = (log: jsonRpc.LogReply): ChainCommit => {
  const { recorder, commitData: text } = abi.decodeCommitLog(log)
  const { transactionHash, blockHash } = log
  const place = { blockNumber: Number(log.blockNumber), logIndex: Number(log.logIndex) }
  return { recorder, text, commitData: abi.parseCommitData(text), transactionHash, blockHash, ...place }
}

type Place = { rpc: jsonRpc.Rpc; database?: Database | undefined; chainId: number; address: string }

const startSetting = ({ chainId, address }: Place) => `${keyValueKeys.registryStart}${chainId}:${address}`

const readStart = async (place: Place) => {
  const [number, hash] = (await readSetting(place.database, startSetting(place)))?.split(' ') ?? []
  return number === undefined ? undefined : { number: Number(number), hash }
}

const readBlock = (rpc: jsonRpc.Rpc, number: number) =>
  rpc.call<jsonRpc.FullBlockReply | null>('eth_getBlockByNumber', jsonRpc.quantity(number), true)

/** Finds the block that created the contract: the first block in which it has code. Needs a node with old state. */
async function searchStart({ rpc, address }: Place): Promise<{ number: number; hash: string } | undefined> {
  const hasCodeAt = async (number: number) =>
    (await rpc.call<string>('eth_getCode', address, jsonRpc.quantity(number))) !== '0x'
  const head = Number(await rpc.call<string>('eth_blockNumber'))
  if (!(await hasCodeAt(head))) return undefined
  const block = await readBlock(rpc, await findFirst(-1, head, hasCodeAt))
  const makers = block?.transactions.filter(({ to }) => to === null) ?? []
  const outcomes = await rpc.batch(makers.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })))
  const isMadeHere = outcomes.some(
    (outcome) =>
      jsonRpc.resultOf<jsonRpc.ReceiptReply | null>(outcome)?.contractAddress?.toLowerCase() === address.toLowerCase(),
  )
  return block && isMadeHere ? { number: Number(block.number), hash: block.hash } : undefined
}

const storeStart = async (place: Place, number: number, hash: string) => {
  await place.database?.query(replaceSetting, { key: startSetting(place), value: `${number} ${hash}` })
}

/** Stores the block of our own deployment if the node has its receipt. Throws UNAVAILABLE. */
export async function recordStart(place: Place, transactionHash: string): Promise<void> {
  const receipt = await place.rpc.call<jsonRpc.ReceiptReply | null>('eth_getTransactionReceipt', transactionHash)
  if (receipt) await storeStart(place, Number(receipt.blockNumber), receipt.blockHash)
}

/** Returns the registry's first block, stored or found by binary search. Throws UNAVAILABLE. */
async function findStart(place: Place): Promise<number | undefined> {
  const start = await readStart(place)
  // After a reset, the chain has another block hash at this height.
  if (start && (await readBlock(place.rpc, start.number))?.hash === start.hash) return start.number
  const found = await searchStart(place).catch(undefinedIf(jsonRpc.isRpcError))
  if (found) await storeStart(place, found.number, found.hash)
  return found?.number
}

interface DeployOptions {
  registry: Registry
  database: Database
  log: Pick<Log, 'info' | 'warn'>
  maxFeePerGas: bigint
  account: RelayAccount
  signal: AbortSignal
}

const [RECEIPT_WAIT_MS, RECEIPT_POLL_MS] = [60_000, 100]

/**
 * Returns the registry's address on this chain and deploys the contract if it is missing. The caller must hold the
 * account's lease. The address depends only on account and nonce, and is stored before the transaction is sent. So the
 * contract gets the same address after a crash or a reset of the chain, and signed transactions stay valid.
 */
export const ensureRegistry = async (options: DeployOptions): Promise<string> => {
  const { registry, database, account, log, signal } = options
  const { rpc } = registry
  const chainId = await registry.readChainId()
  const key = registrySetting(chainId)
  const known = await registry.findAddress(chainId)
  if (known && (await registry.hasCode(known))) return known
  if (registry.configuredAddress)
    throw new Error(
      `CHAIN_REGISTRY_ADDRESS says ${known}, but on chain ${chainId} there is no contract at that address.`,
    )

  const view = await readView(rpc, [])
  // Read code and transaction count at one block, because nodes behind a load balancer can have different heads.
  const block = jsonRpc.quantity(view.head.number)
  if (known && (await registry.hasCode(known, block))) return known
  const [seen] = await readAccounts(rpc, [account.address], block)
  const nonce = seen!.count
  const address = getCreateAddress({ from: account.address, nonce })
  if (known && known !== address) {
    const [replaced] = await database.query(replaceUnusedRegistry, { key, value: address })
    if (!replaced)
      throw new Error(
        `There is no registry at ${known} on chain ${chainId}. Restore the chain's data, ` +
          'or set CHAIN_REGISTRY_ADDRESS to the address of the registry.',
      )
  } else {
    const [row] = await database.query(insertSetting, { key, value: address })
    // Another process stored the address of its registry first.
    if (row?.value !== address) throw new Error('The registry is being deployed by another process.')
  }

  const fees = chooseFees(view, options.maxFeePerGas)
  if (!fees) throw new Error('The base fee is above CHAIN_MAX_FEE_GWEI, so the registry cannot be deployed.')
  const estimate = await rpc.call<string>('eth_estimateGas', { from: account.address, data: abi.registryBytecode })
  const gasLimit = (BigInt(estimate) * 5n) / 4n
  const signed = signTransaction(account, { ...fees, chainId, nonce, data: abi.registryBytecode, gasLimit })
  const fields = { chainId, address, transaction: signed.hash }
  if (known === address)
    log.warn(fields, 'The chain lost the registry; deploying it again and sending every commit again')
  else log.info(fields, 'Deploying the registry')
  await rpc.call('eth_sendRawTransaction', toHex(signed.raw)).catch((error: unknown) => {
    // An earlier deployment with this nonce may be pending. It creates the same contract at the same address.
    if (!jsonRpc.isRpcError(error) || isPoor(error)) throw error
    log.warn({ err: error, nonce }, 'The node rejected the deployment of the registry; waiting for an earlier one')
  })
  const deadline = performance.now() + RECEIPT_WAIT_MS
  while (!(await registry.hasCode(address))) {
    if (performance.now() > deadline)
      throw new Error(`The transaction ${signed.hash}, which deploys the registry, is not in a block yet.`)
    await delay(RECEIPT_POLL_MS, undefined, { signal })
  }
  await recordStart({ rpc, database, chainId, address }, signed.hash)
  return address
}

/** Replaces the stored registry address if no transaction was ever signed. */
const replaceUnusedRegistry = statement(
  'registry_replace_unused',
  { parameters: { key: text, value: text }, columns: { value: text } },
  `update key_values set value = $value where key = $key and not exists (select from chain_transactions) returning value`,
)
