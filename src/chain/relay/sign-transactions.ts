/** Signs and stores the transactions of prepared commits. */
import type { RowOf } from '../../db/sql.ts'
import { failCommit } from '../../modules/commits/commits.sql.ts'
import { undefinedIf } from '../../shared/async.ts'
import { batchQuestions, decodeCommits, encodeCommit, encodeCommitData, encodeCommits } from '../registry/abi.ts'
import { isRpcError, type Rpc } from '../rpc.ts'
import { chooseFees, type SignedTransaction, signTransaction, smaller } from '../transaction.ts'
import type { ChainView } from '../view.ts'
import { markFoundCommits } from './find-on-chain.ts'
import { type candidateColumns, findCandidates, findLastNonce, rememberAhead, storeSigned } from './relay.sql.ts'
import { type Lane, type Outgoing, type RelayParts, reportLane } from './relay-parts.ts'
import { isAccountedFor } from './stale-node-guard.ts'

/** Maximum time to wait for unknown transactions of our account in the pool, in milliseconds. */
const UNKNOWN_PATIENCE_MS = 120_000
/** Maximum number of commits per step if the registry supports batches. */
const COMMITS_AT_ONCE = 512
/** Maximum size of a call. Nodes reject transactions above 128 KiB. */
const MAXIMUM_CALL_BYTES = 120_000
/** Maximum size of a batch. Some chains accept only 95,000 bytes; most accept 128 KiB. */
const MAXIMUM_BATCH_BYTES = 90_000
/** Maximum gas of a batch, below the limit of EIP-7825 (16,777,216). */
const MAXIMUM_BATCH_GAS = 15_000_000n
/** A batch may use one in this many parts of a block's gas limit. Larger ones would wait long for a block with enough room. */
const SHARE_OF_BLOCK = 4n
/** Gas to add a block to the list of an asset: a new storage slot and the list's length. */
const GAS_OF_PLACE = 30_000n

/** A commit that may be signed, with the data of its description. */
type CandidateRow = RowOf<typeof candidateColumns>
/** The call of one commit to the registry. `bytes` is its size as a single `commit` call. */
type RelayCall = CandidateRow & { commitData: string; bytes: number }

/** Signs and stores unsigned commits of the lane in at most `room` transactions. Returns those to send. */
export const signNext = async (parts: RelayParts, lane: Lane, view: ChainView, room: number): Promise<Outgoing[]> => {
  const { signer, address } = lane
  if (!signer || room <= 0) return []
  const limit = Math.min(room * parts.commitsPerTransaction, Math.max(room, COMMITS_AT_ONCE))
  const { index, lanes } = signer
  const rows = await parts.database.query(findCandidates, { lane: address, index, lanes, limit })
  if (rows.length === 0) return []

  const fees = chooseFees(view, parts.maxFeePerGas)
  const message = 'The base fee is above CHAIN_MAX_FEE_GWEI; commits wait until it falls'
  reportLane(parts, lane, 'fees', fees ? undefined : { message })
  if (!fees) return []
  const [last] = await parts.database.query(findLastNonce, { lane: address })
  const nextNonce = (last?.nonce ?? -1) + 1
  if (await isAhead(parts, lane, view, nextNonce)) return []
  const calls = await buildCalls(parts, lane, inOrder(await leaveOutFound(parts, lane, view, rows)))
  if (calls.length === 0) return []

  const firstNonce = Math.max(nextNonce, view.counts.get(address) ?? 0)
  const origins = calls.map(({ trace }) => trace)
  return parts.tracer.resume(origins, 'relay sign', {}, async () => {
    const signed: (SignedTransaction & { calls: readonly RelayCall[] })[] = []
    for (const { calls: group, gasLimit } of (await packCalls(parts, lane, view, calls)).slice(0, room)) {
      const to = { chainId: parts.chainId, nonce: firstNonce + signed.length, to: parts.registry }
      const plan = { ...fees, ...to, data: encodeCommits(group), gasLimit }
      const transaction = await parts.cpu.run(async () => signTransaction(signer.account, plan))
      signed.push({ ...transaction, calls: group })
    }
    return store(parts, lane, signed)
  })
}

