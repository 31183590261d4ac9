import { boolean, int, numeric, orNull, type RowOf, statement, text, textOf, timestamp, uuid } from '../../db/sql.ts'
import { byAddressSql } from './email-lookup-sql.ts'

const columns = {
  id: uuid,
  username: text,
  display_name: text,
  email: text,
  email_verified: boolean,
  /** Whether the address is theirs alone. */
  email_held: boolean,
  pending_email: orNull(text),
  language: text,
}
/** Whom a mail about an account goes to. */
export type AddresseeRow = RowOf<typeof columns>

const addressee =
  'select id, username, display_name, email, email_verified, email_held, pending_email, language from users'

/** Whom mail to an account goes to, by UUID; no row once the account is deleted. */
export const findAddressee = statement(
  'account_addressee',
  { parameters: { user: uuid }, columns },
  `${addressee} where id = $user and deleted_at is null`,
)

/** Who holds an address; while nobody does, who claimed it first. */
export const findAddresseeByEmail = statement(
  'account_addressee_by_email',
  { parameters: { email: text }, columns },
  `${addressee} ${byAddressSql('$email')}`,
)

/** Accounts that wait for an address to be verified and are not locked, who asks first and then the newest; none once one of them has it. */
export const findAwaiting = statement(
  'account_awaiting',
  { parameters: { email: text, asker: orNull(uuid) }, columns },
  `${addressee}
   where deleted_at is null and locked_at is null
     and (lower(pending_email) = lower($email) or (lower(email) = lower($email) and not email_verified and pending_email is null))
     and not exists (select from users o where lower(o.email) = lower($email) and o.email_verified)
   order by id is not distinct from $asker desc, created_at desc, id desc limit 3`,
)

/** A row when so many seconds have passed since a time, ISO 8601. */
export const isOver = statement(
  'account_mail_over',
  { parameters: { since: text, seconds: int }, columns: { over: boolean } },
  'select true as over where now() >= $since::timestamptz + make_interval(secs => $seconds)',
)

const withdrawalColumns = {
  amount: numeric,
  fee: numeric,
  recipient: text,
  status: textOf<'WAITING' | 'SENDING' | 'CONFIRMED' | 'FAILED' | 'CANCELLED'>('withdrawal_status'),
  /** True if a transaction was sent, which costs the fee. */
  isSent: boolean,
  dueAt: timestamp,
}
/** A withdrawal as mails show it. */
export type MailedWithdrawal = RowOf<typeof withdrawalColumns>

/** A withdrawal of a user. */
export const findWithdrawal = statement(
  'account_mail_withdrawal',
  { parameters: { user: uuid, withdrawal: uuid }, columns: withdrawalColumns },
  `select x.amount, x.fee, x.recipient, x.status, coalesce(m.status <> 'SIGNED', false) as "isSent", x.due_at as "dueAt"
   from withdrawals x left join coin_moves m on m.id = x.move_id
   where x.id = $withdrawal and x.wallet_id = $user`,
)
