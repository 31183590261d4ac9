/**
 * What the lanes read and write. A commit without a lane is unsigned; one with a lane has its bytes stored. The
 * conditions on status and lane are written as the partial indexes `commit_relays_ready_idx` and
 * `commit_relays_open_idx` have them: what is settled, which is nearly everything, is never looked at.
 */
import {
  arrayOf,
  boolean,
  bytes,
  float,
  int,
  numeric,
  orNull,
  type RowOf,
  statement,
  text,
  textOf,
  timestamp,
  uuid,
} from '../domain/sql.ts'
import { predecessorSql } from './relay-prepare-statements.ts'

/** The order makes the planner go by the indexes, also while its statistics are stale. */
export const hasOpenCommits = statement(
  'relay_has_open',
  { columns: { open: boolean } },
  `select (
       select commit_id from commit_relays where status = 'PENDING' and lane is null and tree_signature is not null
       order by commit_id limit 1
     ) is not null
     or (
       select lane from commit_relays where status in ('PENDING', 'BROADCAST', 'INCLUDED') and lane is not null
       order by lane, nonce limit 1
     ) is not null as open`,
)

/** Lanes that still carry something, also those whose key is no longer configured. */
export const findOpenLanes = statement(
  'relay_open_lanes',
  { columns: { lane: text } },
  `select distinct lane from commit_relays
   where status in ('PENDING', 'BROADCAST', 'INCLUDED') and lane is not null`,
)

const candidateColumns = {
  commit_id: uuid,
  nid: text,
  sequence: int,
  message: text,
  tree_cid: text,
  tree_sha256: text,
  created_at: timestamp,
  tree_signature: text,
  trace: orNull(text),
  creator_address: text,
  committer_address: text,
  /** It was accepted before the chain was seen to be ahead of the database: it may be there already. */
  doubtful: boolean,
  /** Set while the commit before this one is itself unsigned. */
  unsigned_predecessor: orNull(uuid),
}

/** A commit that may be signed, with all that its description needs. */
export type CandidateRow = RowOf<typeof candidateColumns>

/**
 * Commits of a lane that are ready, oldest first; `index` is the lane's among so many `lanes`. A commit whose predecessor is
 * on its way in another lane waits until that one is in the chain.
 */
export const findCandidates = statement(
  'relay_candidates',
  { parameters: { lane: text, index: int, lanes: int, limit: int }, columns: candidateColumns },
  `select c.id as commit_id, a.nid, c.sequence, c.message, c.tree_cid, c.tree_sha256, c.created_at, r.tree_signature, r.trace,
     creator.address as creator_address, committer.address as committer_address,
     case when pr.status = 'PENDING' and pr.lane is null then pr.commit_id end as unsigned_predecessor,
     c.created_at <= coalesce((select value::timestamptz from settings where key = 'relay:ahead'), '-infinity') as doubtful
   from commit_relays r
     join commits c on c.id = r.commit_id
     join assets a on a.id = c.asset_id
     join wallets creator on creator.user_id = a.creator_id
     join wallets committer on committer.user_id = c.author_id
     ${predecessorSql}
   where r.status = 'PENDING' and r.lane is null and r.tree_signature is not null
     and (hashtextextended(a.nid, 0) & 9223372036854775807) % $lanes = $index
     and (pr.commit_id is null or pr.lane is null or pr.lane = $lane or pr.status in ('INCLUDED', 'FINAL', 'FAILED'))
   order by r.commit_id
   limit $limit`,
)

/** The highest nonce ever taken on a lane. */
export const findLastNonce = statement(
  'relay_last_nonce',
  { parameters: { lane: text }, columns: { nonce: orNull(int) } },
  'select max(nonce) as nonce from commit_relays where lane = $lane',
)

/** Transactions of a lane, one in each place; `fees` and `tips` in wei. */
const transactions = {
  lane: text,
  commits: arrayOf(uuid),
  nonces: arrayOf(int),
  hashes: arrayOf(text),
  raws: arrayOf(bytes),
  fees: arrayOf(numeric),
  tips: arrayOf(numeric),
}
const itemSql = `item as (
     select * from unnest($commits, $nonces, $hashes, $raws, $fees, $tips)
       as t (commit_id, nonce, hash, raw, fee, tip)
   )`