const store = async (
  parts: RelayParts,
  lane: Lane,
  signed: readonly (SignedTransaction & { calls: readonly RelayCall[] })[],
): Promise<Outgoing[]> => {
  const items = signed.flatMap(({ nonce, calls }) => calls.map(({ id }, position) => ({ id, nonce, position })))
  await parts.lease.transaction(lane.name, async (query) => {
    const stored = await query(storeSigned, {
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

/** Detects transactions of the account that the database does not know, as after a restore. Returns true if signing must wait for those in the pool. */
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
  if (count > nextNonce && !(await isAccountedFor(parts, lane, view, count))) return true
  if (lane.countAhead !== sent) await parts.lease.write(lane.name, rememberAhead, {})
  lane.countAhead = sent
  lane.unknownSince ??= performance.now()
  // After this time the unknown transactions were dropped or will never be included.
  return sent > count && performance.now() - lane.unknownSince < UNKNOWN_PATIENCE_MS
}

/** Marks commits that are on the chain already as included. Removes these, and those whose search is incomplete, from the rows to sign. */
const leaveOutFound = async (parts: RelayParts, lane: Lane, view: ChainView, rows: readonly CandidateRow[]) => {
  // The state was detected in this step, so the rows are not marked yet.
  const isNew = lane.unknownSince !== undefined
  const doubtful = rows.filter((row) => row.doubtful || isNew).map(({ id }) => id)
  if (doubtful.length === 0) return rows
  const { found, unread } = await markFoundCommits(parts, lane.name, view.head.number, doubtful)
  return rows.filter(({ id }) => !found.has(id) && !unread.has(id))
}

/** Returns the parameters of `storeReplaced` and `storeSigned` except the lane. */
export const columnsOf = (signed: readonly SignedTransaction[]) => ({
  nonces: signed.map(({ nonce }) => nonce),
  hashes: signed.map(({ hash }) => hash),
  raws: signed.map(({ raw }) => Buffer.from(raw)),
  fees: signed.map(({ maxFeePerGas }) => String(maxFeePerGas)),
  tips: signed.map(({ maxPriorityFeePerGas }) => String(maxPriorityFeePerGas)),
})

/** Sorts commits so that predecessors come first. Drops commits whose predecessor is missing. */
const inOrder = (rows: readonly CandidateRow[]): CandidateRow[] => {
  const ordered = new Map<string, CandidateRow>()
  for (let left = [...rows]; ; ) {
    const next = left.filter((row) => row.unsignedPredecessor === null || ordered.has(row.unsignedPredecessor))
    if (next.length === 0) return [...ordered.values()]
    for (const row of next) ordered.set(row.id, row)
    left = left.filter(({ id }) => !ordered.has(id))
  }
}

/** Builds the calls to the registry. Refunds a commit that is too large for a transaction; it has no nonce yet. */
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

/** Packs commits into transactions, in order. Splits a batch that needs too much gas. Sends commits one by one if the node rejects the estimate. */
const packCalls = async (parts: RelayParts, lane: Lane, view: ChainView, calls: readonly RelayCall[]) => {
  const most = smaller(MAXIMUM_BATCH_GAS, view.gasLimit / SHARE_OF_BLOCK)
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

/** Groups consecutive commits up to the limits of a transaction. */
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

/** Returns a gas limit with a reserve: in a later block an asset may need a new list entry. Returns undefined if the node rejects the estimate. */
const tryEstimateGas = async ({ rpc, registry }: RelayParts, lane: Lane, data: string, assets: number) => {
  const call = rpc.call<string>('eth_estimateGas', { from: lane.address, to: registry, data })
  const estimate = await call.catch(undefinedIf(isRpcError))
  return estimate === undefined ? undefined : (BigInt(estimate) * 5n) / 4n + GAS_OF_PLACE * BigInt(assets) + 20_000n
}

/** Returns the gas limit that suffices for each of these calls: that of the largest one. */
export const estimateGas = async (parts: RelayParts, lane: Lane, calls: readonly string[]): Promise<bigint> => {
  const data = calls.reduce((largest, each) => (each.length > largest.length ? each : largest))
  const commits = decodeCommits(data).length
  // If the node cannot estimate, for example because the account has no coins, use an upper bound for Ethereum's gas schedule.
  const upperBound = 150_000n * BigInt(commits) + BigInt(data.length / 2) * 48n
  return (await tryEstimateGas(parts, lane, data, commits)) ?? upperBound
}
