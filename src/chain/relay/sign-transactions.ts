/** Signs and stores the transactions of prepared commits. */
import { failCommit } from '../../modules/commits/commits.sql.ts'
import type { Origin } from '../../telemetry/telemetry-types.ts'
import type { RelayAccount } from '../keys.ts'
import {
  batchQuestions,
  type CommitCall,
  decodeCommits,
  encodeCommit,
  encodeCommitData,
  encodeCommits,
} from '../registry/abi.ts'
import { type Rpc, RpcError } from '../rpc.ts'
import { chooseFees, type Fees, type SignedTransaction, signTransaction, smaller } from '../transaction.ts'
import type { ChainView } from '../view.ts'
import { markFoundCommits } from './find-on-chain.ts'
import { type CandidateRow, findCandidates, findLastNonce, rememberAhead, storeSigned } from './relay.sql.ts'
import { type Lane, type Outgoing, type RelayParts, reportLane } from './relay-parts.ts'

import { isAccountedFor } from './stale-node-guard.ts'

/** Maximum time to wait for unknown transactions of our account in the pool, in milliseconds. */
const STRANGER_PATIENCE_MS = 120_000
/** Maximum size of a call. Nodes reject transactions above 128 KiB. */
const MAXIMUM_CALL_BYTES = 120_000
/** Maximum number of commits per step if the registry supports batches. */
const COMMITS_AT_ONCE = 512

/** Signs and stores unsigned commits of the lane in at most `room` transactions. Returns those to send. */
export const signNext = async (parts: RelayParts, lane: Lane, view: ChainView, room: number): Promise<Outgoing[]> => {
  const { signer } = lane
  if (!signer || room <= 0) return []
  const limit = Math.min(room * parts.commitsPerTransaction, Math.max(room, COMMITS_AT_ONCE))
  const rows = await parts.database.query(findCandidates, {
    ...{ lane: lane.address, index: signer.index, lanes: signer.lanes, limit },
  })
  if (rows.length === 0) return []

  const fees = chooseFees(view, parts.maxFeePerGas)
  if (!fees) {
    reportLane(parts, lane, 'fees', {
      message: 'The base fee is above CHAIN_MAX_FEE_GWEI; commits wait until it falls',
    })
    return []
  }
  reportLane(parts, lane, 'fees')
  const [last] = await parts.database.query(findLastNonce, { lane: lane.address })
  const nextNonce = (last?.nonce ?? -1) + 1
  if (await isAhead(parts, lane, view, nextNonce)) return []
  const calls = await buildCalls(parts, lane, inOrder(await leaveOutFound(parts, lane, view, rows)))
  if (calls.length === 0) return []

  const firstNonce = Math.max(nextNonce, view.counts.get(lane.address) ?? 0)
  const origins = calls.map(({ trace }) => trace)
  return parts.tracer.resume(origins, 'relay sign', {}, async () => {
    const transactions = (await packCalls(parts, lane, view, calls)).slice(0, room)
    return signTransactions(parts, lane, transactions, { account: signer.account, fees, firstNonce })
  })
}

/** Signs transactions with consecutive nonces and stores them. */
const signTransactions = async (
  parts: RelayParts,
  lane: Lane,
  transactions: readonly RelayTransaction[],
  { account, fees, firstNonce }: { account: RelayAccount; fees: Fees; firstNonce: number },
): Promise<Outgoing[]> => {
  const signed: (SignedTransaction & { calls: readonly RelayCall[] })[] = []
  for (const [index, { calls, gasLimit }] of transactions.entries()) {
    const nonce = firstNonce + index
    const plan = { ...fees, chainId: parts.chainId, nonce, to: parts.registry, data: callData(calls), gasLimit }
    signed.push({ ...(await parts.cpu.run(async () => signTransaction(account, plan))), calls })
  }
  const carried = signed.flatMap(({ nonce, calls }) =>
    calls.map(({ commitId }, position) => ({ commitId, nonce, position })),
  )
  await parts.lease.transaction(lane.name, async (query) => {
    const stored = await query(storeSigned, {
      ...{ lane: lane.address, ...columnsOf(signed) },
      commits: carried.map(({ commitId }) => commitId),
      commitNonces: carried.map(({ nonce }) => nonce),
      positions: carried.map(({ position }) => position),
    })
    // Store all or none: an assigned nonce without a stored transaction would be a gap that blocks all later ones.
    if (stored.length !== carried.length)
      throw new Error('A commit was changed while its transaction was being signed.')
  })
  return signed.map(({ nonce, hash, raw, calls }) => ({
    ...{ nonce, hash, raw },
    commits: calls.map(({ commitId }) => commitId),
    traces: calls.map(({ trace }) => trace),
  }))
}

