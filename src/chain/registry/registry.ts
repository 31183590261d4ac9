/** Reads the registry contract on the chain. */
import type { Database } from '../../db/database-types.ts'
import { findSetting, keyValueKeys, rememberSetting, replaceSetting } from '../../db/key-value-store.ts'
import type { CommitData } from '../../modules/commits/commit-data.ts'
import { isUnavailable } from '../../shared/errors.ts'
import type { Tracer } from '../../telemetry/telemetry-types.ts'
import {
  createRpc,
  type FullBlockReply,
  type LogReply,
  quantity,
  type ReceiptReply,
  type Rpc,
  RpcError,
  resultOf,
} from '../rpc.ts'
import {
  commitTopics,
  decodeCommitLog,
  decodeGetCommits,
  encodeGetCommits,
  ownTopics,
  parseCommitData,
  recorderTopics,
} from './abi.ts'

/** Error for a node on another chain than the configured or the stored one. Nothing must be signed. */
export class WrongChainError extends Error {
  override readonly name = 'WrongChainError'
}

/** Returns true if an error means that the node gave no usable answer. */
export const isNoAnswer = (error: unknown): boolean =>
  error instanceof RpcError || error instanceof WrongChainError || isUnavailable(error)

/** A commit of an asset, as read from the chain. Anyone can write to the registry, so trust depends on `recorder`. */
export interface ChainCommit {
  recorder: string
  /** Text in the log. */
  text: string
  /** Decoded text. Undefined if its format is unknown. */
  commitData: CommitData | undefined
  transactionHash: string
  blockNumber: number
  blockHash: string
  logIndex: number
}

export interface RegistryOptions {
  rpcUrl: string
  /** Database that stores the chain ID and the registry's address. A verifier has none and must set `address`. */
  database?: Database
  /** Address of an existing registry. If missing, the relay deploys one and stores its address. */
  address?: string
  /** First block of the registry's log. If missing, it is searched for, which needs a node that keeps old state. */
  start?: number | undefined
  /** Expected chain ID. */
  chainId?: number
  /** Tracer of the RPC calls. If missing, they are not traced. */
  tracer?: Tracer
}

/** Read access to the registry. Only the relay writes to it. */
export interface Registry {
  readonly rpc: Rpc
  /** Address that the operator configured. If set, no registry is ever deployed. */
  readonly configuredAddress: string | undefined
  /**
   * Returns the node's chain ID. Stores the first chain ID it ever reads. Throws WrongChainError if it is not the expected one,
   * UNAVAILABLE if the node does not answer.
   */
  readChainId(): Promise<number>
  /** Throws WrongChainError unless `chainId` is this installation's chain. */
  assertChain(chainId: number): Promise<void>
  /** Returns the registry's address on this chain. Undefined if it was never deployed. */
  findAddress(chainId: number): Promise<string | undefined>
  /** Returns the stored or configured chain and address. Undefined before the first commit. Does not call the node. */
  recall(): Promise<{ chainId: number; address: string } | undefined>
  /** Returns true if the address has code at a block (a hex quantity). Default: the newest block. */
  hasCode(address: string, block?: string): Promise<boolean>
  /** Returns the first block of the registry's log. Undefined if neither the operator nor the node provides it. Throws UNAVAILABLE. */
  findStart(address: string, chainId: number): Promise<number | undefined>
  /** Returns all commits of an asset by any account, oldest first. Reads only the chain. Throws UNAVAILABLE, WrongChainError. */
  readCommits(nid: string): Promise<ChainCommit[]>
  /**
   * Returns the commits that these accounts wrote about an asset, oldest first, in pages of one request each. The number of commits by
   * others does not matter. The last page includes commits that arrived while reading. Throws UNAVAILABLE, WrongChainError, RpcError.
   */
  readOwn(nid: string, recorders: readonly string[]): AsyncIterable<ChainCommit[]>
  /** Returns all commits that these accounts wrote since a block, oldest first. Throws UNAVAILABLE, WrongChainError. */
  readAll(recorders: readonly string[], fromBlock: number): AsyncIterable<ChainCommit>
}

