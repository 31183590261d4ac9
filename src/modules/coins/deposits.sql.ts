import { keyValueKeys } from '../../db/key-value-store.ts'
import type { RowOf } from '../../db/sql.ts'
import { arrayOf, int, json, numeric, orNull, statement, text, textOf, timestamp, uuid } from '../../db/sql.ts'
import { findItemsSql, pageShape } from '../../jobs/batch-jobs.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { eventSql } from '../events/events.sql.ts'
import { changeWalletsSql, nextTransferSql, numLines, postTransferSql } from '../wallet/ledger-sql.ts'

export const findWalletAddresses = statement(
  'deposits_wallets',
  { parameters: { addresses: arrayOf(text) }, columns: { address: text } },
  'select address from wallets where address = any ($addresses)',
)

const scanMove = { setting: text, from: text, to: text }
/** SQL of the CTE `advanced_scan`, which moves the scan. The CTE has no row if another process moved the scan. */
const advanceSql = `advanced_scan as materialized (
     update key_values set value = $to where key = $setting and value = $from returning key
   )`

/**
 * Returns no row if another process has moved the scan. Must be a separate statement: only later statements see what was
 * committed during the wait for the lock.
 */
export const lockScan = statement(
  'deposits_lock_scan',
  { parameters: { setting: text, from: text }, columns: { key: text } },
  'select key from key_values where key = $setting and value = $from for no key update',
)

/**
 * Advances the scan and stores its deposits in the order of the blocks. A known deposit gets its new block. If the
 * transaction now has another recipient or amount, a new deposit is stored under a longer reference.
 */
