/**
 * Watches the chain for deposits to wallet addresses. 1 coin, or 1 configured token, is 1 currency unit. Blocks are scanned in order up to the newest,
 * and their deposits are stored as pending. A deposit is credited when its block is deep enough. After a reorganization, pending deposits are deleted
 * and found again, and credited ones are frozen (decision 33).
 */

import { getAddress, Interface } from 'ethers'
import {
  extendTrail,
  findFork,
  isOtherBranch,
  type PassedBlock,
  passedBlockOf,
  readTrail,
  type Trail,
  writeTrail,
} from '../../../chain/block-checkpoint.ts'
import { createLease } from '../../../chain/lease.ts'
import { createPoller, type Poller } from '../../../chain/poller.ts'
import type { Registry } from '../../../chain/registry/registry.ts'
import {
  type BlockReply,
  contradiction,
  type FullBlockReply,
  hasSucceeded,
  type LogReply,
  quantity,
  type ReceiptReply,
  type Rpc,
  type RpcOutcome,
  resultOf,
} from '../../../chain/rpc.ts'
import type { Log } from '../../../shared/log.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import type { DepositLedger, FoundDeposit, ScanPosition } from '../deposit-ledger.ts'

/** Number of confirmations until a deposit is credited, or `finalized` to wait until the chain finalizes the block. */
export type DepositDepth = number | 'finalized'

/** The newest block of the chain, and the newest block whose deposits are credited. */
interface DepositView {
  chainId: number
  head: PassedBlock
  due: number
}

/** Reads up to which block deposits are credited. Throws WrongChainError, UNAVAILABLE, and an Error if the chain does not support `finalized`. */
export async function readDepositView(
  registry: Pick<Registry, 'assertChain'>,
  rpc: Rpc,
  confirmations: DepositDepth,
): Promise<DepositView> {
  const tags = ['latest', ...(confirmations === 'finalized' ? ['finalized'] : [])]
  const [id, latest, final] = await rpc.batch([
    { method: 'eth_chainId', params: [] },
    ...tags.map((tag) => ({ method: 'eth_getBlockByNumber', params: [tag, false] })),
  ])
  const chainId = Number(resultOf<string>(id))
  await registry.assertChain(chainId)
  const newest = resultOf<BlockReply | null>(latest)
  if (!newest) throw contradiction(rpc)
  const head = passedBlockOf(newest)
  if (confirmations !== 'finalized') return { chainId, head, due: head.number - confirmations }
  const finalized = final?.error ? null : resultOf<BlockReply | null>(final)
  if (!finalized)
    throw new Error('The chain does not say which block is final: set CHAIN_DEPOSIT_CONFIRMATIONS to a number.')
  return { chainId, head, due: Number(finalized.number) }
}

/** Parts and settings of the deposit watcher. */
export interface DepositWatcherOptions {
  registry: Registry
  ledger: DepositLedger
  /** Direct connection to the database, without a statement pooler. It holds the lease. */
  databaseUrl: string
  log: Log
  confirmations: DepositDepth
  /** Address of an ERC-20 token that is credited too. */
  token?: string | undefined
  /** Pause between steps without a new block, in milliseconds. Default: 1,000. */
  pollEvery?: number
}

/** Maximum number of blocks per RPC batch. */
const BATCH = 20

/** Number of steps in which the node may announce a next block that it does not have. */
const MAX_MISSING_BLOCKS = 30

const lock = 'deposits'

