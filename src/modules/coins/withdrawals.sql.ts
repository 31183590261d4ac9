/** Statements of withdrawals. The amount is in the ledger account WITHDRAWALS until it arrives or is refunded. */
import { arrayOf, boolean, int, numeric, orNull, type RowOf, statement, text, timestamp, uuid } from '../../db/sql.ts'
import { onceSql, onceTypes } from '../../shared/idempotency.ts'
import { accountMailSql } from '../accounts/mailed-links.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { eventSql } from '../events/events.sql.ts'
import { changeWalletsSql, nextTransferSql, numLines, postTransferSql } from '../wallet/ledger-sql.ts'
import { moveBookSql, signedColumns, storeTransferSql } from './coin-transfers.sql.ts'
import { isTreasuryCertainSql } from './treasury.sql.ts'

const withdrawableColumns = {
  /** `sequence` changes with each change of the wallet. */
  ...{ num: numeric, sequence: int },
  /** Sum of the withdrawals of the last 24 hours that were not refunded. */
  withdrawn: numeric,
  /** Seconds until withdrawals are allowed again after a change of credentials. 0 if they are allowed. */
  cooling: int,
  custodial: boolean,
}
export const readWithdrawable = statement(
  'withdrawal_facts',
  { parameters: { user: uuid, recipient: text, coolingSeconds: int }, columns: withdrawableColumns },
  `select w.num, w.event_sequence as sequence,
     (select coalesce(sum(x.amount), 0) from withdrawals x where x.wallet_id = w.user_id
       and x.created_at > now() - interval '24 hours' and x.status not in ('FAILED', 'CANCELLED')) as withdrawn,
     coalesce((
       select greatest(0, ceil(extract(epoch from max(a.created_at) + make_interval(secs => $coolingSeconds) - now())))::int
       from audit_entries a where a.user_id = w.user_id
         and a.action in ('password.changed', 'password.reset', 'email.changed')), 0) as cooling,
     exists (select from wallets o where o.address = $recipient) as custodial
   from wallets w where w.user_id = $user`,
)

/**
 * Charges amount and fee and stores the withdrawal. `id` is null if the wallet changed. Returns no row if the password
 * changed or the account is closed.
 */
