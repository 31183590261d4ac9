/** Follows sent transactions until they are final, displaced by a reorg, or known to have had no effect. */
import { failCommit } from '../../modules/commits/commits.sql.ts'
import { toId } from '../../shared/ids.ts'
import { fromUnits } from '../../shared/money.ts'
import type { Problem } from '../poller.ts'
import { feeOf, type ReceiptReply, resultOf } from '../rpc.ts'
import { nonceOf } from '../transaction.ts'
import { type ChainView, findSpender, readBlockHashes } from '../view.ts'
import { type Cost, costsOf, findCommitEvents, withHistoryCache } from './find-on-chain.ts'
import {
  type BlockRow,
  findIncluded,
  type IncludedRow,
  markDisplaced,
  markFinal,
  markIncluded,
  releaseCommits,
  storeCosts,
} from './follow-commits.sql.ts'
import { findRaw, findSigned, type InFlightRow } from './relay.sql.ts'
import { type Lane, type RelayParts, reportLane } from './relay-parts.ts'
import { isDisplaced } from './stale-node-guard.ts'

/** A transaction in a block, with its receipt and the cost of each commit. */
interface Inclusion {
  row: InFlightRow
  receipt: ReceiptReply
  costs: readonly Cost[]
}

const recordInclusion = ({ meter, tracer }: RelayParts, { row, receipt }: Inclusion) => {
  meter.count('annal_relay_fees_paid_coins_total', {}, Number(fromUnits(feeOf(receipt))))
  const facts = { 'annal.chain.transaction': receipt.transactionHash, 'annal.chain.block': Number(receipt.blockNumber) }
  for (const trace of row.traces) tracer.note(trace, 'relay include', { facts }, row.age * 1_000)
}

/** Number of transactions without effect after which a commit fails. */
const ATTEMPT_LIMIT = 3
/** Receipts per RPC batch. Each contains the events of all its commits, and nodes limit the size of a response. */
const RECEIPTS_AT_ONCE = 16
/** Maximum number of commits per statement. */
const COMMITS_AT_ONCE = 500

const inChunks = <Item>(items: readonly Item[]): Item[][] =>
  Array.from({ length: Math.ceil(items.length / COMMITS_AT_ONCE) }, (_, index) =>
    items.slice(index * COMMITS_AT_ONCE, (index + 1) * COMMITS_AT_ONCE),
  )

/**
 * Updates the rows of a lane from the chain's state in `view`. Only nonces below the account's transaction count can have a receipt. Does
 * nothing if head and count are unchanged.
 */
export const follow = async (parts: RelayParts, lane: Lane, view: ChainView, inFlight: readonly InFlightRow[]) => {
  const count = view.counts.get(lane.address) ?? 0
  const moment = `${view.head.hash}:${count}`
  if (lane.seen === moment) return
  // Set this before reading. Code that runs meanwhile clears it to request another pass, and that must not be overwritten.
  lane.seen = moment
  let isSettled = false
  try {
    const below = inFlight.filter(({ nonce }) => nonce < count)
    const settledAll = await readReceipts(parts, lane, view, below)
    const isUnsure = await checkIncluded(parts, lane, view)
    if (settledAll) reportLane(parts, lane, 'receipts')
    isSettled = settledAll && !isUnsure
  } finally {
    if (!isSettled) lane.seen = ''
  }
}

/** Returns true if every row has its outcome. */
const readReceipts = async (parts: RelayParts, lane: Lane, view: ChainView, rows: readonly InFlightRow[]) => {
  const receipts = await fetchReceipts(
    parts,
    rows.flatMap((row) => row.hashes),
  )
  const included: Inclusion[] = []
  const seeking = withHistoryCache(parts)
  let settledAll = true
  for (const row of rows) {
    const found = row.hashes.flatMap((hash) => receipts.get(hash) ?? [])
    const inclusion = inclusionOf(row, found)
    if (inclusion) {
      included.push(inclusion)
      continue
    }
    // The problem of the first transaction delays all others, so only that one is logged.
    const isFirst = settledAll
    const report = (problem: Problem) => isFirst && reportLane(parts, lane, 'receipts', problem)
    settledAll = false
    await settleWithoutEffect(seeking, lane, view, row, found, report)
  }
  if (included.length > 0) {
    const commits = included.flatMap(({ row, receipt, costs }) =>
      row.commits.map((commit, index) => ({ commit, receipt, cost: costs[index]! })),
    )
    for (const some of inChunks(commits)) {
      await parts.lease.write(lane.name, markIncluded, {
        commits: some.map(({ commit }) => commit),
        hashes: some.map(({ receipt }) => receipt.transactionHash),
        blockNumbers: some.map(({ receipt }) => Number(receipt.blockNumber)),
        blockHashes: some.map(({ receipt }) => receipt.blockHash),
        gas: some.map(({ cost }) => cost.gas),
        fees: some.map(({ cost }) => String(cost.fee)),
      })
    }
    for (const each of included) recordInclusion(parts, each)
  }
  return settledAll
}

