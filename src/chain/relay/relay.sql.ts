/** SQL that several modules of the relay share. Conditions must match the partial indexes of `commit_relays`. */
import { keyValueKeys } from '../../db/key-value-store.ts'
import type { RowOf } from '../../db/sql.ts'
import {
  arrayOf,
  boolean,
  bytes,
  float,
  int,
  numeric,
  orNull,
  smallint,
  statement,
  text,
  textOf,
  timestamp,
  uuid,
} from '../../db/sql.ts'
import { openRelaysSql } from '../../modules/commits/commits.sql.ts'

export const commitStatus = textOf<'PENDING' | 'BROADCAST' | 'INCLUDED' | 'FINAL' | 'FAILED'>('commit_status')

/**
 * SQL that joins the predecessor of commit `c` of asset `a`. For a registration, that is the last commit of the last
 * deleted asset with the same file.
 */
export const predecessorSql = `
  left join lateral (
    select p.id from commits p where p.asset_id = c.asset_id and p.sequence = c.sequence - 1
    union all (
      select e.head_commit_id from assets e
      where c.sequence = 1 and e.nid = a.nid and e.id <> a.id and e.deleted_at < coalesce(a.deleted_at, 'infinity')
      order by e.deleted_at desc limit 1
    )
  ) before on true
  left join commit_relays pr on pr.commit_id = before.id`

/** SQL that pins the trees of the commits in the CTE `from`, so the content store keeps them. */
export const pinTreesSql = (from: string) => `
   insert into pins (cid, asset_id, kind)
   select c.tree_cid, c.asset_id, 'TREE'
   from ${from} join commits c on c.id = ${from}.commit_id join assets a on a.id = c.asset_id
   where a.deleted_at is null
   on conflict do nothing`

/** SQL for all transactions that were ever signed for a commit, with the commit's position in each. */
export const transactionsOfSql = (commit: string) => `(
     select hash, 0::smallint as position from chain_transactions where commit_id = ${commit}
     union all select hash, position from chain_transaction_members where commit_id = ${commit})`

export const blockColumns = { commit_id: uuid, nonce: int, block_number: int, block_hash: text }
export type BlockRow = RowOf<typeof blockColumns>

/** Returns true if any commit is ready or pending. `order by` makes the planner use indexes despite old statistics. */
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

export const findOpenLanes = statement(
  'relay_open_lanes',
  { columns: { lane: text } },
  `select distinct lane from commit_relays where status in ('PENDING', 'BROADCAST', 'INCLUDED') and lane is not null`,
)

/** Returns the accounts that ever sent a commit. Skips through the index, because `distinct` would read all rows. */
export const findAllLanes = statement(
  'relay_all_lanes',
  { columns: { lane: text } },
  `with recursive known as (
     (select lane from commit_relays where lane is not null order by lane, nonce limit 1)
     union all
     select next.lane from known, lateral (
       select r.lane from commit_relays r where r.lane > known.lane order by r.lane, r.nonce limit 1
     ) next
   )
   select lane from known order by lane`,
)

export const candidateColumns = {
  ...{ id: uuid, nid: text, sequence: int, message: text, treeCid: text, treeSha256: text, treeSignature: text },
  ...{ createdAt: timestamp, creatorAddress: text, committerAddress: text, trace: orNull(text) },
  /** True if the chain may have the commit, because it is older than the time at which the chain was ahead. */
  doubtful: boolean,
  /** ID of the asset's previous commit, if that commit is unsigned. */
  unsignedPredecessor: orNull(uuid),
  /** True if a transaction of the commit had no effect. The next one contains no other commits that could fail. */
  goesAlone: boolean,
}