/** The transactions of the commits that the part `signed_relays` holds. */
const storeTransactionsSql = `insert into chain_transactions (hash, commit_id, raw, max_fee_per_gas, max_priority_fee_per_gas)
   select item.hash, item.commit_id, item.raw, item.fee, item.tip from item join signed_relays using (commit_id)
   returning commit_id`

/** Takes nonces. Returns what was taken. */
export const storeSigned = statement(
  'relay_store_signed',
  { parameters: transactions, columns: { commit_id: uuid } },
  `with ${itemSql},
   signed_relays as (
     update commit_relays r set lane = $lane, nonce = item.nonce, transaction_hash = item.hash, updated_at = now()
     from item where r.commit_id = item.commit_id and r.status = 'PENDING' and r.lane is null
     returning r.commit_id
   )
   ${storeTransactionsSql}`,
)

/** The same nonces with higher fees. A commit that was settled meanwhile is left alone. */
export const storeReplaced = statement(
  'relay_store_replaced',
  { parameters: transactions, columns: { commit_id: uuid } },
  `with ${itemSql},
   signed_relays as (
     update commit_relays r set transaction_hash = item.hash, updated_at = now()
     from item
     where r.commit_id = item.commit_id and r.lane = $lane and r.nonce = item.nonce and r.status in ('PENDING', 'BROADCAST')
     returning r.commit_id
   )
   ${storeTransactionsSql}`,
)

const inFlightColumns = {
  commit_id: uuid,
  status: textOf<'PENDING' | 'BROADCAST'>('commit_status'),
  nonce: int,
  /** Of the newest transaction. */
  hash: text,
  /** Of every transaction ever signed for the commit. */
  hashes: arrayOf(text),
  max_fee_per_gas: numeric,
  max_priority_fee_per_gas: numeric,
  /** Seconds since the newest transaction was signed, on the database's clock. */
  age: float,
  trace: orNull(text),
}

/** A commit that is signed and not in the chain. */
export type InFlightRow = RowOf<typeof inFlightColumns>

/** What is signed and not in the chain, in the order of nonces. */
export const findInFlight = statement(
  'relay_in_flight',
  { parameters: { lane: text }, columns: inFlightColumns },
  `select r.commit_id, r.status, r.nonce, r.transaction_hash as hash, t.hashes, t.max_fee_per_gas,
     t.max_priority_fee_per_gas, t.age, r.trace
   from commit_relays r, lateral (
     select array_agg(hash) as hashes, max(max_fee_per_gas) as max_fee_per_gas,
       max(max_priority_fee_per_gas) as max_priority_fee_per_gas,
       extract(epoch from now() - max(created_at))::float8 as age
     from chain_transactions where commit_id = r.commit_id
   ) t
   where r.status in ('PENDING', 'BROADCAST', 'INCLUDED') and r.status <> 'INCLUDED' and r.lane = $lane
   order by r.nonce
   limit 256`,
)

/** The stored bytes of transactions. */
export const findRaw = statement(
  'relay_raw',
  { parameters: { hashes: arrayOf(text) }, columns: { hash: text, commit_id: uuid, raw: bytes } },
  'select hash, commit_id, raw from chain_transactions where hash = any ($hashes)',
)

/** All transactions that were ever signed for a commit. */
export const findSigned = statement(
  'relay_signed',
  { parameters: { commit: uuid }, columns: { hash: text, raw: bytes } },
  'select hash, raw from chain_transactions where commit_id = $commit',
)

/** Commits whose bytes a node has taken. */
export const markBroadcast = statement(
  'relay_broadcast',
  { parameters: { commits: arrayOf(uuid) } },
  `update commit_relays set status = 'BROADCAST', updated_at = now()
   where commit_id = any ($commits) and status = 'PENDING' and lane is not null`,
)

/** The chain is ahead of the database: what was accepted until now is looked for there before it is signed. */
export const rememberAhead = statement(
  'relay_ahead',
  {},
  `insert into settings (key, value) values ('relay:ahead', clock_timestamp()::text)
   on conflict (key) do update set value = excluded.value`,
)
