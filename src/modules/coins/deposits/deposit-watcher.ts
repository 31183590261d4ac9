/** Watches the chain for deposits to wallet addresses (decision 33). One coin or token is one currency unit. */
import { getAddress, Interface } from 'ethers'
import { createLease } from '../../../chain/lease.ts'
import { createPoller, type Poller } from '../../../chain/poller.ts'
import type { Registry } from '../../../chain/registry/registry.ts'
import type { BlockReply, FullBlockReply, LogReply, Rpc } from '../../../chain/rpc.ts'
import { callEach, contradiction, hasSucceeded, readFullBlocks, readReceipts, resultOf } from '../../../chain/rpc.ts'
import * as checkpoints from '../../../chain/view.ts'
import type { Log } from '../../../shared/log.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import type { DepositLedger, FoundDeposit, ScanPosition } from '../deposit-ledger.ts'

type Checkpoint = checkpoints.Checkpoint
/** Number of confirmations until a deposit is credited, or `finalized` to wait until the chain finalizes the block. */
export type DepositDepth = number | 'finalized'
/** The newest block of the chain, and the newest block whose deposits are credited. */
type DepositView = { chainId: number; head: checkpoints.ScannedBlock; due: number }

/** Throws WrongChainError, UNAVAILABLE. */
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
  const head = checkpoints.scannedBlockOf(newest)
  if (confirmations !== 'finalized') return { chainId, head, due: head.number - confirmations }
  const finalized = final?.error ? null : resultOf<BlockReply | null>(final)
  if (!finalized)
    throw new Error('The node does not report which block is final. Set CHAIN_DEPOSIT_CONFIRMATIONS to a number.')
  return { chainId, head, due: Number(finalized.number) }
}

export interface DepositWatcherOptions {
  registry: Registry
  ledger: DepositLedger
  /** Direct connection to the database, without a statement pooler. It holds the lease. */
  databaseUrl: string
  log: Log
  confirmations: DepositDepth
  /** Address of a credited ERC-20 token. */
  token?: string | undefined
  /** Pause between steps without a new block, in milliseconds. */
  pollEvery?: number
}

/** Maximum number of blocks per RPC batch. */
const BATCH = 20
/** Number of steps in which the node may announce a next block that it does not have. */
const MAX_MISSING_BLOCKS = 30

