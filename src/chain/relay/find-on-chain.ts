/**
 * Asks the chain itself what became of a commit, before anything is signed for it once more: a receipt may be missing at a
 * node that is behind, and a database may have been restored from before the commit was sent.
 */
import { arrayOf, int, type RowOf, statement, text, timestamp, uuid } from '../../db/sql.ts'
import { unavailable } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import { isCommitLog } from '../registry/abi.ts'
import type { ChainCommit, Registry } from '../registry/registry.ts'
import { feeOf, hasSucceeded, type LogReply, type ReceiptReply, type TransactionReply } from '../replies.ts'
import { resultOf } from '../rpc.ts'
import { readView } from '../view.ts'
import { markFound } from './follow-commits.sql.ts'
import { findLastNonce, transactionsOfSql } from './relay.sql.ts'
import type { ReadHistory, RelayParts } from './relay-parts.ts'

/** What seeking needs, which is there before any lane is. */
export type SeekParts = Pick<
  RelayParts,
  'database' | 'lease' | 'rpc' | 'log' | 'readHistory' | 'recorders' | 'confirmations' | 'followLane'
>

const soughtColumns = { commit_id: uuid, nid: text, tree_cid: text, created_at: timestamp, committer_address: text }
/** A commit as the database has it. */
type Sought = RowOf<typeof soughtColumns>

/** What the chain tells of these commits, if it has them. */
const findSought = statement(
  'relay_sought',
  { parameters: { commits: arrayOf(uuid) }, columns: soughtColumns },
  `select c.id as commit_id, a.nid, c.tree_cid, c.created_at, w.address as committer_address
   from commits c join assets a on a.id = c.asset_id join wallets w on w.user_id = c.author_id
   where c.id = any ($commits) order by c.id`,
)

/**
 * How many other commits that tell the very same are in each of these transactions: as many of its events are theirs. A transaction of
 * a commit that tells something else has no event that tells this.
 */
const findForeign = statement(
  'relay_foreign',
  { parameters: { hashes: arrayOf(text), commit: uuid }, columns: { hash: text, commits: int } },
  `select own.hash, count(distinct other.id)::int as commits
   from commits c join commits other on other.tree_cid = c.tree_cid and other.author_id = c.author_id and other.id <> c.id
     and date_trunc('second', other.created_at) = date_trunc('second', c.created_at)
     join assets a on a.id = c.asset_id join assets o on o.id = other.asset_id and o.nid = a.nid
     join commit_relays r on r.commit_id = other.id,
     lateral (
       select hash from ${transactionsOfSql('other.id')} t
       union select r.transaction_hash where r.transaction_hash is not null
     ) own
   where c.id = $commit and own.hash = any ($hashes)
   group by own.hash`,
)

const tellsOf = ({ tree_cid, created_at, committer_address }: Sought, { commitData }: ChainCommit) =>
  commitData?.assetTreeCid === tree_cid &&
  commitData.timestampCreated === Math.floor(created_at.getTime() / 1000) &&
  commitData.committer === committer_address

/** The same parts, which read the history of an asset once, however many of its commits are sought. */
export const readingOnce = <Parts extends SeekParts>(parts: Parts): Parts => {
  const histories = new Map<string, ReturnType<ReadHistory>>()
  const readHistory: ReadHistory = (nid) => {
    const history = histories.get(nid) ?? parts.readHistory(nid)
    histories.set(nid, history)
    return history
  }
  return { ...parts, readHistory }
}

/** What was found of the commits that were sought. */
export interface Sighting {
  /** By commit. */
  found: ReadonlyMap<string, ChainCommit>
  /** Commits whose histories are not read to their end: nothing is decided about these before they are. */
  unread: ReadonlySet<string>
}

/**
 * The events of these commits that one of our accounts wrote. Two commits may tell the very same (there and back within a
 * second), so as many events of a transaction as are other commits' do not count.
 */
export const seekCommits = async (parts: SeekParts, commitIds: readonly string[]): Promise<Sighting> => {
  const { readHistory } = readingOnce(parts)
  const found = new Map<string, ChainCommit>()
  const unread = new Set<string>()
  const taken = new Set<ChainCommit>()
  for (const sought of await parts.database.query(findSought, { commits: commitIds })) {
    const commits = await readHistory(sought.nid)
    if (!commits) {
      unread.add(sought.commit_id)
      continue
    }
    const events = commits.filter((event) => parts.recorders.has(event.recorder) && tellsOf(sought, event))
    if (events.length === 0) continue
    const hashes = events.map(({ transactionHash }) => transactionHash)
    const foreign = await parts.database.query(findForeign, { hashes, commit: sought.commit_id })
    const theirs = new Map(foreign.map(({ hash, commits }) => [hash, commits]))
    const own = events.find((event, index) => {
      const before = events.slice(0, index).filter(({ transactionHash }) => transactionHash === event.transactionHash)
      return before.length >= (theirs.get(event.transactionHash) ?? 0) && !taken.has(event)
    })
    if (!own) continue
    taken.add(own)
    found.set(sought.commit_id, own)
  }
  return { found, unread }
}

/**
 * Seeks unsigned commits on the chain, and takes down as included what lies there deep enough. Returns all that are there, and
 * those of which it is not known yet. It writes under the lease of that name, which is held.
 */