export const storeFoundDeposits = statement(
  'deposits_store_found',
  {
    parameters: {
      ...{ ...scanMove, references: arrayOf(text), kinds: arrayOf(textOf<'COIN' | 'TOKEN'>()), hashes: arrayOf(text) },
      ...{ addresses: arrayOf(text), amounts: arrayOf(numeric) },
      ...{ blockNumbers: arrayOf(int), blockHashes: arrayOf(text) },
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
     select name, kind::deposit_kind, 'PENDING', hash, user_id, amount, block_number, block_hash
     from found_deposits order by position
     on conflict (reference) do update set block_number = excluded.block_number, block_hash = excluded.block_hash
   )
   select count(*)::int as advanced from advanced_scan`,
)

/** Condition on a deposit `d` with enough confirmations: pending, or frozen and on the chain again. */
const dueSql = `d.status <> 'CREDITED' and d.block_number <= $due`

export const findDueDeposits = statement(
  'deposits_find_due',
  { parameters: { ...pageShape.parameters, due: int }, columns: pageShape.columns },
  findItemsSql('credit-deposits', 'd.reference', 'deposits d', dueSql, 'd.id'),
)

/** Ledger entries for deposits with the column `kind`. `amount` is an SQL expression. */
const depositBooks = (amount: string) => ({
  DEPOSITS: `case kind when 'TOKEN' then 0 else ${amount} end`,
  TOKENS: `case kind when 'TOKEN' then ${amount} else 0 end`,
})

/** Credits due deposits. The scan must be locked. A frozen deposit is credited less its debt and its write-off. */
export const creditDeposits = statement(
  'deposits_credit',
  { parameters: { references: arrayOf(text), due: int }, columns: { items: arrayOf(text), owners: arrayOf(uuid) } },
  `with locked_deposits as materialized (
     select d.id, d.reference, d.wallet_id as user_id, d.kind, d.status, d.freezes, d.amount, d.shortfall, d.written_off,
       d.amount - d.shortfall - d.written_off as gain
     from deposits d where d.reference = any ($references) and ${dueSql} order by d.id for no key update of d
   ),
   ${changeWalletsSql('locked_deposits', 'credited_deposits')},
   updated_deposits as (
     update deposits d set status = 'CREDITED', credited_at = coalesce(d.credited_at, now()), frozen_at = null,
       shortfall = 0, written_off = 0
     from credited_deposits c where d.id = c.id
   ),
   ${postTransferSql({
     from: 'credited_deposits',
     reference: `case status when 'FROZEN' then 'deposit-release:' || substr(reference, 9) || ':' || freezes else reference end`,
     lines: numLines({ ...depositBooks('-credited_deposits.amount'), SHORTFALL: 'shortfall', REVENUE: 'written_off' }, [
       'credited_deposits.user_id',
       'credited_deposits.gain',
     ]),
     omitsZeros: true,
   })},
   ${eventSql({
     ...{ from: 'credited_deposits', owner: 'user_id', sequence: 'sequence', transfer: 'transfer_id' },
     type: { sql: `case status when 'FROZEN' then 'deposit.released' else 'deposit.credited' end` },
   })}
   select array(select reference from credited_deposits) as items, array(select user_id from changed_wallets) as owners`,
)

type KnownDeposit = {
  id: string
  status: 'PENDING' | 'CREDITED' | 'FROZEN'
  userId: string
  amount: string
  /** True if the deposit is frozen and its block was lost. */
  isLost: boolean
}
const targetColumns = {
  /** Sums of credited and of other coin deposits up to the block, and the coin transfers from the address. */
  ...{ address: text, credited: numeric, waiting: numeric, nonces: arrayOf(int), amounts: arrayOf(text) },
  /** The existing deposit with the same reference, or null. */
  deposit: orNull(json<KnownDeposit>()),
}
export type CreditTarget = RowOf<typeof targetColumns>

/** Reads a wallet and the deposit with this reference. `upTo`: newest scanned block. */
export const findCreditTarget = statement(
  'deposits_credit_target',
  { parameters: { user: uuid, reference: text, upTo: int }, columns: targetColumns },
  `select w.address, sums.credited, sums.waiting, transfers.nonces, transfers.amounts,
     case when d.id is not null then json_build_object('id', d.id, 'status', d.status, 'userId', d.wallet_id,
       'amount', trim_scale(d.amount)::text, 'isLost', d.status = 'FROZEN' and d.block_number is null) end as deposit
   from wallets w left join deposits d on d.reference = $reference, lateral (
     select coalesce(sum(amount) filter (where status = 'CREDITED'), 0) as credited,
       coalesce(sum(amount) filter (where status <> 'CREDITED' and block_number <= $upTo), 0) as waiting
     from deposits where wallet_id = w.user_id and kind = 'COIN'
   ) sums, lateral (
     select coalesce(array_agg(nonce order by nonce), '{}') as nonces,
       coalesce(array_agg(amount::text order by nonce), '{}') as amounts
     from coin_transfers where sender = w.address
   ) transfers
   where w.user_id = $user`,
)

const manual = { reference: text, hash: text, user: uuid, amount: numeric, blockNumber: int, blockHash: text }
/** Stores a deposit, or the new block of a lost one. Returns no row for other deposits. The scan must be locked. */
export const insertManualDeposit = statement(
  'deposits_insert_manual',
  { parameters: { ...manual, reason: text }, columns: { id: uuid } },
  `with inserted_deposit as (
     insert into deposits as d (reference, kind, status, transaction_hash, wallet_id, amount, block_number, block_hash)
     values ($reference, 'COIN', 'PENDING', $hash, $user, $amount, $blockNumber, $blockHash)
     on conflict (reference) do update set block_number = excluded.block_number, block_hash = excluded.block_hash
       where d.status = 'FROZEN' and d.block_number is null
         and (d.wallet_id, d.amount) = (excluded.wallet_id, excluded.amount)
     returning id
   ),
   ${auditSql({
     ...{ from: 'inserted_deposit', user: 'null', action: 'deposit.credited', reason: '$reason' },
     subject: `type_id('deposit', id)`,
   })}
   select id from inserted_deposit`,
)

export const findHead = statement(
  'deposits_head',
  { columns: { head: orNull(int) } },
  `select max(split_part(value, ' ', 1))::int as head from key_values where key = '${keyValueKeys.depositsHead}'`,
)

export const heldColumns = {
  ...{ atAddresses: numeric, inTransit: numeric, inTreasury: numeric, shortfall: numeric },
  ...{ frozenDeposits: int, dueWithdrawals: int, amountDue: numeric, oldestDueAt: orNull(timestamp) },
}
const heldSql = (book: string) => `trim_scale(coalesce(-sum(amount) filter (where book = '${book}'), 0))`
export const findHeldCoins = statement(
  'held_coins',
  { columns: heldColumns },
  `select books.*, deposits.*, due.*
   from (
     select ${heldSql('DEPOSITS')} as "atAddresses", ${heldSql('IN_TRANSIT')} as "inTransit",
       ${heldSql('TREASURY')} as "inTreasury", ${heldSql('SHORTFALL')} as shortfall
     from entries where currency = 'NUM' and book in ('DEPOSITS', 'IN_TRANSIT', 'TREASURY', 'SHORTFALL')
   ) books, (
     select count(*)::int as "frozenDeposits" from deposits where status = 'FROZEN'
   ) deposits, (
     select count(*)::int as "dueWithdrawals", trim_scale(coalesce(sum(amount + fee), 0)) as "amountDue",
       min(due_at) as "oldestDueAt"
     from withdrawals where status = 'WAITING' and due_at <= now()
   ) due`,
)

const freezeResult = { frozen: arrayOf(text), shortfall: numeric, owners: arrayOf(uuid) }
/**
 * Freezes up to `limit` credited deposits from blocks above `height`, newest first. The scan must be locked. A wallet
 * that has spent the coins pays its whole balance and owes the rest (account SHORTFALL).
 */
export const freezeDeposits = statement(
  'deposits_freeze',
  { parameters: { height: int, limit: int }, columns: freezeResult },
  `with found_deposits as materialized (
     select id, wallet_id from deposits where status = 'CREDITED' and block_number > $height
     order by block_number desc, id desc limit $limit
   ),
   locked_wallets as materialized (
     select user_id from wallets where user_id in (select wallet_id from found_deposits)
     order by user_id for no key update
   ),
   locked_deposits as materialized (
     select d.id, d.reference, d.wallet_id as user_id, d.kind, d.amount, d.freezes + 1 as freezes
     from found_deposits f join locked_wallets on locked_wallets.user_id = f.wallet_id join deposits d on d.id = f.id
     for no key update of d
   ),
   lost_deposits as materialized (
     select *, (row_number() over own)::int as rank,
       coalesce(sum(amount) over (own rows between unbounded preceding and 1 preceding), 0) as earlier
     from locked_deposits window own as (partition by user_id order by id)
   ),
   updated_wallets as (
     update wallets w set num = w.num - least(w.num, sum.amount), event_sequence = w.event_sequence + sum.count
     from locked_wallets join (
       select user_id, sum(amount) as amount, count(*)::int as count from lost_deposits group by user_id
     ) sum using (user_id)
     where w.user_id = locked_wallets.user_id
     returning w.user_id, old.num as held, old.event_sequence as before, next_transfer_ids(w.user_id, sum.count) as transfers
   ),
   frozen_deposits as materialized (
     select l.*, least(l.amount, greatest(held - l.earlier, 0)) as paid, before + rank as sequence,
       transfers[rank] as transfer_id
     from lost_deposits l join updated_wallets using (user_id)
   ),
   updated_deposits as (
     update deposits d set status = 'FROZEN', frozen_at = now(), freezes = f.freezes, shortfall = f.amount - f.paid,
       block_number = null, block_hash = null
     from frozen_deposits f where d.id = f.id
   ),
   ${postTransferSql({
     from: 'frozen_deposits',
     reference: `'deposit-freeze:' || substr(reference, 9) || ':' || freezes`,
     lines: numLines({ ...depositBooks('frozen_deposits.amount'), SHORTFALL: 'paid - frozen_deposits.amount' }, [
       'frozen_deposits.user_id',
       '-paid',
     ]),
     omitsZeros: true,
   })},
   ${eventSql({
     ...{ from: 'frozen_deposits', owner: 'user_id', sequence: 'sequence', transfer: 'transfer_id' },
     type: 'deposit.frozen',
   })}
   select array(select reference from frozen_deposits) as frozen, array(select user_id from updated_wallets) as owners,
     (select coalesce(sum(amount - paid), 0) from frozen_deposits) as shortfall`,
)

/** Moves a locked scan back to `height` and deletes pending deposits above. A later scan finds them again. */
export const rewindScan = statement(
  'deposits_rewind_scan',
  { parameters: { ...scanMove, height: int } },
  `with ${advanceSql},
   deleted_deposits as (
     delete from deposits d using advanced_scan where d.status = 'PENDING' and d.block_number > $height returning d.reference
   ),
   lost_deposits as (
     update deposits d set block_number = null, block_hash = null
     from advanced_scan where d.status = 'FROZEN' and d.block_number > $height
   )
   delete from job_failures where job = 'credit-deposits' and item in (select reference from deleted_deposits)`,
)

const frozenColumns = {
  ...{ id: uuid, reference: text, wallet_id: uuid, amount: numeric, shortfall: numeric, written_off: numeric },
  ...{ held: numeric, block_number: orNull(int), frozen_at: timestamp },
}
export const findFrozenDeposits = statement(
  'deposits_find_frozen',
  { parameters: { limit: int }, columns: frozenColumns },
  `select d.id, d.reference, d.wallet_id, trim_scale(d.amount) as amount, trim_scale(d.shortfall) as shortfall,
     trim_scale(d.written_off) as written_off, trim_scale(w.num) as held, d.block_number, d.frozen_at
   from deposits d join wallets w on w.user_id = d.wallet_id
   where d.status = 'FROZEN' order by d.frozen_at desc, d.id desc limit $limit`,
)

/** Charges a wallet its debt from a frozen deposit, up to its balance. Returns no row if the charge is zero. */
export const collectShortfall = statement(
  'deposits_collect',
  { parameters: { deposit: uuid }, columns: { paid: numeric, owner: uuid } },
  `with locked_deposit as materialized (
     select id, reference, wallet_id, shortfall from deposits where id = $deposit and shortfall > 0 for no key update
   ),
   locked_wallet as materialized (
     select w.user_id, w.num, least(w.num, d.shortfall) as paid
     from wallets w join locked_deposit d on w.user_id = d.wallet_id for no key update of w
   ),
   updated_wallet as (
     update wallets w set num = l.num - l.paid from locked_wallet l where w.user_id = l.user_id and l.paid > 0
     returning w.user_id, l.paid, ${nextTransferSql('w')} as transfer_id
   ),
   updated_deposit as (
     update deposits d set shortfall = d.shortfall - u.paid from updated_wallet u where d.id = $deposit
     returning d.reference
   ),
   collected as materialized (select u.*, d.reference from updated_wallet u cross join updated_deposit d),
   ${postTransferSql({
     from: 'collected',
     reference: `'deposit-collection:' || substr(reference, 9) || ':' || transfer_id`,
     lines: numLines({ SHORTFALL: 'paid' }, ['collected.user_id', '-paid']),
   })},
   ${auditSql({ from: 'collected', user: 'null', action: 'deposit.collected', subject: 'reference' })}
   select trim_scale(paid) as paid, user_id as owner from collected`,
)

/** Writes off the debt of a wallet from a frozen deposit as a platform loss. Returns no row if the debt is zero. */
export const writeShortfallOff = statement(
  'deposits_write_off',
  { parameters: { deposit: uuid }, columns: { loss: numeric } },
  `with updated_deposit as (
     update deposits set shortfall = 0, written_off = written_off + shortfall where id = $deposit and shortfall > 0
     returning reference, freezes, old.shortfall as loss, uuidv7() as transfer_id
   ),
   ${postTransferSql({
     from: 'updated_deposit',
     reference: `'deposit-write-off:' || substr(reference, 9) || ':' || freezes`,
     lines: numLines({ SHORTFALL: 'loss', REVENUE: '-loss' }),
   })},
   ${auditSql({ from: 'updated_deposit', user: 'null', action: 'deposit.written-off', subject: 'reference' })}
   select trim_scale(loss) as loss from updated_deposit`,
)
