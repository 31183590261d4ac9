/**
 * Withdrawals: coins that leave the wallet at once and the treasury once they are signed for. Until then they stand in the book
 * WITHDRAWALS, which is emptied by what arrives and by what is given back.
 */

import { arrayOf, boolean, int, numeric, orNull, statement, text, timestamp, uuid } from '../../db/sql.ts'
import { remembered, rememberSql } from '../../shared/idempotency.ts'
import { accountMailSql } from '../accounts/account-mail.sql.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { eventSql } from '../events/event-sql.ts'
import { nextTransferSql, postTransferSql } from '../wallet/ledger-sql.ts'
import { signedColumns, storeMoveSql } from './coin-transfers.sql.ts'
import { isTreasuryCertainSql } from './treasury.sql.ts'

/** Parameters of what a withdrawal is held to. */
const held = { user: uuid, recipient: text }
/** What a withdrawal is held to, at one moment: `sequence` tells whether anything has changed since. */
export const readWithdrawable = statement(
  'withdrawal_facts',
  {
    parameters: { ...held, coolingSeconds: int },
    columns: {
      num: numeric,
      sequence: int,
      closed: boolean,
      /** Asked for in the last 24 hours, and not given back. */
      withdrawn: numeric,
      /** Seconds until withdrawals are possible again after a change of credentials; 0: they are. */
      cooling: int,
      /** Whether the recipient is the address of an account. */
      custodial: boolean,
    },
  },
  `select w.num, w.event_sequence as sequence, w.closed_at is not null as closed,
     (select coalesce(sum(x.amount), 0) from withdrawals x where x.wallet_id = w.user_id
       and x.created_at > now() - interval '24 hours' and x.status not in ('FAILED', 'CANCELLED')) as withdrawn,
     coalesce((select greatest(0, ceil(extract(epoch from max(a.created_at) + make_interval(secs => $coolingSeconds) - now())))::int
       from audit_entries a where a.user_id = w.user_id
         and a.action in ('password.changed', 'password.reset', 'email.changed')), 0) as cooling,
     exists (select from wallets o where o.address = $recipient) as custodial
   from wallets w where w.user_id = $user`,
)

/**
 * Takes amount and fee out of the wallet and writes the withdrawal down, with its mail. `id` is null when the wallet has changed since it was
 * looked at. No row: the password was changed since it was verified, or the account deleted or locked.
 */
export const insertWithdrawal = statement(
  'withdrawal_insert',
  {
    parameters: {
      ...held,
      ...{ amount: numeric, fee: numeric, gasLimit: int, holdSeconds: int, sequence: int, verifiedHash: text },
      address: orNull(text),
      ...remembered,
    },
    columns: { id: orNull(uuid) },
  },
  `with locked_wallet as materialized (
     select user_id from wallets where user_id = $user for no key update
   ),
   verified_user as materialized (
     select u.id from locked_wallet join users u on u.id = locked_wallet.user_id
     where u.password_hash = $verifiedHash and u.deleted_at is null and u.locked_at is null for share of u
   ),
   charged_wallet as (
     update wallets w set num = w.num - $amount - $fee, event_sequence = w.event_sequence + 1
     from verified_user
     where w.user_id = verified_user.id and w.closed_at is null and w.event_sequence = $sequence and w.num >= $amount + $fee
     returning w.user_id, new.event_sequence as sequence, ${nextTransferSql('w')} as transfer_id
   ),
   inserted_withdrawal as (
     insert into withdrawals (wallet_id, recipient, amount, fee, gas_limit, due_at)
     select user_id, $recipient, $amount, $fee, $gasLimit, now() + make_interval(secs => $holdSeconds) from charged_wallet
     returning id, wallet_id
   ),
   ${postTransferSql({
     from: 'charged_wallet, inserted_withdrawal',
     reference: `'withdrawal:' || inserted_withdrawal.id`,
     lines: [
       { wallet: 'charged_wallet.user_id', currency: 'NUM', amount: '-$amount - $fee' },
       { book: 'WITHDRAWALS', currency: 'NUM', amount: '$amount' },
       { book: 'GAS', currency: 'NUM', amount: '$fee' },
     ],
   })},
   ${eventSql({ from: 'charged_wallet', owner: 'user_id', sequence: 'sequence', type: 'withdrawal.requested', transfer: 'transfer_id' })},
   ${auditSql({
     from: 'inserted_withdrawal',
     user: '$user',
     action: 'withdrawal.requested',
     subject: `type_id('withdrawal', inserted_withdrawal.id)`,
     address: '$address',
   })},
   ${accountMailSql({
     from: 'inserted_withdrawal',
     template: 'withdrawal-requested',
     facts: { userId: 'inserted_withdrawal.wallet_id', withdrawalId: 'inserted_withdrawal.id' },
   })},
   ${rememberSql('inserted_withdrawal.id::text', 'inserted_withdrawal')}
   select (select id from inserted_withdrawal) as id from verified_user, (select count(*) from enqueued_mails) as jobs`,
)

