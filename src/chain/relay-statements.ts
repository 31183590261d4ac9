/**
 * What the lanes read and write. A commit without a lane is unsigned; one with a lane has its bytes stored. The
 * conditions on status and lane are written as the partial indexes `commit_relays_ready_idx` and
 * `commit_relays_open_idx` have them: what is settled, which is nearly everything, is never looked at.
 */
import { statement } from '../domain/ports.ts'
import { pinTreesSql, predecessorSql } from './relay-prepare-statements.ts'

/** The order makes the planner go by the indexes, also while its statistics are stale. */
export const hasOpenCommits = statement<{ open: boolean }>(
  'relay_has_open',
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
export const findOpenLanes = statement<{ lane: string }>(
  'relay_open_lanes',
  `select distinct lane from commit_relays
   where status in ('PENDING', 'BROADCAST', 'INCLUDED') and lane is not null`,
)

export interface CandidateRow {
  commit_id: string
  nid: string
  sequence: number
  message: string
  tree_cid: string
  tree_sha256: string
  created_at: Date
  tree_signature: string
  creator_address: string
  committer_address: string
  /** It was accepted before the chain was seen to be ahead of the database: it may be there already. */
  doubtful: boolean
  /** Set while the commit before this one is itself unsigned. */
  unsigned_predecessor: string | null
}

/**
 * Commits of a lane that are ready, oldest first: $1 lane, $2 its index, $3 how many lanes there are, $4 how many. A commit
 * whose predecessor is on its way in another lane waits until that one is in the chain.
 */
export const findCandidates = statement<CandidateRow>(
  'relay_candidates',
  `select c.id as commit_id, a.nid, c.sequence, c.message, c.tree_cid, c.tree_sha256, c.created_at, r.tree_signature,
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
     and (hashtextextended(a.nid, 0) & 9223372036854775807) % $3::int = $2::int
     and (pr.commit_id is null or pr.lane is null or pr.lane = $1 or pr.status in ('INCLUDED', 'FINAL', 'FAILED'))
   order by r.commit_id
   limit $4`,
)

/** The highest nonce ever taken on a lane. */
export const findLastNonce = statement<{ nonce: number | null }>(
  'relay_last_nonce',
  'select max(nonce) as nonce from commit_relays where lane = $1',
)

/** Takes nonces: $1 lane, $2 commits, $3 nonces, $4 hashes, $5 bytes, $6 and $7 fees. Returns what was taken. */
export const storeSigned = statement<{ commit_id: string }>(
  'relay_store_signed',
  `with item as (
     select * from unnest($2::uuid[], $3::int[], $4::text[], $5::bytea[], $6::numeric[], $7::numeric[])
       as t (commit_id, nonce, hash, raw, fee, tip)
   ),
   taken as (
     update commit_relays r set lane = $1, nonce = item.nonce, transaction_hash = item.hash, updated_at = now()
     from item where r.commit_id = item.commit_id and r.status = 'PENDING' and r.lane is null
     returning r.commit_id
   )
   insert into chain_transactions (hash, commit_id, raw, max_fee_per_gas, max_priority_fee_per_gas)
   select item.hash, item.commit_id, item.raw, item.fee, item.tip from item join taken using (commit_id)
   returning commit_id`,
)

/** The same nonces with higher fees; parameters as above. A commit that was settled meanwhile is left alone. */
export const storeReplaced = statement<{ commit_id: string }>(
  'relay_store_replaced',
  `with item as (
     select * from unnest($2::uuid[], $3::int[], $4::text[], $5::bytea[], $6::numeric[], $7::numeric[])
       as t (commit_id, nonce, hash, raw, fee, tip)
   ),
   taken as (
     update commit_relays r set transaction_hash = item.hash, updated_at = now()
     from item
     where r.commit_id = item.commit_id and r.lane = $1 and r.nonce = item.nonce and r.status in ('PENDING', 'BROADCAST')
     returning r.commit_id
   )
   insert into chain_transactions (hash, commit_id, raw, max_fee_per_gas, max_priority_fee_per_gas)
   select item.hash, item.commit_id, item.raw, item.fee, item.tip from item join taken using (commit_id)
   returning commit_id`,
)

export interface InFlightRow {
  commit_id: string
  status: 'PENDING' | 'BROADCAST'
  nonce: number
  /** Of the newest transaction. */
  hash: string
  /** Of every transaction ever signed for the commit. */
  hashes: string[]
  max_fee_per_gas: string
  max_priority_fee_per_gas: string
  /** Seconds since the newest transaction was signed, on the database's clock. */
  age: number
}

/** What is signed and not in the chain, in the order of nonces. */
export const findInFlight = statement<InFlightRow>(
  'relay_in_flight',
  `select r.commit_id, r.status, r.nonce, r.transaction_hash as hash, t.hashes, t.max_fee_per_gas::text,
     t.max_priority_fee_per_gas::text, t.age
   from commit_relays r, lateral (
     select array_agg(hash) as hashes, max(max_fee_per_gas) as max_fee_per_gas,
       max(max_priority_fee_per_gas) as max_priority_fee_per_gas,
       extract(epoch from now() - max(created_at))::float8 as age
     from chain_transactions where commit_id = r.commit_id
   ) t
   where r.status in ('PENDING', 'BROADCAST', 'INCLUDED') and r.status <> 'INCLUDED' and r.lane = $1
   order by r.nonce
   limit 256`,
)

export const findRaw = statement<{ hash: string; commit_id: string; raw: Buffer }>(
  'relay_raw',
  'select hash, commit_id, raw from chain_transactions where hash = any ($1::text[])',
)

export const findSigned = statement<{ hash: string; raw: Buffer }>(
  'relay_signed',
  'select hash, raw from chain_transactions where commit_id = $1',
)

export const markBroadcast = statement(
  'relay_broadcast',
  `update commit_relays set status = 'BROADCAST', updated_at = now()
   where commit_id = any ($1::uuid[]) and status = 'PENDING' and lane is not null`,
)

export interface BlockRow {
  commit_id: string
  nonce: number
  block_number: number
  block_hash: string
}

export const findIncluded = statement<BlockRow>(
  'relay_included',
  `select commit_id, nonce, block_number, block_hash from commit_relays
   where status in ('PENDING', 'BROADCAST', 'INCLUDED') and status = 'INCLUDED' and lane = $1`,
)

/** What is included of lanes $1, up to block $2 if it is given: the newest, among the last of each lane. */
export const findNewestPlaced = statement<BlockRow>(
  'relay_newest_placed',
  `select r.* from unnest($1::text[]) as item (lane), lateral (
     select commit_id, nonce, block_number, block_hash from (
       select * from commit_relays c where c.lane = item.lane order by c.nonce desc limit 10000
     ) latest
     where block_number is not null and ($2::int is null or block_number <= $2::int)
     order by nonce desc limit 1
   ) r
   order by r.block_number desc limit 1`,
)

/** $1 commits, $2 hashes, $3 block numbers, $4 block hashes. */
export const markIncluded = statement(
  'relay_mark_included',
  `update commit_relays r set status = 'INCLUDED', transaction_hash = item.hash, block_number = item.block_number,
     block_hash = item.block_hash, updated_at = now()
   from unnest($1::uuid[], $2::text[], $3::int[], $4::text[]) as item (commit_id, hash, block_number, block_hash)
   where r.commit_id = item.commit_id and r.status in ('PENDING', 'BROADCAST', 'INCLUDED')`,
)

/** The chain is ahead of the database: what was accepted until now is looked for there before it is signed. */
export const rememberAhead = statement<never>(
  'relay_ahead',
  `insert into settings (key, value) values ('relay:ahead', clock_timestamp()::text)
   on conflict (key) do update set value = excluded.value`,
)

/**
 * A commit that was on the chain before it was signed here: $1 it, $2 account, $3 nonce, $4 hash, $5 block, $6 its hash, $7 the
 * signature of the tree as the chain tells it. What makes a commit ready otherwise is made up for.
 */
export const markFound = statement<never>(
  'relay_mark_found',
  `with found as (
     update commit_relays set status = 'INCLUDED', lane = $2, nonce = $3, transaction_hash = $4, block_number = $5,
       block_hash = $6, tree_signature = coalesce(tree_signature, $7), trouble = null, updated_at = now()
     where commit_id = $1::uuid and status = 'PENDING' and lane is null returning commit_id
   )
   ${pinTreesSql('found')}`,
)

/** Their block is gone: $1 commits. One that was found on the chain, and whose bytes we never had, is to be signed. */
export const markDisplaced = statement(
  'relay_mark_displaced',
  `update commit_relays r set status = case when own.has_bytes then 'BROADCAST' else 'PENDING' end::commit_status,
     lane = case when own.has_bytes then r.lane end, nonce = case when own.has_bytes then r.nonce end,
     transaction_hash = case when own.has_bytes then r.transaction_hash end,
     block_number = null, block_hash = null, updated_at = now()
   from (
     select id, exists (select from chain_transactions t where t.commit_id = id) as has_bytes
     from unnest($1::uuid[]) as item (id)
   ) own
   where r.commit_id = own.id and r.status in ('INCLUDED', 'FINAL')`,
)

/**
 * The events of what the part `settled` holds, in their authors' feeds. Wallets are locked in one order, so that two
 * lanes that settle commits of the same people never wait for each other.
 */
const toldFinalSql = `
   author as (
     select c.author_id, count(*)::int as events
     from settled join commits c on c.id = settled.commit_id group by c.author_id
   ),
   locked as (
     select w.user_id from wallets w where w.user_id in (select author_id from author)
     order by w.user_id for no key update
   ),
   feed as (
     update wallets w set event_sequence = w.event_sequence + author.events
     from locked join author on author.author_id = locked.user_id
     where w.user_id = locked.user_id
     returning w.user_id, old.event_sequence as position
   ),
   told as (
     insert into events (owner_id, sequence, type, commit_id)
     select feed.user_id, feed.position + row_number() over (partition by feed.user_id order by c.id), 'commit.final', c.id
     from settled join commits c on c.id = settled.commit_id join feed on feed.user_id = c.author_id
   )`

/**
 * Settled for good: $1 commits, $2 their block hashes. What a commit of a deleted asset told is erased now: until here
 * the tree had to be kept, because the commit was paid for and belongs on the chain.
 */
export const markFinal = statement(
  'relay_mark_final',
  `with settled as (
     update commit_relays r set status = 'FINAL', updated_at = now()
     from unnest($1::uuid[], $2::text[]) as item (commit_id, block_hash)
     where r.commit_id = item.commit_id and r.status = 'INCLUDED' and r.block_hash = item.block_hash
     returning r.commit_id
   ),
   deleted as (
     select c.id, c.asset_id from settled join commits c on c.id = settled.commit_id join assets a on a.id = c.asset_id
     where a.deleted_at is not null
   ),
   unpinned as (
     delete from pins using deleted where pins.asset_id = deleted.asset_id
   ),
   ${toldFinalSql}
   update commits c set tree = '', message = '', changes = '{}' from deleted where c.id = deleted.id`,
)

/** Rows of a lane from nonce $2 to below nonce $3. */
export const findNonces = statement<BlockRow & { status: string }>(
  'relay_nonces',
  `select commit_id, nonce, status, block_number, block_hash from commit_relays
   where lane = $1 and nonce >= $2 and nonce < $3 order by nonce`,
)

/** Back among the unsigned, when its nonce $2 is used up without effect. */
export const releaseCommit = statement(
  'relay_release',
  `update commit_relays
   set status = 'PENDING', lane = null, nonce = null, transaction_hash = null, block_number = null, block_hash = null,
     updated_at = now()
   where commit_id = $1 and nonce = $2 and status in ('PENDING', 'BROADCAST')`,
)