export const noteFound = async (
  parts: SeekParts,
  leaseName: string,
  headNumber: number,
  commitIds: readonly string[],
): Promise<Sighting & { noted: ReadonlySet<string> }> => {
  const { found, unread } = await seekCommits(parts, commitIds)
  const noted = new Set<string>()
  for (const [commitId, event] of found) {
    if (headNumber - event.blockNumber < parts.confirmations) continue
    const { transactionHash: hash, blockNumber, blockHash, recorder, commitData } = event
    const [transaction, receipt] = await readPlaced(parts, hash)
    // A long history is read over many steps: the chain may have changed since.
    if (transaction?.blockHash !== blockHash || receipt?.blockHash !== blockHash) continue
    const position = commitLogsOf(receipt).findIndex(({ logIndex }) => Number(logIndex) === event.logIndex)
    const cost = costsOf(receipt)[position]
    if (!cost) continue
    parts.log.warn(
      { commit: toId('commit', commitId), transaction: hash },
      'Commit is on the chain already; it is not signed again',
    )
    await parts.lease.write(leaseName, markFound, {
      ...{ commit: commitId, lane: recorder, nonce: Number(transaction.nonce), position, hash, blockNumber, blockHash },
      ...{ gas: cost.gas, fee: String(cost.fee) },
      signature: commitData?.assetTreeSignature ?? null,
    })
    parts.followLane(recorder)
    noted.add(commitId)
  }
  return { found, unread, noted }
}

/** A transaction with its receipt; null where the node has none. */
const readPlaced = async (
  { rpc }: SeekParts,
  hash: string,
): Promise<[TransactionReply | null, ReceiptReply | null]> => {
  const [transaction, receipt] = await rpc.batch([
    { method: 'eth_getTransactionByHash', params: [hash] },
    { method: 'eth_getTransactionReceipt', params: [hash] },
  ])
  return [resultOf<TransactionReply | null>(transaction), resultOf<ReceiptReply | null>(receipt)]
}

/**
 * Whether the chain has a commit that cannot be signed here; then it is taken down as included. Asked before such a commit is
 * refunded: a database that came back from a backup may not know that it was signed and sent. Raises UNAVAILABLE while the
 * chain cannot tell for good: it is away, the block is not deep enough, or something of ours waits in the pool.
 */
export const takeFromChain = async (parts: SeekParts, leaseName: string, commitId: string): Promise<boolean> => {
  const recorders = [...parts.recorders]
  const { head, counts, pendingCounts } = await readView(parts.rpc, recorders)
  const { found, unread, noted } = await noteFound(parts, leaseName, head.number, [commitId])
  if (noted.has(commitId)) return true
  const notYet = (why: string) => unavailable('The chain', new Error(why))
  if (unread.has(commitId)) throw notYet('the long history of the asset is still being read')
  if (found.has(commitId)) throw notYet('the block of the commit is not deep enough yet')
  for (const account of recorders) {
    const [last] = await parts.database.query(findLastNonce, { lane: account })
    const known = Math.max(counts.get(account) ?? 0, (last?.nonce ?? -1) + 1)
    const pending = pendingCounts.get(account) ?? 0
    if (Number.isFinite(pending) && pending > known)
      throw notYet(`transactions of ${account} that the database does not know wait to be included`)
  }
  return false
}

/** A commit's part of what its transaction cost. */
export interface Cost {
  gas: number
  /** Wei. */
  fee: bigint
}

/** The events of commits that a transaction left behind, in their order. None when it failed, or went where there is no registry. */
export const commitLogsOf = (receipt: ReceiptReply): LogReply[] =>
  hasSucceeded(receipt) ? receipt.logs.filter(isCommitLog) : []

/**
 * What each event of a transaction cost: gas and fee are shared by the bytes that the events carry. Each takes what all up to it
 * would cost together, rounded down, less what those before it took; so the shares sum to the whole, to the wei, and
 * anybody can work them out from the receipt.
 */
export const costsOf = (receipt: ReceiptReply): Cost[] => {
  const sizes = commitLogsOf(receipt).map(({ data }) => BigInt(data.length))
  const gas = shareOut(BigInt(receipt.gasUsed ?? '0x0'), sizes)
  const fees = shareOut(feeOf(receipt), sizes)
  return sizes.map((_, index) => ({ gas: Number(gas[index]), fee: fees[index]! }))
}

/** Shares an amount out by these weights, of which none is 0. */
const shareOut = (amount: bigint, weights: readonly bigint[]): bigint[] => {
  const whole = weights.reduce((sum, weight) => sum + weight, 0n)
  let before = 0n
  let taken = 0n
  return weights.map((weight) => {
    before += weight
    const share = (amount * before) / whole - taken
    taken += share
    return share
  })
}

/** Pages of one asset in one step of the relay; each is one question of the node. */
const PAGES_AT_ONCE = 4
/** Assets whose reading is remembered. One that is forgotten is read from its beginning again. */
const MEMORY = 1_000

/** Reads what our accounts wrote about assets, a few pages a step; asking again goes on where the last step ended. */
export const createHistories = (readOwn: Registry['readOwn']) => {
  const reading = new Map<string, { pages: AsyncIterator<ChainCommit[]>; found: ChainCommit[] }>()

  const begin = (nid: string, recorders: ReadonlySet<string>) => {
    const begun = { pages: readOwn(nid, [...recorders])[Symbol.asyncIterator](), found: [] }
    reading.set(nid, begun)
    const [oldest] = reading.keys()
    if (reading.size > MEMORY && oldest !== undefined) reading.delete(oldest)
    return begun
  }

  return (recorders: ReadonlySet<string>): ReadHistory =>
    async (nid) => {
      const { pages, found } = reading.get(nid) ?? begin(nid, recorders)
      try {
        for (let page = 0; page < PAGES_AT_ONCE; page += 1) {
          const { value, done } = await pages.next()
          if (!done) for (const commit of value) found.push(commit)
          else {
            reading.delete(nid)
            return found
          }
        }
        return undefined
      } catch (error) {
        reading.delete(nid)
        throw error
      }
    }
}