/** What the part `ended_withdrawals (id, wallet_id, given_back)` gives back: each a transfer, and an event of its owner's feed. */
const giveBackSql = (type: string) => `
   returned as (
     select wallet_id, sum(given_back) as amount, count(*)::int as events from ended_withdrawals group by wallet_id
   ),
   locked_wallets as materialized (
     select user_id from wallets where user_id in (select wallet_id from returned) order by user_id for no key update
   ),
   credited_wallets as (
     update wallets w set num = w.num + returned.amount, event_sequence = w.event_sequence + returned.events
     from locked_wallets join returned on returned.wallet_id = locked_wallets.user_id
     where w.user_id = locked_wallets.user_id
     returning w.user_id, old.event_sequence as before, next_transfer_ids(w.user_id, returned.events) as transfers
   ),
   told_withdrawals as materialized (
     select e.*, c.before + e.rank as sequence, case when e.given_back > 0 then c.transfers[e.rank] end as transfer_id
     from (select *, (row_number() over (partition by wallet_id order by id))::int as rank from ended_withdrawals) e
       join credited_wallets c on c.user_id = e.wallet_id
   ),
   ${postTransferSql({
     from: 'told_withdrawals',
     reference: `'withdrawal-refund:' || id`,
     when: 'given_back > 0',
     omitsZeros: true,
     lines: [
       { wallet: 'told_withdrawals.wallet_id', currency: 'NUM', amount: 'told_withdrawals.given_back' },
       { book: 'WITHDRAWALS', currency: 'NUM', amount: '-told_withdrawals.amount' },
       { book: 'GAS', currency: 'NUM', amount: 'told_withdrawals.amount - told_withdrawals.given_back' },
     ],
   })},
   ${eventSql({ from: 'told_withdrawals', owner: 'wallet_id', sequence: 'sequence', type: { sql: type }, transfer: 'transfer_id' })},
   ${accountMailSql({
     from: 'told_withdrawals',
     template: 'withdrawal-settled',
     facts: { userId: 'told_withdrawals.wallet_id', withdrawalId: 'told_withdrawals.id' },
   })}`

/** Gives a withdrawal back that nothing was signed for. No row: there is none of the user's, it waits no more, or it may have been paid. */
export const cancelWithdrawal = statement(
  'withdrawal_cancel',
  { parameters: { user: uuid, withdrawal: uuid, address: orNull(text), ...remembered }, columns: { id: uuid } },
  `with ended_withdrawals as (
     update withdrawals x set status = 'CANCELLED', settled_at = now()
     where x.id = $withdrawal and x.wallet_id = $user and x.status = 'WAITING' and ${isTreasuryCertainSql}
     returning x.id, x.wallet_id, x.amount, x.amount + x.fee as given_back
   ),
   ${giveBackSql(`'withdrawal.cancelled'`)},
   ${auditSql({
     from: 'told_withdrawals',
     user: '$user',
     action: 'withdrawal.cancelled',
     subject: `type_id('withdrawal', told_withdrawals.id)`,
     address: '$address',
   })},
   ${rememberSql('told_withdrawals.id::text', 'told_withdrawals')}
   select told_withdrawals.id from told_withdrawals, (select count(*) from enqueued_mails) as jobs`,
)

/** Gives a withdrawal back that can never be signed for: its recipient refuses coins, or needs too much gas. */
export const failWithdrawal = statement(
  'withdrawal_fail',
  { parameters: { withdrawal: uuid, failure: text }, columns: { owner: uuid } },
  `with ended_withdrawals as (
     update withdrawals x set status = 'FAILED', failure = $failure, settled_at = now()
     where x.id = $withdrawal and x.status = 'WAITING'
     returning x.id, x.wallet_id, x.amount, x.amount + x.fee as given_back
   ),
   ${giveBackSql(`'withdrawal.failed'`)}
   select wallet_id as owner from told_withdrawals, (select count(*) from enqueued_mails) as jobs`,
)

/**
 * Ends the withdrawals whose moves are settled: what arrived is confirmed; of what was refused the amount is given back, and not the fee that the
 * chain took. Told to their owners, whose feeds have grown.
 */