/**
 * Detects that the account has sent transactions that the database does not know, for example after a restore. Returns true if signing must
 * wait, because some of them are still in the pool with their nonces.
 */
const isAhead = async (parts: RelayParts, lane: Lane, view: ChainView, nextNonce: number): Promise<boolean> => {
  const count = view.counts.get(lane.address) ?? 0
  const pending = view.pendingCounts.get(lane.address) ?? count
  const sent = Number.isFinite(pending) ? Math.max(count, pending) : count
  if (sent <= nextNonce) {
    lane.strangersSince = undefined
    lane.doubtedSince = undefined
    reportLane(parts, lane, 'count')
    return false
  }
  if (count > nextNonce && !(await isAccountedFor(parts, lane, view, count))) return true
  if (lane.countAhead !== sent) await parts.lease.write(lane.name, rememberAhead, {})
  lane.countAhead = sent
  lane.strangersSince ??= performance.now()
  // After this time the unknown transactions were dropped or will never be included.
  return sent > count && performance.now() - lane.strangersSince < STRANGER_PATIENCE_MS
}

/** Marks commits that are on the chain already as included. Removes these, and those whose search is incomplete, from the rows to sign. */
const leaveOutFound = async (parts: RelayParts, lane: Lane, view: ChainView, rows: readonly CandidateRow[]) => {
  // The state was detected in this step, so the rows are not marked yet.
  const isNew = lane.strangersSince !== undefined
  const doubtful = rows.filter((row) => row.doubtful || isNew)
  if (doubtful.length === 0) return rows
  const ids = doubtful.map(({ commit_id }) => commit_id)
  const { found, unread } = await markFoundCommits(parts, lane.name, view.head.number, ids)
  return rows.filter(({ commit_id }) => !found.has(commit_id) && !unread.has(commit_id))
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
    const next = left.filter((row) => row.unsigned_predecessor === null || ordered.has(row.unsigned_predecessor))
    if (next.length === 0) return [...ordered.values()]
    for (const row of next) ordered.set(row.commit_id, row)
    left = left.filter(({ commit_id }) => !ordered.has(commit_id))
  }
}

/** Builds the calls to the registry. Refunds a commit that is too large for a transaction; it has no nonce yet. */
const buildCalls = async (parts: RelayParts, lane: Lane, rows: readonly CandidateRow[]) => {
  const calls: RelayCall[] = []
  for (const row of rows) {
    const description = parts.describe({
      nid: row.nid,
      sequence: row.sequence,
      treeCid: row.tree_cid,
      treeSha256: row.tree_sha256,
      treeSignature: row.tree_signature,
      creatorAddress: row.creator_address,
      committerAddress: row.committer_address,
      createdAt: row.created_at,
      message: row.message,
    })
    const commitData = encodeCommitData(description)
    const bytes = encodeCommit(row.nid, commitData).length / 2
    if (bytes <= MAXIMUM_CALL_BYTES)
      calls.push({
        commitId: row.commit_id,
        nid: row.nid,
        commitData,
        bytes,
        isAlone: row.goes_alone,
        trace: row.trace,
      })
    else {
      const reason = 'the commit is larger than a chain transaction can be'
      await parts.lease.write(lane.name, failCommit, { commit: row.commit_id, reason })
    }
  }
  return calls
}

/** The call of one commit to the registry. */
export interface RelayCall extends CommitCall {
  commitId: string
  /** Size as a single `commit` call. */
  bytes: number
  /** True if an earlier transaction of the commit had no effect. */
  isAlone: boolean
  trace: Origin
}

/** Commits in one transaction, in order. */
export interface RelayTransaction {
  calls: readonly RelayCall[]
  gasLimit: bigint
}

/** Maximum size of a batch. Some chains accept only 95,000 bytes; most accept 128 KiB. */
const MAXIMUM_BATCH_BYTES = 90_000
/** Maximum gas of a batch, below the limit of EIP-7825 (16,777,216). */
const MAXIMUM_BATCH_GAS = 15_000_000n
/** Gas to add a block to the list of an asset: a new storage slot and the list's length. */
const GAS_OF_PLACE = 30_000n
/** A batch may use one in this many parts of a block's gas limit. Larger ones would wait long for a block with enough room. */
const SHARE_OF_BLOCK = 4n

