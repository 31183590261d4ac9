/**
 * The relay writes accepted commits to the chain exactly once. Requests only insert rows and never wait for it, so chain problems delay
 * commits but do not fail requests.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { explainError } from '../../shared/operator-errors.ts'
import { noopMeter, noopTracer } from '../../telemetry/telemetry-types.ts'
import { createRelayAccount } from '../keys.ts'
import { createLease } from '../lease.ts'
import { createCpuThrottle, createLogDeduper } from '../poller.ts'
import { ensureRegistry } from '../registry/deploy.ts'
import { WrongChainError } from '../registry/registry.ts'
import { type ChainView, readBalances, readView } from '../view.ts'
import { closeGap } from './close-gap.ts'
import { createPreparer } from './commit-signer.ts'
import { createHistories, reconcileFromChain } from './find-on-chain.ts'
import { follow } from './follow-commits.ts'
import { findInFlight, findOpenLanes, hasOpenCommits } from './relay.sql.ts'
import {
  createLane,
  defaultPauses,
  findRecorders,
  forgetSettled,
  type Lane,
  type Relay,
  type RelayOptions,
  type RelayParts,
  type RelayStatus,
} from './relay-parts.ts'
import { replaceStuck, send, sendAgain } from './send-commits.ts'
import { signNext, supportsBatches } from './sign-transactions.ts'
import { createHeadGuard, noteAccountsAhead } from './stale-node-guard.ts'

/** Maximum number of transactions signed in one step. */
const BATCH = 32

/**
 * Creates the relay of this process without starting it. Each lane is served by the process that holds its lease. Errors are logged once
 * per outage and not thrown.
 */
