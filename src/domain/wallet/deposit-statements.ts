import { eventSql } from '../event/event-sql.ts'
import { arrayOf, int, numeric, statement, text, uuid } from '../sql.ts'
import { isAwakeSql, placeSql, sweepPage } from '../sweep/sweep.ts'
import { postTransferSql } from './post-transfer-sql.ts'

/** Where the scan of a chain stands. */
export const findScanned = statement(
  'deposits_scanned',
  { parameters: { setting: text }, columns: { value: text } },
  'select value from settings where key = $setting',
)

/** The first to come says where scanning begins. */
export const beginScan = statement(
  'deposits_begin',
  { parameters: { setting: text, position: text } },
  'insert into settings (key, value) values ($setting, $position) on conflict (key) do nothing',
)

/** Which of these addresses are wallets of ours. */
export const findWalletAddresses = statement(
  'deposits_wallets',
  { parameters: { addresses: arrayOf(text) }, columns: { address: text } },
  'select address from wallets where address = any ($addresses)',
)

/** How many deposits were credited from blocks above a height. */
export const countDepositsAbove = statement(
  'deposits_above',
  { parameters: { height: int }, columns: { count: int } },
  'select count(*)::int as count from deposits where block_number > $height',
)

/**
 * The parts of a writing statement that credit the deposits of `found_deposits (hash, address, amount, block_number,
 * block_hash, position)`; `new_deposits` tells those that were not in the books already. Wallets are locked in the order of their ids, as a sale
 * does, so that nobody waits in a circle.
 */
const creditSql = `
   new_deposits as materialized (
     select i.hash, i.amount, i.block_number, i.block_hash, w.user_id,
       (row_number() over (partition by w.user_id order by i.position))::int as rank
     from found_deposits i join wallets w on w.address = i.address
     where not exists (select from transfers t where t.reference = 'deposit:' || i.hash || ':-1')
   ),
   locked_wallets as materialized (
     select user_id from wallets where user_id in (select user_id from new_deposits) order by user_id for update
   ),
   credited_wallets as (
     update wallets w set num = w.num + sum.amount, event_sequence = w.event_sequence + sum.count
     from locked_wallets join (
       select user_id, sum(amount) as amount, count(*)::int as count from new_deposits group by user_id
     ) sum using (user_id)
     where w.user_id = locked_wallets.user_id
     returning w.user_id, old.event_sequence as before, next_transfer_ids(w.user_id, sum.count) as transfers
   ),
   credited_deposits as materialized (
     select new_deposits.*, before + rank as sequence, transfers[rank] as transfer_id
     from new_deposits join credited_wallets using (user_id)
   ),
   ${postTransferSql({
     from: 'credited_deposits',
     reference: `'deposit:' || hash || ':-1'`,
     lines: [
       { wallet: 'credited_deposits.user_id', currency: 'NUM', amount: 'credited_deposits.amount' },
       { book: 'DEPOSITS', currency: 'NUM', amount: '-credited_deposits.amount' },
     ],
   })},
   inserted_deposits as (
     insert into deposits (transaction_hash, position, wallet_id, amount, block_number, block_hash)
     select hash, -1, user_id, amount, block_number, block_hash from new_deposits
   ),
   ${eventSql({
     from: 'credited_deposits',
     owner: 'user_id',
     sequence: 'sequence',
     type: 'deposit.credited',
     transfer: 'transfer_id',
   })}`

/** Moves the scan on, if nobody has moved it since. */
const move = { setting: text, from: text, to: text }
const advanceSql = `
   advanced_scan as materialized (
     update settings set value = $to where key = $setting and value = $from returning key
   )`

/** What the scan found, a deposit in each place, and their `amounts`. */
const found = {
  hashes: arrayOf(text),
  addresses: arrayOf(text),
  blockNumbers: arrayOf(int),
  blockHashes: arrayOf(text),
}
const foundSql = `
   found_deposits as materialized (
     select i.* from advanced_scan cross join unnest($hashes, $addresses, $amounts, $blockNumbers, $blockHashes)
       with ordinality as i (hash, address, amount, block_number, block_hash, position)
   )`

/** Moves the scan on and credits what it found; what is in the books already is left out. */
export const creditDeposits = statement(
  'deposits_credit',
  {
    parameters: { ...move, ...found, amounts: arrayOf(numeric) },
    columns: { advanced: int, credited: int, owners: arrayOf(uuid) },
  },
  `with ${advanceSql}, ${foundSql}, ${creditSql}
   select (select count(*) from advanced_scan)::int as advanced, (select count(*) from new_deposits)::int as credited,
     array(select distinct user_id from new_deposits) as owners`,
)

/** Moves the scan on and sets aside what it found. Amounts as they are told, because the books may not hold them. */
export const setDepositsAside = statement(
  'deposits_set_aside',
  { parameters: { ...move, ...found, amounts: arrayOf(text) }, columns: { advanced: int } },
  `with ${advanceSql}, ${foundSql},
   inserted_deposits as (
     insert into set_aside_deposits (transaction_hash, address, amount, block_number, block_hash, position)
     select hash, address, amount, block_number, block_hash, position from found_deposits
     on conflict (transaction_hash) do nothing
   )
   select count(*)::int as advanced from advanced_scan`,
)

/**
 * Moves the scan back; `height` is that of the block up to which the chain is the same. What was set aside from blocks that are
 * gone is found anew, if the chain still has it.
 */
export const moveScanBack = statement(
  'deposits_back',
  { parameters: { ...move, height: int } },
  `with ${advanceSql},
   deleted_deposits as (
     delete from set_aside_deposits using advanced_scan where block_number > $height returning transaction_hash
   )
   delete from setbacks where sweep = 'credit-deposits' and item in (select transaction_hash from deleted_deposits)`,
)

const byAge = placeSql('created_at', 'transaction_hash', ['timestamptz', 'text'])

/** A page of a sweep: deposits that the books refused when they were found, oldest first. */
export const findSetAside = statement(
  'deposits_find_set_aside',
  sweepPage,
  `select transaction_hash as item, ${byAge.place} as place from set_aside_deposits
   where ${byAge.isAfter} and ${isAwakeSql('credit-deposits', 'transaction_hash')}
   order by created_at, transaction_hash limit $limit`,
)

/** Credits deposits that were set aside. Whoever takes one away is the one who credits it. */
export const creditSetAside = statement(
  'deposits_credit_set_aside',
  { parameters: { transactions: arrayOf(text) }, columns: { items: arrayOf(text), owners: arrayOf(uuid) } },
  `with deleted_deposits as materialized (
     delete from set_aside_deposits d using wallets w where w.address = d.address and d.transaction_hash = any ($transactions)
     returning d.transaction_hash as hash, d.address, d.amount::numeric as amount, d.block_number, d.block_hash, d.position
   ),
   found_deposits as materialized (
     select hash, address, amount, block_number, block_hash, row_number() over (order by block_number, position) as position
     from deleted_deposits
   ), ${creditSql}
   select array(select hash from deleted_deposits) as items, array(select distinct user_id from new_deposits) as owners`,
)
