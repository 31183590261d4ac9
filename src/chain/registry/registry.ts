/** The registry contract on its chain: where it is, and what it says about an asset. */
import type { Database } from '../../db/database-types.ts'
import { findSetting, rememberSetting, settingKeys } from '../../db/key-value-store.ts'
import type { CommitData } from '../../modules/commits/commit-data.ts'
import { isUnavailable } from '../../shared/errors.ts'
import type { Tracer } from '../../telemetry/telemetry-types.ts'
import { parseCommitData } from '../commit-data.ts'
import type { LogReply } from '../replies.ts'
import { createRpc, quantity, type Rpc, RpcError, resultOf } from '../rpc.ts'
import { commitTopics, decodeCommitLog, decodeGetCommits, encodeGetCommits, ownTopics, recorderTopics } from './abi.ts'
import { findStart } from './start.ts'

/** The chain is another one than this installation began on, or than it was told to use. Nothing may be signed. */
export class WrongChainError extends Error {
  override readonly name = 'WrongChainError'
}

/** Whether an error says that the node gave no answer to be used: it is away, refuses, or is on another chain. */
export const isNoAnswer = (error: unknown): boolean =>
  error instanceof RpcError || error instanceof WrongChainError || isUnavailable(error)

/** One commit of an asset as the chain tells it. Anyone may write to the registry: trust goes by `recorder`. */
export interface ChainCommit {
  recorder: string
  /** As it stands in the log. */
  text: string
  /** Decoded; undefined when the text is not in the known layout. */
  commitData: CommitData | undefined
  transactionHash: string
  blockNumber: number
  blockHash: string
  logIndex: number
}

/** Which node is asked, and where the registry is. */
export interface RegistryOptions {
  rpcUrl: string
  /** What this installation remembers about its chain. Without it, `address` is needed: a verifier trusts no database. */
  database?: Database
  /** A registry that exists already. Otherwise the relay deploys one and its address is remembered. */
  address?: string
  /** The block from which on the registry's log is read; found when missing, where the node keeps old state. */
  start?: number | undefined
  /** The chain that the operator means. */
  chainId?: number
  /** Nobody follows its questions when it is missing. */
  tracer?: Tracer
}

/** The registry, as readers know it; writing is the relay's. */
export interface Registry {
  readonly rpc: Rpc
  /** Set when the operator says where the registry is; then none is ever deployed. */
  readonly configuredAddress: string | undefined
  /**
   * Which chain the node is on. Raises WrongChainError when it is not the expected one, UNAVAILABLE when the node does
   * not answer. The first chain ever seen is the one that is remembered.
   */
  readChainId(): Promise<number>
  /** Raises WrongChainError unless `chainId` is the chain of this installation. */
  assertChain(chainId: number): Promise<void>
  /** Where the registry is on this chain; undefined when it was never deployed. */
  findAddress(chainId: number): Promise<string | undefined>
  /** What this installation remembers of both, or was told; undefined before the first commit. No node is asked. */
  recall(): Promise<{ chainId: number; address: string } | undefined>
  /** At a block (a number as RPC has it); at the newest when missing. */
  hasCode(address: string, block?: string): Promise<boolean>
  /** The first block of the log of the registry there; undefined when neither the operator nor the node says it. Raises UNAVAILABLE. */
  findStart(address: string, chainId: number): Promise<number | undefined>
  /** All of an asset's commits from the chain alone, whoever wrote them, oldest first. Raises UNAVAILABLE, WrongChainError. */
  readCommits(nid: string): Promise<ChainCommit[]>
  /**
   * What these accounts wrote about an asset, oldest first, in pages of one question each, however much others wrote about it. What
   * was written meanwhile is on the last page. Raises UNAVAILABLE, WrongChainError, RpcError.
   */
  readOwn(nid: string, recorders: readonly string[]): AsyncIterable<ChainCommit[]>
  /** All commits that these accounts wrote, from a block on, oldest first. Raises UNAVAILABLE, WrongChainError. */
  readAll(recorders: readonly string[], fromBlock: number): AsyncIterable<ChainCommit>
}

/** Problem of a first start on an operator's chain that neither names a registry contract nor allows to deploy one. */
export const NO_REGISTRY_CHOSEN =
  'This installation has no registry contract yet. ' +
  'Set CHAIN_REGISTRY_ADDRESS to the address of an existing ERC-7053 registry. ' +
  'Or set CHAIN_DEPLOY_REGISTRY=true to deploy one: the first account of CHAIN_RELAY_KEYS pays for about 450,000 gas.'

/** The name under which the registry's address on a chain is remembered. */
export const registrySetting = (chainId: number) => `${settingKeys.registry}${chainId}`

type LogTopics = readonly (string | string[] | null)[]

/** Single blocks of a page: as many as one batch asks for. */
const BLOCKS_OF_PAGE = 50

/**
 * Reads the registry. Nothing is asked before it is needed; the chain's identifier and the registry's address are
 * remembered in the database where there is one.
 */
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
      const [row] = await database.query(rememberSetting, { key: settingKeys.chain, value: String(chainId) })
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
    const [row] = (await database?.query(findSetting, { key: settingKeys.chain })) ?? []
    const chainId = row ? Number(row.value) : expectedId
    if (chainId === undefined) return undefined
    const at = await findAddress(chainId)
    return at === undefined ? undefined : { chainId, address: at }
  }

  /** The numbers of the blocks that hold commits of an asset, each once. Raises RpcError when the contract cannot tell. */
  const listBlocks = async (at: string, nid: string): Promise<number[]> => {
    const answer = await rpc.call<string>('eth_call', { to: at, data: encodeGetCommits(nid) }, 'latest')
    // No code at the address: nothing was ever committed there.
    return answer === '0x' ? [] : [...new Set(decodeGetCommits(answer))]
  }

  /** Asking for single blocks works on every node; a range over a long history does not. */
  const readBlocks = async (at: string, topics: LogTopics, blocks: readonly number[]): Promise<ChainCommit[]> => {
    const outcomes = await rpc.batch(
      blocks.map(quantity).map((block) => ({
        method: 'eth_getLogs',
        params: [{ address: at, fromBlock: block, toBlock: block, topics }],
      })),
    )
    return outcomes.flatMap((outcome) => resultOf<LogReply[]>(outcome)).map(readLog)
  }

  /** In pages, to the head as it is when the last one was read. */
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

  /** Undefined when the contract cannot tell: it knows no such question, or its answer is longer than the node works it out. */
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
/** Ranges after which one is tried again that was refused: what lies in the blocks may have been too much, and not their number. */
const FORGOTTEN_AFTER = 50

/** A size that grows while ranges are answered, and stays at what was answered last for a while when a larger one is refused. */
export interface BlockRange {
  readonly size: number
  /** So many blocks were answered. */
  answered(asked: number): void
  /** So many were refused. Returns whether there is something smaller to ask for. */
  refused(asked: number): boolean
}

/** A range of which nothing is known yet. */
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
