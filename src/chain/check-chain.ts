/** Compares the database with the chain, for `annal check`. Writes nothing. */

import type { Database } from '../db/database-types.ts'
import { arrayOf, float, int, orNull, statement, text, uuid } from '../db/sql.ts'
import { keysetPages } from '../shared/async.ts'
import { NIL_UUID, toId } from '../shared/ids.ts'
import type { ChainCommit, Registry } from './registry/registry.ts'
import { commitStatus, transactionsOfSql } from './relay/relay.sql.ts'
import type { ReceiptReply } from './rpc.ts'

/** `created_at`: Unix seconds. `hashes`: all transactions that this installation signed for the commit. */
const commitColumns = {
  ...{ commit_id: uuid, nid: text, status: commitStatus, tree_cid: text, created_at: float, committer: text },
  ...{ transaction_hash: orNull(text), hashes: arrayOf(text) },
}

const findCommits = statement(
  'check_chain_commits',
  { parameters: { after: uuid, limit: int }, columns: commitColumns },
  `select c.id as commit_id, a.nid, r.status, c.tree_cid, floor(extract(epoch from c.created_at))::float8 as created_at,
     w.address as committer, r.transaction_hash,
     array(select hash from ${transactionsOfSql('c.id')} t) as hashes
   from commit_relays r join commits c on c.id = r.commit_id join assets a on a.id = c.asset_id
     join wallets w on w.user_id = c.author_id
   where c.id > $after order by c.id limit $limit`,
)
const findFirstBlock = statement(
  'check_chain_first',
  { columns: { block: orNull(int) } },
  'select min(block_number) as block from commit_relays where block_number is not null',
)

export interface ChainCheck {
  database: Database
  registry: Registry
  /** Addresses of this installation's relay accounts, current and earlier. Events of other accounts are ignored. */
  recorders: readonly string[]
  most: number
}

export type ChainFinding = { id: string; sentence: string; rows: object[]; isNote: boolean }

const sentences = {
  H1: 'Every commit that counts as included or final is on the chain.',
  H2: 'No commit is on the chain twice.',
  H3: 'No refunded commit is on the chain.',
  H4: 'The database has every commit that our relay accounts wrote to the chain. After a restore, commits since the backup are missing.',
} as const
type Id = keyof typeof sentences

/** Returns the key that identifies a commit on the chain. Two commits created in the same second can share it. */
const commitKey = (tree: string, time: number, committer: string) => `${tree} ${time} ${committer}`

export async function checkChain(check: ChainCheck): Promise<ChainFinding[]> {
  const { database, registry, recorders } = check
  const found: Record<Id, object[]> = { H1: [], H2: [], H3: [], H4: [] }
  const add = (id: Id, row: object) => void (found[id].length < check.most && found[id].push(row))
  // Read the chain before the database: every commit is stored before it is sent, so no event can lack its commit.
  const [first] = await database.query(findFirstBlock)
  const events: ChainCommit[] = []
  for await (const event of registry.readAll(recorders, first?.block ?? 0)) events.push(event)
  const byHash = Map.groupBy(events, ({ transactionHash }) => transactionHash)
  const eventsByKey = Map.groupBy(events, eventKey)
  const known = new Map<string, number>()
  const ours = new Set<ChainCommit>()
  const failed: { commit: string; nid: string; key: string; signed: string[] }[] = []

  const pages = keysetPages({
    ...{ first: NIL_UUID, limit: 1_000 },
    read: (after, limit) => database.query(findCommits, { after, limit }),
    keyOf: ({ commit_id }) => commit_id,
  })
  for await (const rows of pages)
    for (const row of rows) {
      const key = commitKey(row.tree_cid, row.created_at, row.committer)
      known.set(key, (known.get(key) ?? 0) + 1)
      const hashes = [...row.hashes, ...(row.transaction_hash ? [row.transaction_hash] : [])]
      const own = hashes.flatMap((hash) => eventsOf(byHash.get(hash) ?? [], key))
      for (const event of own) ours.add(event)
      const signed = own.map(({ transactionHash }) => transactionHash)
      const subject = { commit: toId('commit', row.commit_id), nid: row.nid }
      const transaction = row.transaction_hash!
      const isPlaced = row.status === 'INCLUDED' || row.status === 'FINAL'
      if (isPlaced && !signed.includes(transaction) && !(await isMined(check, transaction)))
        add('H1', { ...subject, transaction, problem: `The commit is ${row.status}, but the chain does not have it.` })
      if (row.status === 'FAILED') failed.push({ ...subject, key, signed })
    }
  for (const { key, signed, ...subject } of failed) {
    const transaction = signed[0] ?? eventsByKey.get(key)?.find((event) => !ours.has(event))?.transactionHash
    if (transaction) add('H3', { ...subject, transaction, problem: 'The commit was refunded, but it is on the chain.' })
  }
  for (const [key, same] of eventsByKey) {
    const wanted = known.get(key) ?? 0
    const transactions = same.map(({ transactionHash }) => transactionHash)
    if (wanted > 0 && same.length > wanted)
      add('H2', { transactions, problem: `The chain has ${same.length} events for ${wanted} commits.` })
    if (wanted > 0) continue
    for (const event of same) if (!ours.has(event)) add('H4', describeUnknown(event))
  }
  // H4 is only a note: commits on the chain cannot be removed, and additional commits do no harm.
  return (Object.keys(sentences) as Id[]).map((id) => ({
    ...{ id, sentence: sentences[id], rows: found[id], isNote: id === 'H4' },
  }))
}

/** Returns the events of a transaction that belong to a commit: the events with its key, or else the only event. */
const eventsOf = (events: readonly ChainCommit[], key: string) =>
  events.length === 1 ? events : events.filter((event) => eventKey(event) === key)

const eventKey = ({ commitData: data, transactionHash }: ChainCommit) =>
  data ? commitKey(data.assetTreeCid, data.timestampCreated, data.committer) : transactionHash

const describeUnknown = ({ transactionHash: transaction, blockNumber: block, commitData }: ChainCommit) => ({
  transaction,
  block,
  ...(commitData && {
    tree: commitData.assetTreeCid,
    committer: commitData.committer,
    at: new Date(commitData.timestampCreated * 1_000).toISOString(),
    about: commitData.actionResult,
  }),
})

/** Returns true if a transaction is on the chain. A block may include it after its block range was read. */
async function isMined({ registry }: ChainCheck, hash: string): Promise<boolean> {
  const receipt = await registry.rpc.call<ReceiptReply | null>('eth_getTransactionReceipt', hash)
  return receipt !== null && receipt.logs.length > 0
}