/** Problem of a first start on an operator's chain that neither names a registry contract nor allows to deploy one. */
export const NO_REGISTRY_CHOSEN =
  'This installation has no registry contract yet. ' +
  'Set CHAIN_REGISTRY_ADDRESS to the address of an existing ERC-7053 registry. ' +
  'Or set CHAIN_DEPLOY_REGISTRY=true to deploy one: the first account of CHAIN_RELAY_KEYS pays for about 450,000 gas.'

/** Returns the key under which the registry's address on a chain is stored. */
export const registrySetting = (chainId: number) => `${keyValueKeys.registry}${chainId}`

type LogTopics = readonly (string | string[] | null)[]

/** Number of blocks per page: the number of requests in one RPC batch. */
const BLOCKS_OF_PAGE = 50

/** Creates a reader of the registry. It calls no node before the first read. It stores the chain ID and the address if there is a database. */
export function createRegistry({
  rpcUrl,
  database,
  address,
  start,
  chainId: expectedId,
  tracer,
}: RegistryOptions): Registry {
  const rpc = createRpc({ url: rpcUrl, ...(tracer && { tracer }) })
  let remembered: number | undefined

  const assertChain = async (chainId: number) => {
    if (expectedId !== undefined && chainId !== expectedId) {
      throw new WrongChainError(`CHAIN_ID says ${expectedId}, but the node at ${rpc.host} is on chain ${chainId}.`)
    }
    if (!database) return
    if (remembered === undefined) {
      const [row] = await database.query(rememberSetting, { key: keyValueKeys.chain, value: String(chainId) })
      remembered = Number(row?.value ?? chainId)
    }
    if (chainId === remembered) return
    throw new WrongChainError(
      `The commits in this database are on chain ${remembered}, but the node at ${rpc.host} is on chain ${chainId}. ` +
        'Point CHAIN_RPC_URL at the right chain, or use a fresh database.',
    )
  }

  const readChainId = async () => {
    const chainId = Number(await rpc.call<string>('eth_chainId'))
    await assertChain(chainId)
    return chainId
  }

  const findAddress = async (chainId: number) => {
    if (address) return address
    const [row] = (await database?.query(findSetting, { key: registrySetting(chainId) })) ?? []
    return row?.value
  }

  const recall = async () => {
    const [row] = (await database?.query(findSetting, { key: keyValueKeys.chain })) ?? []
    const chainId = row ? Number(row.value) : expectedId
    if (chainId === undefined) return undefined
    const at = await findAddress(chainId)
    return at === undefined ? undefined : { chainId, address: at }
  }

  /** Returns the numbers of the blocks that contain commits of an asset. Throws RpcError if the contract cannot list them. */
  const listBlocks = async (at: string, nid: string): Promise<number[]> => {
    const answer = await rpc.call<string>('eth_call', { to: at, data: encodeGetCommits(nid) }, 'latest')
    // An empty result means that there is no contract at the address, so nothing was committed.
    return answer === '0x' ? [] : [...new Set(decodeGetCommits(answer))]
  }

  /** Reads single blocks. Every node supports this, while many reject a range over a long history. */
  const readBlocks = async (at: string, topics: LogTopics, blocks: readonly number[]): Promise<ChainCommit[]> => {
    const outcomes = await rpc.batch(
      blocks.map(quantity).map((block) => ({
        method: 'eth_getLogs',
        params: [{ address: at, fromBlock: block, toBlock: block, topics }],
      })),
    )
    return outcomes.flatMap((outcome) => resultOf<LogReply[]>(outcome)).map(readLog)
  }

  /** Reads block ranges up to the current head. */
  async function* readRanges(at: string, topics: LogTopics, fromBlock: number): AsyncGenerator<ChainCommit[]> {
    const readHead = async () => Number(await rpc.call<string>('eth_blockNumber'))
    let head = await readHead()
    const range = createBlockRange()
    for (let from = fromBlock; from <= head; ) {
      const to = Math.min(from + range.size - 1, head)
      const filter = { address: at, fromBlock: quantity(from), toBlock: quantity(to), topics }
      try {
        yield (await rpc.call<LogReply[]>('eth_getLogs', filter)).map(readLog)
      } catch (error) {
        if (!(error instanceof RpcError) || !range.refused(to - from + 1)) throw error
        continue
      }
      range.answered(to - from + 1)
      from = to + 1
      if (from > head) head = await readHead()
    }
  }

  const startOf = async (at: string, chainId: number) =>
    start ?? (await findStart({ rpc, database, chainId, address: at }))

  /** Returns undefined if the contract does not support the call, or if its result exceeds a limit of the node. */
  const listIfItCan = (at: string, nid: string) =>
    listBlocks(at, nid).catch((error: unknown) => {
      if (error instanceof RpcError) return undefined
      throw error
    })

  return {
    rpc,
    configuredAddress: address,
    readChainId,
    assertChain,
    findAddress,
    recall,
    async hasCode(at, block = 'latest') {
      return (await rpc.call<string>('eth_getCode', at, block)) !== '0x'
    },
    findStart: startOf,
    async readCommits(nid) {
      const at = await findAddress(await readChainId())
      if (!at) return []
      const commits = await readBlocks(at, commitTopics(nid), await listBlocks(at, nid))
      return commits.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
    },
    async *readOwn(nid, recorders) {
      const chainId = await readChainId()
      const at = await findAddress(chainId)
      if (!at) return
      const topics = ownTopics(nid, recorders)
      let blocks = await listIfItCan(at, nid)
      for (let read = 0; blocks && read < blocks.length; read += BLOCKS_OF_PAGE) {
        yield await readBlocks(at, topics, blocks.slice(read, read + BLOCKS_OF_PAGE))
        if (read > 0 && read + BLOCKS_OF_PAGE >= blocks.length) blocks = await listIfItCan(at, nid)
      }
      if (!blocks) yield* readRanges(at, topics, (await startOf(at, chainId)) ?? 0)
    },
    async *readAll(recorders, fromBlock) {
      const chainId = await readChainId()
      const at = await findAddress(chainId)
      if (!at) return
      const from = Math.max(fromBlock, (await startOf(at, chainId)) ?? 0)
      for await (const page of readRanges(at, recorderTopics(recorders), from)) yield* page
    },
  }
}