/** Creates the deposit watcher without starting it. Only the process with the lease `deposits` runs it. */
export function createDepositWatcher({
  registry,
  ledger,
  databaseUrl,
  log,
  confirmations,
  token,
  pollEvery = 1_000,
}: DepositWatcherOptions): Poller {
  const stopping = new AbortController()
  const rpc = registry.rpc.until(stopping.signal)
  const lease = createLease({ databaseUrl, log })
  const finder = createDepositFinder({ rpc, ledger, token })
  let notedHead = ''
  let missingBlocks = 0

  /** Stores the head, from which readers compute confirmations. */
  const noteHead = async ({ head, due }: DepositView) => {
    const noted = `${head.number} ${due}`
    if (noted !== notedHead) await ledger.noteHead(head.number, due)
    notedHead = noted
  }

  /** Returns the start on a different chain: the first block of the earlier scan, or the block up to which this chain is credited. */
  const findStart = async (trail: Trail, due: number): Promise<PassedBlock[]> => {
    const start = Math.min(trail.at(-1)!.number, Math.max(due, 0))
    const [block] = await finder.readBlocks(start, start)
    return block ? [passedBlockOf(block)] : []
  }

  /** Freezes all deposits above the first block of `trail`, page by page, and moves the scan back to it. */
  const freeze = async (scan: ScanPosition, trail: Trail) => {
    const references: string[] = []
    let shortfall = 0n
    for (;;) {
      const part = await ledger.goBack(scan, writeTrail(trail), trail[0].number)
      if (part.frozen.length === 0) return { references, shortfall: fromUnits(shortfall) }
      references.push(...part.frozen)
      shortfall += toUnits(part.shortfall)
    }
  }

  /** Handles a reorganization: goes back to the newest scanned block that the chain still has. */
  const goBack = async ({ head, due }: DepositView, scan: ScanPosition, trail: Trail) => {
    const [fork, ...rest] = (await findFork(rpc, trail, head)) ?? (await findStart(trail, due))
    if (!fork || fork.hash === trail[0].hash) throw contradiction(rpc)
    const { references, shortfall } = await freeze(scan, [fork, ...rest])
    const depth = trail[0].number - fork.number
    const facts = { from: fork.number, to: trail[0].number, frozen: references.length, shortfall }
    if (references.length > 0 || (confirmations !== 'finalized' && depth > confirmations)) {
      log.error(
        { ...facts, deposits: references.slice(0, 5) },
        'Chain reorganization deeper than CHAIN_DEPOSIT_CONFIRMATIONS; credited deposits are frozen until the chain has them again ("annal deposits")',
      )
    } else log.info(facts, 'Chain reorganization; reading its newest blocks again for deposits')
  }

  const credit = async (scan: ScanPosition, due: number) => {
    const credited = await ledger.creditDue(scan, due)
    if (credited) log.info({ deposits: credited, block: due }, 'Deposits credited')
  }

  /** Scans the next blocks. Returns the pause until the next step, in milliseconds. */
  const step = async (): Promise<number> => {
    if (!(await lease.acquire(lock))) return pollEvery
    const view = await readDepositView(registry, rpc, confirmations)
    await finder.assertToken()
    const { chainId, head, due } = view
    await noteHead(view)
    const position = await ledger.readPosition(chainId)
    if (position === undefined) {
      // Deposits before the first scan are not credited.
      await ledger.begin(chainId, writeTrail([head]))
      return 0
    }
    const trail = readTrail(position)
    const next = trail[0].number + 1
    if (head.number < next) {
      if (isOtherBranch(trail, head)) await goBack(view, { chainId, position }, trail)
      // A node that is behind others cannot confirm the depth of a block.
      else if (head.hash === trail[0].hash) await credit({ chainId, position }, due)
      return pollEvery
    }
    const blocks = await finder.readBlocks(next, Math.min(head.number, next + BATCH - 1))
    const [first] = blocks
    const last = blocks.at(-1)
    if (!first || !last) {
      // Another node behind the same load balancer may not have the block yet. Report an error if it never arrives.
      missingBlocks += 1
      if (missingBlocks > MAX_MISSING_BLOCKS) throw contradiction(rpc)
      return pollEvery
    }
    missingBlocks = 0
    if (first.parentHash !== trail[0].hash) {
      await goBack(view, { chainId, position }, trail)
      return 0
    }
    const to = writeTrail(blocks.reduce<Trail>((passed, block) => extendTrail(passed, passedBlockOf(block)), trail))
    if (!(await ledger.note(chainId, { from: position, to }, await finder.find(blocks)))) return 0
    await credit({ chainId, position: to }, Math.min(due, Number(last.number)))
    return Number(last.number) < head.number ? 0 : pollEvery
  }

  const messages = { failed: 'Deposit watcher failed; retrying', recovered: 'Deposit watcher recovered' }
  return createPoller({ step, stopping, close: () => lease.close(), log, messages })
}