export function createRelay(options: RelayOptions): Relay {
  const { database, registry, log, meter = noopMeter, tracer = noopTracer } = options
  const pauses = { ...defaultPauses, ...options.pauses }
  const { transactionsUnderWay = 64 } = options
  const stopping = new AbortController()
  const lease = createLease({ databaseUrl: options.databaseUrl, log })
  const rpc = registry.rpc.until(stopping.signal)
  const accounts = options.relayKeys.map(createRelayAccount)
  const lanes = accounts.map((account, index) =>
    createLane(account.address, { account, index, lanes: accounts.length }),
  )
  const doubtPatience = options.doubtPatience ?? 120_000
  const headGuard = createHeadGuard(doubtPatience)
  const inFlightCounts = new Map<string, number>()
  let lastStepAt: number | undefined
  const state: Omit<RelayStatus, 'lanes' | 'stepAge' | 'maxFeePerGas'> = {
    state: 'stopped',
    lastError: null,
    chainId: null,
    registry: null,
    headNumber: null,
    nextBaseFee: null,
  }
  const readHistories = createHistories(registry.readOwn)
  /** Adds a lane for an account whose commit was found on the chain, so that the commit is followed until it is final. */
  const followLane = (account: string) => {
    const lane = lanes.find(({ address }) => address === account)
    if (lane) lane.seen = ''
    else lanes.push(createLane(account))
  }
  const findOurs = () =>
    findRecorders(database, [...accounts.map(({ address }) => address), ...(options.earlierRelays ?? [])])
  const { confirmations } = options
  const preparer = createPreparer({
    ...options,
    tracer,
    lease,
    stopping: stopping.signal,
    idlePause: pauses.idle,
    async reconcileFromChain(leaseName, commitId) {
      const recorders = await findOurs()
      const readHistory = readHistories(recorders)
      const searchParts = { database, lease, rpc, log, readHistory, recorders, confirmations, followLane }
      return reconcileFromChain(searchParts, leaseName, commitId)
    },
    onReady: () => wake(),
  })
  const deduper = createLogDeduper()
  let running: Promise<void> | undefined
  let parts: RelayParts | undefined
  /** Time at which the chain last had all our commits. Undefined if it must be checked. */
  let lastCompleteAt: number | undefined
  /** True after the first comparison of the accounts with the database. */
  let isCompared = false
  let isWoken = false
  let wakeUp: (() => void) | undefined

  /** Finds or deploys the registry, and adds lanes of accounts that are no longer configured. Returns undefined on standby. */
  const connect = async (): Promise<RelayParts | undefined> => {
    const [account] = accounts
    if (!account) throw new Error('No relay key is configured; set CHAIN_RELAY_KEYS.')
    const chainId = await registry.readChainId()
    if (!(await lease.acquire(createLane(account.address).name))) return undefined
    const { maxFeePerGas } = options
    const { signal } = stopping
    const address = await ensureRegistry({ registry, database, account, log, maxFeePerGas, signal })
    for (const { lane } of await database.query(findOpenLanes)) {
      if (lanes.some((known) => known.address === lane)) continue
      log.warn(
        { lane },
        'Relay key removed while its transactions are pending; they are sent, but their fees cannot be raised',
      )
      lanes.push(createLane(lane))
    }
    Object.assign(state, { chainId, registry: address })
    const { describe } = options
    const shared = {
      database,
      lease,
      rpc,
      log,
      meter,
      tracer,
      describe,
      confirmations,
      maxFeePerGas,
    }
    const recorders = await findOurs()
    if (!isCompared) await noteAccountsAhead({ database, rpc, lease, recorders }, createLane(account.address).name)
    isCompared = true
    const { receiptPatience = 10_000, gapPatience = 3_000 } = options
    const most = options.commitsPerTransaction ?? 64
    const commitsPerTransaction = most > 1 && (await supportsBatches(rpc, address)) ? most : 1
    const readHistory = readHistories(recorders)
    return {
      ...shared,
      recorders,
      followLane,
      readHistory,
      receiptPatience,
      doubtPatience,
      gapPatience,
      commitsPerTransaction,
      cpu: createCpuThrottle(),
      chainId,
      registry: address,
    }
  }

  /** Runs one step of all lanes that this process holds. Returns the pause in milliseconds. */
  const step = async (): Promise<number> => {
    parts ??= await connect()
    if (!parts) return standBy()
    if (lastCompleteAt !== undefined && performance.now() - lastCompleteAt < pauses.resting) {
      const [row] = await database.query(hasOpenCommits)
      if (!row?.open) {
        inFlightCounts.clear()
        return pauses.idle
      }
    }
    const mine: Lane[] = []
    for (const lane of lanes) {
      if (await lease.acquire(lane.name)) mine.push(lane)
      else lane.gapSince = undefined
    }
    if (mine.length === 0) return standBy()
    const shared = parts
    const view = await readView(
      rpc,
      mine.map(({ address }) => address),
      shared.registry,
    )
    await assertSameChain(shared, view)
    await headGuard.assertNewest(shared, mine, view)
    Object.assign(state, { state: 'working', headNumber: view.head.number, nextBaseFee: view.nextBaseFee })
    const results = await Promise.allSettled(mine.map((lane) => runLane(shared, lane, view)))
    const outcomes = results.map((result) => {
      if (result.status === 'rejected') throw result.reason
      return result.value
    })
    lastCompleteAt = outcomes.every(({ hasGap }) => !hasGap) ? performance.now() : undefined
    return Math.min(...outcomes.map(({ pause }) => pause))
  }

  /** Throws if the chain or the registry is missing. A call to an address without a contract would succeed without effect. */
  const assertSameChain = async ({ chainId, registry: address }: RelayParts, view: ChainView) => {
    await registry.assertChain(view.chainId)
    if (view.chainId !== chainId)
      throw new WrongChainError(`The node changed from chain ${chainId} to chain ${view.chainId}.`)
    if (!view.hasContract) throw new Error(`The registry at ${address} is gone from the chain.`)
  }

  const standBy = () => {
    state.state = 'standby'
    return pauses.idle
  }

  const runLane = async (shared: RelayParts, lane: Lane, view: ChainView) => {
    const inFlight = await database.query(findInFlight, { lane: lane.address })
    inFlightCounts.set(lane.address, inFlight.flatMap(({ commits }) => commits).length)
    forgetSettled(lane, inFlight)
    await follow(shared, lane, view, inFlight)
    const count = view.counts.get(lane.address) ?? 0
    const waiting = inFlight.filter(({ nonce }) => nonce >= count)
    const hasGap = await closeGap(shared, lane, view, waiting)
    await sendAgain(shared, lane, count, waiting)
    await replaceStuck(shared, lane, view, waiting)
    const signed = hasGap
      ? []
      : await signNext(shared, lane, view, Math.min(BATCH, transactionsUnderWay - waiting.length))
    await send(shared, lane, signed)
    if (signed.length > 0) return { hasGap, pause: signed.length === BATCH ? 0 : pauses.sent }
    return { hasGap, pause: inFlight.length > 0 || hasGap ? pauses.waiting : pauses.idle }
  }

  /** Waits until the time is over or the relay is woken. Ignores wake-ups if `isWakeable` is false. */
  const rest = async (milliseconds: number, isWakeable: boolean) => {
    const ending = new AbortController()
    const signal = AbortSignal.any([ending.signal, stopping.signal])
    wakeUp = () => {
      if (isWakeable) ending.abort()
    }
    if (isWoken) wakeUp()
    await delay(milliseconds, undefined, { signal }).catch(() => {})
    wakeUp = undefined
    // Wait briefly so that commits that arrive together are handled in one step.
    if (isWoken && isWakeable) await delay(pauses.woken, undefined, { signal: stopping.signal }).catch(() => {})
    isWoken = false
  }

  const run = async () => {
    let failures = 0
    state.state = 'starting'
    while (!stopping.signal.aborted) {
      try {
        const pause = await step()
        const outage = deduper.recovers()
        if (outage) log.info(outage, 'Relay recovered')
        failures = 0
        lastStepAt = performance.now()
        state.lastError = null
        await rest(pause, true)
      } catch (error) {
        if (stopping.signal.aborted) break
        failures += 1
        // After an outage the chain may have lost blocks, including the one with the registry.
        parts = undefined
        lastCompleteAt = undefined
        const lastError = explainError(error)
        const isGrave = error instanceof WrongChainError
        const isNew = deduper.fails({ message: 'Relay failed; retrying', reason: lastError })
        if (isNew || (isGrave && lastError !== state.lastError))
          log[isGrave ? 'error' : 'warn']({ err: error, reason: lastError }, 'Relay failed; retrying')
        Object.assign(state, { state: 'waiting', lastError })
        await rest(Math.min(250 * 2 ** Math.min(failures, 10), pauses.longestBackoff), false)
      }
    }
  }

  const wake = () => {
    isWoken = true
    wakeUp?.()
  }

  const runAll = async () => {
    await Promise.all([run(), preparer.run()])
    await lease.close()
    state.state = 'stopped'
  }

  return {
    start() {
      running ??= runAll()
    },
    wake: () => preparer.wake(),
    balances: (signal) =>
      readBalances(
        registry.rpc.until(signal),
        lanes.map(({ address }) => address),
      ),
    async stop() {
      stopping.abort()
      await running
    },
    status: () => ({
      ...state,
      stepAge: lastStepAt === undefined ? null : performance.now() - lastStepAt,
      maxFeePerGas: options.maxFeePerGas,
      lanes: lanes.map(({ address, name }) => ({
        address,
        isHeld: lease.isHeld(name),
        inFlight: inFlightCounts.get(address) ?? 0,
      })),
    }),
  }
}
