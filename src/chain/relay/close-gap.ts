/** Closes nonce gaps. They appear if a chain, such as a development chain, loses blocks that counted as final. */
import { boolean, int, statement, text } from '../../db/sql.ts'
import { toHex } from '../keys.ts'
import { contradiction, isRpcError } from '../rpc.ts'
import { chooseFees, raiseFees, signTransaction } from '../transaction.ts'
import { type ChainView, readBlockHashes } from '../view.ts'
import { displace } from './follow-commits.ts'
import { blockColumns, commitStatus, findLastNonce, type InFlightRow, transactionsOfSql } from './relay.sql.ts'
import { type Lane, type RelayParts, reportLane } from './relay-parts.ts'
import { isDisplaced } from './stale-node-guard.ts'

const FILLER_PATIENCE_MS = 30_000
const BATCH = 64

/** Closes a nonce gap. Returns true while a gap exists. The lane must not sign new transactions then. */
export const closeGap = async (parts: RelayParts, lane: Lane, view: ChainView, inFlight: readonly InFlightRow[]) => {
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
  // The node reports these nonces as unused but has blocks that use them. The two responses contradict each other.
  if (placed.some((row) => canonical.get(row.block_number) === row.block_hash)) throw contradiction(parts.rpc)

  const isMissing = ({ block_number: number }: { block_number: number }) =>
    number <= view.head.number && canonical.get(number) === undefined
  const missing = placed.find(isMissing)
  const message = 'The node lacks a block that it had, with transactions of the relay; signing paused'
  reportLane(parts, lane, 'gap', missing && { message, fields: { block: missing.block_number } })
  // A block counts as lost after a waiting time, if its transactions are stored and can be sent again.
  const isLost = (row: (typeof placed)[number]) =>
    isDisplaced(row, canonical, view.head) || (lasts >= parts.doubtPatience && isMissing(row) && row.has_bytes)
  const lost = placed.filter(isLost)
  if (lost.length > 0) await displace(parts, lane, lost)
  // A failed commit was refunded, so its transaction must not be sent again. Fill its nonce instead.
  const ours = new Set(rows.filter(({ status }) => status !== 'FAILED').map(({ nonce }) => nonce))
  for (let nonce = count; nonce < end; nonce += 1) if (!ours.has(nonce)) await fill(parts, lane, view, nonce)
  return true
}

/** Sends an empty transaction. Checks the lease after signing, because a frozen process must not use the nonce. */
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
  await parts.rpc.call('eth_sendRawTransaction', toHex(raw)).catch((error: unknown) => {
    if (!isRpcError(error)) throw error
    const message = 'The node rejected a transaction that fills a nonce gap; retrying'
    reportLane(parts, lane, 'sending', { message, reason: error.message })
  })
}

/** Returns the commits with nonces in [`from`, `below`). `has_bytes`: true if the transaction is stored. */
const findNonces = statement(
  'relay_nonces',
  {
    parameters: { lane: text, from: int, below: int },
    columns: { ...blockColumns, status: commitStatus, has_bytes: boolean },
  },
  `select commit_id, nonce, status, block_number, block_hash,
     exists (select from ${transactionsOfSql('commit_relays.commit_id')} t) as has_bytes
   from commit_relays
   where lane = $lane and nonce >= $from and nonce < $below order by nonce`,
)
