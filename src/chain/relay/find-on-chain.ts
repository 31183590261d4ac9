/** Searches the chain for commits before they are signed again, because node or database may lack transactions. */
import { arrayOf, int, numeric, orNull, type RowOf, smallint, statement, text, timestamp, uuid } from '../../db/sql.ts'
import { unavailable } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import { isCommitLog } from '../registry/abi.ts'
import type { ChainCommit, Registry } from '../registry/registry.ts'
import { feeOf, hasSucceeded, type LogReply, type ReceiptReply, readTransaction } from '../rpc.ts'
import { readView } from '../view.ts'
import { findLastNonce, pinTreesSql, transactionsOfSql } from './relay.sql.ts'
import type { ReadHistory, RelayParts } from './relay-parts.ts'

type SearchParts = Pick<
  RelayParts,
  'database' | 'lease' | 'rpc' | 'log' | 'readHistory' | 'recorders' | 'confirmations' | 'followLane'
>

export const withHistoryCache = <Parts extends SearchParts>(parts: Parts): Parts => {
  const histories = new Map<string, ReturnType<ReadHistory>>()
  const readHistory: ReadHistory = (nid) => {
    const history = histories.get(nid) ?? parts.readHistory(nid)
    histories.set(nid, history)
    return history
  }
  return { ...parts, readHistory }
}

const matchesCommit = ({ tree_cid, created_at, committer_address }: WantedCommit, { commitData }: ChainCommit) =>
  commitData?.assetTreeCid === tree_cid &&
  commitData.timestampCreated === Math.floor(created_at.getTime() / 1000) &&
  commitData.committer === committer_address

export const findCommitEvents = async (parts: SearchParts, commitIds: readonly string[]) => {
  const { readHistory } = withHistoryCache(parts)
  const found = new Map<string, ChainCommit>()
  const unread = new Set<string>()
  const used = new Set<ChainCommit>()
  for (const wanted of await parts.database.query(findWantedCommits, { commits: commitIds })) {
    const commits = await readHistory(wanted.nid)
    if (!commits) {
      unread.add(wanted.commit_id)
      continue
    }
    const events = commits.filter((event) => parts.recorders.has(event.recorder) && matchesCommit(wanted, event))
    if (events.length === 0) continue
    const hashes = events.map(({ transactionHash }) => transactionHash)
    const foreign = await parts.database.query(findForeign, { hashes, commit: wanted.commit_id })
    const theirs = new Map(foreign.map(({ hash, commits }) => [hash, commits]))
    const own = events.find((event, index) => {
      const before = events.slice(0, index).filter(({ transactionHash }) => transactionHash === event.transactionHash)
      return before.length >= (theirs.get(event.transactionHash) ?? 0) && !used.has(event)
    })
    if (!own) continue
    used.add(own)
    found.set(wanted.commit_id, own)
  }
  return { found, unread }
}

/** Marks unsigned commits that the chain has with enough confirmations. The caller must hold the lease. */
export const markFoundCommits = async (parts: SearchParts, leaseName: string, head: number, ids: readonly string[]) => {
  const { found, unread } = await findCommitEvents(parts, ids)
  const marked = new Set<string>()
  for (const [commit, event] of found) {
    if (head - event.blockNumber < parts.confirmations) continue
    const { transactionHash: hash, blockNumber, blockHash, recorder: lane } = event
    const { transaction, receipt } = await readTransaction(parts.rpc, hash)
    // Reading a long history takes many steps, so check for a reorganization meanwhile.
    if (transaction?.blockHash !== blockHash || receipt?.blockHash !== blockHash) continue
    const position = commitLogsOf(receipt).findIndex(({ logIndex }) => Number(logIndex) === event.logIndex)
    const cost = costsOf(receipt)[position]
    if (!cost) continue
    const fields = { commit: toId('commit', commit), transaction: hash }
    parts.log.warn(fields, 'Commit is on the chain already; it is not signed again')
    await parts.lease.write(leaseName, markFound, {
      ...{ commit, lane, nonce: Number(transaction.nonce), position, hash, blockNumber, blockHash },
      ...{ gas: cost.gas, fee: String(cost.fee), signature: event.commitData?.assetTreeSignature ?? null },
    })
    parts.followLane(lane)
    marked.add(commit)
  }
  return { found, unread, marked }
}

