import { eventSql } from '../event/event-sql.ts'
import { settingKeys } from '../settings.ts'
import { arrayOf, int, numeric, orNull, statement, text, textOf, uuid } from '../sql.ts'
import { idPlaceSql, isAwakeSql, sweepPage } from '../sweep/sweep.ts'
import { postTransferSql } from './post-transfer-sql.ts'

/** Which of these addresses are wallets of ours. */
export const findWalletAddresses = statement(
  'deposits_wallets',
  { parameters: { addresses: arrayOf(text) }, columns: { address: text } },
  'select address from wallets where address = any ($addresses)',
)

/** Parameters of a statement that moves a scan. */
export const scanMove = { setting: text, from: text, to: text }
/** The part `advanced_scan`, which has a row if nobody has moved the scan since: it is moved. */
export const advanceSql = `
   advanced_scan as materialized (
     update settings set value = $to where key = $setting and value = $from returning key
   )`

/**
 * Holds a scan until the transaction ends; no row when somebody has moved it. A statement of its own: only the one after it sees what was done at
 * the same place while this one waited.
 */
export const holdScan = statement(
  'deposits_hold_scan',
  { parameters: { setting: text, from: text }, columns: { key: text } },
  'select key from settings where key = $setting and value = $from for no key update',
)

/**
 * Moves the scan on and writes down what it found, a deposit in each place, and what wallets' own keys spent. What is written down already stays what it is; of one whose block
 * the chain had lost, its new block is noted. Where the same transaction has another outcome by now, what it brings is another deposit, named by whom it is for and how much it is.
 * Named in the order of what came in, so that a list tells it so.
 */
export const noteDeposits = statement(
  'deposits_note',
  {
    parameters: {
      ...scanMove,
      references: arrayOf(text),
      kinds: arrayOf(textOf<'COIN' | 'TOKEN'>()),
      hashes: arrayOf(text),
      addresses: arrayOf(text),
      amounts: arrayOf(numeric),
      blockNumbers: arrayOf(int),
      blockHashes: arrayOf(text),
      ...{ spentBy: arrayOf(text), spenders: arrayOf(text), spent: arrayOf(numeric), spentIn: arrayOf(int) },
    },
    columns: { advanced: int },
  },
  `with ${advanceSql},
   found_deposits as materialized (
     select i.*, w.user_id, i.reference || case when exists (
       select from deposits d where d.reference = i.reference and (d.wallet_id, d.amount) is distinct from (w.user_id, i.amount)
     ) then ':' || w.user_id || ':' || trim_scale(i.amount) else '' end as name
     from advanced_scan
     cross join unnest($references, $kinds, $hashes, $addresses, $amounts, $blockNumbers, $blockHashes)
       with ordinality as i (reference, kind, hash, address, amount, block_number, block_hash, position)
     join wallets w on w.address = i.address
     order by i.position
   ),
   inserted_deposits as (
     insert into deposits as d (reference, kind, status, transaction_hash, wallet_id, amount, block_number, block_hash)
     select name, kind::deposit_kind, 'PENDING', hash, user_id, amount, block_number, block_hash from found_deposits order by position
     on conflict (reference) do update set block_number = excluded.block_number, block_hash = excluded.block_hash
   ),
   inserted_spendings as (
     insert into spendings as s (transaction_hash, wallet_id, amount, block_number)
     select i.hash, w.user_id, i.amount, i.block_number from advanced_scan
     cross join unnest($spentBy, $spenders, $spent, $spentIn) as i (hash, address, amount, block_number)
     join wallets w on w.address = i.address
     on conflict (transaction_hash) do update set amount = excluded.amount, block_number = excluded.block_number
   )
   select count(*)::int as advanced from advanced_scan`,
)

/** What counts by now and is not in the books: found and deep enough, or frozen and found again. */
const dueSql = `d.status <> 'CREDITED' and d.block_number <= $due`
const byId = idPlaceSql('d.id')

/** A page of a sweep: deposits that count, as they were found. */
export const findDueDeposits = statement(
  'deposits_find_due',
  { parameters: { ...sweepPage.parameters, due: int }, columns: sweepPage.columns },
  `select d.reference as item, ${byId.place} as place from deposits d
   where ${dueSql} and ${byId.isAfter} and ${isAwakeSql('credit-deposits', 'd.reference')}
   order by d.id limit $limit`,
)

/**
 * Credits deposits that count; the scan is held. One that was frozen comes back less what its wallet still owed for it and
 * what the platform bore. Wallets are locked in the order of their ids, as a sale does, so that nobody waits in a circle.
 */
export const creditDeposits = statement(
  'deposits_credit',
  {
    parameters: { references: arrayOf(text), due: int },
    columns: { items: arrayOf(text), owners: arrayOf(uuid) },
  },
  `with locked_deposits as materialized (
     select d.id, d.reference, d.wallet_id as user_id, d.kind, d.status, d.freezes, d.amount, d.shortfall, d.written_off
     from deposits d where d.reference = any ($references) and ${dueSql} order by d.id for no key update of d
   ),
   due_deposits as materialized (
     select *, amount - shortfall - written_off as gain,
       (row_number() over (partition by user_id order by id))::int as rank
     from locked_deposits
   ),
   locked_wallets as materialized (
     select user_id from wallets where user_id in (select user_id from due_deposits) order by user_id for no key update
   ),
   credited_wallets as (
     update wallets w set num = w.num + sum.gain, event_sequence = w.event_sequence + sum.count
     from locked_wallets join (
       select user_id, sum(gain) as gain, count(*)::int as count from due_deposits group by user_id
     ) sum using (user_id)
     where w.user_id = locked_wallets.user_id
     returning w.user_id, old.event_sequence as before, next_transfer_ids(w.user_id, sum.count) as transfers
   ),
   credited_deposits as materialized (
     select due_deposits.*, before + rank as sequence, transfers[rank] as transfer_id
     from due_deposits join credited_wallets using (user_id)
   ),
   updated_deposits as (
     update deposits d set status = 'CREDITED', credited_at = coalesce(d.credited_at, now()), frozen_at = null, shortfall = 0, written_off = 0
     from credited_deposits c where d.id = c.id
   ),
   ${postTransferSql({
     from: 'credited_deposits',
     reference: `case status when 'FROZEN' then 'deposit-release:' || substr(reference, 9) || ':' || freezes else reference end`,
     lines: [
       { wallet: 'credited_deposits.user_id', currency: 'NUM', amount: 'credited_deposits.gain' },
       {
         book: 'DEPOSITS',
         currency: 'NUM',
         amount: `case kind when 'TOKEN' then 0 else -credited_deposits.amount end`,
       },
       { book: 'TOKENS', currency: 'NUM', amount: `case kind when 'TOKEN' then -credited_deposits.amount else 0 end` },
       { book: 'SHORTFALL', currency: 'NUM', amount: 'shortfall' },
       { book: 'REVENUE', currency: 'NUM', amount: 'written_off' },
     ],
     omitsZeros: true,
   })},
   ${eventSql({
     from: 'credited_deposits',
     owner: 'user_id',
     sequence: 'sequence',
     type: { sql: `case status when 'FROZEN' then 'deposit.released' else 'deposit.credited' end` },
     transfer: 'transfer_id',
   })}
   select array(select reference from credited_deposits) as items, array(select user_id from credited_wallets) as owners`,
)

/** How far the chain was seen, for readers; null before it was looked at. */
export const findHead = statement(
  'deposits_head',
  { columns: { head: orNull(int) } },
  `select max(split_part(value, ' ', 1))::int as head from settings where key = '${settingKeys.depositsHead}'`,
)
