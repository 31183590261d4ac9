/** Statements for deposits whose block the chain has lost: freezing them, and settling what was already spent. */

import { arrayOf, int, numeric, orNull, statement, text, timestamp, uuid } from '../../db/sql.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { eventSql } from '../events/events.sql.ts'
import { nextTransferSql, postTransferSql } from '../wallet/ledger-sql.ts'
import { advanceSql, scanMove } from './deposits.sql.ts'

/**
 * Freezes up to `limit` credited deposits from blocks above `height`, newest first. The scan must be locked. Wallets are locked before
 * deposits, in the same order as elsewhere. If a wallet has spent the coins, it is charged its whole balance. The rest is booked as SHORTFALL.
 */
export const freezeDeposits = statement(
  'deposits_freeze',
  {
    parameters: { height: int, limit: int },
    columns: { frozen: arrayOf(text), shortfall: numeric, owners: arrayOf(uuid) },
  },
  `with found_deposits as materialized (
     select id, wallet_id from deposits where status = 'CREDITED' and block_number > $height
     order by block_number desc, id desc limit $limit
   ),
   locked_wallets as materialized (
     select user_id from wallets where user_id in (select wallet_id from found_deposits) order by user_id for no key update
   ),
   locked_deposits as materialized (
     select d.id, d.reference, d.wallet_id as user_id, d.kind, d.amount, d.freezes + 1 as freezes
     from found_deposits f join locked_wallets on locked_wallets.user_id = f.wallet_id join deposits d on d.id = f.id
     for no key update of d
   ),
   lost_deposits as materialized (
     select *, (row_number() over own)::int as rank, coalesce(sum(amount) over (own rows between unbounded preceding and 1 preceding), 0) as earlier
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
     select l.*, least(l.amount, greatest(held - l.earlier, 0)) as taken, before + rank as sequence, transfers[rank] as transfer_id
     from lost_deposits l join updated_wallets using (user_id)
   ),
   updated_deposits as (
     update deposits d set status = 'FROZEN', frozen_at = now(), freezes = f.freezes, shortfall = f.amount - f.taken, block_number = null,
       block_hash = null
     from frozen_deposits f where d.id = f.id
   ),
   ${postTransferSql({
     from: 'frozen_deposits',
     reference: `'deposit-freeze:' || substr(reference, 9) || ':' || freezes`,
     lines: [
       { wallet: 'frozen_deposits.user_id', currency: 'NUM', amount: '-taken' },
       { book: 'DEPOSITS', currency: 'NUM', amount: `case kind when 'TOKEN' then 0 else frozen_deposits.amount end` },
       { book: 'TOKENS', currency: 'NUM', amount: `case kind when 'TOKEN' then frozen_deposits.amount else 0 end` },
       { book: 'SHORTFALL', currency: 'NUM', amount: 'taken - frozen_deposits.amount' },
     ],
     omitsZeros: true,
   })},
   ${eventSql({
     from: 'frozen_deposits',
     owner: 'user_id',
     sequence: 'sequence',
     type: 'deposit.frozen',
     transfer: 'transfer_id',
   })}
   select array(select reference from frozen_deposits) as frozen, array(select user_id from updated_wallets) as owners,
     (select coalesce(sum(amount - taken), 0) from frozen_deposits) as shortfall`,
)

/** Moves a locked scan back to `height` and deletes pending deposits above it. The scan finds them again if the chain still has them. */
export const moveScanBack = statement(
  'deposits_back',
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

/** Returns frozen deposits, newest first. */
export const findFrozenDeposits = statement(
  'deposits_find_frozen',
  {
    parameters: { limit: int },
    columns: {
      ...{ id: uuid, reference: text, wallet_id: uuid, amount: numeric, shortfall: numeric, written_off: numeric },
      ...{ held: numeric, block_number: orNull(int), frozen_at: timestamp },
    },
  },
  `select d.id, d.reference, d.wallet_id, trim_scale(d.amount) as amount, trim_scale(d.shortfall) as shortfall,
     trim_scale(d.written_off) as written_off, trim_scale(w.num) as held, d.block_number, d.frozen_at
   from deposits d join wallets w on w.user_id = d.wallet_id
   where d.status = 'FROZEN' order by d.frozen_at desc, d.id desc limit $limit`,
)

/** SQL of the ledger entries for what the CTE `collected (reference, user_id, taken, transfer_id)` charges to wallets. */
const collectSql = postTransferSql({
  from: 'collected',
  reference: `'deposit-collection:' || substr(reference, 9) || ':' || transfer_id`,
  lines: [
    { wallet: 'collected.user_id', currency: 'NUM', amount: '-taken' },
    { book: 'SHORTFALL', currency: 'NUM', amount: 'taken' },
  ],
})

/** Charges a wallet what it owes for a frozen deposit, up to its balance. Returns no row if that is zero. Uses the locked rows, as in `payOrder`. */
export const collectShortfall = statement(
  'deposits_collect',
  { parameters: { deposit: uuid }, columns: { taken: numeric, owner: uuid } },
  `with locked_deposit as materialized (
     select id, reference, wallet_id, shortfall from deposits where id = $deposit and shortfall > 0 for no key update
   ),
   locked_wallet as materialized (
     select w.user_id, w.num, least(w.num, d.shortfall) as taken from wallets w join locked_deposit d on w.user_id = d.wallet_id for no key update of w
   ),
   updated_wallet as (
     update wallets w set num = l.num - l.taken from locked_wallet l where w.user_id = l.user_id and l.taken > 0
     returning w.user_id, l.taken, ${nextTransferSql('w')} as transfer_id
   ),
   updated_deposit as (
     update deposits d set shortfall = d.shortfall - u.taken from updated_wallet u where d.id = $deposit returning d.reference
   ),
   collected as materialized (select u.*, d.reference from updated_wallet u cross join updated_deposit d),
   ${collectSql},
   ${auditSql({ from: 'collected', user: 'null', action: 'deposit.collected', subject: 'reference' })}
   select trim_scale(taken) as taken, user_id as owner from collected`,
)

/** Writes off what a wallet owes for a frozen deposit. The platform bears it. Returns the amount, or no row if it is zero. */
export const writeShortfallOff = statement(
  'deposits_write_off',
  { parameters: { deposit: uuid }, columns: { borne: numeric } },
  `with updated_deposit as (
     update deposits set shortfall = 0, written_off = written_off + shortfall where id = $deposit and shortfall > 0
     returning reference, freezes, old.shortfall as borne, uuidv7() as transfer_id
   ),
   ${postTransferSql({
     from: 'updated_deposit',
     reference: `'deposit-write-off:' || substr(reference, 9) || ':' || freezes`,
     lines: [
       { book: 'SHORTFALL', currency: 'NUM', amount: 'borne' },
       { book: 'REVENUE', currency: 'NUM', amount: '-borne' },
     ],
   })},
   ${auditSql({ from: 'updated_deposit', user: 'null', action: 'deposit.written-off', subject: 'reference' })}
   select trim_scale(borne) as borne from updated_deposit`,
)
