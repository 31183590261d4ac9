/** Reads what became of sent transactions: included, settled, displaced, or without effect. */
import { failCommit } from '../domain/asset/fail-commit.ts'
import { isGone } from './relay-doubt.ts'
import {
  type BlockRow,
  findIncluded,
  markDisplaced,
  markFinal,
  markIncluded,
  releaseCommit,
} from './relay-follow-statements.ts'
import { type Lane, type RelayParts, report } from './relay-lane.ts'
import { findSpender, readingOnce, seekCommits } from './relay-seek.ts'
import { findRaw, findSigned, type InFlightRow } from './relay-statements.ts'
import { resultOf } from './rpc.ts'
import { nonceOf } from './transaction.ts'
import { type ChainView, readBlockHashes } from './view.ts'

interface Receipt {
  transactionHash: string
  status: string
  blockNumber: string
  blockHash: string
  logs: unknown[]
  gasUsed?: string
  effectiveGasPrice?: string
}

/** Wei; 0 where the node does not say. */
const feeOf = ({ gasUsed = '0x0', effectiveGasPrice = '0x0' }: Receipt) => BigInt(gasUsed) * BigInt(effectiveGasPrice)

const tellIncluded = ({ meter, tracer }: RelayParts, { row, receipt }: { row: InFlightRow; receipt: Receipt }) => {
  meter.feePaid(feeOf(receipt))
  const facts = { 'annal.chain.transaction': receipt.transactionHash, 'annal.chain.block': Number(receipt.blockNumber) }
  tracer.note(row.trace, 'relay include', { facts }, row.age * 1_000)
}

/** Transactions without effect after which a commit is given up. */
const ATTEMPT_LIMIT = 3

/**
 * Brings the rows of a lane up to what the chain says in `view`. Only nonces below the account's count can have a
 * receipt, and nothing changes while head and count stay.
 */
export const follow = async (parts: RelayParts, lane: Lane, view: ChainView, inFlight: readonly InFlightRow[]) => {
  const count = view.counts.get(lane.address) ?? 0
  const moment = `${view.head.hash}:${count}`
  if (lane.seen === moment) return
  const settledAll = await readReceipts(
    parts,
    lane,
    view,
    inFlight.filter(({ nonce }) => nonce < count),
  )
  const isUnsure = await checkIncluded(parts, lane, view)
  if (settledAll) report(parts, lane, 'receipts', '')
  lane.seen = settledAll && !isUnsure ? moment : ''
}

/** Returns whether every row has its outcome. */
const readReceipts = async (parts: RelayParts, lane: Lane, view: ChainView, rows: readonly InFlightRow[]) => {
  const hashes = rows.flatMap((row) => row.hashes)
  if (hashes.length === 0) return true
  const outcomes = await parts.rpc.batch(
    hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  )
  const receipts = new Map(hashes.map((hash, index) => [hash, resultOf<Receipt | null>(outcomes[index])]))
  const included: { row: InFlightRow; receipt: Receipt }[] = []
  const seeking = readingOnce(parts)
  let settledAll = true
  for (const row of rows) {
    const found = row.hashes.flatMap((hash) => receipts.get(hash) ?? [])
    // A call to an address without a contract succeeds and logs nothing.
    const receipt = found.find(({ status, logs }) => status === '0x1' && logs.length > 0)
    if (receipt) {
      included.push({ row, receipt })
      continue
    }
    // What holds up the first one holds up all, and is told once for all.
    const isFirst = settledAll
    const tell = (problem: string) => isFirst && report(parts, lane, 'receipts', problem)
    settledAll = false
    await settleWithoutEffect(seeking, lane, view, row, found, tell)
  }
  if (included.length > 0) {
    await parts.lease.write(lane.name, markIncluded, {
      commits: included.map(({ row }) => row.commit_id),
      hashes: included.map(({ receipt }) => receipt.transactionHash),
      blockNumbers: included.map(({ receipt }) => Number(receipt.blockNumber)),
      blockHashes: included.map(({ receipt }) => receipt.blockHash),
    })
    for (const each of included) tellIncluded(parts, each)
  }
  return settledAll
}

