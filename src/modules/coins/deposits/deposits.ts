/**
 * Watches the chain for what comes in to wallets' addresses: 1 coin, or 1 token of the one that is configured, is 1 currency unit. Blocks are
 * read in order up to the newest, what they bring is written down at once, and it counts when its block is deep enough. Where the chain
 * changes, pending deposits are deleted and found again, and credited ones are frozen (decision 33).
 */

import {
  extendTrail,
  findFork,
  isAnother,
  type PassedBlock,
  passedBlockOf,
  readTrail,
  type Trail,
  writeTrail,
} from '../../../chain/block-checkpoint.ts'
import { createLease } from '../../../chain/lease.ts'
import { createWatch, type Watch } from '../../../chain/poller.ts'
import type { Registry } from '../../../chain/registry/registry.ts'
import { contradiction } from '../../../chain/rpc.ts'
import type { Log } from '../../../shared/log.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import type { DepositBooks, ScanPlace } from '../deposit-types.ts'
import { type DepositDepth, type DepositView, readDepositDepth } from './depth.ts'
import { createDepositFinder } from './finder.ts'

/** Which chain is watched, and whose books are written. */
export interface DepositWatcherOptions {
  registry: Registry
  books: DepositBooks
  /** For the connection that holds the lock: a session of its own, not through a statement pooler. */
  databaseUrl: string
  log: Log
  confirmations: DepositDepth
  /** Address of the token that counts beside the chain's own coin; none when missing. */
  token?: string | undefined
  /** Milliseconds between looks while nothing is new; 1,000 when missing. */
  pollEvery?: number
}

/** Watches the chain for what comes in. */
export type DepositWatcher = Watch

/** Blocks read at once. */
const BATCH = 20

/** Looks at which the node says that there is a next block and does not have it, until that is told. */
const LACKING_LOOKS = 30

const lock = 'deposits'

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
  token,
  pollEvery = 1_000,
}: DepositWatcherOptions): DepositWatcher {
  const stopping = new AbortController()
  const rpc = registry.rpc.until(stopping.signal)
  const lease = createLease({ databaseUrl, log })
  const finder = createDepositFinder({ rpc, books, token })
  let told = ''
  let lackingLooks = 0

  /** For readers, who are told how deep a deposit is. */
  const tellHead = async ({ head, due }: DepositView) => {
    const found = `${head.number} ${due}`
    if (found !== told) await books.noteHead(head.number, due)
    told = found
  }

  /** Another chain altogether: from where we had begun, or from where this one would be begun. */
  const findStart = async (trail: Trail, due: number): Promise<PassedBlock[]> => {
    const start = Math.min(trail.at(-1)!.number, Math.max(due, 0))
    const [block] = await finder.readBlocks(start, start)
    return block ? [passedBlockOf(block)] : []
  }

  /** Takes out of the books what was credited from blocks above the first one of `trail`, however much it is, and goes back to there. */
  const freeze = async (place: ScanPlace, trail: Trail) => {
    const references: string[] = []
    let shortfall = 0n
    for (;;) {
      const part = await books.goBack(place, writeTrail(trail), trail[0].number)
      if (part.frozen.length === 0) return { references, shortfall: fromUnits(shortfall) }
      references.push(...part.frozen)
      shortfall += toUnits(part.shortfall)
    }
  }

  /** The chain is another one below the newest block we read: back to the newest block of ours that it still has. */
  const goBack = async ({ head, due }: DepositView, place: ScanPlace, trail: Trail) => {
    const [fork, ...rest] = (await findFork(rpc, trail, head)) ?? (await findStart(trail, due))
    if (!fork || fork.hash === trail[0].hash) throw contradiction(rpc)
    const { references, shortfall } = await freeze(place, [fork, ...rest])
    const depth = trail[0].number - fork.number
    const facts = { from: fork.number, to: trail[0].number, frozen: references.length, shortfall }
    if (references.length > 0 || (confirmations !== 'finalized' && depth > confirmations)) {
      log.error(
        { ...facts, deposits: references.slice(0, 5) },
        'Chain reorganization deeper than CHAIN_DEPOSIT_CONFIRMATIONS; credited deposits are frozen until the chain has them again ("annal deposits")',
      )
    } else log.info(facts, 'Chain reorganization; reading its newest blocks again for deposits')
  }

  const credit = async (place: ScanPlace, due: number) => {
    const credited = await books.creditDue(place, due)
    if (credited) log.info({ deposits: credited, block: due }, 'Deposits credited')
  }

  /** Reads what is new. Returns how long to rest, in milliseconds. */
  const step = async (): Promise<number> => {
    if (!(await lease.acquire(lock))) return pollEvery
    const seen = await readDepositDepth(registry, rpc, confirmations)
    await finder.assertToken()
    const { chainId, head, due } = seen
    await tellHead(seen)
    const position = await books.scanned(chainId)
    if (position === undefined) {
      // What came in before is not ours to credit.
      await books.begin(chainId, writeTrail([head]))
      return 0
    }
    const trail = readTrail(position)
    const next = trail[0].number + 1
    if (head.number < next) {
      if (isAnother(trail, head)) await goBack(seen, { chainId, position }, trail)
      // A node that is behind others says nothing of what lies above.
      else if (head.hash === trail[0].hash) await credit({ chainId, position }, due)
      return pollEvery
    }
    const blocks = await finder.readBlocks(next, Math.min(head.number, next + BATCH - 1))
    const [first] = blocks
    const last = blocks.at(-1)
    if (!first || !last) {
      // Another node behind the same address may not have it yet; one that never has it stops everything.
      lackingLooks += 1
      if (lackingLooks > LACKING_LOOKS) throw contradiction(rpc)
      return pollEvery
    }
    lackingLooks = 0
    if (first.parentHash !== trail[0].hash) {
      await goBack(seen, { chainId, position }, trail)
      return 0
    }
    const to = writeTrail(blocks.reduce<Trail>((passed, block) => extendTrail(passed, passedBlockOf(block)), trail))
    if (!(await books.note(chainId, { from: position, to }, await finder.find(blocks)))) return 0
    await credit({ chainId, position: to }, Math.min(due, Number(last.number)))
    return Number(last.number) < head.number ? 0 : pollEvery
  }

  const messages = { failed: 'Deposit watcher failed; retrying', recovered: 'Deposit watcher recovered' }
  return createWatch({ step, stopping, close: () => lease.close(), log, messages })
}
