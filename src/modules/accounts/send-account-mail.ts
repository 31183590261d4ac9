import type { Use } from '../../context.ts'
import { boolean, int, numeric, orNull, type RowOf, statement, text, textOf, timestamp, uuid } from '../../db/sql.ts'
import type { AccountMailJob } from '../../jobs/queues.ts'
import type { AccountFacts, AccountMessage, WithdrawalFacts } from '../../mail/mail-types.ts'
import { dropIfRejected } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import { formatAmount } from '../../shared/money.ts'
import { byEmailSql, isEmailUsable } from './account-input.ts'
import { issueToken, lifetimes, type Purpose } from './mailed-links.ts'

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
export type RecipientRow = RowOf<typeof columns>

const recipientSql =
  'select id, username, display_name, email, email_verified, email_held, pending_email, language from users'

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
export type MailedWithdrawal = RowOf<typeof withdrawalColumns>

export const findWithdrawal = statement(
  'account_mail_withdrawal',
  { parameters: { user: uuid, withdrawal: uuid }, columns: withdrawalColumns },
  `select x.amount, x.fee, x.recipient, x.status, coalesce(m.status <> 'SIGNED', false) as "isSent", x.due_at as "dueAt"
   from withdrawals x left join coin_transfers m on m.id = x.coin_transfer_id
   where x.id = $withdrawal and x.wallet_id = $user`,
)

type Needs = Use<'composeMail' | 'config' | 'database' | 'log' | 'mailer' | 'publicUrl' | 'vault'>
type Job<T extends AccountMailJob['template']> = Extract<AccountMailJob, { template: T }>

/** Mails with a link, which anyone can request. The other mails are notices, whose rejection is reported. */
const requested = new Set<AccountMailJob['template']>(['password-reset', 'email-verification'])

interface Letter {
  to: RecipientRow
  /** Address if it is not the current one of the account. */
  address?: string
  message: AccountMessage
  /** Distinguishes several mails of one request. */
  part?: string
}

const hasUsableEmail = ({ config }: Needs, { email_held, email_verified }: RecipientRow) =>
  isEmailUsable({ emailHeld: email_held, emailVerified: email_verified }, config.emailVerification !== 'off')

const findById = async ({ database }: Needs, user: string) => (await database.query(findRecipient, { user }))[0]

/**
 * Issues a link and returns it with its address. Undefined if a newer or used link exists, the account is locked, or the link would have expired since the
 * request.
 */
async function issueLink(
  context: Needs,
  purpose: Purpose,
  job: Job<'password-reset' | 'email-verification'>,
  userId: string,
) {
  const { database, log, publicUrl } = context
  const { template, requestId, at } = job
  const [expired] = await database.query(isExpired, { since: at, seconds: lifetimes[purpose] })
  if (expired) {
    log.error({ template, user: toId('user', userId) }, 'Mail dropped: its link expired before it could be sent')
    return undefined
  }
  const issued = await issueToken(context, { purpose, userId, requestId })
  if (!issued) return undefined
  return { address: issued.email, link: `${publicUrl}/account/${template}/${toId('user', userId)}/${issued.token}` }
}

async function passwordResetMail(context: Needs, job: Job<'password-reset'>): Promise<Letter[]> {
  const [to] = await context.database.query(findRecipientByEmail, { email: job.email })
  const issued = to && (await issueLink(context, 'PASSWORD_RESET', job, to.id))
  if (!issued) return []
  const { address, link } = issued
  const minutes = lifetimes.PASSWORD_RESET / 60
  return [{ to, address, message: { template: 'password-reset', username: to.username, link, minutes } }]
}

/** Several accounts may claim an address. Each gets a link of its own. */
async function verificationMails(context: Needs, job: Job<'email-verification'>): Promise<Letter[]> {
  const { database } = context
  const recipients =
    'userId' in job
      ? await database.query(findRecipient, { user: job.userId })
      : await database.query(findUnverified, { email: job.email, asker: job.asker ?? null })
  const letters: Letter[] = []
  for (const to of recipients) {
    if (to.email_verified && to.pending_email === null) continue
    const issued = await issueLink(context, 'EMAIL_VERIFICATION', job, to.id)
    if (!issued) continue
    const { address, link } = issued
    const hours = lifetimes.EMAIL_VERIFICATION / 3600
    const message = { template: 'email-verification', username: to.username, link, hours } as const
    letters.push({ to, address, message, part: to.id })
  }
  return letters
}