/** Decimals of the ledger. Amounts of a token with more decimals could not be stored exactly. */
const MAX_DECIMALS = 18
/** Position of a deposit of coins in its transaction. */
export const COIN_POSITION = -1
const erc20 = new Interface(['event Transfer(address indexed from, address indexed to, uint256 value)'])
const transferTopic = erc20.getEvent('Transfer')!.topicHash
const decimalsCall = '0x313ce567'

interface Parts {
  rpc: Rpc
  ledger: Pick<DepositLedger, 'findWallets'>
  /** Address of an ERC-20 token that is credited too. */
  token: string | undefined
}

/** Reads the decimals of a token. Throws an Error if the address has no ERC-20 token or the token has more than 18 decimals. Throws UNAVAILABLE. */
export async function readDecimals(rpc: Rpc, token: string): Promise<number> {
  const [outcome] = await rpc.batch([{ method: 'eth_call', params: [{ to: token, data: decimalsCall }, 'latest'] }])
  const answer = outcome?.error ? '0x' : resultOf<string>(outcome)
  const decimals = /^0x[\da-f]{64}$/i.test(answer) ? BigInt(answer) : undefined
  if (decimals === undefined) throw new Error(`CHAIN_TOKEN_ADDRESS: there is no ERC-20 token at ${token}.`)
  if (decimals > MAX_DECIMALS)
    throw new Error(`CHAIN_TOKEN_ADDRESS: ${token} has ${decimals} decimals; the ledger has ${MAX_DECIMALS}.`)
  return Number(decimals)
}

/** Reads the transfers from a token's events. `position`: index among the token's events of the transaction. */
function readTransfers(logs: readonly LogReply[]) {
  const seen = new Map<string, number>()
  return logs
    .toSorted((a, b) => Number(a.logIndex) - Number(b.logIndex))
    .flatMap(({ topics, data, transactionHash }) => {
      const position = seen.get(transactionHash) ?? 0
      seen.set(transactionHash, position + 1)
      // ERC-721 has an event with the same name and four topics.
      if (topics.length !== 3 || !/^0x[\da-f]{64}$/i.test(data)) return []
      return [{ transactionHash, position, address: getAddress(`0x${topics[2]!.slice(-40)}`), units: BigInt(data) }]
    })
}

/** A token transfer as a deposit has it. */
export interface ExpectedTransfer {
  /** Address of the wallet, with EIP-55 checksum. */
  address: string
  /** Index among the token's events of the transaction. */
  position: number
  /** Currency units, a decimal string. */
  amount: string
}

/** Returns true if these events contain the transfer, of any token. Amounts may differ by a power of ten, because the decimals are unknown. */
export function bringsTokens(logs: readonly LogReply[], { address, position, amount }: ExpectedTransfer): boolean {
  const events = logs.filter(({ topics: [topic] }) => topic === transferTopic)
  const transfers = [...Map.groupBy(events, (event) => event.address).values()].flatMap(readTransfers)
  return transfers.some((each) => {
    const isSamePlace = each.address === address && each.position === position
    return isSamePlace && isEqualUpToDecimals(toUnits(amount), each.units)
  })
}

const isEqualUpToDecimals = (whole: bigint, units: bigint) =>
  Array.from({ length: MAX_DECIMALS + 1 }, (_, places) => units * 10n ** BigInt(places)).includes(whole)

