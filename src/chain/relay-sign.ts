/** From a commit that is ready to stored bytes: its transaction, signed. */
import { failCommit } from '../domain/asset/fail-commit.ts'
import type { Origin } from '../domain/telemetry.ts'
import { encodeCommitData } from './commit-data.ts'
import { chooseFees, type Fees } from './fees.ts'
import type { RelayAccount } from './keys.ts'
import { encodeCommit } from './registry-abi.ts'
import { isAccountedFor } from './relay-doubt.ts'
import { type Lane, type RelayParts, report } from './relay-lane.ts'
import { noteFound } from './relay-seek.ts'
import type { Outgoing } from './relay-send.ts'
import { type CandidateRow, findCandidates, findLastNonce, rememberAhead, storeSigned } from './relay-statements.ts'
import { RpcError } from './rpc.ts'
import { type SignedTransaction, signTransaction } from './transaction.ts'
import type { ChainView } from './view.ts'

/** Milliseconds that we wait for transactions in the pool that the database does not know. */
const STRANGER_PATIENCE_MS = 120_000
/** Nodes refuse transactions above 128 KiB. */
const MAXIMUM_CALL_BYTES = 120_000

/** Takes up to `room` unsigned commits of the lane through to stored bytes. What it returns may be sent. */
export const signNext = async (parts: RelayParts, lane: Lane, view: ChainView, room: number): Promise<Outgoing[]> => {
  const { signer } = lane
  if (!signer || room <= 0) return []
  const rows = await parts.database.query(findCandidates, {
    ...{ lane: lane.address, index: signer.index, lanes: signer.lanes, limit: room },
  })
  if (rows.length === 0) return []

  const fees = chooseFees(view, parts.maxFeePerGas)
  if (!fees) {
    report(
      parts,
      lane,
      'fees',
      'The base fee is above the highest fee that the relay may pay; commits wait until it falls.',
    )
    return []
  }
  report(parts, lane, 'fees', '')
  const [last] = await parts.database.query(findLastNonce, { lane: lane.address })
  const nextNonce = (last?.nonce ?? -1) + 1
  if (await isAhead(parts, lane, view, nextNonce)) return []
  const calls = await buildCalls(parts, lane, inOrder(await leaveOutFound(parts, lane, view, rows)))
  if (calls.length === 0) return []

  const firstNonce = Math.max(nextNonce, view.counts.get(lane.address) ?? 0)
  const origins = calls.map(({ trace }) => trace)
  return parts.tracer.resume(origins, 'relay sign', {}, () =>
    signCalls(parts, lane, calls, { account: signer.account, fees, firstNonce }),
  )
}

/** A commit's call of the registry. */
interface Call {
  commitId: string
  data: string
  trace: Origin
}

/** Signs them at the nonces from the first one on, and stores what it signed. */
const signCalls = async (
  parts: RelayParts,
  lane: Lane,
  calls: readonly Call[],
  { account, fees, firstNonce }: { account: RelayAccount; fees: Fees; firstNonce: number },
): Promise<Outgoing[]> => {
  const gasLimit = await estimateGas(
    parts,
    lane,
    calls.map(({ data }) => data),
  )
  const signed: (Pick<Call, 'commitId' | 'trace'> & { transaction: SignedTransaction })[] = []
  for (const [index, { commitId, data, trace }] of calls.entries()) {
    const plan = { ...fees, chainId: parts.chainId, nonce: firstNonce + index, to: parts.registry, data, gasLimit }
    const transaction = await parts.pace.turn(async () => signTransaction(account, plan))
    signed.push({ commitId, transaction, trace })
  }
  await parts.lease.transaction(lane.name, async (query) => {
    const stored = await query(storeSigned, { lane: lane.address, ...columnsOf(signed) })
    // All or nothing: a nonce that is taken and not stored would be a gap that stops everything behind it.
    if (stored.length !== signed.length) throw new Error('A commit was changed while its transaction was being signed.')
  })
  return signed.map(({ commitId, transaction: { hash, raw }, trace }) => ({ commitId, hash, raw, trace }))
}

/**
 * Notices that the account sent what the database does not know: it was restored from an earlier moment. Returns whether to
 * wait, because some of that is still in the pool and takes its nonces.
 */