/** Returns the ready commits of a lane, oldest first, unless a predecessor is pending in another lane. */
export const findCandidates = statement(
  'relay_candidates',
  { parameters: { lane: text, index: int, lanes: int, limit: int }, columns: candidateColumns },
  `select c.id, a.nid, c.sequence, c.message, c.tree_cid as "treeCid", c.tree_sha256 as "treeSha256",
     r.tree_signature as "treeSignature", c.created_at as "createdAt", creator.address as "creatorAddress",
     committer.address as "committerAddress", r.trace,
     case when pr.status = 'PENDING' and pr.lane is null then pr.commit_id end as "unsignedPredecessor",
     exists (select from ${transactionsOfSql('c.id')} t) as "goesAlone",
     c.created_at <= coalesce(
       (select value::timestamptz from key_values where key = '${keyValueKeys.relayAhead}'), '-infinity') as doubtful
   from commit_relays r
     join commits c on c.id = r.commit_id join assets a on a.id = c.asset_id
     join wallets creator on creator.user_id = a.creator_id join wallets committer on committer.user_id = c.author_id
     ${predecessorSql}
   where r.status = 'PENDING' and r.lane is null and r.tree_signature is not null
     and (hashtextextended(a.nid, 0) & 9223372036854775807) % $lanes = $index
     and (pr.commit_id is null or pr.lane is null or pr.lane = $lane or pr.status in ('INCLUDED', 'FINAL', 'FAILED'))
   order by r.commit_id limit $limit`,
)

export const findLastNonce = statement(
  'relay_last_nonce',
  { parameters: { lane: text }, columns: { nonce: orNull(int) } },
  'select max(nonce) as nonce from commit_relays where lane = $lane',
)

/** Parameters for transactions of a lane. The arrays are parallel. `fees` and `tips` are in wei. */
const transactions = {
  ...{ lane: text, nonces: arrayOf(int), hashes: arrayOf(text), raws: arrayOf(bytes) },
  ...{ fees: arrayOf(numeric), tips: arrayOf(numeric) },
}

const signedSql = `signed as (
     select * from unnest($nonces, $hashes, $raws, $fees, $tips) as t (nonce, hash, raw, fee, tip)
   )`

/** SQL that stores the transactions of the CTE `signed` for the commits of the CTE `signed_relays`. */
const storeTransactionsSql = `inserted_transactions as (
     insert into chain_transactions (hash, commit_id, raw, max_fee_per_gas, max_priority_fee_per_gas)
     select signed.hash, signed_relays.commit_id, signed.raw, signed.fee, signed.tip
     from signed join signed_relays using (nonce) where signed_relays.position = 0
   ),
   inserted_members as (
     insert into chain_transaction_members (commit_id, hash, position)
     select signed_relays.commit_id, signed.hash, signed_relays.position
     from signed join signed_relays using (nonce) where signed_relays.position > 0
   )`

/** Assigns nonces to commits and stores their transactions. The lists of commits are parallel. */
export const storeSigned = statement(
  'relay_store_signed',
  {
    parameters: { ...transactions, commits: arrayOf(uuid), commitNonces: arrayOf(int), positions: arrayOf(smallint) },
    columns: { commit_id: uuid },
  },
  `with ${signedSql},
   signed_relays as (
     update commit_relays r set lane = $lane, nonce = item.nonce, position = item.position, transaction_hash = signed.hash,
       updated_at = now()
     from unnest($commits, $commitNonces, $positions) as item (commit_id, nonce, position) join signed using (nonce)
     where r.commit_id = item.commit_id and r.status = 'PENDING' and r.lane is null
     returning r.commit_id, r.nonce, r.position
   ),
   ${storeTransactionsSql}
   select commit_id from signed_relays`,
)

/** Stores replacement transactions with higher fees, unless a commit is no longer pending. Returns the stored ones. */
export const storeReplaced = statement(
  'relay_store_replaced',
  { parameters: transactions, columns: { hash: text } },
  `with ${signedSql},
   waiting as (
     select nonce from commit_relays where lane = $lane and nonce = any ($nonces)
     group by nonce having bool_and(status in ('PENDING', 'BROADCAST'))
   ),
   signed_relays as (
     update commit_relays r set transaction_hash = signed.hash, updated_at = now()
     from waiting join signed using (nonce)
     where r.lane = $lane and r.nonce = waiting.nonce and r.status in ('PENDING', 'BROADCAST')
     returning r.commit_id, r.nonce, r.position, r.transaction_hash as hash
   ),
   ${storeTransactionsSql}
   select hash from signed_relays where position = 0`,
)

