/**
 * Closes gaps between the chain's count of an account and the first nonce that waits. They come from a chain that lost
 * blocks which counted as settled: an embedded one that was killed, or a development chain that was thrown away.
 */
import { chooseFees, raiseFees } from '../fees.ts'
import { toHex } from '../keys.ts'
import { contradiction, RpcError } from '../rpc.ts'
import { signTransaction } from '../transaction.ts'
import { type ChainView, readBlockHashes } from '../view.ts'
import { type BlockRow, findNonces } from './follow-commits.sql.ts'
import { displace } from './follow-commits.ts'
import { findLastNonce, type InFlightRow } from './relay.sql.ts'
import { type Lane, type RelayParts, reportLane } from './relay-parts.ts'
import { isDisplaced } from './stale-node-guard.ts'

/** Milliseconds until a filler that is not included is offered more. */
const FILLER_PATIENCE_MS = 30_000
/** Nonces looked at in one step. */
const BATCH = 64

/**
 * Sends again, or fills with empty transactions, what the chain lacks between its count and the first nonce that waits.
 * Returns whether there is a gap. While there is one, nothing new is signed.
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
  // The very nonces that are said to be unused stand in blocks of this chain.
  if (placed.some((row) => canonical.get(row.block_number) === row.block_hash)) throw contradiction(parts.rpc)
  const lost = findLost(parts, lane, view, { placed, canonical, lasts })
  if (lost.length > 0) await displace(parts, lane, lost)
  // A failed commit was refunded: its bytes must not get another chance, so its nonce is filled as well.
  const ours = new Set(rows.filter(({ status }) => status !== 'FAILED').map(({ nonce }) => nonce))
  for (let nonce = count; nonce < end; nonce += 1) if (!ours.has(nonce)) await fill(parts, lane, view, nonce)
  return true
}

/**
 * What the chain has no more of what was placed at nonces that are not used: its block is gone, or the node shows none at its height and has not
 * for long. Stored bytes take effect once at most, however often they are sent; what we have none of would be signed anew, and waits.
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
 * An empty transaction to ourselves. It has no effect, so losing it or sending it twice does no harm. Nothing of it is stored, so the
 * lease is asserted once it is signed: whoever was frozen on the way here leaves the nonce to the process that has the lane by now.
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
