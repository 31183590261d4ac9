/**
 * Moves coins on the chain: gathers credited deposits into the treasury, and sees to it that whatever is signed gets into the chain once. It
 * stands in no request's way. Everything that can be sent is stored before, so a process that dies at any moment is followed by one
 * that sends the same bytes again.
 */

import type { RelayAccount } from '../../../chain/keys.ts'
import { createLease } from '../../../chain/lease.ts'
import { createLogDeduper, logOnce, type Problem } from '../../../chain/log-dedupe.ts'
import { createWatch, type Watch } from '../../../chain/poller.ts'
import type { Registry } from '../../../chain/registry/registry.ts'
import { type ChainView, readView } from '../../../chain/view.ts'
import type { Custody } from '../../../keys/key-types.ts'
import { keysetPages } from '../../../shared/async.ts'
import type { Log } from '../../../shared/log.ts'
import type { Meter } from '../../../telemetry/telemetry-types.ts'
import type { CoinBooks, CoinMove } from '../coin-types.ts'
import { findOvertaken, followMoves } from './follow.ts'
import { createSendMemory, type MoverParts } from './parts.ts'
import { cancelRejected, forgetOthers, sendMoves } from './send.ts'
import { setAside } from './suspended-transfers.ts'
import { gather } from './sweep-deposits.ts'
import { logEarlierTreasuries, readTreasury } from './treasury.ts'
import { payWithdrawals } from './withdraw.ts'

/** Which chain it is, whose books are written, and where the coins go. */
export interface CoinMoverOptions {
  registry: Registry
  books: CoinBooks
  custody: Custody
  /** For the connection that holds the lease: a session of its own, not through a statement pooler. */
  databaseUrl: string
  log: Log
  meter: Meter
  treasury: RelayAccount
  /** Blocks on top of a move's block until it is settled. */
  confirmations: number
  /** Wei; nothing above is ever offered. */
  maxFeePerGas: bigint
  /** Milliseconds for which a node that has fewer blocks than were seen is taken to be behind others; 120,000 when missing. */
  doubtPatience?: number
  /** Milliseconds between looks; 1,000 when missing. */
  pollEvery?: number
}

/** Moves coins until it is stopped. */
export type CoinMover = Watch

const leaseName = 'coins'
/** Blocks: a move that is deeper is not looked at any more. */
const WATCHED_BLOCKS = 128
/** Moves that are looked at together. */
const PAGE = 200
/** Milliseconds between looks at the chain while there is nothing to do: where blocks of moves are young, and where not. */
const SETTLED_LOOK_MS = 15_000
const IDLE_LOOK_MS = 60_000

/** A mover of coins; of several processes one works, by the lease `coins`. While a part is away it asks again, and tells so once. */
export function createCoinMover({
  registry,
  databaseUrl,
  pollEvery = 1_000,
  doubtPatience = 120_000,
  ...options
}: CoinMoverOptions): CoinMover {
  const { books, log } = options
  const stopping = new AbortController()
  const lease = createLease({ databaseUrl, log })
  const parts: MoverParts = {
    ...options,
    doubtPatience,
    rpc: registry.rpc.until(stopping.signal),
    memory: createSendMemory(),
    dedupers: {
      sending: createLogDeduper(),
      aside: createLogDeduper(),
      gathering: createLogDeduper(),
      treasury: createLogDeduper(),
      overtaken: createLogDeduper(),
    },
    stopping: stopping.signal,
  }
  let looked: { at: number; least: bigint; isSettling: boolean } | undefined

  /** The chain is asked while there is something to do, and now and then because gas may be cheaper and blocks displaced. */
  const isIdle = async () => {
    if (!looked) return false
    const rest = looked.isSettling ? SETTLED_LOOK_MS : IDLE_LOOK_MS
    return performance.now() - looked.at < rest && !(await books.hasWork(looked.least))
  }

  const step = async () => {
    if (!(await lease.acquire(leaseName)) || (await isIdle())) return pollEvery
    const view = await readView(parts.rpc, [parts.treasury.address])
    await registry.assertChain(view.chainId)
    if (!looked) {
      // Also what it has sent before is noted now: before anything can be asked of it.
      await readTreasury(parts, view)
      await logEarlierTreasuries(parts)
    }
    const isMoving = await bringUp(parts, view)
    const isWaiting = await setAside(parts, view)
    await books.endWithdrawals()
    await payWithdrawals(parts, view)
    const least = await gather(parts, view)
    looked = { at: performance.now(), least, isSettling: isMoving || isWaiting }
    return pollEvery
  }

  const messages = { failed: 'Coin transfers failed; retrying', recovered: 'Coin transfers recovered' }
  return createWatch({ step, stopping, close: () => lease.close(), log, messages })
}

/**
 * Brings every move up to what the chain says, and sends what is not in it: all of them in each step, so that none waits for others that can
 * never succeed. Returns whether there are any.
 */
async function bringUp(parts: MoverParts, view: ChainView): Promise<boolean> {
  const depth = Math.max(WATCHED_BLOCKS, 2 * parts.confirmations)
  const youngest = Math.max(view.head.number - depth, 0)
  const waiting = new Set<string>()
  let hasMoves = false
  let problem: Problem | undefined
  let overtaken: Problem | undefined
  const pages = keysetPages({
    first: undefined as CoinMove | undefined,
    limit: PAGE,
    read: (after, limit) => parts.books.findOpen(youngest, after, limit),
    keyOf: (move) => move,
  })
  for await (const moves of pages) {
    if (parts.stopping.aborted) break
    hasMoves = true
    const left = await followMoves(parts, { view, depth }, moves)
    overtaken ??= await findOvertaken(parts, view, left)
    problem = (await sendMoves(parts, view, left)) ?? problem
    await cancelRejected(parts, view, left)
    for (const { transactions } of left) for (const { hash } of transactions) waiting.add(hash)
  }
  forgetOthers(parts.memory, waiting)
  logOnce(parts.log, parts.dedupers.sending, problem, 'Sending of coin transfers recovered')
  logOnce(parts.log, parts.dedupers.overtaken, overtaken, 'No coin transfer has a used nonce any more')
  return hasMoves
}
