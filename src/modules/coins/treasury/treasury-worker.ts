import { createLease } from '../../../chain/lease.ts'
import { createLogDeduper, createPoller, type Poller } from '../../../chain/poller.ts'
import type { Registry } from '../../../chain/registry/registry.ts'
import { readView } from '../../../chain/view.ts'
import { fromUnits } from '../../../shared/money.ts'
import { hasCoinWork } from '../treasury.sql.ts'
import { reconcileTransfers } from './reconcile-transfers.ts'
import { resumeAndSuspend, sweepDeposits } from './sweep-deposits.ts'
import { endPaidWithdrawals, logEarlierTreasuries, payWithdrawals, readTreasury, type WorkerParts } from './treasury.ts'

export interface TreasuryWorkerOptions
  extends Omit<WorkerParts, 'rpc' | 'doubtPatience' | 'memory' | 'dedupers' | 'stopping'> {
  registry: Registry
  /** Direct connection to the database, without a statement pooler. It holds the lease. */
  databaseUrl: string
  doubtPatience?: number | undefined
  /** Pause between steps, in milliseconds. */
  pollEvery?: number
}

/** Pauses between steps without work, in milliseconds. */
const [SETTLING_PAUSE_MS, IDLE_PAUSE_MS] = [15_000, 60_000]

/**
 * Creates the worker that sweeps deposits into the treasury and pays withdrawals, without starting it. Only the process
 * with the lease `coins` works. Each transaction is stored before it is sent.
 */
export function createTreasuryWorker(settings: TreasuryWorkerOptions): Poller {
  const { registry, databaseUrl, pollEvery = 1_000, doubtPatience = 120_000, ...options } = settings
  const { database, log } = options
  const stopping = new AbortController()
  const lease = createLease({ databaseUrl, log })
  const parts: WorkerParts = {
    ...options,
    doubtPatience,
    rpc: registry.rpc.until(stopping.signal),
    memory: { sentAt: new Map(), waitingFrom: new Map(), lackingSince: new Map() },
    dedupers: {
      ...{ sending: createLogDeduper(), suspended: createLogDeduper(), sweeping: createLogDeduper() },
      ...{ treasury: createLogDeduper(), conflict: createLogDeduper() },
    },
    stopping: stopping.signal,
  }
  let lastStep: { at: number; least: bigint; isSettling: boolean } | undefined

  /** Returns true if the step can be skipped. Steps without work still run at intervals, because of reorganizations. */
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
    const hasTransfers = await reconcileTransfers(parts, view)
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