const readLog = (log: LogReply): ChainCommit => {
  const { recorder, commitData: text } = decodeCommitLog(log)
  return {
    recorder,
    text,
    commitData: parseCommitData(text),
    transactionHash: log.transactionHash,
    blockNumber: Number(log.blockNumber),
    blockHash: log.blockHash,
    logIndex: Number(log.logIndex),
  }
}

const FIRST_RANGE = 2_000
const LARGEST_RANGE = 100_000
/** Number of successful ranges after which a larger one is tried again. A range may be rejected for its number of events. */
const FORGOTTEN_AFTER = 50

/** An adaptive block range. It grows while requests succeed and shrinks when the node rejects one. */
export interface BlockRange {
  readonly size: number
  /** Records a successful request for `asked` blocks. */
  answered(asked: number): void
  /** Records a rejected request for `asked` blocks. Returns true if a smaller range is possible. */
  refused(asked: number): boolean
}

export function createBlockRange(): BlockRange {
  let size = FIRST_RANGE
  let ceiling = LARGEST_RANGE
  let last = 0
  let since = 0
  return {
    get size() {
      return size
    },
    answered(asked) {
      last = asked
      since += 1
      if (since >= FORGOTTEN_AFTER) {
        since = 0
        ceiling = Math.min(ceiling * 2, LARGEST_RANGE)
      }
      size = Math.min(size * 2, ceiling)
    },
    refused(asked) {
      since = 0
      const half = Math.max(Math.floor(asked / 2), 1)
      size = last < asked ? Math.max(half, last) : half
      ceiling = size
      return asked > 1
    },
  }
}

