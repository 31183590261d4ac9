/**
 * Finds the chain's own coin sent to wallets' addresses and has it credited: 1 coin is 1 currency unit. What counts is the
 * value of a successful transaction; tokens (ERC-20) and what a contract sends on are not seen. Blocks are read in order
 * and only when `confirmations` blocks lie on top, so a reorganisation less deep than that has no effect.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { getAddress } from 'ethers'
import { fromUnits } from '../domain/money.ts'
import type { DepositBooks, FoundDeposit, Log } from '../domain/ports.ts'
import { extendTrail, type PassedBlock, readTrail, type Trail, writeTrail } from './deposit-trail.ts'
import { explain } from './explain.ts'
import { createLease } from './lease.ts'
import { type Registry, WrongChainError } from './registry.ts'
import { contradiction, quantity, resultOf } from './rpc.ts'
import { createTeller } from './teller.ts'
import { readBlockHashes } from './view.ts'

/** Which chain is watched, and whose books are written. */
export interface DepositWatcherOptions {
  registry: Registry
  books: DepositBooks
  /** For the connection that holds the lock: a session of its own, not through a statement pooler. */
  databaseUrl: string
  log: Log
  /** Blocks on top of a deposit's block until it is credited. */
  confirmations: number
  /** Milliseconds between looks while nothing is new; 1,000 when missing. */
  pollEvery?: number
}

/** Watches the chain for coins that come in. */
export interface DepositWatcher {
  start(): void
  /** Fulfilled when the step in hand is finished and the lock is given up. */
  stop(): Promise<void>
}

interface TransactionReply {
  hash: string
  to: string | null
  value: string
}

interface BlockReply {
  number: string
  hash: string
  parentHash: string
  timestamp: string
  transactions: TransactionReply[]
}

interface Receipt {
  status?: string
  blockHash: string
}

/** Blocks read at once. */
const BATCH = 20
const LONGEST_BACKOFF_MS = 5_000

const lock = 'deposits'
const idOf = ({ number, hash, timestamp }: BlockReply): PassedBlock => ({
  ...{ number: Number(number), hash, time: Number(timestamp) },
})

/**
 * A watcher of deposits; of several processes one reads, by the lease `deposits`. While the chain or the database is away
 * it asks again, every 5 seconds at last, and is told of in the log once.
 */
