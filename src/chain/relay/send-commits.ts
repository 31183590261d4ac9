/** Signs, stores and sends the transactions of commits, and replaces those whose fees are too low. */
import { arrayOf, type RowOf, statement, uuid } from '../../db/sql.ts'
import { failCommit } from '../../modules/commits/commits.sql.ts'
import { undefinedIf } from '../../shared/async.ts'
import { toHex } from '../keys.ts'
import type { Problem } from '../poller.ts'
import { batchQuestions, decodeCommits, encodeCommit, encodeCommitData, encodeCommits } from '../registry/abi.ts'
import { isRpcError, type Rpc } from '../rpc.ts'
import * as transactions from '../transaction.ts'
import type { ChainView } from '../view.ts'
import { markFoundCommits } from './find-on-chain.ts'
import * as sql from './relay.sql.ts'
import { type Lane, type Outgoing, type RelayParts, reportLane } from './relay-parts.ts'
import { isCountConfirmed } from './stale-node-guard.ts'

/** Maximum size of the transactions in one request, in bytes. Hex doubles the size, and some nodes accept only 1 MB. */
const REQUEST_BYTES = 400_000

/** Sends stored transactions. A retry is safe, because a nonce can be used only once. Throws UNAVAILABLE. */
export const send = async (parts: RelayParts, lane: Lane, outgoing: readonly Outgoing[]): Promise<void> => {
  const requests: Outgoing[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const each of outgoing) {
    bytes += each.raw.length
    if (bytes > REQUEST_BYTES) {
      requests.push([])
      bytes = each.raw.length
    }
    requests.at(-1)!.push(each)
  }
  for (const request of requests) await sendTogether(parts, lane, request)
}

const sendTogether = async (parts: RelayParts, lane: Lane, outgoing: readonly Outgoing[]): Promise<void> => {
  const calls = outgoing.map(({ raw }) => ({ method: 'eth_sendRawTransaction', params: [toHex(raw)] }))
  const origins = outgoing.flatMap(({ traces }) => traces)
  const outcomes = await parts.tracer.resume(origins, 'relay send', {}, () => parts.rpc.batch(calls))
  const accepted: string[] = []
  let problem: Problem | undefined
  outgoing.forEach(({ nonce, commits, hash }, index) => {
    const error = outcomes[index]?.error
    if (!error || transactions.isTaken(error)) {
      accepted.push(...commits)
      lane.sentAt.set(nonce, performance.now())
      lane.refusals.delete(hash)
      // The nonce may be used already. Clear `seen`, so that receipts are read even if the head does not change.
      if (error) lane.seen = ''
      return
    }
    lane.sentAt.delete(nonce)
    const lacksFunds = transactions.isPoor(error)
    if (!lacksFunds && transactions.wantsMore(error)) lane.refusals.set(hash, (lane.refusals.get(hash) ?? 0) + 1)
    problem ??= lacksFunds
      ? { message: 'The relay account cannot pay for gas; send coins to the account' }
      : { message: 'The node rejected a transaction; retrying', reason: error.message }
  })
  reportLane(parts, lane, 'sending', problem)
  if (accepted.length > 0) await parts.lease.write(lane.name, markBroadcast, { commits: accepted })
}

const withRaw = async ({ database }: RelayParts, rows: readonly sql.InFlightRow[]) => {
  if (rows.length === 0) return []
  const stored = await database.query(sql.findRaw, { hashes: rows.map(({ hash }) => hash) })
  const raws = new Map(stored.map(({ hash, raw }) => [hash, raw]))
  return rows.flatMap((row) => {
    const raw = raws.get(row.hash)
    return raw ? [{ ...row, raw }] : []
  })
}

export const sendAgain = async (parts: RelayParts, lane: Lane, waiting: readonly sql.InFlightRow[]) => {
  const now = performance.now()
  const due = waiting.filter(({ nonce, sent }) => {
    const sentAt = lane.sentAt.get(nonce)
    return !sent || sentAt === undefined || now - sentAt > transactions.RESEND_AFTER_MS
  })
  await send(parts, lane, await withRaw(parts, due))
}

/** Seconds per attempt after which a transaction must be pending: some pools queue transactions indefinitely. */
const MISFILED_SECONDS = 3
/** Number of consecutive rejections after which a transaction is signed again. */
const REFUSAL_LIMIT = 3
/** Maximum number of replacements in one step. Transactions with higher nonces must wait for these anyway. */
const BATCH = 16