interface Place {
  rpc: Rpc
  database?: Database | undefined
  chainId: number
  /** Address of the registry. */
  address: string
}

interface PlacedStart {
  number: number
  hash: string
}

/** Returns the key under which the block is stored. */
const settingOf = ({ chainId, address }: Place) => `${keyValueKeys.registryStart}${chainId}:${address}`

const readBlock = (rpc: Rpc, number: number) =>
  rpc.call<FullBlockReply | null>('eth_getBlockByNumber', quantity(number), true)

/** Returns true if a transaction of the block created the contract. */
async function isMadeIn({ rpc, address }: Place, { transactions }: FullBlockReply): Promise<boolean> {
  const makers = transactions.filter(({ to }) => to === null)
  const outcomes = await rpc.batch(makers.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })))
  return outcomes.some(
    (outcome) => resultOf<ReceiptReply | null>(outcome)?.contractAddress?.toLowerCase() === address.toLowerCase(),
  )
}

/**
 * Returns the first block with code at the address. It must contain the transaction that created the contract, because some nodes report
 * "no code" for blocks whose state they have pruned. A contract that was created by another contract is therefore not found.
 */
async function findFirstBlock(place: Place): Promise<PlacedStart | undefined> {
  const { rpc, address } = place
  const hasCodeAt = async (number: number) =>
    (await rpc.call<string>('eth_getCode', address, quantity(number))) !== '0x'
  try {
    let there = Number(await rpc.call<string>('eth_blockNumber'))
    if (!(await hasCodeAt(there))) return undefined
    for (let absent = -1; there - absent > 1; ) {
      const middle = Math.floor((there + absent) / 2)
      if (await hasCodeAt(middle)) there = middle
      else absent = middle
    }
    const block = await readBlock(rpc, there)
    return block && (await isMadeIn(place, block)) ? { number: there, hash: block.hash } : undefined
  } catch (error) {
    if (error instanceof RpcError) return undefined
    throw error
  }
}

const remember = async (place: Place, { number, hash }: PlacedStart) => {
  await place.database?.query(replaceSetting, { key: settingOf(place), value: `${number} ${hash}` })
}

/** Stores the block of our own deployment if the node has its receipt. Throws UNAVAILABLE. */
export async function noteStart(place: Place, transactionHash: string): Promise<void> {
  const receipt = await place.rpc.call<ReceiptReply | null>('eth_getTransactionReceipt', transactionHash)
  if (receipt) await remember(place, { number: Number(receipt.blockNumber), hash: receipt.blockHash })
}

/**
 * Returns true if this database's registry was deployed on this chain. Different chains can have a registry at the same address, so the
 * block's hash decides.
 */
export async function isChainOf(place: Place): Promise<boolean> {
  const { rpc, database, address } = place
  if ((await rpc.call<string>('eth_getCode', address, 'latest')) === '0x') return false
  const [row] = (await database?.query(findSetting, { key: settingOf(place) })) ?? []
  const [number, hash] = row?.value.split(' ') ?? []
  const block = number === undefined ? null : await readBlock(rpc, Number(number))
  return block === null || block.hash === hash
}

/** Returns the registry's first block. Undefined if the node cannot provide it. Throws UNAVAILABLE. */
export async function findStart(place: Place): Promise<number | undefined> {
  const { rpc, database } = place
  const [row] = (await database?.query(findSetting, { key: settingOf(place) })) ?? []
  const [number, hash] = row?.value.split(' ') ?? []
  // A chain that was reset has another block hash there.
  if (number !== undefined && (await readBlock(rpc, Number(number)))?.hash === hash) return Number(number)
  const found = await findFirstBlock(place)
  if (found) await remember(place, found)
  return found?.number
}
