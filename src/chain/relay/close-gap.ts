/**
 * Closes nonce gaps: nonces between the account's transaction count and its first pending transaction that the chain does not have. A gap
 * appears if a chain loses blocks that counted as final, such as an embedded or a development chain that was reset.
 */

import { toHex } from '../keys.ts'
import { contradiction, RpcError } from '../rpc.ts'
import { chooseFees, raiseFees, signTransaction } from '../transaction.ts'
import { type ChainView, readBlockHashes } from '../view.ts'
import { type BlockRow, findNonces } from './follow-commits.sql.ts'
import { displace } from './follow-commits.ts'
import { findLastNonce, type InFlightRow } from './relay.sql.ts'
import { type Lane, type RelayParts, reportLane } from './relay-parts.ts'
import { isDisplaced } from './stale-node-guard.ts'

/** Time until the fees of a filler transaction are raised, in milliseconds. */
const FILLER_PATIENCE_MS = 30_000
/** Maximum number of nonces handled in one step. */
const BATCH = 64

/**
 * Sends the missing transactions of a nonce gap again, or fills it with empty transactions. Returns true while there is a gap; nothing new
 * may be signed then.
 */
export const closeGap = async (
  parts: RelayParts,
  lane: Lane,
  view: ChainView,
  inFlight: readonly InFlightRow[],
): Promise<boolean> => {
  const count = view.counts.get(lane.address) ?? 0
  const [last] = inFlight.length > 0 ? [] : await parts.database.query(findLastNonce, { lane: lane.address })
  const firstWaiting = inFlight[0]?.nonce ?? (last?.nonce ?? -1) + 1
  if (count >= firstWaiting) {
    lane.gapSince = undefined
    lane.fillers.clear()
    reportLane(parts, lane, 'gap')
    return false
  }
  lane.gapSince ??= performance.now()
  const lasts = performance.now() - lane.gapSince
  if (lasts < parts.gapPatience) return true

  const end = Math.min(firstWaiting, count + BATCH)
  const rows = await parts.database.query(findNonces, { lane: lane.address, from: count, below: end })
  const placed = rows.filter(({ status }) => status === 'INCLUDED' || status === 'FINAL')
  const canonical = await readBlockHashes(parts.rpc, [...new Set(placed.map((row) => row.block_number))])
  // The node reports these nonces as unused but has blocks that use them, so its answers contradict each other.
  if (placed.some((row) => canonical.get(row.block_number) === row.block_hash)) throw contradiction(parts.rpc)
  const lost = findLost(parts, lane, view, { placed, canonical, lasts })
  if (lost.length > 0) await displace(parts, lane, lost)
  // A failed commit was refunded, so its transaction must not be sent again. Fill its nonce instead.
  const ours = new Set(rows.filter(({ status }) => status !== 'FAILED').map(({ nonce }) => nonce))
  for (let nonce = count; nonce < end; nonce += 1) if (!ours.has(nonce)) await fill(parts, lane, view, nonce)
  return true
}

/**
 * Returns the transactions that the chain has lost. A transaction is lost if its block was replaced, or if the node has not had the block
 * for `doubtPatience`. In the second case it must have stored bytes: sending those again is safe, while signing again could duplicate a
 * commit.
 */
const findLost = <Row extends BlockRow & { has_bytes: boolean }>(
  parts: RelayParts,
  lane: Lane,
  view: ChainView,
  { placed, canonical, lasts }: { placed: readonly Row[]; canonical: Map<number, string | undefined>; lasts: number },
): Row[] => {
  const isUnshown = ({ block_number: number }: Row) => number <= view.head.number && canonical.get(number) === undefined
  const unshown = placed.find(isUnshown)
  const message = 'The node lacks a block that it had, with transactions of the relay; signing paused'
  reportLane(parts, lane, 'gap', unshown && { message, fields: { block: unshown.block_number } })
  const isGivenUp = (row: Row) => lasts >= parts.doubtPatience && isUnshown(row) && row.has_bytes
  return placed.filter((row) => isDisplaced(row, canonical, view.head) || isGivenUp(row))
}

/**
 * Sends an empty transaction from the account to itself. Losing it or sending it twice has no effect, so it is not stored. The lease is
 * checked after signing, because a process that was frozen must not use a nonce of the new lease holder.
 */
const fill = async (parts: RelayParts, lane: Lane, view: ChainView, nonce: number) => {
  const { signer } = lane
  const earlier = lane.fillers.get(nonce)
  const now = performance.now()
  if (!signer || (earlier && now - earlier.sentAt < FILLER_PATIENCE_MS)) return
  const fees = earlier ? raiseFees(earlier.fees, view, parts.maxFeePerGas) : chooseFees(view, parts.maxFeePerGas)
  if (!fees) return
  const plan = { ...fees, chainId: parts.chainId, nonce, to: lane.address, data: '0x', gasLimit: 60_000n }
  const { raw } = signTransaction(signer.account, plan)
  await parts.lease.assertHeld(lane.name)
  lane.fillers.set(nonce, { fees, sentAt: now })
  parts.log.warn({ lane: lane.address, nonce }, 'Sending an empty transaction to fill a nonce gap')
  try {
    await parts.rpc.call('eth_sendRawTransaction', toHex(raw))
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    const message = 'The node rejected a transaction that fills a nonce gap; retrying'
    reportLane(parts, lane, 'sending', { message, reason: error.message })
  }
}