/** Replaces transactions whose fees are too low by transactions with the same nonce and higher fees. */
export const replaceStuck = async (
  parts: RelayParts,
  lane: Lane,
  view: ChainView,
  waiting: readonly sql.InFlightRow[],
) => {
  const { signer } = lane
  if (!signer) return
  const due = waiting.filter((row) => isDue(lane, view, row)).slice(0, BATCH)
  const signed: (transactions.SignedTransaction & Outgoing)[] = []
  for (const row of await withRaw(parts, due)) {
    const [maxFeePerGas, maxPriorityFeePerGas] = [BigInt(row.max_fee_per_gas), BigInt(row.max_priority_fee_per_gas)]
    const fees = transactions.raiseFees({ maxFeePerGas, maxPriorityFeePerGas }, view, parts.maxFeePerGas)
    if (!fees) {
      const message = 'Gas fees are above CHAIN_MAX_FEE_GWEI; sent transactions wait until the fees fall'
      reportLane(parts, lane, 'fees', { message })
      break
    }
    const { to, data, nonce, gasLimit: oldLimit } = transactions.parseTransaction(row.raw)
    // This call throws unless the data is a commit call, so that no other call is signed again.
    decodeCommits(data)
    // The gas limit may be the reason why the transaction was not included.
    const newLimit = isRefused(lane, row) || row.hashes.length > 1 ? await estimateGas(parts, lane, [data]) : oldLimit
    const gasLimit = transactions.larger(newLimit, oldLimit)
    const plan = { ...fees, chainId: parts.chainId, nonce, to: to ?? parts.registry, data, gasLimit }
    const transaction = await parts.cpu.run(async () => transactions.signTransaction(signer.account, plan))
    signed.push({ ...transaction, commits: row.commits, traces: row.traces })
  }
  if (signed.length === 0) return
  const stored = await parts.lease.write(lane.name, sql.storeReplaced, { lane: lane.address, ...columnsOf(signed) })
  const storedHashes = new Set(stored.map(({ hash }) => hash))
  const outgoing = signed.filter(({ hash }) => storedHashes.has(hash))
  const commits = outgoing.flatMap((each) => each.commits).length
  parts.log.info({ lane: lane.address, commits }, 'Raised the fees of pending transactions')
  await send(parts, lane, outgoing)
}

const isRefused = (lane: Lane, row: sql.InFlightRow) => (lane.refusals.get(row.hash) ?? 0) >= REFUSAL_LIMIT

const isDue = (lane: Lane, view: ChainView, row: sql.InFlightRow) => {
  if (isRefused(lane, row) || BigInt(row.max_fee_per_gas) < view.nextBaseFee) return true
  if (row.nonce !== (view.counts.get(lane.address) ?? 0) || !lane.sentAt.has(row.nonce)) return false
  const isPending = (view.pendingCounts.get(lane.address) ?? 0) > row.nonce
  if (!isPending && row.sent && row.age > MISFILED_SECONDS * row.hashes.length) return true
  const from = lane.waitingFrom.get(row.hash) ?? view.head.number
  lane.waitingFrom.set(row.hash, from)
  return row.age > transactions.STUCK_SECONDS && view.head.number - from >= transactions.STUCK_BLOCKS
}

const markBroadcast = statement(
  'relay_broadcast',
  { parameters: { commits: arrayOf(uuid) } },
  `update commit_relays set status = 'BROADCAST', updated_at = now()
   where commit_id = any ($commits) and status = 'PENDING' and lane is not null`,
)

/** Maximum time to wait for unknown transactions of our account in the pool, in milliseconds. */
const UNKNOWN_PATIENCE_MS = 120_000
const COMMITS_AT_ONCE = 512
/** Maximum size of a call, in bytes. Nodes reject transactions above 128 KiB. */
const MAXIMUM_CALL_BYTES = 120_000
/** Maximum size of a batch, in bytes. Some chains accept only 95,000 bytes, and most chains accept 128 KiB. */
const MAXIMUM_BATCH_BYTES = 90_000
/** Maximum gas of a batch, below the limit of EIP-7825 (16,777,216). */
const MAXIMUM_BATCH_GAS = 15_000_000n
/** Maximum share of a batch in a block's gas limit, as a divisor. Larger batches would wait long for a block. */
const SHARE_OF_BLOCK = 4n
/** Gas to add a block to the list of an asset: a new storage slot and the list's length. */
const GAS_OF_PLACE = 30_000n
type CandidateRow = RowOf<typeof sql.candidateColumns>
/** The call of one commit to the registry. `bytes` is its size as a single `commit` call. */
type RelayCall = CandidateRow & { commitData: string; bytes: number }

