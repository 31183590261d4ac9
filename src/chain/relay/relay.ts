/** The relay writes accepted commits to the chain exactly once. Requests only insert rows and do not wait for it. */
import { noopMeter, noopTracer } from '../../telemetry/telemetry-types.ts'
import { createRelayAccount } from '../keys.ts'
import { createLease } from '../lease.ts'
import { createCpuThrottle, createPoller } from '../poller.ts'
import { ensureRegistry, WrongChainError } from '../registry/registry.ts'
import { type ChainView, readAccounts, readView } from '../view.ts'
import { closeGap } from './close-gap.ts'
import { createCommitSigner } from './commit-signer.ts'
import { createHistories, reconcileFromChain } from './find-on-chain.ts'
import { follow } from './follow-commits.ts'
import { findInFlight, findOpenLanes, hasOpenCommits } from './relay.sql.ts'
import type { Lane, Relay, RelayOptions, RelayParts, RelayStatus } from './relay-parts.ts'
import { createLane, defaultPauses, findRecorders, forgetSettled } from './relay-parts.ts'
import { replaceStuck, send, sendAgain, signNext, supportsBatches } from './send-commits.ts'
import { createHeadGuard, recordAccountsAhead } from './stale-node-guard.ts'

const BATCH = 32

export function createRelay(options: RelayOptions): Relay {
  const { database, registry, log, maxFeePerGas, transactionsUnderWay = 64 } = options
  const pauses = { ...defaultPauses, ...options.pauses }
  const stopping = new AbortController()
  const lease = createLease({ databaseUrl: options.databaseUrl, log })
  const rpc = registry.rpc.until(stopping.signal)
  const accounts = options.relayKeys.map(createRelayAccount)
  const lanes = accounts.map((account, index) =>
    createLane(account.address, { account, index, lanes: accounts.length }),
  )
  const inFlightCounts = new Map<string, number>()
  const readHistories = createHistories(registry.readOwn)
  const settings = {
    ...options,
    ...{ meter: options.meter ?? noopMeter, tracer: options.tracer ?? noopTracer },
    receiptPatience: options.receiptPatience ?? 10_000,
    doubtPatience: options.doubtPatience ?? 120_000,
    gapPatience: options.gapPatience ?? 3_000,
    ...{ lease, rpc, cpu: createCpuThrottle() },
    /** Adds a lane for an account whose commit was found on the chain. The lane follows it until it is final. */
    followLane(account: string) {
      const lane = lanes.find(({ address }) => address === account)
      if (lane) lane.seen = ''
      else lanes.push(createLane(account))
    },
  }
  const headGuard = createHeadGuard(settings.doubtPatience)
  const state: Omit<RelayStatus, 'lanes' | 'stepAge' | 'maxFeePerGas'> = {
    ...{ state: 'stopped', lastError: null, chainId: null, registry: null, headNumber: null, nextBaseFee: null },
  }
  let parts: RelayParts | undefined
  let lastStepAt: number | undefined
  /** Time at which the chain last had all our commits. Undefined if the chain must be checked. */
  let lastCompleteAt: number | undefined
  let isCompared = false

  const findHistories = async () => {
    const named = [...accounts.map(({ address }) => address), ...(options.earlierRelays ?? [])]
    const recorders = await findRecorders(database, named)
    return { recorders, readHistory: readHistories(recorders) }
  }

  /** Finds or deploys the registry, and adds lanes of earlier accounts. Returns undefined on standby. */
  const connect = async (): Promise<RelayParts | undefined> => {
    const [account] = accounts
    if (!account) throw new Error('No relay key is configured; set CHAIN_RELAY_KEYS.')
    const chainId = await registry.readChainId()
    const { name } = createLane(account.address)
    if (!(await lease.acquire(name))) return undefined
    const { signal } = stopping
    const address = await ensureRegistry({ registry, database, account, log, maxFeePerGas, signal })
    for (const { lane } of await database.query(findOpenLanes)) {
      if (lanes.some((known) => known.address === lane)) continue
      const message =
        'Relay key removed while its transactions are pending; the relay sends them but cannot raise their fees'
      log.warn({ lane }, message)
      lanes.push(createLane(lane))
    }
    Object.assign(state, { chainId, registry: address })
    const histories = await findHistories()
    if (!isCompared) await recordAccountsAhead({ ...settings, ...histories }, name)
    isCompared = true
    const most = options.commitsPerTransaction ?? 64
    const commitsPerTransaction = most > 1 && (await supportsBatches(rpc, address)) ? most : 1
    return { ...settings, ...histories, commitsPerTransaction, chainId, registry: address }
  }

  /** Runs one step of all lanes that this process holds. Returns the pause in milliseconds. */
  const runLanes = async (): Promise<number> => {
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
    const known = parts
    const addresses = mine.map(({ address }) => address)
    const view = await readView(rpc, addresses, known.registry)
    await assertSameChain(known, view)
    await headGuard.assertNewest(known, addresses, view)
    Object.assign(state, { state: 'working', headNumber: view.head.number, nextBaseFee: view.nextBaseFee })
    const results = await Promise.allSettled(mine.map((lane) => runLane(known, lane, view)))
    const outcomes = results.map((result) => {
      if (result.status === 'rejected') throw result.reason
      return result.value
    })
    lastCompleteAt = outcomes.every(({ hasGap }) => !hasGap) ? performance.now() : undefined
    return Math.min(...outcomes.map(({ pause }) => pause))
  }

  /** Throws if the chain changed or has no registry, because calls to an address without a contract have no effect. */
  const assertSameChain = async ({ chainId, registry: address }: RelayParts, view: ChainView) => {
    await registry.assertChain(view.chainId)
    if (view.chainId !== chainId)
      throw new WrongChainError(`The node changed from chain ${chainId} to chain ${view.chainId}.`)
    if (!view.hasContract) throw new Error(`The chain no longer has a registry at ${address}.`)
  }

  const standBy = () => {
    state.state = 'standby'
    return pauses.idle
  }

  const runLane = async (known: RelayParts, lane: Lane, view: ChainView) => {
    const inFlight = await database.query(findInFlight, { lane: lane.address })
    inFlightCounts.set(lane.address, inFlight.flatMap(({ commits }) => commits).length)
    forgetSettled(lane, inFlight)
    await follow(known, lane, view, inFlight)
    const count = view.counts.get(lane.address) ?? 0
    const waiting = inFlight.filter(({ nonce }) => nonce >= count)
    const hasGap = await closeGap(known, lane, view, waiting)
    await sendAgain(known, lane, waiting)
    await replaceStuck(known, lane, view, waiting)
    const room = hasGap ? 0 : Math.min(BATCH, transactionsUnderWay - waiting.length)
    const signed = await signNext(known, lane, view, room)
    await send(known, lane, signed)
    if (signed.length > 0) return { hasGap, pause: signed.length === BATCH ? 0 : pauses.sent }
    return { hasGap, pause: inFlight.length > 0 || hasGap ? pauses.waiting : pauses.idle }
  }

  const signer = createCommitSigner({
    ...settings,
    stopping,
    idlePause: pauses.idle,
    reconcileFromChain: async (leaseName, commitId) =>
      reconcileFromChain({ ...settings, ...(await findHistories()) }, leaseName, commitId),
    onReady: () => poller.wake(),
  })
  const poller = createPoller({
    async step() {
      const pause = await runLanes()
      lastStepAt = performance.now()
      state.lastError = null
      return pause
    },
    onFailure(lastError) {
      // After an outage the chain may have lost blocks, including the one with the registry.
      parts = undefined
      lastCompleteAt = undefined
      Object.assign(state, { state: 'waiting', lastError })
    },
    ...{ stopping, log, longestBackoff: pauses.longestBackoff, wakeDelay: pauses.woken },
    messages: { failed: 'Relay failed; retrying', recovered: 'Relay recovered' },
  })

  return {
    start() {
      if (state.state === 'stopped') state.state = 'starting'
      poller.start()
      signer.start()
    },
    wake: signer.wake,
    async balances(signal) {
      const addresses = lanes.map(({ address }) => address)
      const seen = await readAccounts(registry.rpc.until(signal), addresses, 'latest')
      return new Map(addresses.map((address, index) => [address, seen[index]!.balance]))
    },
    async stop() {
      await Promise.all([poller.stop(), signer.stop()])
      await lease.close()
      state.state = 'stopped'
    },
    status: () => ({
      ...state,
      stepAge: lastStepAt === undefined ? null : performance.now() - lastStepAt,
      maxFeePerGas,
      lanes: lanes.map(({ address, name }) => ({
        ...{ address, isHeld: lease.isHeld(name), inFlight: inFlightCounts.get(address) ?? 0 },
      })),
    }),
  }
}
