/** Sends stored transactions, and replaces those whose fees are too low. */
import { arrayOf, statement, uuid } from '../../db/sql.ts'
import { toHex } from '../keys.ts'
import type { Problem } from '../poller.ts'
import { decodeCommits } from '../registry/abi.ts'
import {
  isPoor,
  isTaken,
  larger,
  parseTransaction,
  RESEND_AFTER_MS,
  raiseFees,
  type SignedTransaction,
  STUCK_BLOCKS,
  STUCK_SECONDS,
  signTransaction,
  wantsMore,
} from '../transaction.ts'
import type { ChainView } from '../view.ts'
import { findRaw, type InFlightRow, storeReplaced } from './relay.sql.ts'
import { type Lane, type Outgoing, type RelayParts, reportLane } from './relay-parts.ts'
import { columnsOf, estimateGas } from './sign-transactions.ts'

/** Maximum total size of the transactions in one request. Hex doubles it, and some nodes accept only 1 MB. */
const REQUEST_BYTES = 400_000

/** Sends stored transactions. Sending again is safe, because at most one transaction per nonce can be included. Throws UNAVAILABLE. */
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
  const taken: string[] = []
  let problem: Problem | undefined
  outgoing.forEach(({ nonce, commits, hash }, index) => {
    const error = outcomes[index]?.error
    if (!error || isTaken(error)) {
      taken.push(...commits)
      lane.sentAt.set(nonce, performance.now())
      lane.refusals.delete(hash)
      // The nonce may be used already. Clear this so that receipts are read even if the head does not change.
      if (error) lane.seen = ''
      return
    }
    // The node no longer has the transaction in its pool.
    lane.sentAt.delete(nonce)
    const lacksFunds = isPoor(error)
    if (!lacksFunds && wantsMore(error)) lane.refusals.set(hash, (lane.refusals.get(hash) ?? 0) + 1)
    problem ??= lacksFunds
      ? { message: 'The relay account cannot pay for gas; send it coins' }
      : { message: 'The node rejected a transaction; retrying', reason: error.message }
  })
  reportLane(parts, lane, 'sending', problem)
  if (taken.length > 0) await parts.lease.write(lane.name, markBroadcast, { commits: taken })
}

/** Adds their stored bytes to rows. Leaves out rows without stored bytes. */
const withRaw = async ({ database }: RelayParts, rows: readonly InFlightRow[]) => {
  if (rows.length === 0) return []
  const stored = await database.query(findRaw, { hashes: rows.map(({ hash }) => hash) })
  const raws = new Map(stored.map(({ hash, raw }) => [hash, raw]))
  return rows.flatMap((row) => {
    const raw = raws.get(row.hash)
    return raw ? [{ ...row, raw }] : []
  })
}

/** Sends transactions again that no node accepted, that a pool dropped, or that lost their block. */
export const sendAgain = async (parts: RelayParts, lane: Lane, waiting: readonly InFlightRow[]) => {
  const now = performance.now()
  const due = waiting.filter(({ nonce, sent }) => {
    const sentAt = lane.sentAt.get(nonce)
    return !sent || sentAt === undefined || now - sentAt > RESEND_AFTER_MS
  })
  await send(parts, lane, await withRaw(parts, due))
}

/** Seconds per attempt after which an accepted transaction must count as pending. Some pools queue one forever that arrives while its predecessor is included. */
const MISFILED_SECONDS = 3
/** Number of consecutive rejections after which a transaction is signed again. */
const REFUSAL_LIMIT = 3
/** Maximum number of replacements in one step. Later nonces must wait for these anyway. */
const BATCH = 16

/** Replaces transactions whose fees are too low with ones that have the same nonce and higher fees. */
export const replaceStuck = async (parts: RelayParts, lane: Lane, view: ChainView, waiting: readonly InFlightRow[]) => {
  const { signer } = lane
  if (!signer) return
  const due = waiting.filter((row) => isDue(lane, view, row)).slice(0, BATCH)
  const signed: (SignedTransaction & Outgoing)[] = []
  for (const row of await withRaw(parts, due)) {
    const [maxFeePerGas, maxPriorityFeePerGas] = [BigInt(row.max_fee_per_gas), BigInt(row.max_priority_fee_per_gas)]
    const fees = raiseFees({ maxFeePerGas, maxPriorityFeePerGas }, view, parts.maxFeePerGas)
    if (!fees) {
      const message = 'Fees are above CHAIN_MAX_FEE_GWEI; sent transactions wait until they fall'
      reportLane(parts, lane, 'fees', { message })
      break
    }
    const { to, data, nonce, gasLimit: oldLimit } = parseTransaction(row.raw)
    // Throws unless the data is a commit call, so that nothing else is signed again.
    decodeCommits(data)
    // The gas limit may be the reason why the transaction was not included.
    const newLimit = isRefused(lane, row) || row.hashes.length > 1 ? await estimateGas(parts, lane, [data]) : oldLimit
    const gasLimit = larger(newLimit, oldLimit)
    const plan = { ...fees, chainId: parts.chainId, nonce, to: to ?? parts.registry, data, gasLimit }
    const transaction = await parts.cpu.run(async () => signTransaction(signer.account, plan))
    signed.push({ ...transaction, commits: row.commits, traces: row.traces })
  }
  if (signed.length === 0) return
  const stored = await parts.lease.write(lane.name, storeReplaced, { lane: lane.address, ...columnsOf(signed) })
  const kept = new Set(stored.map(({ hash }) => hash))
  const outgoing = signed.filter(({ hash }) => kept.has(hash))
  const commits = outgoing.flatMap((each) => each.commits).length
  parts.log.info({ lane: lane.address, commits }, 'Raised the fees of pending transactions')
  await send(parts, lane, outgoing)
}

const isRefused = (lane: Lane, row: InFlightRow) => (lane.refusals.get(row.hash) ?? 0) >= REFUSAL_LIMIT

const isDue = (lane: Lane, view: ChainView, row: InFlightRow) => {
  if (isRefused(lane, row) || BigInt(row.max_fee_per_gas) < view.nextBaseFee) return true
  if (row.nonce !== (view.counts.get(lane.address) ?? 0) || !lane.sentAt.has(row.nonce)) return false
  const isPending = (view.pendingCounts.get(lane.address) ?? 0) > row.nonce
  if (!isPending && row.sent && row.age > MISFILED_SECONDS * row.hashes.length) return true
  const from = lane.waitingFrom.get(row.hash) ?? view.head.number
  lane.waitingFrom.set(row.hash, from)
  return row.age > STUCK_SECONDS && view.head.number - from >= STUCK_BLOCKS
}

const markBroadcast = statement(
  'relay_broadcast',
  { parameters: { commits: arrayOf(uuid) } },
  `update commit_relays set status = 'BROADCAST', updated_at = now()
   where commit_id = any ($commits) and status = 'PENDING' and lane is not null`,
)