export const signNext = async (parts: RelayParts, lane: Lane, view: ChainView, room: number): Promise<Outgoing[]> => {
  const { signer, address } = lane
  if (!signer || room <= 0) return []
  const limit = Math.min(room * parts.commitsPerTransaction, Math.max(room, COMMITS_AT_ONCE))
  const { index, lanes } = signer
  const rows = await parts.database.query(sql.findCandidates, { lane: address, index, lanes, limit })
  if (rows.length === 0) return []

  const fees = transactions.chooseFees(view, parts.maxFeePerGas)
  const message = 'The base fee is above CHAIN_MAX_FEE_GWEI; commits wait until the base fee falls'
  reportLane(parts, lane, 'fees', fees ? undefined : { message })
  if (!fees) return []
  const [last] = await parts.database.query(sql.findLastNonce, { lane: address })
  const nextNonce = (last?.nonce ?? -1) + 1
  if (await isAhead(parts, lane, view, nextNonce)) return []
  const calls = await buildCalls(parts, lane, inOrder(await leaveOutFound(parts, lane, view, rows)))
  if (calls.length === 0) return []

  const firstNonce = Math.max(nextNonce, view.counts.get(address) ?? 0)
  const origins = calls.map(({ trace }) => trace)
  return parts.tracer.resume(origins, 'relay sign', {}, async () => {
    const signed: (transactions.SignedTransaction & { calls: readonly RelayCall[] })[] = []
    for (const { calls: group, gasLimit } of (await packCalls(parts, lane, view, calls)).slice(0, room)) {
      const to = { chainId: parts.chainId, nonce: firstNonce + signed.length, to: parts.registry }
      const plan = { ...fees, ...to, data: encodeCommits(group), gasLimit }
      const transaction = await parts.cpu.run(async () => transactions.signTransaction(signer.account, plan))
      signed.push({ ...transaction, calls: group })
    }
    return store(parts, lane, signed)
  })
}

const store = async (
  parts: RelayParts,
  lane: Lane,
  signed: readonly (transactions.SignedTransaction & { calls: readonly RelayCall[] })[],
): Promise<Outgoing[]> => {
  const items = signed.flatMap(({ nonce, calls }) => calls.map(({ id }, position) => ({ id, nonce, position })))
  await parts.lease.transaction(lane.name, async (query) => {
    const stored = await query(sql.storeSigned, {
      ...{ lane: lane.address, ...columnsOf(signed) },
      commits: items.map(({ id }) => id),
      commitNonces: items.map(({ nonce }) => nonce),
      positions: items.map(({ position }) => position),
    })
    // Store all or none: an assigned nonce without a stored transaction would be a gap that blocks all later ones.
    if (stored.length !== items.length) throw new Error('A commit was changed while its transaction was being signed.')
  })
  return signed.map(({ nonce, hash, raw, calls }) => ({
    ...{ nonce, hash, raw, commits: calls.map(({ id }) => id), traces: calls.map(({ trace }) => trace) },
  }))
}

/** Detects transactions that the database lacks. Returns true if signing must wait for those in the node's pool. */
const isAhead = async (parts: RelayParts, lane: Lane, view: ChainView, nextNonce: number): Promise<boolean> => {
  const count = view.counts.get(lane.address) ?? 0
  const pending = view.pendingCounts.get(lane.address) ?? count
  const sent = Number.isFinite(pending) ? Math.max(count, pending) : count
  if (sent <= nextNonce) {
    lane.unknownSince = undefined
    lane.doubtedSince = undefined
    reportLane(parts, lane, 'count')
    return false
  }
  if (count > nextNonce && !(await isCountConfirmed(parts, lane, view, count))) return true
  if (lane.countAhead !== sent) await parts.lease.write(lane.name, sql.recordAhead, {})
  lane.countAhead = sent
  lane.unknownSince ??= performance.now()
  // After this time the unknown transactions were dropped or will never be included.
  return sent > count && performance.now() - lane.unknownSince < UNKNOWN_PATIENCE_MS
}

/** Marks commits that are on the chain as included. Returns the rows that may be signed. */
const leaveOutFound = async (parts: RelayParts, lane: Lane, view: ChainView, rows: readonly CandidateRow[]) => {
  // Unknown transactions were detected in this step, so the rows are not marked as doubtful yet.
  const isNew = lane.unknownSince !== undefined
  const doubtful = rows.filter((row) => row.doubtful || isNew).map(({ id }) => id)
  if (doubtful.length === 0) return rows
  const { found, unread } = await markFoundCommits(parts, lane.name, view.head.number, doubtful)
  return rows.filter(({ id }) => !found.has(id) && !unread.has(id))
}

export const columnsOf = (signed: readonly transactions.SignedTransaction[]) => ({
  nonces: signed.map(({ nonce }) => nonce),
  hashes: signed.map(({ hash }) => hash),
  raws: signed.map(({ raw }) => Buffer.from(raw)),
  fees: signed.map(({ maxFeePerGas }) => String(maxFeePerGas)),
  tips: signed.map(({ maxPriorityFeePerGas }) => String(maxPriorityFeePerGas)),
})

