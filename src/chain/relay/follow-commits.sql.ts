/**
 * Statements that follow sent commits until they are final. The conditions on status and lane must match the partial indexes named in
 * `relay.sql.ts`.
 */
import { arrayOf, boolean, int, numeric, orNull, type RowOf, smallint, statement, text, uuid } from '../../db/sql.ts'
import { eventSql } from '../../modules/events/events.sql.ts'
import { commitStatus, pinTreesSql } from './commit-signer.sql.ts'
import { transactionsOfSql } from './relay.sql.ts'

const blockColumns = { commit_id: uuid, nonce: int, block_number: int, block_hash: text }
/** A commit and the block that contains it according to the database. */
export type BlockRow = RowOf<typeof blockColumns>

const includedColumns = { ...blockColumns, hash: text, position: smallint, gas_used: orNull(int) }
/** A commit in a block that is not final yet. `gas_used` is null until its receipt is read. */
export type IncludedRow = RowOf<typeof includedColumns>

/** Returns the commits of a lane that are in a block but not final. */
export const findIncluded = statement(
  'relay_included',
  { parameters: { lane: text }, columns: includedColumns },
  `select commit_id, nonce, block_number, block_hash, transaction_hash as hash, position, gas_used from commit_relays
   where status in ('PENDING', 'BROADCAST', 'INCLUDED') and status = 'INCLUDED' and lane = $lane`,
)

/** Returns the newest included commit of `lanes`, optionally up to a block. Searches the last 10,000 commits of each lane. */
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

/** Marks commits as included. The arrays are parallel. `fees` is in wei. */
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
 * Marks a commit as included that was found on the chain before it was signed here. `signature` is the tree's signature on the chain.
 * Also pins the tree, because the commit skipped its preparation.
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

/** Marks commits as displaced by a reorg. A commit whose transaction is not stored returns to PENDING and is signed again. */
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
 * SQL that adds events for the rows of the CTE `settled_relays` to their authors' feeds. It locks the wallets in a fixed order, so that two
 * lanes cannot deadlock.
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
 * Marks commits as final if their block hash is unchanged. Also erases the content of a deleted asset's commit. It had to be kept until now,
 * because a paid commit must still reach the chain.
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

/** Stores the cost of commits that were marked as included without a receipt. `fees` is in wei. */
export const storeCosts = statement(
  'relay_store_costs',
  { parameters: { commits: arrayOf(uuid), gas: arrayOf(int), fees: arrayOf(numeric) } },
  `update commit_relays r set gas_used = item.gas, fee_paid = item.fee
   from unnest($commits, $gas, $fees) as item (commit_id, gas, fee)
   where r.commit_id = item.commit_id and r.status = 'INCLUDED' and r.gas_used is null`,
)

/** Returns the commits of a lane with nonces in [`from`, `below`), in order. `has_bytes` is true if their transaction is stored. */
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

/** Returns commits to PENDING after their nonce was used without effect. */
export const releaseCommits = statement(
  'relay_release',
  { parameters: { commits: arrayOf(uuid), nonce: int } },
  `update commit_relays
   set status = 'PENDING', lane = null, nonce = null, position = 0, transaction_hash = null, block_number = null,
     block_hash = null, updated_at = now()
   where commit_id = any ($commits) and nonce = $nonce and status in ('PENDING', 'BROADCAST')`,
)