/** Returns true if the registry accepts several commits per transaction (ERC-165). Throws UNAVAILABLE. */
export const supportsBatches = async (rpc: Rpc, registry: string): Promise<boolean> => {
  const outcomes = await rpc.batch(
    batchQuestions.map(({ data }) => ({ method: 'eth_call', params: [{ to: registry, data }, 'latest'] })),
  )
  return batchQuestions.every(({ answer }, index) => isWord(outcomes[index]?.result, answer))
}

/** Returns true if a call returned exactly this word. A registry without the function reverts or returns nothing. */
const isWord = (result: unknown, value: boolean) =>
  typeof result === 'string' && result.length === 66 && BigInt(result) === BigInt(value)

export const callData = (calls: readonly RelayCall[]): string => encodeCommits(calls)

/**
 * Packs commits into transactions, in order, and sets their gas limits. Splits a batch in half if it needs too much gas. If the node
 * rejects the estimate of a batch, its commits are sent one by one, so that one of them cannot block the others. Throws UNAVAILABLE.
 */
export const packCalls = async (
  parts: RelayParts,
  lane: Lane,
  view: ChainView,
  calls: readonly RelayCall[],
): Promise<RelayTransaction[]> => {
  const most = smaller(MAXIMUM_BATCH_GAS, view.gasLimit / SHARE_OF_BLOCK)
  const packed: (RelayTransaction | { calls: readonly [RelayCall]; gasLimit: undefined })[] = []
  const place = async (group: readonly RelayCall[]): Promise<void> => {
    const [first, ...others] = group
    if (!first) return
    if (others.length === 0) return void packed.push({ calls: [first], gasLimit: undefined })
    const gasLimit = await tryEstimateGas(parts, lane, {
      data: callData(group),
      assets: new Set(group.map(({ nid }) => nid)).size,
    })
    if (gasLimit === undefined) {
      for (const call of group) await place([call])
    } else if (gasLimit <= most) packed.push({ calls: group, gasLimit })
    else {
      const half = Math.ceil(group.length / 2)
      await place(group.slice(0, half))
      await place(group.slice(half))
    }
  }
  for (const group of groupsOf(calls, parts.commitsPerTransaction)) await place(group)
  const alone = packed.filter(({ gasLimit }) => gasLimit === undefined).map((each) => callData(each.calls))
  const gasOfOne = alone.length > 0 ? await estimateGas(parts, lane, alone) : 0n
  return packed.map(({ calls: carried, gasLimit }) => ({ calls: carried, gasLimit: gasLimit ?? gasOfOne }))
}

/** Groups consecutive commits up to the limits of a transaction. */
const groupsOf = (calls: readonly RelayCall[], most: number): RelayCall[][] => {
  const groups: RelayCall[][] = []
  let open: RelayCall[] | undefined
  let bytes = 0
  for (const call of calls) {
    if (call.isAlone) {
      groups.push([call])
      open = undefined
      continue
    }
    if (!open || open.length >= most || bytes + call.bytes > MAXIMUM_BATCH_BYTES) {
      open = []
      bytes = 0
      groups.push(open)
    }
    open.push(call)
    bytes += call.bytes
  }
  return groups
}

/**
 * Returns a gas limit with a reserve. The estimate uses the newest block, but costs may differ in a later one, where an asset may need a new
 * list entry. Returns undefined if the node rejects the estimate.
 */
const tryEstimateGas = async (
  { rpc, registry }: RelayParts,
  lane: Lane,
  { data, assets }: { data: string; assets: number },
): Promise<bigint | undefined> => {
  try {
    const estimate = await rpc.call<string>('eth_estimateGas', { from: lane.address, to: registry, data })
    return (BigInt(estimate) * 5n) / 4n + GAS_OF_PLACE * BigInt(assets) + 20_000n
  } catch (error) {
    if (error instanceof RpcError) return undefined
    throw error
  }
}

/** Returns the gas limit that suffices for each of these calls: that of the largest one. */
export const estimateGas = async (parts: RelayParts, lane: Lane, calls: readonly string[]): Promise<bigint> => {
  const data = calls.reduce((largest, each) => (each.length > largest.length ? each : largest))
  // If the node cannot estimate, for example because the account has no coins, use an upper bound for Ethereum's gas schedule.
  const commits = decodeCommits(data)
  const asked = await tryEstimateGas(parts, lane, { data, assets: commits.length })
  return asked ?? 150_000n * BigInt(commits.length) + BigInt(data.length / 2) * 48n
}
