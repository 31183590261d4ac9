/**
 * Holds the database to the chain, for `annal check`: what one has and the other lacks, as after a restore that put together
 * what is not of one moment. The registry's events are read once, in ranges, and nothing is written.
 */

import type { Database } from '../db/database-types.ts'
import { arrayOf, float, int, orNull, type RowOf, statement, text, uuid } from '../db/sql.ts'
import { keysetPages } from '../shared/async.ts'
import { NIL_UUID, toId } from '../shared/ids.ts'
import type { ChainCommit, Registry } from './registry/registry.ts'
import { commitStatus } from './relay/commit-signer.sql.ts'
import { transactionsOfSql } from './relay/relay.sql.ts'
import type { ReceiptReply } from './replies.ts'

const commitColumns = {
  commit_id: uuid,
  nid: text,
  status: commitStatus,
  tree_cid: text,
  /** Unix seconds. */
  created_at: float,
  committer: text,
  transaction_hash: orNull(text),
  /** Of everything that was ever signed for it here. */
  hashes: arrayOf(text),
}

/** All commits by their identifiers, a page at a time. */
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
/** The first block that is known to hold a commit. */
const findFirstBlock = statement(
  'check_chain_first',
  { columns: { block: orNull(int) } },
  'select min(block_number) as block from commit_relays where block_number is not null',
)
const COMMITS_PAGE = 1_000

/** What is held to each other, and how much of what differs is told. */
export interface ChainCheck {
  database: Database
  registry: Registry
  /** Accounts that are or were ours. What others wrote into the registry is not our concern. */
  recorders: readonly string[]
  /** Rows of one kind at most. */
  most: number
}

/** What contradicts one sentence; no rows when it holds. */
export interface ChainFinding {
  id: string
  sentence: string
  rows: object[]
  /** Worth knowing, and nothing is wrong. */
  isNote: boolean
}

const sentences = {
  H1: 'Every commit that counts as included or final is on the chain.',
  H2: 'No commit is on the chain twice.',
  H3: 'No commit was refunded that is on the chain.',
  H4: 'The chain has no commit of ours that the database does not know. After a restore: what was made since the backup.',
} as const
type Id = keyof typeof sentences

/** What tells commits apart on the chain: two of one second may be told alike. */
const tellOf = (tree: string, time: number, committer: string) => `${tree} ${time} ${committer}`

/**
 * Reads the registry's events of our accounts and every deposit in the books, and tells what one side lacks, with `most`
 * rows of each kind. Raises UNAVAILABLE when the chain does not answer.
 */
export async function checkChain(check: ChainCheck): Promise<ChainFinding[]> {
  const found: Record<Id, object[]> = { H1: [], H2: [], H3: [], H4: [] }
  const add = (id: Id, row: object) => void (found[id].length < check.most && found[id].push(row))
  // Before the database: what is stored is stored before it is sent.
  const events = await readOurEvents(check)
  const byHash = Map.groupBy(events, ({ transactionHash }) => transactionHash)
  const byTell = Map.groupBy(events, tellOfEvent)
  const known = new Map<string, number>()
  const ours = new Set<ChainCommit>()
  const failed: { commit: string; nid: string; tell: string; signed: string[] }[] = []

  for await (const row of commitsOf(check.database)) {
    const tell = tellOf(row.tree_cid, row.created_at, row.committer)
    known.set(tell, (known.get(tell) ?? 0) + 1)
    const hashes = [...row.hashes, ...(row.transaction_hash ? [row.transaction_hash] : [])]
    const own = hashes.flatMap((hash) => eventsOf(byHash.get(hash) ?? [], tell))
    for (const event of own) ours.add(event)
    const signed = own.map(({ transactionHash }) => transactionHash)
    const subject = { commit: toId('commit', row.commit_id), nid: row.nid }
    const isPlaced = row.status === 'INCLUDED' || row.status === 'FINAL'
    if (isPlaced && !signed.includes(row.transaction_hash!) && !(await isMined(check, row.transaction_hash!)))
      add('H1', {
        ...subject,
        transaction: row.transaction_hash,
        problem: `${row.status}, and the chain does not have it`,
      })
    if (row.status === 'FAILED') failed.push({ ...subject, tell, signed })
  }
  for (const { tell, signed, ...subject } of failed) {
    const transaction = signed[0] ?? byTell.get(tell)?.find((event) => !ours.has(event))?.transactionHash
    if (transaction) add('H3', { ...subject, transaction, problem: 'refunded, and on the chain' })
  }
  for (const [tell, same] of byTell) {
    const wanted = known.get(tell) ?? 0
    const transactions = same.map(({ transactionHash }) => transactionHash)
    if (wanted > 0 && same.length > wanted) add('H2', { transactions, problem: `${same.length} times for ${wanted}` })
    if (wanted > 0) continue
    for (const event of same) if (!ours.has(event)) add('H4', strangerOf(event))
  }
  // The chain cannot be made to forget what it has, and nothing is wrong with it.
  return (Object.keys(sentences) as Id[]).map((id) => ({
    ...{ id, sentence: sentences[id], rows: found[id], isNote: id === 'H4' },
  }))
}

/** Those of a transaction's events that are a commit's: what it tells, or the only one there is. */
const eventsOf = (events: readonly ChainCommit[], tell: string) =>
  events.length === 1 ? events : events.filter((event) => tellOfEvent(event) === tell)

const tellOfEvent = ({ commitData: data, transactionHash }: ChainCommit) =>
  data ? tellOf(data.assetTreeCid, data.timestampCreated, data.committer) : transactionHash

const strangerOf = ({ transactionHash: transaction, blockNumber: block, commitData }: ChainCommit) => ({
  transaction,
  block,
  ...(commitData && {
    tree: commitData.assetTreeCid,
    committer: commitData.committer,
    at: new Date(commitData.timestampCreated * 1_000).toISOString(),
    about: commitData.actionResult,
  }),
})

async function* commitsOf(database: Database): AsyncGenerator<RowOf<typeof commitColumns>> {
  const pages = keysetPages({
    first: NIL_UUID,
    limit: COMMITS_PAGE,
    read: (after, limit) => database.query(findCommits, { after, limit }),
    keyOf: ({ commit_id }) => commit_id,
  })
  for await (const rows of pages) yield* rows
}

async function readOurEvents({ database, registry, recorders }: ChainCheck): Promise<ChainCommit[]> {
  const [first] = await database.query(findFirstBlock)
  const events: ChainCommit[] = []
  for await (const event of registry.readAll(recorders, first?.block ?? 0)) events.push(event)
  return events
}

/** Asked of what the ranges did not show: it may have been included while they were read. */
async function isMined({ registry }: ChainCheck, hash: string): Promise<boolean> {
  const receipt = await registry.rpc.call<ReceiptReply | null>('eth_getTransactionReceipt', hash)
  return receipt !== null && receipt.logs.length > 0
}
