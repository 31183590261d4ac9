import type { Use } from '../../context.ts'
import { boolean, int, numeric, orNull, type RowOf, statement, text, textOf, timestamp, uuid } from '../../db/sql.ts'
import type { AccountMailJob } from '../../jobs/queues.ts'
import type { AccountMessage } from '../../mail/mail-types.ts'
import { dropIfRejected } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import { formatAmount } from '../../shared/money.ts'
import { byEmailSql, isEmailUsable } from './account-input.ts'
import { issueToken, lifetimes, type Purpose } from './mailed-links.ts'

const columns = {
  ...{ id: uuid, username: text, display_name: text, language: text, email: text, email_verified: boolean },
  ...{ email_held: boolean, pending_email: orNull(text) },
}
type RecipientRow = RowOf<typeof columns>

const recipientSql =
  'select id, username, display_name, language, email, email_verified, email_held, pending_email from users'

const findRecipient = statement(
  'account_recipient',
  { parameters: { user: uuid }, columns },
  `${recipientSql} where id = $user and deleted_at is null`,
)

const findRecipientByEmail = statement(
  'account_recipient_by_email',
  { parameters: { email: text }, columns },
  `${recipientSql} ${byEmailSql('$email')}`,
)

/** Finds up to three accounts with an unverified address: `requester` first, then the newest. */
const findUnverified = statement(
  'account_unverified_recipients',
  { parameters: { email: text, requester: orNull(uuid) }, columns },
  `${recipientSql}
   where deleted_at is null and locked_at is null
     and (lower(pending_email) = lower($email) or (lower(email) = lower($email) and not email_verified and pending_email is null))
     and not exists (select from users o where lower(o.email) = lower($email) and o.email_verified)
   order by id is not distinct from $requester desc, created_at desc, id desc limit 3`,
)

/** Returns a row if `seconds` have passed since the time `since` (ISO 8601). Uses the clock of the database. */
const findExpired = statement(
  'account_mail_expired',
  { parameters: { since: text, seconds: int }, columns: { is_expired: boolean } },
  'select true as is_expired where now() >= $since::timestamptz + make_interval(secs => $seconds)',
)

const withdrawalColumns = {
  ...{ amount: numeric, fee: numeric, recipient: text, isSent: boolean, dueAt: timestamp },
  status: textOf<'WAITING' | 'SENDING' | 'CONFIRMED' | 'FAILED' | 'CANCELLED'>('withdrawal_status'),
}
const findWithdrawal = statement(
  'account_mail_withdrawal',
  { parameters: { user: uuid, withdrawal: uuid }, columns: withdrawalColumns },
  `select x.amount, x.fee, x.recipient, x.status, coalesce(m.status <> 'SIGNED', false) as "isSent", x.due_at as "dueAt"
   from withdrawals x left join coin_transfers m on m.id = x.coin_transfer_id
   where x.id = $withdrawal and x.wallet_id = $user`,
)

type Needs = Use<'composeMail' | 'config' | 'database' | 'log' | 'mailer' | 'publicUrl' | 'vault'>
type Job<T extends AccountMailJob['template']> = Extract<AccountMailJob, { template: T }>

type LinkTemplate = 'password-reset' | 'email-verification'

/** `address`: default is the current address of the account. `part` distinguishes several mails of one request. */
type Mail = { to: RecipientRow; address?: string; message: AccountMessage; part?: string }

const hasUsableEmail = ({ config }: Needs, { email_held, email_verified }: RecipientRow) =>
  isEmailUsable({ emailHeld: email_held, emailVerified: email_verified }, config.emailVerification !== 'off')

const findById = async ({ database }: Needs, user: string) => (await database.query(findRecipient, { user }))[0]

/** Returns a link and its recipient's address. Undefined if a newer link exists, or the link was used or expired. */
async function issueLink(context: Needs, purpose: Purpose, job: Job<LinkTemplate>, userId: string) {
  const { database, log, publicUrl } = context
  const { template, requestId, at } = job
  const [expired] = await database.query(findExpired, { since: at, seconds: lifetimes[purpose] })
  if (expired) {
    log.error({ template, user: toId('user', userId) }, 'Mail dropped: its link expired before it could be sent')
    return undefined
  }
  const issued = await issueToken(context, { purpose, userId, requestId })
  if (!issued) return undefined
  return { address: issued.email, link: `${publicUrl}/account/${template}/${toId('user', userId)}/${issued.token}` }
}

