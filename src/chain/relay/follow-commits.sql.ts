/**
 * What became of what was sent: where commits are in the chain, and that they are settled, displaced or released. The
 * conditions on status and lane are those of the partial indexes that `statements.ts` names.
 */
import { arrayOf, boolean, int, numeric, orNull, type RowOf, smallint, statement, text, uuid } from '../../db/sql.ts'
import { eventSql } from '../../modules/events/event-sql.ts'
import { commitStatus, pinTreesSql } from './commit-signer.sql.ts'
import { transactionsOfSql } from './relay.sql.ts'

const blockColumns = { commit_id: uuid, nonce: int, block_number: int, block_hash: text }
/** A commit, and the block that it is said to be in. */
export type BlockRow = RowOf<typeof blockColumns>

const includedColumns = { ...blockColumns, hash: text, position: smallint, gas_used: orNull(int) }
/** A commit that is in a block and not settled; `gas_used` is null while no receipt told it. */
export type IncludedRow = RowOf<typeof includedColumns>

/** The commits of a lane that are in a block and not settled. */
export const findIncluded = statement(
  'relay_included',
  { parameters: { lane: text }, columns: includedColumns },
  `select commit_id, nonce, block_number, block_hash, transaction_hash as hash, position, gas_used from commit_relays
   where status in ('PENDING', 'BROADCAST', 'INCLUDED') and status = 'INCLUDED' and lane = $lane`,
)

/** What is included of `lanes`, up to a block if one is given: the newest, among the last of each lane. */
export const findNewestPlaced = statement(
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

/** Commits that are in blocks, in step with the hashes of their transactions and blocks, and with what they cost: gas and wei. */
export const markIncluded = statement(
  'relay_mark_included',
  {
    parameters: {
      commits: arrayOf(uuid),
      hashes: arrayOf(text),
      blockNumbers: arrayOf(int),
      blockHashes: arrayOf(text),
      gas: arrayOf(orNull(int)),
      fees: arrayOf(orNull(numeric)),
    },
  },
  `update commit_relays r set status = 'INCLUDED', transaction_hash = item.hash, block_number = item.block_number,
     block_hash = item.block_hash, gas_used = item.gas, fee_paid = item.fee, updated_at = now()
   from unnest($commits, $hashes, $blockNumbers, $blockHashes, $gas, $fees)
     as item (commit_id, hash, block_number, block_hash, gas, fee)
   where r.commit_id = item.commit_id and r.status in ('PENDING', 'BROADCAST', 'INCLUDED')`,
)

/**
 * A commit that was on the chain before it was signed here; `signature` of the tree as the chain tells it. What makes a
 * commit ready otherwise is made up for.
 */
export const markFound = statement(
  'relay_mark_found',
  {
    parameters: {
      commit: uuid,
      lane: text,
      nonce: int,
      position: smallint,
      hash: text,
      blockNumber: int,
      blockHash: text,
      gas: int,
      fee: numeric,
      signature: orNull(text),
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

/** The block of these commits is gone. One that was found on the chain, and whose bytes we never had, is to be signed. */
export const markDisplaced = statement(
  'relay_mark_displaced',
  { parameters: { commits: arrayOf(uuid) } },
  `update commit_relays r set status = case when own.has_bytes then 'BROADCAST' else 'PENDING' end::commit_status,
     lane = case when own.has_bytes then r.lane end, nonce = case when own.has_bytes then r.nonce end,
     position = case when own.has_bytes then r.position else 0 end,
     transaction_hash = case when own.has_bytes then r.transaction_hash end,
     block_number = null, block_hash = null, gas_used = null, fee_paid = null, updated_at = now()
   from (
     select id, exists (select from ${transactionsOfSql('id')} t) as has_bytes from unnest($commits) as item (id)
   ) own
   where r.commit_id = own.id and r.status in ('INCLUDED', 'FINAL')`,
)

/**
 * The events of what the part `settled_relays` holds, in their authors' feeds. Wallets are locked in one order, so that two
 * lanes that settle commits of the same people never wait for each other.
 */
const finalEventsSql = `
   authors as (
     select c.author_id, count(*)::int as events
     from settled_relays join commits c on c.id = settled_relays.commit_id group by c.author_id
   ),
   locked_wallets as (
     select w.user_id from wallets w where w.user_id in (select author_id from authors)
     order by w.user_id for no key update
   ),
   updated_wallets as (
     update wallets w set event_sequence = w.event_sequence + authors.events
     from locked_wallets join authors on authors.author_id = locked_wallets.user_id
     where w.user_id = locked_wallets.user_id
     returning w.user_id, old.event_sequence as before
   ),
   ${eventSql({
     from: `settled_relays join commits c on c.id = settled_relays.commit_id
       join updated_wallets on updated_wallets.user_id = c.author_id`,
     owner: 'updated_wallets.user_id',
     sequence: 'updated_wallets.before + row_number() over (partition by updated_wallets.user_id order by c.id)',
     type: 'commit.final',
     commit: 'c.id',
   })}`

/**
 * Settled for good, where its block is still the one of that hash. What a commit of a deleted asset told is erased now: until here
 * the tree had to be kept, because the commit was paid for and belongs on the chain.
 */
export const markFinal = statement(
  'relay_mark_final',
  { parameters: { commits: arrayOf(uuid), blockHashes: arrayOf(text) } },
  `with settled_relays as (
     update commit_relays r set status = 'FINAL', updated_at = now()
     from unnest($commits, $blockHashes) as item (commit_id, block_hash)
     where r.commit_id = item.commit_id and r.status = 'INCLUDED' and r.block_hash = item.block_hash
     returning r.commit_id
   ),
   erasable_commits as (
     select c.id, c.asset_id
     from settled_relays join commits c on c.id = settled_relays.commit_id join assets a on a.id = c.asset_id
     where a.deleted_at is not null
   ),
   deleted_pins as (
     delete from pins using erasable_commits where pins.asset_id = erasable_commits.asset_id
   ),
   ${finalEventsSql}
   update commits c set tree = '', message = '', changes = '{}' from erasable_commits where c.id = erasable_commits.id`,
)

/** What commits cost, for those of which no receipt told it when they were found: gas and wei. */
export const storeCosts = statement(
  'relay_store_costs',
  { parameters: { commits: arrayOf(uuid), gas: arrayOf(int), fees: arrayOf(numeric) } },
  `update commit_relays r set gas_used = item.gas, fee_paid = item.fee
   from unnest($commits, $gas, $fees) as item (commit_id, gas, fee)
   where r.commit_id = item.commit_id and r.status = 'INCLUDED' and r.gas_used is null`,
)

/** Which commits of a lane have the nonces from `from` to just below `below`, in order. `has_bytes`: we have what was sent. */
export const findNonces = statement(
  'relay_nonces',
  {
    parameters: { lane: text, from: int, below: int },
    columns: { ...blockColumns, status: commitStatus, has_bytes: boolean },
  },
  `select commit_id, nonce, status, block_number, block_hash,
     exists (select from ${transactionsOfSql('commit_relays.commit_id')} t) as has_bytes
   from commit_relays
   where lane = $lane and nonce >= $from and nonce < $below order by nonce`,
)

/** Back among the unsigned, when their nonce is used up without effect. */
export const releaseCommits = statement(
  'relay_release',
  { parameters: { commits: arrayOf(uuid), nonce: int } },
  `update commit_relays
   set status = 'PENDING', lane = null, nonce = null, position = 0, transaction_hash = null, block_number = null,
     block_hash = null, updated_at = now()
   where commit_id = any ($commits) and nonce = $nonce and status in ('PENDING', 'BROADCAST')`,
)
