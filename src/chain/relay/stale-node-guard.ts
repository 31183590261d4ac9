/** Detects outdated responses of a node, for example of a node behind a load balancer. */
import { getCreateAddress } from 'ethers'
import { arrayOf, int, orNull, statement, text } from '../../db/sql.ts'
import { unavailable } from '../../shared/errors.ts'
import {
  type BlockHashes,
  type BlockId,
  type ChainView,
  findSpender,
  isReplaced,
  readBlockHashes,
  readView,
} from '../view.ts'
import { type BlockRow, blockColumns, findLastNonce, recordAhead } from './relay.sql.ts'
import { type Lane, type RelayParts, reportLane } from './relay-parts.ts'

export const isDisplaced = (row: BlockRow, canonical: BlockHashes, head: BlockId): boolean =>
  isReplaced({ number: row.block_number, hash: row.block_hash }, canonical, head)

export function createHeadGuard(patience: number) {
  let highest: number | undefined
  let unchangedHead: { hash: string; since: number } | undefined

  const isUnchanged = ({ hash }: BlockId) => {
    if (unchangedHead?.hash !== hash) unchangedHead = { hash, since: performance.now() }
    return performance.now() - unchangedHead.since >= patience
  }

  return {
    /** Throws UNAVAILABLE, for up to `patience` ms, if the head is lower than before without a reorganization. */
    async assertNewest({ database, rpc }: RelayParts, lanes: readonly string[], { head }: ChainView): Promise<void> {
      const findNewest = async (upTo: number | null) => (await database.query(findNewestPlaced, { lanes, upTo }))[0]
      const isOtherChain = async () => {
        const known = await findNewest(head.number)
        return known && isDisplaced(known, await readBlockHashes(rpc, [known.block_number]), head)
      }
      highest ??= (await findNewest(null))?.block_number ?? 0
      if (head.number < highest && !(await isOtherChain()) && !isUnchanged(head))
        throw unavailable('The chain', new Error(`The head of the node ${rpc.host} is lower than before.`))
      if (head.number >= highest) unchangedHead = undefined
      highest = head.number
    },
  }
}

/** Records that our accounts sent transactions that the database lacks, if so. The caller must hold the lease. */
export const recordAccountsAhead = async (
  { database, rpc, lease, recorders }: Pick<RelayParts, 'database' | 'rpc' | 'lease' | 'recorders'>,
  leaseName: string,
): Promise<void> => {
  const { counts, pendingCounts } = await readView(rpc, [...recorders])
  for (const account of recorders) {
    const [last] = await database.query(findLastNonce, { lane: account })
    const pending = pendingCounts.get(account) ?? 0
    const sent = Math.max(counts.get(account) ?? 0, Number.isFinite(pending) ? pending : 0)
    if (sent > (last?.nonce ?? -1) + 1) return void (await lease.write(leaseName, recordAhead, {}))
  }
}

/** Returns true if the chain has the last transaction, or the count is unchanged for `doubtPatience`. */
export const isCountConfirmed = async (parts: RelayParts, lane: Lane, view: ChainView, count: number) => {
  // This nonce deployed our registry, because a contract's address depends on the account and the nonce.
  if (getCreateAddress({ from: lane.address, nonce: count - 1 }) === parts.registry) return true
  if (await findSpender(parts.rpc, lane.address, count - 1, view.head.number)) return true
  lane.doubtedSince ??= performance.now()
  const message = 'The node counts more transactions of the relay account than it returns; signing paused'
  reportLane(parts, lane, 'count', { message, fields: { count } })
  return performance.now() - lane.doubtedSince >= parts.doubtPatience
}

/** Returns the newest included commit of `lanes` up to a block, among the last 10,000 of each lane. */
const findNewestPlaced = statement(
  'relay_newest_placed',
  { parameters: { lanes: arrayOf(text), upTo: orNull(int) }, columns: blockColumns },
  `select r.* from unnest($lanes) as item (lane), lateral (
     select commit_id, nonce, block_number, block_hash from (
       select * from commit_relays c where c.lane = item.lane order by c.nonce desc limit 10000
     ) latest
     where block_number is not null and ($upTo is null or block_number <= $upTo)
     order by nonce desc limit 1
   ) r
   order by r.block_number desc limit 1`,
)