const fetchReceipts = async ({ rpc }: Pick<RelayParts, 'rpc'>, hashes: readonly string[]) => {
  const receipts = new Map<string, ReceiptReply>()
  for (let start = 0; start < hashes.length; start += RECEIPTS_AT_ONCE) {
    const asked = hashes.slice(start, start + RECEIPTS_AT_ONCE)
    const outcomes = await rpc.batch(asked.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })))
    for (const [index, hash] of asked.entries()) {
      const receipt = resultOf<ReceiptReply | null>(outcomes[index])
      if (receipt) receipts.set(hash, receipt)
    }
  }
  return receipts
}

/** Returns the receipt with the events of all commits of a row. A call to an address without a contract succeeds without events. */
const inclusionOf = (row: InFlightRow, receipts: readonly ReceiptReply[]): Inclusion | undefined => {
  for (const receipt of receipts) {
    // The commit may have had another position in an earlier transaction.
    const first = row.positions[row.hashes.indexOf(receipt.transactionHash)] ?? 0
    const shares = costsOf(receipt)
    const costs = row.places.flatMap((place) => shares[place - row.places[0]! + first] ?? [])
    if (costs.length === row.commits.length) return { row, receipt, costs }
  }
  return undefined
}

/** Finalizes commits with enough confirmations and handles reorgs. Returns true if a block was missing, so that it is checked again. */
const checkIncluded = async (parts: RelayParts, lane: Lane, view: ChainView): Promise<boolean> => {
  const rows = await parts.database.query(findIncluded, { lane: lane.address })
  if (rows.length === 0) return false
  const canonical = await readBlockHashes(parts.rpc, [...new Set(rows.map((row) => row.block_number))])
  const displaced = rows.filter((row) => isDisplaced(row, canonical, view.head))
  const isDeep = (row: IncludedRow) =>
    canonical.get(row.block_number) === row.block_hash && view.head.number - row.block_number >= parts.confirmations
  const deep = rows.filter(isDeep)
  await addCosts(parts, lane, deep)
  for (const settled of inChunks(deep)) {
    await parts.lease.write(lane.name, markFinal, {
      commits: settled.map((row) => row.commit_id),
      blockHashes: settled.map((row) => row.block_hash),
    })
  }
  if (displaced.length > 0) await displace(parts, lane, displaced)
  return rows.some((row) => canonical.get(row.block_number) !== row.block_hash)
}

/** Stores the costs of commits that were found through the registry's events, before they become final. */
const addCosts = async (parts: RelayParts, lane: Lane, rows: readonly IncludedRow[]) => {
  const unknown = rows.filter((row) => row.gas_used === null)
  const receipts = await fetchReceipts(parts, [...new Set(unknown.map(({ hash }) => hash))])
  const known = unknown.flatMap(({ commit_id, hash, position }) => {
    const receipt = receipts.get(hash)
    const cost = receipt && costsOf(receipt)[position]
    return cost ? [{ commit_id, cost }] : []
  })
  if (known.length === 0) return
  await parts.lease.write(lane.name, storeCosts, {
    commits: known.map(({ commit_id }) => commit_id),
    gas: known.map(({ cost }) => cost.gas),
    fees: known.map(({ cost }) => String(cost.fee)),
  })
}

/** Returns commits of lost blocks to BROADCAST and schedules them to be sent again, because the pool may have dropped them. */
export const displace = async (parts: RelayParts, lane: Lane, rows: readonly BlockRow[]) => {
  await parts.lease.write(lane.name, markDisplaced, { commits: rows.map((row) => row.commit_id) })
  for (const row of rows) lane.sentAt.delete(row.nonce)
  lane.seen = ''
  parts.log.warn(
    { lane: lane.address, commits: rows.length },
    'Chain reorganization; sending transactions of its lost blocks again',
  )
}