/** Settles what is deep enough and finds what lost its block. Returns whether to look again: a block was not there. */
const checkIncluded = async (parts: RelayParts, lane: Lane, view: ChainView): Promise<boolean> => {
  const rows = await parts.database.query(findIncluded, { lane: lane.address })
  if (rows.length === 0) return false
  const canonical = await readBlockHashes(parts.rpc, [...new Set(rows.map((row) => row.block_number))])
  const displaced = rows.filter((row) => isGone(row, canonical, view.head))
  const isDeep = (row: BlockRow) =>
    canonical.get(row.block_number) === row.block_hash && view.head.number - row.block_number >= parts.confirmations
  const deep = rows.filter(isDeep)
  if (deep.length > 0) {
    await parts.lease.write(lane.name, markFinal, {
      commits: deep.map((row) => row.commit_id),
      blockHashes: deep.map((row) => row.block_hash),
    })
  }
  if (displaced.length > 0) await displace(parts, lane, displaced)
  return rows.some((row) => canonical.get(row.block_number) !== row.block_hash)
}

/** Back to sent, and to be sent again: the pool may have dropped it together with the block. */
export const displace = async (parts: RelayParts, lane: Lane, rows: readonly BlockRow[]) => {
  await parts.lease.write(lane.name, markDisplaced, { commits: rows.map((row) => row.commit_id) })
  for (const row of rows) lane.sentAt.delete(row.commit_id)
  lane.seen = ''
  parts.log.warn(
    { lane: lane.address, commits: rows.length },
    'Blocks were displaced; their transactions are sent again',
  )
}

/**
 * The nonce is used, and no receipt tells of a commit. A used nonce is ours until the chain says otherwise, and a new one is
 * taken only once that is settled as deep as a commit would be; otherwise both might count.
 */
const settleWithoutEffect = async (
  parts: RelayParts,
  lane: Lane,
  view: ChainView,
  row: InFlightRow,
  receipts: readonly Receipt[],
  tell: (problem: string) => void,
) => {
  const deepest = view.head.number - parts.confirmations
  if (deepest < 0) return
  const raws = await parts.database.query(findRaw, { hashes: receipts.map((receipt) => receipt.transactionHash) })
  const ours = new Set(raws.filter(({ raw }) => nonceOf(raw) === row.nonce).map(({ hash }) => hash))
  const futile = receipts.find((receipt) => ours.has(receipt.transactionHash))
  if (futile) {
    tell(`${futile.transactionHash} had no effect. Look at its gas and at the registry's address.`)
    if (Number(futile.blockNumber) <= deepest && !(await includeFromRegistry(parts, lane, row)))
      await release(parts, lane, row, `${futile.transactionHash} had no effect`)
    return
  }
  const now = performance.now()
  const until = lane.missingUntil.get(row.commit_id)
  if (until === undefined || until <= now) lane.missingUntil.set(row.commit_id, now + parts.receiptPatience)
  if (until === undefined || now < until || (await includeFromRegistry(parts, lane, row))) return
  const spender = await findSpender(parts, lane.address, row.nonce, deepest)
  const isForeign = spender !== undefined && !row.hashes.includes(spender)
  tell(
    isForeign
      ? `Nonce ${row.nonce} of ${lane.address} was used by somebody else. Nobody else may hold a relay key.`
      : `The node shows no receipt for nonce ${row.nonce} of ${lane.address}, which is used; waiting until it does.`,
  )
  if (isForeign) await release(parts, lane, row, `nonce ${row.nonce} was used by ${spender}`)
}

/**
 * Whether the registry's own events have the commit, whatever receipts say; also while they are still being read, so that
 * nothing else is decided about it meanwhile.
 */
const includeFromRegistry = async (parts: RelayParts, lane: Lane, { commit_id }: InFlightRow): Promise<boolean> => {
  const { found, unread } = await seekCommits(parts, [commit_id])
  const event = found.get(commit_id)
  if (!event) return unread.has(commit_id)
  await parts.lease.write(lane.name, markIncluded, {
    commits: [commit_id],
    hashes: [event.transactionHash],
    blockNumbers: [event.blockNumber],
    blockHashes: [event.blockHash],
  })
  return true
}

const release = async (parts: RelayParts, lane: Lane, row: InFlightRow, reason: string) => {
  const signed = await parts.database.query(findSigned, { commit: row.commit_id })
  const attempts = new Set(signed.map(({ raw }) => nonceOf(raw))).size
  if (attempts < ATTEMPT_LIMIT) {
    await parts.lease.write(lane.name, releaseCommit, { commit: row.commit_id, nonce: row.nonce })
    return
  }
  parts.log.error({ commit: row.commit_id, attempts }, `A commit failed and is refunded: ${reason}`)
  await parts.lease.write(lane.name, failCommit, { commit: row.commit_id, reason })
}