/** Creates the finder of deposits in blocks. */
export function createDepositFinder({ rpc, ledger, token }: Parts) {
  let decimals: number | undefined

  /** Finds successful transactions that send coins to wallets. */
  const findCoins = async (blocks: readonly FullBlockReply[]): Promise<FoundDeposit[]> => {
    const all = blocks.flatMap((block) =>
      block.transactions.flatMap(({ hash, to, value }) =>
        to && BigInt(value) > 0n ? [{ block, hash, address: getAddress(to), value: BigInt(value) }] : [],
      ),
    )
    const wallets = await ledger.findWallets([...new Set(all.map(({ address }) => address))])
    const candidates = all.filter(({ address }) => wallets.has(address))
    const outcomes = await rpc.batch(
      candidates.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    )
    return candidates.flatMap(({ block, hash, address, value }, index) => {
      const receipt = resultOf<ReceiptReply | null>(outcomes[index])
      // The node is behind a load balancer, or there was a reorg. The caller reads the blocks again.
      if (receipt?.blockHash !== block.hash) throw contradiction(rpc)
      if (!hasSucceeded(receipt)) return []
      const coins = { kind: 'COIN' as const, transactionHash: hash, position: COIN_POSITION, address }
      return [{ ...coins, amount: fromUnits(value), ...placeOf(block) }]
    })
  }

  const readLogs = (block: BlockReply, outcome: RpcOutcome | undefined) => {
    const logs = resultOf<LogReply[]>(outcome)
    if (logs.some(({ blockHash }) => blockHash !== block.hash)) throw contradiction(rpc)
    return readTransfers(logs).map((transfer) => ({ ...transfer, block }))
  }

  const decimalsOf = async (address: string) => {
    decimals ??= await readDecimals(rpc, address)
    return decimals
  }

  const findTokens = async (blocks: readonly BlockReply[]): Promise<FoundDeposit[]> => {
    if (!token) return []
    const scale = 10n ** BigInt(MAX_DECIMALS - (await decimalsOf(token)))
    const outcomes = await rpc.batch(
      blocks.map(({ hash }) => ({
        method: 'eth_getLogs',
        params: [{ blockHash: hash, address: token, topics: [transferTopic] }],
      })),
    )
    const transfers = blocks
      .flatMap((block, index) => readLogs(block, outcomes[index]))
      .filter(({ units }) => units > 0n)
    const wallets = await ledger.findWallets([...new Set(transfers.map(({ address }) => address))])
    return transfers
      .filter(({ address }) => wallets.has(address))
      .map(({ block, transactionHash, position, address, units }) => ({
        ...{ kind: 'TOKEN' as const, transactionHash, position, address, amount: fromUnits(units * scale) },
        ...placeOf(block),
      }))
  }

  return {
    /** Throws an Error if the configured token cannot be credited, and UNAVAILABLE. */
    async assertToken(): Promise<void> {
      if (token) await decimalsOf(token)
    },

    /** Reads consecutive blocks. Returns fewer if the node does not have all of them yet. Throws UNAVAILABLE. */
    async readBlocks(from: number, to: number): Promise<FullBlockReply[]> {
      const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
      const outcomes = await rpc.batch(
        numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [quantity(number), true] })),
      )
      const blocks: FullBlockReply[] = []
      for (const outcome of outcomes) {
        const block = resultOf<FullBlockReply | null>(outcome)
        const parent = blocks.at(-1)
        if (!block || (parent && block.parentHash !== parent.hash)) break
        blocks.push(block)
      }
      return blocks
    },

    /** Returns the deposits of these blocks, sorted by block. Throws UNAVAILABLE, also if the node's answers contradict each other. */
    async find(blocks: readonly FullBlockReply[]): Promise<FoundDeposit[]> {
      const found = [...(await findCoins(blocks)), ...(await findTokens(blocks))]
      return found.sort((a, b) => a.blockNumber - b.blockNumber)
    },
  }
}

const placeOf = ({ number, hash }: BlockReply) => ({ blockNumber: Number(number), blockHash: hash })
