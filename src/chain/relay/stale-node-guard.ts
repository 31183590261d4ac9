/**
 * What of a node's word is not taken at once. Nodes behind one address are not equally far, and one that is behind tells nothing
 * wrong: it does not have the newest blocks yet. So what was seen is not taken back because a node does not show it, and a
 * count that nothing accounts for takes no nonce.
 */
import { getCreateAddress } from 'ethers'
import { unavailable } from '../../shared/errors.ts'
import { type BlockId, type ChainView, findSpender, isGone, readBlockHashes, readView } from '../view.ts'
import { type BlockRow, findNewestPlaced } from './follow-commits.sql.ts'
import { findLastNonce, rememberAhead } from './relay.sql.ts'
import { type Lane, type RelayParts, reportLane } from './relay-parts.ts'

/** Whether the block that a commit or transaction stood in is gone; `canonical` as `readBlockHashes` has it. */
export const isDisplaced = (
  { block_number: number, block_hash: hash }: BlockRow,
  canonical: ReadonlyMap<number, string | undefined>,
  head: BlockId,
): boolean => isGone({ number, hash }, canonical, head)

/** Remembers how far the chain was seen. */
export interface HeadWatch {
  /**
   * Raises UNAVAILABLE for a view from before what was seen already. A chain can lose blocks, too: then it has others where we
   * know some, or its head stands still for `patience` milliseconds.
   */
  assertNewest(parts: RelayParts, lanes: readonly Lane[], view: ChainView): Promise<void>
}

/**
 * A watch that takes up from the newest block in the database. `patience`: milliseconds that a lower head must stand still
 * to be believed.
 */
export function createHeadWatch(patience: number): HeadWatch {
  let highest: number | undefined
  let standing: { hash: string; since: number } | undefined

  const standsStill = ({ hash }: BlockId) => {
    if (standing?.hash !== hash) standing = { hash, since: performance.now() }
    return performance.now() - standing.since >= patience
  }

  return {
    async assertNewest(parts, lanes, { head }) {
      if (highest === undefined) {
        const [newest] = await parts.database.query(findNewestPlaced, { lanes: addressesOf(lanes), upTo: null })
        highest = newest?.block_number ?? 0
      }
      if (head.number < highest && !(await isOtherChain(parts, lanes, head)) && !standsStill(head)) {
        throw unavailable('The chain', new Error(`${parts.rpc.host} is behind what it showed before`))
      }
      if (head.number >= highest) standing = undefined
      highest = head.number
    },
  }
}

const addressesOf = (lanes: readonly Lane[]) => lanes.map(({ address }) => address)

/** Whether the chain has another block than the newest that both it and the database have. */
const isOtherChain = async (parts: RelayParts, lanes: readonly Lane[], head: BlockId): Promise<boolean> => {
  const [known] = await parts.database.query(findNewestPlaced, { lanes: addressesOf(lanes), upTo: head.number })
  if (!known) return false
  const canonical = await readBlockHashes(parts.rpc, [known.block_number])
  return isDisplaced(known, canonical, head)
}

/**
 * Notices, when the relay begins, that any account of ours sent what the database does not know. It was restored from an earlier moment, and what
 * waits in it was perhaps sent by another account than has it now: keys were exchanged since, or more were configured. It writes under the lease of
 * that name, which is held. Raises UNAVAILABLE.
 */
export const noteAccountsAhead = async (
  { database, rpc, lease, recorders }: Pick<RelayParts, 'database' | 'rpc' | 'lease' | 'recorders'>,
  leaseName: string,
): Promise<void> => {
  const { counts, pendingCounts } = await readView(rpc, [...recorders])
  for (const account of recorders) {
    const [last] = await database.query(findLastNonce, { lane: account })
    const pending = pendingCounts.get(account) ?? 0
    const sent = Math.max(counts.get(account) ?? 0, Number.isFinite(pending) ? pending : 0)
    if (sent <= (last?.nonce ?? -1) + 1) continue
    await lease.write(leaseName, rememberAhead, {})
    return
  }
}

/**
 * Whether an account's count that is ahead of the database is to be believed: because the chain shows the transaction that made
 * it, or, where it cannot, because it lasts. A nonce that is taken on a wrong count leaves a gap before it.
 */
export const isAccountedFor = async (
  parts: RelayParts,
  lane: Lane,
  view: ChainView,
  count: number,
): Promise<boolean> => {
  // Ours: a registry's address tells who deployed it, and with which nonce.
  if (getCreateAddress({ from: lane.address, nonce: count - 1 }) === parts.registry) return true
  if (await findSpender(parts.rpc, lane.address, count - 1, view.head.number)) return true
  lane.doubtedSince ??= performance.now()
  const message = 'The node counts more transactions of the relay account than it shows; signing paused'
  reportLane(parts, lane, 'count', { message, fields: { count } })
  return performance.now() - lane.doubtedSince >= parts.doubtPatience
}