/** Sorts commits so that predecessors come first. Omits commits whose unsigned predecessor is missing. */
const inOrder = (rows: readonly CandidateRow[]): CandidateRow[] => {
  const ordered = new Map<string, CandidateRow>()
  for (let left = [...rows]; ; ) {
    const next = left.filter((row) => row.unsignedPredecessor === null || ordered.has(row.unsignedPredecessor))
    if (next.length === 0) return [...ordered.values()]
    for (const row of next) ordered.set(row.id, row)
    left = left.filter(({ id }) => !ordered.has(id))
  }
}

/** Builds the calls to the registry. Refunds a commit that is too large for a transaction and has no nonce yet. */
const buildCalls = async (parts: RelayParts, lane: Lane, rows: readonly CandidateRow[]) => {
  const calls: RelayCall[] = []
  for (const row of rows) {
    const commitData = encodeCommitData(parts.describe(row))
    const bytes = encodeCommit(row.nid, commitData).length / 2
    if (bytes <= MAXIMUM_CALL_BYTES) calls.push({ ...row, commitData, bytes })
    else {
      const reason = 'the commit is larger than a chain transaction can be'
      await parts.lease.write(lane.name, failCommit, { commit: row.id, reason })
    }
  }
  return calls
}

/** Returns true if the registry accepts several commits per transaction (ERC-165). Throws UNAVAILABLE. */
export const supportsBatches = async (rpc: Rpc, registry: string): Promise<boolean> => {
  const outcomes = await rpc.batch(
    batchQuestions.map(({ data }) => ({ method: 'eth_call', params: [{ to: registry, data }, 'latest'] })),
  )
  // A registry without the function reverts or returns nothing instead of one word.
  return batchQuestions.every(({ answer }, index) => {
    const result = outcomes[index]?.result
    return typeof result === 'string' && result.length === 66 && BigInt(result) === BigInt(answer)
  })
}

/** Packs commits into transactions, in order. Splits batches that need too much gas. */
const packCalls = async (parts: RelayParts, lane: Lane, view: ChainView, calls: readonly RelayCall[]) => {
  const most = transactions.smaller(MAXIMUM_BATCH_GAS, view.gasLimit / SHARE_OF_BLOCK)
  const packed: { calls: readonly RelayCall[]; gasLimit: bigint | undefined }[] = []
  const place = async (group: readonly RelayCall[]): Promise<void> => {
    if (group.length === 1) return void packed.push({ calls: group, gasLimit: undefined })
    const assets = new Set(group.map(({ nid }) => nid)).size
    const gasLimit = await tryEstimateGas(parts, lane, encodeCommits(group), assets)
    if (gasLimit !== undefined && gasLimit <= most) return void packed.push({ calls: group, gasLimit })
    const size = gasLimit === undefined ? 1 : Math.ceil(group.length / 2)
    for (let start = 0; start < group.length; start += size) await place(group.slice(start, start + size))
  }
  for (const group of groupsOf(calls, parts.commitsPerTransaction)) await place(group)
  const alone = packed.filter(({ gasLimit }) => gasLimit === undefined).map((each) => encodeCommits(each.calls))
  const gasOfOne = alone.length > 0 ? await estimateGas(parts, lane, alone) : 0n
  return packed.map(({ calls: group, gasLimit }) => ({ calls: group, gasLimit: gasLimit ?? gasOfOne }))
}

const groupsOf = (calls: readonly RelayCall[], most: number): RelayCall[][] => {
  const groups: RelayCall[][] = []
  let open: RelayCall[] = []
  let room = 0
  for (const call of calls) {
    if (open.length === 0 || call.goesAlone || open[0]!.goesAlone || open.length >= most || call.bytes > room) {
      open = []
      groups.push(open)
      room = MAXIMUM_BATCH_BYTES
    }
    open.push(call)
    room -= call.bytes
  }
  return groups
}

/** Returns a gas limit with a reserve for new list entries, or undefined if the node rejects the estimate. */
const tryEstimateGas = async ({ rpc, registry }: RelayParts, lane: Lane, data: string, assets: number) => {
  const call = rpc.call<string>('eth_estimateGas', { from: lane.address, to: registry, data })
  const estimate = await call.catch(undefinedIf(isRpcError))
  return estimate === undefined ? undefined : (BigInt(estimate) * 5n) / 4n + GAS_OF_PLACE * BigInt(assets) + 20_000n
}

/** Returns a gas limit that suffices for each of these calls: the gas limit of the largest call. */
export const estimateGas = async (parts: RelayParts, lane: Lane, calls: readonly string[]): Promise<bigint> => {
  const data = calls.reduce((largest, each) => (each.length > largest.length ? each : largest))
  const commits = decodeCommits(data).length
  // Without an estimate, use an upper bound for Ethereum's gas schedule.
  const upperBound = 150_000n * BigInt(commits) + BigInt(data.length / 2) * 48n
  return (await tryEstimateGas(parts, lane, data, commits)) ?? upperBound
}
