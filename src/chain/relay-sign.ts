/** From an accepted commit to stored bytes: tree into the content store, tree signed, transaction signed and stored. */
import { createHash } from 'node:crypto'
import { encodeCommitData } from './commit-data.ts'
import { chooseFees } from './fees.ts'
import { encodeCommit } from './registry-abi.ts'
import { type Lane, type RelayParts, report } from './relay-lane.ts'
import type { Outgoing } from './relay-send.ts'
import {
  type CandidateRow,
  failCommit,
  findCandidates,
  findLastNonce,
  storePrepared,
  storeSigned,
} from './relay-statements.ts'
import { RpcError } from './rpc.ts'
import { type SignedTransaction, signTransaction } from './transaction.ts'
import type { ChainView } from './view.ts'

/** Milliseconds until a commit that could not be built is tried again. */
const retryAfter = 2_000
/** Nodes refuse transactions above 128 KiB. */
const maximumCallBytes = 120_000

interface Prepared {
  row: CandidateRow
  signature: string
}

/** Takes up to `room` unsigned commits of the lane through to stored bytes. What it returns may be sent. */
export const signNext = async (parts: RelayParts, lane: Lane, view: ChainView, room: number): Promise<Outgoing[]> => {
  const { signer } = lane
  if (!signer || room <= 0) return []
  const now = performance.now()
  for (const [asset, retryAt] of lane.failing) if (retryAt <= now) lane.failing.delete(asset)
  const values = [lane.address, signer.index, signer.lanes, [...lane.failing.keys()], room]
  const rows = await parts.database.query(findCandidates, values)
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
  const prepared = await prepareAll(parts, lane, rows)
  const calls = await buildCalls(parts, prepared)
  if (calls.length === 0) return []

  const gasLimit = await estimateGas(
    parts,
    lane,
    calls.map(({ data }) => data),
  )
  const [last] = await parts.database.query(findLastNonce, [lane.address])
  const firstNonce = Math.max((last?.nonce ?? -1) + 1, view.counts.get(lane.address) ?? 0)
  const signed: { commitId: string; transaction: SignedTransaction }[] = []
  for (const [index, { commitId, data }] of calls.entries()) {
    const plan = { ...fees, chainId: parts.chainId, nonce: firstNonce + index, to: parts.registry, data, gasLimit }
    signed.push({ commitId, transaction: await parts.pace.turn(async () => signTransaction(signer.account, plan)) })
  }
  await parts.lease.transaction(async (query) => {
    const stored = await query(storeSigned, [lane.address, ...columnsOf(signed)])
    // All or nothing: a nonce that is taken and not stored would be a gap that stops everything behind it.
    if (stored.length !== signed.length) throw new Error('A commit was changed while its transaction was being signed.')
  })
  return signed.map(({ commitId, transaction: { hash, raw } }) => ({ commitId, hash, raw }))
}

/** The parameters of `storeSigned` and `storeReplaced` after the lane. */
export const columnsOf = (signed: readonly { commitId: string; transaction: SignedTransaction }[]) => [
  signed.map(({ commitId }) => commitId),
  signed.map(({ transaction }) => transaction.nonce),
  signed.map(({ transaction }) => transaction.hash),
  signed.map(({ transaction }) => Buffer.from(transaction.raw)),
  signed.map(({ transaction }) => String(transaction.maxFeePerGas)),
  signed.map(({ transaction }) => String(transaction.maxPriorityFeePerGas)),
]

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

/** In the order of sequences. Leaves out what cannot be built now, and with it the later commits of the same asset. */
const prepareAll = async (parts: RelayParts, lane: Lane, rows: readonly CandidateRow[]): Promise<Prepared[]> => {
  const trees = new Map(rows.map((row) => [row.commit_id, storeTree(parts, row)]))
  await Promise.allSettled(trees.values())
  const done = new Set<string>()
  const prepared: Prepared[] = []
  for (const row of [...rows].sort((a, b) => a.sequence - b.sequence)) {
    if (row.unsigned_predecessor !== null && !done.has(row.unsigned_predecessor)) continue
    try {
      const reason = whyHopeless(row)
      if (reason) {
        parts.log.error({ commit: row.commit_id }, `A commit failed and is refunded: ${reason}`)
        await parts.database.query(failCommit, [row.commit_id, reason])
      } else {
        await trees.get(row.commit_id)
        prepared.push({ row, signature: await parts.pace.turn(() => signTree(parts, row)) })
      }
      done.add(row.commit_id)
    } catch (error) {
      lane.failing.set(row.asset_id, performance.now() + retryAfter)
      parts.log.error(
        { err: error, commit: row.commit_id },
        'A commit could not be prepared for the chain; trying again',
      )
    }
  }
  const fresh = prepared.filter(({ row }) => row.tree_signature === null)
  if (fresh.length > 0) {
    const values = [fresh.map(({ row }) => row.commit_id), fresh.map(({ signature }) => signature)]
    await parts.database.query(storePrepared, values)
  }
  return prepared
}

const storeTree = async ({ contentStore }: RelayParts, row: CandidateRow) => {
  // A deleted asset's tree is told to nobody any more; its hash still goes onto the chain.
  if (row.deleted || row.tree_signature !== null || whyHopeless(row)) return
  const cid = await contentStore.putDocument(Buffer.from(row.tree))
  if (cid !== row.tree_cid)
    throw new Error(`The content store has the tree under ${cid}, the commit says ${row.tree_cid}.`)
}

const signTree = async ({ custody }: RelayParts, row: CandidateRow): Promise<string> => {
  if (row.tree_signature !== null) return row.tree_signature
  if (row.key_version === null || row.vault_key_id === null || !row.wrapped_data_key || !row.sealed_private_key)
    throw new Error('The author has no key.')
  const key = {
    version: row.key_version,
    vaultKeyId: row.vault_key_id,
    wrappedDataKey: row.wrapped_data_key,
    sealedPrivateKey: row.sealed_private_key,
  }
  return custody.sign(row.author_id, key, row.tree_sha256)
}

/** Why a commit can never reach the chain, if so. */
const whyHopeless = (row: CandidateRow): string | undefined => {
  if (row.tree_signature !== null) return undefined
  if (row.vault_key_id === null) return 'the author’s key no longer exists'
  const sha256 = createHash('sha256').update(row.tree).digest('hex')
  return sha256 === row.tree_sha256 ? undefined : 'the tree was erased before it was signed'
}

/** What each commit sends to the registry. One that no node would take is refunded; it has no nonce yet. */
const buildCalls = async (parts: RelayParts, prepared: readonly Prepared[]) => {
  const calls: { commitId: string; data: string }[] = []
  for (const { row, signature } of prepared) {
    const description = parts.describe({
      nid: row.nid,
      sequence: row.sequence,
      treeCid: row.tree_cid,
      treeSha256: row.tree_sha256,
      treeSignature: signature,
      creatorAddress: row.creator_address,
      committerAddress: row.committer_address,
      createdAt: row.created_at,
      message: row.message,
    })
    const data = encodeCommit(row.nid, encodeCommitData(description))
    if (data.length / 2 <= maximumCallBytes) calls.push({ commitId: row.commit_id, data })
    else await parts.database.query(failCommit, [row.commit_id, 'the commit is larger than a chain transaction can be'])
  }
  return calls
}