export function createDepositWatcher({
  registry,
  books,
  databaseUrl,
  log,
  confirmations,
  pollEvery = 1_000,
}: DepositWatcherOptions): DepositWatcher {
  const stopping = new AbortController()
  const rpc = registry.rpc.until(stopping.signal)
  const lease = createLease({ databaseUrl, log })
  let running: Promise<void> | undefined
  const teller = createTeller()

  /** The chain's id and the newest block that is deep enough; undefined while the chain is too short. */
  const look = async () => {
    const [id, head] = await rpc.batch([
      { method: 'eth_chainId', params: [] },
      { method: 'eth_blockNumber', params: [] },
    ])
    const chainId = Number(resultOf<string>(id))
    await registry.assertChain(chainId)
    return { chainId, deep: Number(resultOf<string>(head)) - confirmations }
  }

  /** Blocks in a row, each the next one's parent. Fewer when the node does not have all of them yet. */
  const readBlocks = async (from: number, to: number): Promise<BlockReply[]> => {
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
    const outcomes = await rpc.batch(
      numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [quantity(number), true] })),
    )
    const blocks: BlockReply[] = []
    for (const outcome of outcomes) {
      const block = resultOf<BlockReply | null>(outcome)
      if (!block) break
      const parent = blocks.at(-1)
      if (parent && block.parentHash !== parent.hash) break
      blocks.push(block)
    }
    return blocks
  }

  const findDeposits = async ({ transactions, ...block }: BlockReply): Promise<FoundDeposit[]> => {
    const paying = transactions.flatMap(({ hash, to, value }) =>
      to && BigInt(value) > 0n ? [{ hash, address: getAddress(to), value: BigInt(value) }] : [],
    )
    const ours = await books.ours([...new Set(paying.map(({ address }) => address))])
    const candidates = paying.filter(({ address }) => ours.has(address))
    const receipts = await rpc.batch(
      candidates.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    )
    return candidates.flatMap(({ hash, address, value }, index) => {
      const receipt = resultOf<Receipt | null>(receipts[index])
      // Another node behind the same address, or the chain has just changed: the blocks are read again.
      if (receipt?.blockHash !== block.hash) throw contradiction(rpc)
      if (receipt.status !== '0x1') return []
      const amount = fromUnits(value)
      return [{ transactionHash: hash, address, amount, blockNumber: Number(block.number), blockHash: block.hash }]
    })
  }

  /** The chain is another one below the newest block we read: back to the newest block of ours that it still has. */
  const goBack = async (chainId: number, from: string, trail: Trail) => {
    const canonical = await readBlockHashes(
      rpc,
      trail.map(({ number }) => number),
    )
    const kept = trail.filter(({ number, hash }) => canonical.get(number) === hash)
    const start = trail.at(-1)?.number ?? 0
    const hash = canonical.get(start)
    // Without any common block it is the oldest height we know.
    const [fork, ...rest] = kept.length > 0 || hash === undefined ? kept : [{ number: start, hash }]
    if (!fork || fork.hash === trail[0].hash) throw contradiction(rpc)
    const doubtful = await books.countAbove(fork.number)
    log.error(
      { from: fork.number, to: trail[0].number, doubtful },
      'The chain changed deeper than CHAIN_CONFIRMATIONS; its blocks are read again. ' +
        'Deposits credited from the blocks that are gone stay in the books: look at them',
    )
    await books.goBack(chainId, { from, to: writeTrail([fork, ...rest]) }, fork.number)
  }

  /** Whether the chain, though no longer than what was read of it, has gone on another way: one that was put back to an earlier moment. */
  const isAnother = async ([newest]: Trail, deep: number): Promise<boolean> => {
    const [block] = await readBlocks(deep, deep)
    if (!block) return false
    if (deep === newest.number) return block.hash !== newest.hash
    return newest.time !== undefined && Number(block.timestamp) > newest.time
  }

  const creditSetAside = async () => {
    const credited = await books.creditSetAside()
    if (credited) log.info({ deposits: credited }, 'Deposits that were set aside were credited')
  }

  /** Reads what is new. Returns how long to rest, in milliseconds. */
  const step = async (): Promise<number> => {
    if (!(await lease.acquire(lock))) return pollEvery
    await creditSetAside()
    const { chainId, deep } = await look()
    if (deep < 0) return pollEvery
    const from = await books.scanned(chainId)
    if (from === undefined) {
      const [block] = await readBlocks(deep, deep)
      if (block) await books.begin(chainId, writeTrail([idOf(block)]))
      return pollEvery
    }
    const trail = readTrail(from)
    const next = trail[0].number + 1
    if (deep < next) {
      if (!(await isAnother(trail, deep))) return pollEvery
      await goBack(chainId, from, trail)
      return 0
    }
    const blocks = await readBlocks(next, Math.min(deep, next + BATCH - 1))
    const [first] = blocks
    const last = blocks.at(-1)
    if (!first || !last) return pollEvery
    if (first.parentHash !== trail[0].hash) {
      await goBack(chainId, from, trail)
      return 0
    }
    const deposits: FoundDeposit[] = []
    for (const block of blocks) deposits.push(...(await findDeposits(block)))
    const credited = await books.credit(chainId, { from, to: writeTrail(extendTrail(trail, idOf(last))) }, deposits)
    if (credited) log.info({ deposits: credited, block: Number(last.number) }, 'Deposits were credited')
    else if (deposits.length > 0) await creditSetAside()
    return Number(last.number) < deep ? 0 : pollEvery
  }

  const run = async () => {
    for (let failures = 0; !stopping.signal.aborted; ) {
      let pause: number
      try {
        pause = await step()
        if (teller.ends()) log.info({}, 'Deposits are watched again')
        failures = 0
      } catch (error) {
        if (stopping.signal.aborted) break
        failures += 1
        const found = explain(error)
        const level = error instanceof WrongChainError ? 'error' : 'warn'
        if (teller.begins(found)) log[level]({ err: error }, `Deposits wait: ${found}`)
        pause = Math.min(250 * 2 ** Math.min(failures, 10), LONGEST_BACKOFF_MS)
      }
      await delay(pause, undefined, { signal: stopping.signal }).catch(() => {})
    }
    await lease.close()
  }

  return {
    start() {
      running ??= run()
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}