async function passwordChangedMail(context: Needs, { userId, at }: Job<'password-changed'>): Promise<Letter[]> {
  const to = await findById(context, userId)
  if (!to || !hasUsableEmail(context, to)) return []
  return [{ to, message: { template: 'password-changed', username: to.username, at: new Date(at) } }]
}

/** Notifies the old address, which may be about to lose its account. */
async function emailChangeMail(
  context: Needs,
  { template, userId, email, newEmail, at }: Job<'email-change-requested' | 'email-changed'>,
): Promise<Letter[]> {
  const to = await findById(context, userId)
  if (!to) return []
  return [{ to, address: email, message: { template, username: to.username, newEmail, at: new Date(at) } }]
}

function withdrawalMessage(
  { status, dueAt, isSent }: MailedWithdrawal,
  facts: AccountFacts & WithdrawalFacts,
): AccountMessage {
  switch (status) {
    case 'WAITING':
    case 'SENDING':
      return { template: 'withdrawal-requested', dueAt, ...facts }
    case 'CONFIRMED':
      return { template: 'withdrawal-confirmed', ...facts }
    case 'FAILED':
      // A transaction that was never sent cost no fee.
      return { template: 'withdrawal-failed', keepsFee: isSent, ...facts }
    case 'CANCELLED':
      return { template: 'withdrawal-cancelled', ...facts }
  }
}

/** Reports the current status of the withdrawal, which may have changed since the job was enqueued. */
async function withdrawalMail(
  context: Needs,
  { userId, withdrawalId, at }: Job<'withdrawal-requested' | 'withdrawal-settled'>,
): Promise<Letter[]> {
  const to = await findById(context, userId)
  const [found] = await context.database.query(findWithdrawal, { user: userId, withdrawal: withdrawalId })
  if (!to || !found || !hasUsableEmail(context, to)) return []
  const { amount, fee, recipient } = found
  const facts = {
    ...{ username: to.username, withdrawalId: toId('withdrawal', withdrawalId), to: recipient, at: new Date(at) },
    ...{ amount: formatAmount(amount), fee: formatAmount(fee) },
  }
  return [{ to, message: withdrawalMessage(found, facts) }]
}

function lettersOf(context: Needs, job: AccountMailJob): Promise<Letter[]> {
  switch (job.template) {
    case 'password-reset':
      return passwordResetMail(context, job)
    case 'email-verification':
      return verificationMails(context, job)
    case 'password-changed':
      return passwordChangedMail(context, job)
    case 'email-change-requested':
    case 'email-changed':
      return emailChangeMail(context, job)
    case 'withdrawal-requested':
    case 'withdrawal-settled':
      return withdrawalMail(context, job)
  }
}

/**
 * Runs a job of the queue `account-mail`. Writes the mail from the current state of the account. Sends nothing if the account is deleted, or if a link is not
 * valid any more. Throws UNAVAILABLE if the mail could not be sent: a retry sends the same link with the same message ID. Throws RejectedRecipientError for a
 * notice.
 */
export async function sendAccountMail(context: Needs, job: AccountMailJob): Promise<void> {
  const { composeMail, log, mailer } = context
  const letters = await lettersOf(context, job)
  const about = { template: job.template, user: 'userId' in job ? toId('user', job.userId) : undefined }
  if (letters.length === 0) log.debug(about, 'Mail dropped: no recipient')
  for (const { to, address = to.email, message, part } of letters) {
    const id = [job.template, job.requestId, part].filter(Boolean).join('-')
    const mail = { ...composeMail(message, to.language), id, to: { name: to.display_name, address } }
    const sent = mailer.send({ ...mail, date: new Date(job.at) })
    await (requested.has(job.template) ? sent.catch(dropIfRejected(log, about)) : sent)
  }
}