const isAhead = async (parts: RelayParts, lane: Lane, view: ChainView, nextNonce: number): Promise<boolean> => {
  const count = view.counts.get(lane.address) ?? 0
  const pending = view.pendingCounts.get(lane.address) ?? count
  const sent = Number.isFinite(pending) ? Math.max(count, pending) : count
  if (sent <= nextNonce) {
    lane.strangersSince = undefined
    lane.doubtedSince = undefined
    report(parts, lane, 'count', '')
    return false
  }
  if (count > nextNonce && !(await isAccountedFor(parts, lane, view, count))) return true
  if (lane.countAhead !== sent) await parts.lease.write(lane.name, rememberAhead, {})
  lane.countAhead = sent
  lane.strangersSince ??= performance.now()
  // Then it was given up by the pool's owner, or never will be included.
  return sent > count && performance.now() - lane.strangersSince < STRANGER_PATIENCE_MS
}

/** What is on the chain already is taken down as included; what is there and not deep enough waits, and so does what is not known yet. */
const leaveOutFound = async (parts: RelayParts, lane: Lane, view: ChainView, rows: readonly CandidateRow[]) => {
  // Noticed in this very step: nothing of these rows says so yet.
  const isNew = lane.strangersSince !== undefined
  const doubtful = rows.filter((row) => row.doubtful || isNew)
  if (doubtful.length === 0) return rows
  const ids = doubtful.map(({ commit_id }) => commit_id)
  const { found, unread, noted } = await noteFound(parts, lane.name, view.head.number, ids)
  // They may be deep enough for long, on a chain that rests.
  if (noted.size > 0) lane.seen = ''
  return rows.filter(({ commit_id }) => !found.has(commit_id) && !unread.has(commit_id))
}

/** The parameters of `storeSigned` and `storeReplaced` after the lane. */
export const columnsOf = (signed: readonly { commitId: string; transaction: SignedTransaction }[]) => ({
  commits: signed.map(({ commitId }) => commitId),
  nonces: signed.map(({ transaction }) => transaction.nonce),
  hashes: signed.map(({ transaction }) => transaction.hash),
  raws: signed.map(({ transaction }) => Buffer.from(transaction.raw)),
  fees: signed.map(({ transaction }) => String(transaction.maxFeePerGas)),
  tips: signed.map(({ transaction }) => String(transaction.maxPriorityFeePerGas)),
})

/** For one call that stands for several: the largest, with room for a slot that is new for another asset. */
export const estimateGas = async (
  { rpc, registry }: RelayParts,
  lane: Lane,
  calls: readonly string[],
): Promise<bigint> => {
  const data = calls.reduce((largest, each) => (each.length > largest.length ? each : largest))
  try {
    const estimate = await rpc.call<string>('eth_estimateGas', { from: lane.address, to: registry, data })
    return (BigInt(estimate) * 5n) / 4n + 50_000n
  } catch (error) {
    // The node cannot say, for example without funds. The contract's cost has a known bound where gas costs what it does on Ethereum.
    if (!(error instanceof RpcError)) throw error
    return 150_000n + BigInt(data.length / 2) * 48n
  }
}

/** In the order of each history. Leaves out what comes after a commit that is not among them. */
const inOrder = (rows: readonly CandidateRow[]): CandidateRow[] => {
  const ordered = new Map<string, CandidateRow>()
  for (let left = [...rows]; ; ) {
    const next = left.filter((row) => row.unsigned_predecessor === null || ordered.has(row.unsigned_predecessor))
    if (next.length === 0) return [...ordered.values()]
    for (const row of next) ordered.set(row.commit_id, row)
    left = left.filter(({ commit_id }) => !ordered.has(commit_id))
  }
}

/** What each commit sends to the registry. One that no node would take is refunded; it has no nonce yet. */
const buildCalls = async (parts: RelayParts, lane: Lane, rows: readonly CandidateRow[]) => {
  const calls: Call[] = []
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
    const data = encodeCommit(row.nid, encodeCommitData(description))
    if (data.length / 2 <= MAXIMUM_CALL_BYTES) calls.push({ commitId: row.commit_id, data, trace: row.trace })
    else {
      const reason = 'the commit is larger than a chain transaction can be'
      await parts.lease.write(lane.name, failCommit, { commit: row.commit_id, reason })
    }
  }
  return calls
}