export const endWithdrawals = statement(
  'withdrawal_end',
  { parameters: { limit: int }, columns: { owners: arrayOf(uuid) } },
  `with settled_withdrawals as materialized (
     select x.id, m.status as moved, t.value > 0 as sent
     from withdrawals x join coin_moves m on m.id = x.move_id join coin_transactions t on t.hash = m.transaction_hash
     where x.status = 'SENDING' and m.status in ('FINAL', 'FAILED') order by x.id limit $limit for no key update of x skip locked
   ),
   ended_withdrawals as (
     update withdrawals x set status = case s.moved when 'FINAL' then 'CONFIRMED' else 'FAILED' end::withdrawal_status, settled_at = now(),
       failure = case when s.moved = 'FINAL' then null when s.sent then 'The recipient refused the coins.'
         else 'The recipient needs more gas to take coins than the chain has room for.' end
     from settled_withdrawals s where x.id = s.id
     returning x.id, x.wallet_id, x.amount, case s.moved when 'FINAL' then 0 else x.amount end as given_back
   ),
   ${giveBackSql(`case when given_back > 0 then 'withdrawal.failed' else 'withdrawal.confirmed' end`)}
   select array(select distinct wallet_id from told_withdrawals) as owners from (select count(*) from enqueued_mails) as jobs`,
)

/** What a treasury pays withdrawals from: currency units, the second for a unit of gas. */
const means = { free: numeric, price: numeric }
/** Whether that is enough for a withdrawal whose gas costs more by now than was charged for it. */
const isPayableSql = `amount + greatest(fee, gas_limit * $price) <= $free`
const isDueSql = `status = 'WAITING' and due_at <= now()`

/**
 * Withdrawals that may be signed for, oldest first: those for which the treasury has enough, so that what it cannot pay keeps nothing back, and those
 * that are to be given back because they need more gas than `mostGas`.
 */
export const findDueWithdrawals = statement(
  'withdrawal_due',
  {
    parameters: { ...means, mostGas: int, limit: int },
    columns: { id: uuid, userId: uuid, recipient: text, amount: numeric, fee: numeric, gasLimit: int },
  },
  `select id, wallet_id as "userId", recipient, amount, fee, gas_limit as "gasLimit" from withdrawals
   where ${isDueSql} and (${isPayableSql} or gas_limit > $mostGas) order by id limit $limit`,
)

/** The sum of all that may be signed for and for which the treasury has not enough. */
export const sumDueWithdrawals = statement(
  'withdrawal_due_sum',
  { parameters: means, columns: { amount: numeric } },
  `select coalesce(sum(amount + fee), 0) as amount from withdrawals where ${isDueSql} and not (${isPayableSql})`,
)

/** Stores a move out of the treasury with all its transactions, for a withdrawal that waits. No row: it waits no more, or another move has the nonce. */
export const storeWithdrawal = statement(
  'withdrawal_store',
  { parameters: { ...signedColumns, withdrawal: uuid }, columns: { id: uuid } },
  `with locked_withdrawal as materialized (
     select id from withdrawals where id = $withdrawal and status = 'WAITING' for no key update
   ),
   ${storeMoveSql('WITHDRAWAL', 'locked_withdrawal')},
   sent_withdrawal as (
     update withdrawals x set status = 'SENDING', move_id = inserted_move.id from inserted_move where x.id = $withdrawal
   ),
   ${postTransferSql({
     from: 'inserted_move',
     reference: `'coins-signed:' || inserted_move.id`,
     lines: [
       { book: 'TREASURY', currency: 'NUM', amount: '$amount' },
       { book: 'UNDER_WAY', currency: 'NUM', amount: '-$amount' },
     ],
   })}
   select id from inserted_move`,
)

/** The withdrawals that wait though they are due: how many, of how much, since when. */
export const countDueWithdrawals = statement(
  'withdrawal_waiting',
  { columns: { count: int, amount: numeric, oldest: orNull(timestamp), late: boolean } },
  `select count(*)::int as count, coalesce(sum(amount + fee), 0) as amount, min(due_at) as oldest,
     coalesce(min(due_at) < now() - interval '10 minutes', false) as late
   from withdrawals where ${isDueSql}`,
)

/** Treasuries where withdrawals were signed for ten minutes ago and no node has taken what is signed at the first of their nonces. */
export const findUntaken = statement(
  'withdrawal_untaken',
  { columns: { treasury: text, nonce: int, count: int, oldest: timestamp } },
  `select m.sender as treasury, min(m.nonce) as nonce, count(*)::int as count, min(m.created_at) as oldest
   from withdrawals x join coin_moves m on m.id = x.move_id
   where x.status = 'SENDING' and m.status = 'SIGNED' and m.created_at < now() - interval '10 minutes' group by m.sender order by m.sender`,
)