/** Creates the deposit watcher without starting it. Only the process with the lease `deposits` scans. */
export function createDepositWatcher(options: DepositWatcherOptions): Poller {
  const { registry, ledger, databaseUrl, log, confirmations, token, pollEvery = 1_000 } = options
  const stopping = new AbortController()
  const rpc = registry.rpc.until(stopping.signal)
  const lease = createLease({ databaseUrl, log })
  const finder = createDepositFinder(rpc, ledger, token)
  let storedHead = ''
  let missingBlocks = 0

  /** Stores the head, because readers compute confirmations from it. */
  const storeHead = async ({ head, due }: DepositView) => {
    const text = `${head.number} ${due}`
    if (text !== storedHead) await ledger.storeHead(head.number, due)
    storedHead = text
  }

  /** Returns the block before the first block to scan if the chain has none of the scanned blocks. */
  const findStart = async (checkpoint: Checkpoint, due: number): Promise<checkpoints.ScannedBlock[]> => {
    const start = Math.min(checkpoint.at(-1)!.number, Math.max(due, 0))
    const [block] = await readFullBlocks(rpc, start, start)
    return block ? [checkpoints.scannedBlockOf(block)] : []
  }

  /** Freezes all deposits above the newest block of a checkpoint, and moves the scan back to this block. */
  const freeze = async (scan: ScanPosition, checkpoint: Checkpoint) => {
    const references: string[] = []
    let shortfall = 0n
    for (;;) {
      const part = await ledger.rewind(scan, checkpoints.encodeCheckpoint(checkpoint), checkpoint[0].number)
      if (part.frozen.length === 0) return { references, shortfall: fromUnits(shortfall) }
      references.push(...part.frozen)
      shortfall += toUnits(part.shortfall)
    }
  }

  /** Moves the scan back to the newest scanned block that the chain still has. */
  const rewind = async ({ head, due }: DepositView, scan: ScanPosition, checkpoint: Checkpoint) => {
    const [fork, ...rest] = (await checkpoints.findFork(rpc, checkpoint, head)) ?? (await findStart(checkpoint, due))
    if (!fork || fork.hash === checkpoint[0].hash) throw contradiction(rpc)
    const { references, shortfall } = await freeze(scan, [fork, ...rest])
    const depth = checkpoint[0].number - fork.number
    const fields = { from: fork.number, to: checkpoint[0].number, frozen: references.length, shortfall }
    if (references.length > 0 || (confirmations !== 'finalized' && depth > confirmations))
      log.error(
        { ...fields, deposits: references.slice(0, 5) },
        'Chain reorganization deeper than CHAIN_DEPOSIT_CONFIRMATIONS; credited deposits are frozen until the chain has them again ("annal deposits")',
      )
    else log.info(fields, 'Chain reorganization; scanning the newest blocks for deposits again')
  }

  const credit = async (scan: ScanPosition, due: number) => {
    const deposits = await ledger.creditDue(scan, due)
    if (deposits > 0) log.info({ deposits, block: due }, 'Deposits credited')
  }

  /** Scans the next blocks. Returns the pause until the next step, in milliseconds. */
  const step = async (): Promise<number> => {
    if (!(await lease.acquire('deposits'))) return pollEvery
    const view = await readDepositView(registry, rpc, confirmations)
    await finder.assertToken()
    const { chainId, head, due } = view
    await storeHead(view)
    const position = await ledger.readPosition(chainId)
    if (position === undefined) {
      // Deposits before the first scan are not credited.
      await ledger.begin(chainId, checkpoints.encodeCheckpoint([head]))
      return 0
    }
    const checkpoint = checkpoints.parseCheckpoint(position)
    const next = checkpoint[0].number + 1
    if (head.number < next) {
      if (checkpoints.isOtherBranch(checkpoint, head)) await rewind(view, { chainId, position }, checkpoint)
      // A node with a lower head than other nodes cannot confirm the depth of a block.
      else if (head.hash === checkpoint[0].hash) await credit({ chainId, position }, due)
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
    if (first.parentHash !== checkpoint[0].hash) {
      await rewind(view, { chainId, position }, checkpoint)
      return 0
    }
    const scanned = blocks.map(checkpoints.scannedBlockOf).reduce<Checkpoint>(checkpoints.extendCheckpoint, checkpoint)
    const to = checkpoints.encodeCheckpoint(scanned)
    if (!(await ledger.storeFound(chainId, { from: position, to }, await finder.find(blocks)))) return 0
    await credit({ chainId, position: to }, Math.min(due, Number(last.number)))
    return Number(last.number) < head.number ? 0 : pollEvery
  }

  const messages = { failed: 'Deposit watcher failed; retrying', recovered: 'Deposit watcher recovered' }
  return createPoller({ step, stopping, close: () => lease.close(), log, messages })
}

/** Decimals of the ledger. Amounts with more decimals cannot be stored exactly. */
const MAX_DECIMALS = 18
export const COIN_POSITION = -1
const erc20 = new Interface(['event Transfer(address indexed from, address indexed to, uint256 value)'])
const transferTopic = erc20.getEvent('Transfer')!.topicHash
const decimalsCall = '0x313ce567'

/** Reads the decimals of an ERC-20 token. Throws UNAVAILABLE, and Error if the token cannot be credited. */
export async function readDecimals(rpc: Rpc, token: string): Promise<number> {
  const [outcome] = await rpc.batch([{ method: 'eth_call', params: [{ to: token, data: decimalsCall }, 'latest'] }])
  const answer = outcome?.error ? '0x' : resultOf<string>(outcome)
  const decimals = /^0x[\da-f]{64}$/i.test(answer) ? BigInt(answer) : undefined
  if (decimals === undefined)
    throw new Error(`The chain has no ERC-20 token at the address in CHAIN_TOKEN_ADDRESS, ${token}.`)
  if (decimals > MAX_DECIMALS)
    throw new Error(
      `The token in CHAIN_TOKEN_ADDRESS, ${token}, has ${decimals} decimals, but the ledger has only ${MAX_DECIMALS}.`,
    )
  return Number(decimals)
}

function readTransfers(logs: readonly LogReply[]) {
  const counts = new Map<string, number>()
  return logs
    .toSorted((a, b) => Number(a.logIndex) - Number(b.logIndex))
    .flatMap(({ topics, data, transactionHash }) => {
      const position = counts.get(transactionHash) ?? 0
      counts.set(transactionHash, position + 1)
      // ERC-721 has an event with the same name and four topics.
      if (topics.length !== 3 || !/^0x[\da-f]{64}$/i.test(data)) return []
      return [{ transactionHash, position, address: getAddress(`0x${topics[2]!.slice(-40)}`), units: BigInt(data) }]
    })
}

/** Returns true if events contain a transfer of `amount`, with any number of decimals. */
export function containsTransfer(
  logs: readonly LogReply[],
  { address, position, amount }: Pick<FoundDeposit, 'address' | 'position' | 'amount'>,
): boolean {
  const events = logs.filter(({ topics: [topic] }) => topic === transferTopic)
  const transfers = [...Map.groupBy(events, (event) => event.address).values()].flatMap(readTransfers)
  const scales = Array.from({ length: MAX_DECIMALS + 1 }, (_, places) => 10n ** BigInt(places))
  return transfers.some((each) => {
    const isSamePlace = each.address === address && each.position === position
    return isSamePlace && scales.some((scale) => each.units * scale === toUnits(amount))
  })
}

function createDepositFinder(rpc: Rpc, ledger: Pick<DepositLedger, 'findWallets'>, token: string | undefined) {
  let decimals: number | undefined

  const depositsOf = async (
    kind: FoundDeposit['kind'],
    transfers: readonly (Pick<FoundDeposit, 'transactionHash' | 'position' | 'address'> & {
      block: BlockReply
      units: bigint
    })[],
  ): Promise<FoundDeposit[]> => {
    const wallets = await ledger.findWallets([...new Set(transfers.map(({ address }) => address))])
    return transfers
      .filter(({ address }) => wallets.has(address))
      .map(({ block, units, ...transfer }) => ({
        ...{ ...transfer, kind, amount: fromUnits(units) },
        ...{ blockNumber: Number(block.number), blockHash: block.hash },
      }))
  }

  const findCoins = async (blocks: readonly FullBlockReply[]): Promise<FoundDeposit[]> => {
    const transfers = blocks.flatMap((block) =>
      block.transactions
        .filter(({ to, value }) => to && BigInt(value) > 0n)
        .map(({ hash, to, value }) => ({
          ...{ block, transactionHash: hash, position: COIN_POSITION, address: getAddress(to!), units: BigInt(value) },
        })),
    )
    const deposits = await depositsOf('COIN', transfers)
    const hashes = deposits.map(({ transactionHash }) => transactionHash)
    const receipts = await readReceipts(rpc, hashes)
    return deposits.filter(({ blockHash }, index) => {
      const receipt = receipts[index]
      // The node is behind a load balancer, or there was a reorganization. The caller reads the blocks again.
      if (receipt?.blockHash !== blockHash) throw contradiction(rpc)
      return hasSucceeded(receipt)
    })
  }

  /** Throws an Error if the configured token cannot be credited, and UNAVAILABLE. */
  const assertToken = async () => {
    if (token) decimals ??= await readDecimals(rpc, token)
  }

  const findTokens = async (blocks: readonly BlockReply[]): Promise<FoundDeposit[]> => {
    await assertToken()
    if (!token || decimals === undefined) return []
    const scale = 10n ** BigInt(MAX_DECIMALS - decimals)
    const filters = blocks.map(({ hash }) => [{ blockHash: hash, address: token, topics: [transferTopic] }])
    const logs = await callEach<LogReply[]>(rpc, 'eth_getLogs', filters)
    const transfers = blocks.flatMap((block, index) => {
      if (logs[index]!.some(({ blockHash }) => blockHash !== block.hash)) throw contradiction(rpc)
      const found = readTransfers(logs[index]!).filter(({ units }) => units > 0n)
      return found.map((transfer) => ({ ...transfer, block, units: transfer.units * scale }))
    })
    return depositsOf('TOKEN', transfers)
  }

  return {
    assertToken,
    /** Reads consecutive blocks. Returns fewer if the node does not have all of them yet. Throws UNAVAILABLE. */
    async readBlocks(from: number, to: number): Promise<FullBlockReply[]> {
      const blocks: FullBlockReply[] = []
      for (const block of await readFullBlocks(rpc, from, to)) {
        const parent = blocks.at(-1)
        if (!block || (parent && block.parentHash !== parent.hash)) break
        blocks.push(block)
      }
      return blocks
    },
    /** Returns the deposits of these blocks, sorted by block. Throws UNAVAILABLE. */
    async find(blocks: readonly FullBlockReply[]): Promise<FoundDeposit[]> {
      const found = [...(await findCoins(blocks)), ...(await findTokens(blocks))]
      return found.sort((a, b) => a.blockNumber - b.blockNumber)
    },
  }
}
