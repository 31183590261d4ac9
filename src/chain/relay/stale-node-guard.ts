/**
 * Detects outdated answers of a node. Nodes behind a load balancer can be at different heights. A missing block is therefore no proof of a
 * reorg, and an unexplained transaction count is not used for a nonce.
 */
import { getCreateAddress } from 'ethers'
import { unavailable } from '../../shared/errors.ts'
import { type BlockId, type ChainView, findSpender, isGone, readBlockHashes, readView } from '../view.ts'
import { type BlockRow, findNewestPlaced } from './follow-commits.sql.ts'
import { findLastNonce, rememberAhead } from './relay.sql.ts'
import { type Lane, type RelayParts, reportLane } from './relay-parts.ts'

/** Returns true if the block of a commit was replaced. `canonical` is the result of `readBlockHashes`. */
export const isDisplaced = (
  { block_number: number, block_hash: hash }: BlockRow,
  canonical: ReadonlyMap<number, string | undefined>,
  head: BlockId,
): boolean => isGone({ number, hash }, canonical, head)

/** Detects a node whose head is behind an earlier head. */
export interface HeadGuard {
  /**
   * Throws UNAVAILABLE if the view is older than an earlier one. Accepts it if the chain was reorganized: a known block has another hash, or
   * the head has not moved for `patience` milliseconds.
   */
  assertNewest(parts: RelayParts, lanes: readonly Lane[], view: ChainView): Promise<void>
}

/** Creates a guard that starts at the newest block in the database. A lower head must not move for `patience` milliseconds to be accepted. */
export function createHeadGuard(patience: number): HeadGuard {
  let highest: number | undefined
  let standing: { hash: string; since: number } | undefined

  const isUnchanged = ({ hash }: BlockId) => {
    if (standing?.hash !== hash) standing = { hash, since: performance.now() }
    return performance.now() - standing.since >= patience
  }

  return {
    async assertNewest(parts, lanes, { head }) {
      if (highest === undefined) {
        const [newest] = await parts.database.query(findNewestPlaced, { lanes: addressesOf(lanes), upTo: null })
        highest = newest?.block_number ?? 0
      }
      if (head.number < highest && !(await isOtherChain(parts, lanes, head)) && !isUnchanged(head)) {
        throw unavailable('The chain', new Error(`${parts.rpc.host} is behind a block that it returned before`))
      }
      if (head.number >= highest) standing = undefined
      highest = head.number
    },
  }
}

const addressesOf = (lanes: readonly Lane[]) => lanes.map(({ address }) => address)

/** Returns true if the chain has another block than the newest one that the database knows at or below the head. */
const isOtherChain = async (parts: RelayParts, lanes: readonly Lane[], head: BlockId): Promise<boolean> => {
  const [known] = await parts.database.query(findNewestPlaced, { lanes: addressesOf(lanes), upTo: head.number })
  if (!known) return false
  const canonical = await readBlockHashes(parts.rpc, [known.block_number])
  return isDisplaced(known, canonical, head)
}

/**
 * Checks at start if any of our accounts has sent transactions that the database does not know, as after a restore. All accounts are
 * checked, because keys may have been replaced or added since. The caller must hold the lease `leaseName`. Throws UNAVAILABLE.
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
 * Returns true if a transaction count above the database's can be trusted: the chain has the last transaction, or the count has lasted for
 * `doubtPatience`. A nonce based on a wrong count would create a nonce gap.
 */
export const isAccountedFor = async (
  parts: RelayParts,
  lane: Lane,
  view: ChainView,
  count: number,
): Promise<boolean> => {
  // The transaction deployed our registry: a contract's address depends on the account and the nonce.
  if (getCreateAddress({ from: lane.address, nonce: count - 1 }) === parts.registry) return true
  if (await findSpender(parts.rpc, lane.address, count - 1, view.head.number)) return true
  lane.doubtedSince ??= performance.now()
  const message = 'The node counts more transactions of the relay account than it shows; signing paused'
  reportLane(parts, lane, 'count', { message, fields: { count } })
  return performance.now() - lane.doubtedSince >= parts.doubtPatience
}
