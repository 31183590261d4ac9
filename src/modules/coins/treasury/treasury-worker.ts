/** Sweeps credited deposits into the treasury and pays withdrawals. Each transaction is stored before it is sent, and sent again after a crash. */
import { createLease } from '../../../chain/lease.ts'
import { createLogDeduper, createPoller, logOnce, type Poller, type Problem } from '../../../chain/poller.ts'
import type { Registry } from '../../../chain/registry/registry.ts'
import { type ChainView, readView } from '../../../chain/view.ts'
import { keysetPages } from '../../../shared/async.ts'
import { fromUnits } from '../../../shared/money.ts'
import { findMoves } from '../coin-transfers.sql.ts'
import { hasCoinWork } from '../treasury.sql.ts'
import { findNonceConflict, followTransfers } from './follow-transfers.ts'
import { endPaidWithdrawals, payWithdrawals } from './pay-withdrawals.ts'
import { cancelRejected, forgetSettled, sendTransfers } from './send-transfers.ts'
import { resumeAndSuspend, sweepDeposits } from './sweep-deposits.ts'
import { logEarlierTreasuries, readTreasury, type WorkerParts } from './treasury.ts'

/** Parts and settings of the treasury worker. */
export interface TreasuryWorkerOptions
  extends Omit<WorkerParts, 'rpc' | 'doubtPatience' | 'memory' | 'dedupers' | 'stopping'> {
  registry: Registry
  /** Direct connection to the database, without a statement pooler. It holds the lease. */
  databaseUrl: string
  /** Default: 120,000. */
  doubtPatience?: number | undefined
  /** Pause between steps, in milliseconds. Default: 1,000. */
  pollEvery?: number
}

/** Minimum depth, in blocks, below which transfers are no longer checked. */
const WATCHED_BLOCKS = 128
/** Transfers that are checked together. */
const PAGE = 200
/** Pauses between steps without work, in milliseconds: while transfers are young, and otherwise. */
const [SETTLING_PAUSE_MS, IDLE_PAUSE_MS] = [15_000, 60_000]

/** Creates the treasury worker, not started yet. Of several processes, the one with the lease `coins` works. */
export function createTreasuryWorker({
  registry,
  databaseUrl,
  pollEvery = 1_000,
  doubtPatience = 120_000,
  ...options
}: TreasuryWorkerOptions): Poller {
  const { database, log } = options
  const stopping = new AbortController()
  const lease = createLease({ databaseUrl, log })
  const parts: WorkerParts = {
    ...options,
    doubtPatience,
    rpc: registry.rpc.until(stopping.signal),
    memory: { sentAt: new Map(), waitingFrom: new Map(), rejections: new Map(), lackingSince: new Map() },
    dedupers: {
      ...{ sending: createLogDeduper(), suspended: createLogDeduper(), sweeping: createLogDeduper() },
      ...{ treasury: createLogDeduper(), conflict: createLogDeduper() },
    },
    stopping: stopping.signal,
  }
  let lastStep: { at: number; least: bigint; isSettling: boolean } | undefined

  /** Without work, the chain is still read now and then: gas may be cheaper, or blocks displaced. */
  const isIdle = async () => {
    if (!lastStep) return false
    const pause = lastStep.isSettling ? SETTLING_PAUSE_MS : IDLE_PAUSE_MS
    if (performance.now() - lastStep.at >= pause) return false
    const [work] = await database.query(hasCoinWork, { least: fromUnits(lastStep.least) })
    return !work!.open
  }

  const step = async () => {
    if (!(await lease.acquire('coins')) || (await isIdle())) return pollEvery
    const view = await readView(parts.rpc, [parts.treasury.address])
    await registry.assertChain(view.chainId)
    if (!lastStep) {
      // The transaction count of a new treasury must be stored before any withdrawal is signed.
      await readTreasury(parts, view)
      await logEarlierTreasuries(parts)
    }
    const hasTransfers = await reconcile(parts, view)
    const isWaiting = await resumeAndSuspend(parts, view)
    await endPaidWithdrawals(parts)
    await payWithdrawals(parts, view)
    const least = await sweepDeposits(parts, view)
    lastStep = { at: performance.now(), least, isSettling: hasTransfers || isWaiting }
    return pollEvery
  }

  const messages = { failed: 'Coin transfers failed; retrying', recovered: 'Coin transfers recovered' }
  return createPoller({ step, stopping, close: () => lease.close(), log, messages })
}

/** Compares every open transfer with the chain, and sends those that are not in it. Each step handles all of them. Returns true if there are any. */
async function reconcile(parts: WorkerParts, view: ChainView): Promise<boolean> {
  const depth = Math.max(WATCHED_BLOCKS, 2 * parts.confirmations)
  const youngest = Math.max(view.head.number - depth, 0)
  const waiting = new Set<string>()
  let hasTransfers = false
  let problem: Problem | undefined
  let conflict: Problem | undefined
  const pages = keysetPages({
    first: { sender: '', nonce: 0 },
    limit: PAGE,
    read: ({ sender: afterSender, nonce: afterNonce }, limit) =>
      parts.database.query(findMoves, { youngest, afterSender, afterNonce, limit }),
    keyOf: (transfer) => transfer,
  })
  for await (const transfers of pages) {
    if (parts.stopping.aborted) break
    hasTransfers = true
    const left = await followTransfers(parts, { view, depth }, transfers)
    conflict ??= await findNonceConflict(parts, view, left)
    problem = (await sendTransfers(parts, view, left)) ?? problem
    await cancelRejected(parts, view, left)
    for (const { transactions } of left) for (const { hash } of transactions) waiting.add(hash)
  }
  forgetSettled(parts.memory, waiting)
  logOnce(parts.log, parts.dedupers.sending, problem, 'Sending of coin transfers recovered')
  logOnce(parts.log, parts.dedupers.conflict, conflict, 'No coin transfer has a used nonce any more')
  return hasTransfers
}