/** Marks a commit that the chain has. Returns false if the chain does not have it. Throws UNAVAILABLE if uncertain. */
export const reconcileFromChain = async (parts: SearchParts, leaseName: string, commitId: string): Promise<boolean> => {
  const recorders = [...parts.recorders]
  const { head, counts, pendingCounts } = await readView(parts.rpc, recorders)
  const { found, unread, marked } = await markFoundCommits(parts, leaseName, head.number, [commitId])
  if (marked.has(commitId)) return true
  const notYet = (why: string) => unavailable('The chain', new Error(why))
  if (unread.has(commitId)) throw notYet('The long history of the asset is still being read.')
  if (found.has(commitId)) throw notYet('The block of the commit does not have enough confirmations yet.')
  for (const account of recorders) {
    const [last] = await parts.database.query(findLastNonce, { lane: account })
    const known = Math.max(counts.get(account) ?? 0, (last?.nonce ?? -1) + 1)
    const pending = pendingCounts.get(account) ?? 0
    if (Number.isFinite(pending) && pending > known)
      throw notYet(`Pending transactions of ${account} are not in the database.`)
  }
  return false
}

/** A commit's share of the cost of its transaction. The fee is in wei. */
export type Cost = { gas: number; fee: bigint }

/** Returns the commit events of a transaction, in order. A failed or a foreign transaction has no commit events. */
const commitLogsOf = (receipt: ReceiptReply): LogReply[] =>
  hasSucceeded(receipt) ? receipt.logs.filter(isCommitLog) : []

/** Splits gas and fee of a transaction among its commits, by the size of their events. */
export const costsOf = (receipt: ReceiptReply): Cost[] => {
  const sizes = commitLogsOf(receipt).map(({ data }) => BigInt(data.length))
  const gas = splitByWeight(BigInt(receipt.gasUsed ?? '0x0'), sizes)
  const fees = splitByWeight(feeOf(receipt), sizes)
  return sizes.map((_, index) => ({ gas: Number(gas[index]), fee: fees[index]! }))
}

const splitByWeight = (amount: bigint, weights: readonly bigint[]): bigint[] => {
  const whole = weights.reduce((sum, weight) => sum + weight, 0n)
  let before = 0n
  return weights.map((weight) => {
    const used = (amount * before) / whole
    before += weight
    return (amount * before) / whole - used
  })
}

const PAGES_AT_ONCE = 4
/** Maximum number of assets whose reading position is cached. The oldest position is dropped first. */
const MEMORY = 1_000

/** Creates a reader of our accounts' commits. Each call reads a few pages after the position of the previous call. */
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
          if (done) {
            reading.delete(nid)
            return found
          }
          for (const commit of value) found.push(commit)
        }
        return undefined
      } catch (error) {
        reading.delete(nid)
        throw error
      }
    }
}

const wantedColumns = { commit_id: uuid, nid: text, tree_cid: text, created_at: timestamp, committer_address: text }
type WantedCommit = RowOf<typeof wantedColumns>

const findWantedCommits = statement(
  'relay_sought',
  { parameters: { commits: arrayOf(uuid) }, columns: wantedColumns },
  `select c.id as commit_id, a.nid, c.tree_cid, c.created_at, w.address as committer_address
   from commits c join assets a on a.id = c.asset_id join wallets w on w.user_id = c.author_id
   where c.id = any ($commits) order by c.id`,
)

/** Counts other commits with the same content in each transaction. They own as many of its events. */
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

/** Marks a commit that was found on the chain as included. Pins its tree, because the commit was not prepared. */
const markFound = statement(
  'relay_mark_found',
  {
    parameters: {
      ...{ commit: uuid, lane: text, nonce: int, position: smallint, hash: text, blockNumber: int, blockHash: text },
      ...{ gas: int, fee: numeric, signature: orNull(text) },
    },
  },
  `with included_relay as (
     update commit_relays set status = 'INCLUDED', lane = $lane, nonce = $nonce, position = $position, transaction_hash = $hash,
       block_number = $blockNumber, block_hash = $blockHash, gas_used = $gas, fee_paid = $fee, tree_signature = coalesce(tree_signature, $signature),
       last_error = null, updated_at = now()
     where commit_id = $commit and status = 'PENDING' and lane is null returning commit_id
   )
   ${pinTreesSql('included_relay')}`,
)