export const insertWithdrawal = statement(
  'withdrawal_insert',
  {
    parameters: {
      ...{ user: uuid, recipient: text, amount: numeric, fee: numeric, gasLimit: int, holdSeconds: int, sequence: int },
      ...{ verifiedHash: text, address: orNull(text), ...onceTypes },
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
     lines: numLines({ WITHDRAWALS: '$amount', GAS: '$fee' }, ['charged_wallet.user_id', '-$amount - $fee']),
   })},
   ${eventSql({
     ...{ from: 'charged_wallet', owner: 'user_id', sequence: 'sequence', transfer: 'transfer_id' },
     type: 'withdrawal.requested',
   })},
   ${auditSql({
     ...{ from: 'inserted_withdrawal', user: '$user', action: 'withdrawal.requested', address: '$address' },
     subject: `type_id('withdrawal', inserted_withdrawal.id)`,
   })},
   ${accountMailSql({
     ...{ from: 'inserted_withdrawal', template: 'withdrawal-requested' },
     facts: { userId: 'inserted_withdrawal.wallet_id', withdrawalId: 'inserted_withdrawal.id' },
   })},
   ${onceSql('inserted_withdrawal.id::text', 'inserted_withdrawal')}
   select (select id from inserted_withdrawal) as id from verified_user, (select count(*) from enqueued_mails) as jobs`,
)

/** SQL that refunds `gain` of each row of `ended_withdrawals (id, user_id, amount, gain)` and reports the end. */
const refundSql = (type: string) => `
   ${changeWalletsSql('ended_withdrawals', 'reported_withdrawals')},
   ${postTransferSql({
     ...{ from: 'reported_withdrawals', when: 'gain > 0', omitsZeros: true },
     reference: `'withdrawal-refund:' || id`,
     lines: numLines({ WITHDRAWALS: '-reported_withdrawals.amount', GAS: 'reported_withdrawals.amount - gain' }, [
       'reported_withdrawals.user_id',
       'gain',
     ]),
   })},
   ${eventSql({
     ...{ from: 'reported_withdrawals', owner: 'user_id', sequence: 'sequence', type: { sql: type } },
     transfer: 'case when gain > 0 then transfer_id end',
   })},
   ${accountMailSql({
     ...{ from: 'reported_withdrawals', template: 'withdrawal-settled' },
     facts: { userId: 'reported_withdrawals.user_id', withdrawalId: 'reported_withdrawals.id' },
   })}`
const endedColumnsSql = 'x.id, x.wallet_id as user_id, x.amount, x.amount + x.fee as gain'

/** Returns no row if the withdrawal is signed or may have been paid. */
export const cancelWithdrawal = statement(
  'withdrawal_cancel',
  { parameters: { user: uuid, withdrawal: uuid, address: orNull(text), ...onceTypes }, columns: { id: uuid } },
  `with ended_withdrawals as (
     update withdrawals x set status = 'CANCELLED', settled_at = now()
     where x.id = $withdrawal and x.wallet_id = $user and x.status = 'WAITING' and ${isTreasuryCertainSql}
     returning ${endedColumnsSql}
   ),
   ${refundSql(`'withdrawal.cancelled'`)},
   ${auditSql({
     ...{ from: 'reported_withdrawals', user: '$user', action: 'withdrawal.cancelled', address: '$address' },
     subject: `type_id('withdrawal', reported_withdrawals.id)`,
   })},
   ${onceSql('reported_withdrawals.id::text', 'reported_withdrawals')}
   select reported_withdrawals.id from reported_withdrawals, (select count(*) from enqueued_mails) as jobs`,
)

/** Fails and refunds a withdrawal that can never be sent: its recipient refuses coins or needs too much gas. */
export const failWithdrawal = statement(
  'withdrawal_fail',
  { parameters: { withdrawal: uuid, failure: text }, columns: { owner: uuid } },
  `with ended_withdrawals as (
     update withdrawals x set status = 'FAILED', failure = $failure, settled_at = now()
     where x.id = $withdrawal and x.status = 'WAITING' returning ${endedColumnsSql}
   ),
   ${refundSql(`'withdrawal.failed'`)}
   select user_id as owner from reported_withdrawals, (select count(*) from enqueued_mails) as jobs`,
)

/** Ends withdrawals whose transfers are settled. Refunds refused ones without the fee, which the chain charged. */
export const endWithdrawals = statement(
  'withdrawal_end',
  { parameters: { limit: int }, columns: { owners: arrayOf(uuid) } },
  `with settled_withdrawals as materialized (
     select x.id, m.status as result from withdrawals x join coin_transfers m on m.id = x.coin_transfer_id
     where x.status = 'SENDING' and m.status in ('FINAL', 'FAILED')
     order by x.id limit $limit for no key update of x skip locked
   ),
   ended_withdrawals as (
     update withdrawals x set settled_at = now(),
       status = case s.result when 'FINAL' then 'CONFIRMED' else 'FAILED' end::withdrawal_status,
       failure = case s.result when 'FAILED' then 'The recipient refused the coins.' end
     from settled_withdrawals s where x.id = s.id
     returning x.id, x.wallet_id as user_id, x.amount, case s.result when 'FINAL' then 0 else x.amount end as gain
   ),
   ${refundSql(`case when gain > 0 then 'withdrawal.failed' else 'withdrawal.confirmed' end`)}
   select array(select distinct user_id from reported_withdrawals) as owners
   from (select count(*) from enqueued_mails) as jobs`,
)

/** Funds of the treasury in currency units: the free balance, and the price per unit of gas. */
const funds = { free: numeric, price: numeric }
/** Condition: the funds cover the withdrawal, even if gas now costs more than the charged fee. */
const isPayableSql = `amount + greatest(fee, gas_limit * $price) <= $free`
const isDueSql = `status = 'WAITING' and due_at <= now()`

const dueColumns = { id: uuid, userId: uuid, recipient: text, amount: numeric, fee: numeric, gasLimit: int }
export type DueWithdrawal = RowOf<typeof dueColumns>

/** Returns due withdrawals, oldest first, that are payable or need more gas than `mostGas`. */
export const findDueWithdrawals = statement(
  'withdrawal_due',
  { parameters: { ...funds, mostGas: int, limit: int }, columns: dueColumns },
  `select id, wallet_id as "userId", recipient, amount, fee, gas_limit as "gasLimit" from withdrawals
   where ${isDueSql} and (${isPayableSql} or gas_limit > $mostGas) order by id limit $limit`,
)

/** Returns the sum of the due withdrawals that the treasury cannot pay. */
export const sumDueWithdrawals = statement(
  'withdrawal_due_sum',
  { parameters: funds, columns: { amount: numeric } },
  `select coalesce(sum(amount + fee), 0) as amount from withdrawals where ${isDueSql} and not (${isPayableSql})`,
)

/** Stores the transfer of a waiting withdrawal. Returns no row if it is not waiting or the nonce is used. */
export const storeWithdrawal = statement(
  'withdrawal_store',
  { parameters: { ...signedColumns, withdrawal: uuid }, columns: { id: uuid } },
  `with locked_withdrawal as materialized (
     select id from withdrawals where id = $withdrawal and status = 'WAITING' for no key update
   ),
   ${storeTransferSql('WITHDRAWAL', 'locked_withdrawal')},
   sent_withdrawal as (
     update withdrawals x set status = 'SENDING', coin_transfer_id = stored_transfer.id
     from stored_transfer where x.id = $withdrawal
   ),
   ${moveBookSql('stored_transfer', `'coins-signed:' || stored_transfer.id`, ['TREASURY', 'IN_TRANSIT'], '$amount')}
   select id from stored_transfer`,
)

/** `late`: a withdrawal has been due for more than ten minutes. */
export const countDueWithdrawals = statement(
  'withdrawal_waiting',
  { columns: { count: int, amount: numeric, oldest: orNull(timestamp), late: boolean } },
  `select count(*)::int as count, coalesce(sum(amount + fee), 0) as amount, min(due_at) as oldest,
     coalesce(min(due_at) < now() - interval '10 minutes', false) as late
   from withdrawals where ${isDueSql}`,
)

/** Returns treasuries with withdrawals that were signed ten minutes ago and that no node has accepted. */
export const findUnaccepted = statement(
  'withdrawal_unaccepted',
  { columns: { treasury: text, nonce: int, count: int, oldest: timestamp } },
  `select m.sender as treasury, min(m.nonce) as nonce, count(*)::int as count, min(m.created_at) as oldest
   from withdrawals x join coin_transfers m on m.id = x.coin_transfer_id
   where x.status = 'SENDING' and m.status = 'SIGNED' and m.created_at < now() - interval '10 minutes'
   group by m.sender order by m.sender`,
)
