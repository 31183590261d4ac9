import { boolean, int, numeric, orNull, type RowOf, statement, text, textOf, timestamp, uuid } from '../../db/sql.ts'
import { enqueueSql, type SqlOf } from '../../jobs/enqueue-sql.ts'
import type { AccountMailJob } from '../../jobs/queues.ts'
import { byEmailSql } from './email-addresses.ts'

type Template = AccountMailJob['template']
type FactsOf<Job> = Job extends unknown ? SqlOf<Omit<Job, 'template' | 'requestId' | 'at'>> : never

/** A kind of mail. `facts` are SQL expressions. */
export type AccountMailParts = {
  /** Name of the CTE if a statement has two. PostgreSQL runs it only if the statement reads it, for example with `count(*)`. */
  name?: string
  /** CTE or join with a row for each mail. */
  from: string
} & { [T in Template]: { template: T; facts: FactsOf<Extract<AccountMailJob, { template: T }>> } }[Template]

/**
 * SQL of a CTE that enqueues a mail about an account in the statement of its cause. The job contains the ID of the account, and an address only where the account is
 * unknown. The database clock orders requests.
 */
export const accountMailSql = ({ name = 'enqueued_mails', from, template, facts }: AccountMailParts): string => {
  const data = { template: `'${template}'`, requestId: 'uuidv7()', at: 'now()', ...facts }
  return enqueueSql(name, { queue: 'account-mail', from, data })
}

const columns = {
  id: uuid,
  username: text,
  display_name: text,
  email: text,
  email_verified: boolean,
  /** True if no other account claims the address. */
  email_held: boolean,
  pending_email: orNull(text),
  language: text,
}
/** The recipient of a mail about an account. */
export type RecipientRow = RowOf<typeof columns>

const recipientSql =
  'select id, username, display_name, email, email_verified, email_held, pending_email, language from users'

/** Finds a recipient by UUID. No row: the account is deleted. */
export const findRecipient = statement(
  'account_addressee',
  { parameters: { user: uuid }, columns },
  `${recipientSql} where id = $user and deleted_at is null`,
)

/** Finds the account that holds an address, or that claimed it first. */
export const findRecipientByEmail = statement(
  'account_addressee_by_email',
  { parameters: { email: text }, columns },
  `${recipientSql} ${byEmailSql('$email')}`,
)

/** Finds up to three accounts that wait for the verification of an address: `asker` first, then the newest. No row once it is verified. */
export const findUnverified = statement(
  'account_awaiting',
  { parameters: { email: text, asker: orNull(uuid) }, columns },
  `${recipientSql}
   where deleted_at is null and locked_at is null
     and (lower(pending_email) = lower($email) or (lower(email) = lower($email) and not email_verified and pending_email is null))
     and not exists (select from users o where lower(o.email) = lower($email) and o.email_verified)
   order by id is not distinct from $asker desc, created_at desc, id desc limit 3`,
)

/** Returns a row if this many seconds have passed since a time in ISO 8601. */
export const isExpired = statement(
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
   from withdrawals x left join coin_transfers m on m.id = x.coin_transfer_id
   where x.id = $withdrawal and x.wallet_id = $user`,
)