/**
 * Handles a used nonce without an event of its commits. The commits are signed again only after this outcome has as many confirmations as a
 * commit needs. Otherwise both transactions could take effect.
 */
const settleWithoutEffect = async (
  parts: RelayParts,
  lane: Lane,
  view: ChainView,
  row: InFlightRow,
  receipts: readonly ReceiptReply[],
  report: (problem: Problem) => void,
) => {
  const deepest = view.head.number - parts.confirmations
  if (deepest < 0) return
  const raws = await parts.database.query(findRaw, { hashes: receipts.map((receipt) => receipt.transactionHash) })
  const ours = new Set(raws.filter(({ raw }) => nonceOf(raw) === row.nonce).map(({ hash }) => hash))
  const futile = receipts.find((receipt) => ours.has(receipt.transactionHash))
  if (futile) {
    const message = 'Transaction had no effect; check its gas and the address of the registry'
    report({ message, fields: { transaction: futile.transactionHash } })
    if (Number(futile.blockNumber) > deepest) return
    const missing = await includeFromRegistry(parts, lane, row)
    await release(parts, lane, row, missing, `${futile.transactionHash} had no effect`)
    return
  }
  const now = performance.now()
  const until = lane.missingUntil.get(row.nonce)
  if (until === undefined || until <= now) lane.missingUntil.set(row.nonce, now + parts.receiptPatience)
  if (until === undefined || now < until) return
  const missing = await includeFromRegistry(parts, lane, row)
  if (missing.length === 0) return
  const spender = await findSpender(parts.rpc, lane.address, row.nonce, deepest)
  const isForeign = spender !== undefined && !row.hashes.includes(spender)
  const message = isForeign
    ? 'An unknown transaction used a nonce of the relay account: another party has its key'
    : 'The node has no receipt for a used nonce; waiting'
  report({ message, fields: { nonce: row.nonce } })
  if (isForeign) await release(parts, lane, row, missing, `nonce ${row.nonce} was used by ${spender}`)
}

/**
 * Marks those commits of a transaction as included that the registry's events contain. Returns the others. Returns none while a history
 * is incomplete, so that nothing is decided too early.
 */
const includeFromRegistry = async (parts: RelayParts, lane: Lane, { commits }: InFlightRow): Promise<string[]> => {
  const { found, unread } = await findCommitEvents(parts, commits)
  const there = [...found]
  if (there.length > 0) {
    await parts.lease.write(lane.name, markIncluded, {
      commits: there.map(([commit]) => commit),
      hashes: there.map(([, event]) => event.transactionHash),
      blockNumbers: there.map(([, event]) => event.blockNumber),
      blockHashes: there.map(([, event]) => event.blockHash),
      gas: there.map(() => null),
      fees: there.map(() => null),
    })
  }
  return unread.size > 0 ? [] : commits.filter((commit) => !found.has(commit))
}

/** Releases commits to be signed again. Refunds a commit that was in too many transactions without effect. */
const release = async (
  parts: RelayParts,
  lane: Lane,
  { nonce }: InFlightRow,
  commits: readonly string[],
  reason: string,
) => {
  const signed = Map.groupBy(await parts.database.query(findSigned, { commits }), (row) => row.commit_id)
  const hashes = [...signed.values()].flatMap((rows) => rows.map(({ hash }) => hash))
  const raws = await parts.database.query(findRaw, { hashes: [...new Set(hashes)] })
  const nonces = new Map(raws.map(({ hash, raw }) => [hash, nonceOf(raw)]))
  const attemptsOf = (commit: string) => new Set(signed.get(commit)?.map(({ hash }) => nonces.get(hash))).size
  const hopeless = commits.filter((commit) => attemptsOf(commit) >= ATTEMPT_LIMIT)
  const again = commits.filter((commit) => !hopeless.includes(commit))
  if (again.length > 0) await parts.lease.write(lane.name, releaseCommits, { commits: again, nonce })
  for (const commit of hopeless) {
    const facts = { commit: toId('commit', commit), attempts: attemptsOf(commit), reason }
    parts.log.error(facts, 'Commit failed; refunding it')
    await parts.lease.write(lane.name, failCommit, { commit, reason })
  }
}