const withdrawalTemplates = {
  ...{ WAITING: 'withdrawal-requested', SENDING: 'withdrawal-requested', CONFIRMED: 'withdrawal-confirmed' },
  ...{ FAILED: 'withdrawal-failed', CANCELLED: 'withdrawal-cancelled' },
} as const

type Compose<Template extends AccountMailJob['template']> = (context: Needs, job: Job<Template>) => Promise<Mail[]>

/** Composes the mail that notifies the old address of a change. */
const emailChanged: Compose<'email-change-requested' | 'email-changed'> = async (context, job) => {
  const { template, userId, email: address, newEmail, at } = job
  const to = await findById(context, userId)
  return to ? [{ to, address, message: { template, username: to.username, newEmail, at: new Date(at) } }] : []
}

/** Composes a mail with the current status of a withdrawal, which may have changed since the job was enqueued. */
const withdrawalChanged: Compose<'withdrawal-requested' | 'withdrawal-settled'> = async (context, job) => {
  const { userId, withdrawalId, at } = job
  const to = await findById(context, userId)
  const [found] = await context.database.query(findWithdrawal, { user: userId, withdrawal: withdrawalId })
  if (!to || !found || !hasUsableEmail(context, to)) return []
  const { amount, fee, recipient, status, dueAt, isSent } = found
  // The fee is kept if the transaction was sent, because the chain charged the fee.
  const message = {
    ...{ template: withdrawalTemplates[status], username: to.username, withdrawalId: toId('withdrawal', withdrawalId) },
    ...{
      amount: formatAmount(amount),
      fee: formatAmount(fee),
      to: recipient,
      at: new Date(at),
      dueAt,
      keepsFee: isSent,
    },
  }
  return [{ to, message: message as AccountMessage }]
}

const composers: Record<AccountMailJob['template'], (context: Needs, job: never) => Promise<Mail[]>> = {
  async 'password-reset'(context, job: Job<'password-reset'>) {
    const [to] = await context.database.query(findRecipientByEmail, { email: job.email })
    const issued = to && (await issueLink(context, 'PASSWORD_RESET', job, to.id))
    if (!issued) return []
    const minutes = lifetimes.PASSWORD_RESET / 60
    const message = { template: 'password-reset', username: to.username, link: issued.link, minutes } as const
    return [{ to, address: issued.address, message }]
  },
  /** Composes a verification mail for each account that claims the address. Each mail has its own link. */
  async 'email-verification'(context, job: Job<'email-verification'>) {
    const { database } = context
    const recipients =
      'userId' in job
        ? await database.query(findRecipient, { user: job.userId })
        : await database.query(findUnverified, { email: job.email, requester: job.requester ?? null })
    const hours = lifetimes.EMAIL_VERIFICATION / 3600
    const mails: Mail[] = []
    for (const to of recipients) {
      if (to.email_verified && to.pending_email === null) continue
      const issued = await issueLink(context, 'EMAIL_VERIFICATION', job, to.id)
      if (!issued) continue
      const message = { template: 'email-verification', username: to.username, link: issued.link, hours } as const
      mails.push({ to, address: issued.address, message, part: to.id })
    }
    return mails
  },
  async 'password-changed'(context, { template, userId, at }: Job<'password-changed'>) {
    const to = await findById(context, userId)
    if (!to || !hasUsableEmail(context, to)) return []
    return [{ to, message: { template, username: to.username, at: new Date(at) } }]
  },
  'email-change-requested': emailChanged,
  'email-changed': emailChanged,
  'withdrawal-requested': withdrawalChanged,
  'withdrawal-settled': withdrawalChanged,
}

/** Runs a job of the queue `account-mail`. A retry sends the same link with the same message ID. */
export async function sendAccountMail(context: Needs, job: AccountMailJob): Promise<void> {
  const { composeMail, log, mailer } = context
  const mails = await composers[job.template](context, job as never)
  const about = { template: job.template, user: 'userId' in job ? toId('user', job.userId) : undefined }
  if (mails.length === 0) log.debug(about, 'Mail dropped: no recipient')
  for (const { to, address = to.email, message, part } of mails) {
    const id = [job.template, job.requestId, part].filter(Boolean).join('-')
    const mail = { ...composeMail(message, to.language), id, to: { name: to.display_name, address } }
    const sent = mailer.send({ ...mail, date: new Date(job.at) })
    // Anyone can request a mail with a link, so a rejected recipient is not an error.
    await ('link' in message ? sent.catch(dropIfRejected(log, about)) : sent)
  }
}