const inFlightColumns = {
  /** `hash`: the newest transaction. `sent`: true if a node accepted it. `age`: seconds since it was signed. */
  ...{ nonce: int, hash: text, sent: boolean, age: float },
  /** Commits in the newest transaction, with their positions in it and their trace contexts. */
  ...{ commits: arrayOf(uuid), places: arrayOf(smallint), traces: arrayOf(orNull(text)) },
  /** All transactions of the first commit, its position in each transaction, and the highest fees in wei. */
  ...{ hashes: arrayOf(text), positions: arrayOf(smallint) },
  ...{ max_fee_per_gas: numeric, max_priority_fee_per_gas: numeric },
}

export type InFlightRow = RowOf<typeof inFlightColumns>

/** Returns the signed transactions of a lane that are not known to be in a block, by nonce. */
export const findInFlight = statement(
  'relay_in_flight',
  { parameters: { lane: text }, columns: inFlightColumns },
  `select r.*, t.*
   from (
     select nonce, max(transaction_hash) as hash, array_agg(commit_id order by position) as commits,
       array_agg(position order by position) as places, array_agg(trace order by position) as traces,
       bool_and(status = 'BROADCAST') as sent
     from commit_relays
     where status in ('PENDING', 'BROADCAST', 'INCLUDED') and status <> 'INCLUDED' and lane = $lane
     group by nonce order by nonce limit 256
   ) r, lateral (
     select array_agg(hash) as hashes, array_agg(own.position) as positions,
       max(max_fee_per_gas) as max_fee_per_gas, max(max_priority_fee_per_gas) as max_priority_fee_per_gas,
       extract(epoch from now() - max(created_at))::float8 as age
     from ${transactionsOfSql('r.commits[1]')} own join chain_transactions using (hash)
   ) t
   order by r.nonce`,
)

export const findRaw = statement(
  'relay_raw',
  { parameters: { hashes: arrayOf(text) }, columns: { hash: text, raw: bytes } },
  'select hash, raw from chain_transactions where hash = any ($hashes)',
)

/** Records that the chain is ahead of the database. Older commits are searched on the chain before they are signed. */
export const recordAhead = statement(
  'relay_ahead',
  {},
  `insert into key_values (key, value) values ('${keyValueKeys.relayAhead}', clock_timestamp()::text)
   on conflict (key) do update set value = excluded.value`,
)

export const findWaiting = statement(
  'relay_waiting',
  { columns: { commit_id: uuid, nid: text, attempts: int, next_attempt_at: timestamp, last_error: text } },
  `select r.commit_id, a.nid, r.attempts, r.next_attempt_at, r.last_error
   from commit_relays r join commits c on c.id = r.commit_id join assets a on a.id = c.asset_id
   where r.status = 'PENDING' and r.lane is null and r.tree_signature is null and r.last_error is not null
   order by r.attempts desc, r.commit_id limit 200`,
)

export const countByStatus = statement(
  'relay_count',
  { columns: { status: commitStatus, count: int, oldest: timestamp } },
  `select r.status, count(*)::int as count, min(c.created_at) as oldest
   from (${openRelaysSql} union all select commit_id, status from commit_relays where status = 'FAILED') r
     join commits c on c.id = r.commit_id group by r.status order by r.status`,
)

export const retryNow = statement(
  'relay_retry',
  { columns: { count: int } },
  `with updated_relays as (
     update commit_relays set next_attempt_at = date_trunc('milliseconds', now())
     where status = 'PENDING' and lane is null and tree_signature is null and next_attempt_at > now() returning 1
   ) select count(*)::int as count from updated_relays`,
)
