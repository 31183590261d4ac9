/** The registry contract on its chain: where it is, and what it says about an asset. */
import type { CommitData } from '../domain/asset/commit-data.ts'
import type { Database } from '../domain/ports.ts'
import { parseCommitData } from './commit-data.ts'
import { commitTopics, decodeCommitLog, decodeGetCommits, encodeGetCommits, recorderTopics } from './registry-abi.ts'
import { findSetting, rememberSetting } from './registry-statements.ts'
import { createRpc, quantity, type Rpc, RpcError, resultOf } from './rpc.ts'

/** The chain is another one than this installation began on, or than it was told to use. Nothing may be signed. */
export class WrongChainError extends Error {
  override readonly name = 'WrongChainError'
}

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

export interface RegistryOptions {
  rpcUrl: string
  /** What this installation remembers about its chain. Without it, `address` is needed: a verifier trusts no database. */
  database?: Database
  /** A registry that exists already. Otherwise the relay deploys one and its address is remembered. */
  address?: string
  /** The chain that the operator means. */
  chainId?: number
}

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
  hasCode(address: string): Promise<boolean>
  /** An asset's commits from the chain alone, oldest first. Raises UNAVAILABLE, WrongChainError. */
  readCommits(nid: string): Promise<ChainCommit[]>
  /** All commits that these accounts wrote, from a block on, oldest first. Raises UNAVAILABLE, WrongChainError. */
  readAll(recorders: readonly string[], fromBlock: number): AsyncIterable<ChainCommit>
}

export const registrySetting = (chainId: number) => `registry:${chainId}`

interface LogReply {
  topics: string[]
  data: string
  transactionHash: string
  blockNumber: string
  blockHash: string
  logIndex: string
}

/** Blocks asked for at once: nodes allow some thousands, ours all of them, and a range that is refused is halved. */
const firstRange = 2_000
const largestRange = 100_000

export function createRegistry({ rpcUrl, database, address, chainId: expectedId }: RegistryOptions): Registry {
  const rpc = createRpc({ url: rpcUrl })
  let remembered: number | undefined

  const assertChain = async (chainId: number) => {
    if (expectedId !== undefined && chainId !== expectedId) {
      throw new WrongChainError(`CHAIN_ID says ${expectedId}, but the node at ${rpc.host} is on chain ${chainId}.`)
    }
    if (!database) return
    if (remembered === undefined) {
      const [row] = await database.query(rememberSetting, ['chain:id', String(chainId)])
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
    const [row] = (await database?.query(findSetting, [registrySetting(chainId)])) ?? []
    return row?.value
  }

  const readRange = async (at: string, recorders: readonly string[], from: number, to: number) => {
    const filter = { address: at, fromBlock: quantity(from), toBlock: quantity(to), topics: recorderTopics(recorders) }
    return (await rpc.call<LogReply[]>('eth_getLogs', filter)).map(readLog)
  }

  return {
    rpc,
    configuredAddress: address,
    readChainId,
    assertChain,
    findAddress,
    async hasCode(at) {
      return (await rpc.call<string>('eth_getCode', at, 'latest')) !== '0x'
    },
    async readCommits(nid) {
      const registry = await findAddress(await readChainId())
      if (!registry) return []
      const answer = await rpc.call<string>('eth_call', { to: registry, data: encodeGetCommits(nid) }, 'latest')
      // No code at the address: nothing was ever committed there.
      if (answer === '0x') return []
      // Asking for single blocks works on every node; a range over a long history does not.
      const blocks = [...new Set(decodeGetCommits(answer))].map(quantity)
      const outcomes = await rpc.batch(
        blocks.map((block) => ({
          method: 'eth_getLogs',
          params: [{ address: registry, fromBlock: block, toBlock: block, topics: commitTopics(nid) }],
        })),
      )
      return outcomes
        .flatMap((outcome) => resultOf<LogReply[]>(outcome))
        .map(readLog)
        .sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
    },
    async *readAll(recorders, fromBlock) {
      const at = await findAddress(await readChainId())
      if (!at) return
      const head = Number(await rpc.call<string>('eth_blockNumber'))
      for (let from = fromBlock, range = firstRange; from <= head; ) {
        const to = Math.min(from + range - 1, head)
        try {
          yield* await readRange(at, recorders, from, to)
        } catch (error) {
          if (!(error instanceof RpcError) || to === from) throw error
          range = Math.max(Math.floor(range / 2), 1)
          continue
        }
        from = to + 1
        range = Math.min(range * 2, largestRange)
      }
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
