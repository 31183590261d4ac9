/** Mails about an account: what they say, and to whom. Words are the composer's, the way out is the mailer's. */

import type { Database } from '../../db/database-types.ts'
import type { AccountMailJob } from '../../jobs/queues.ts'
import type { AccountFacts, AccountMessage, ComposeMail, Mailer, WithdrawalFacts } from '../../mail/mail-types.ts'
import { dropIfRejected } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import type { Log } from '../../shared/log.ts'
import { formatAmount } from '../../shared/money.ts'
import {
  type AddresseeRow,
  findAddressee,
  findAddresseeByEmail,
  findAwaiting,
  findWithdrawal,
  isOver,
  type MailedWithdrawal,
} from './account-mail.sql.ts'
import { addressCounts } from './email-lookup-sql.ts'
import { lifetimes, type OneTimeTokens, type Purpose } from './one-time-token.ts'

/** Mails with a link, which somebody asked for. The others tell what was done with an account: none of them is lost without a trace. */
const asked = new Set<AccountMailJob['template']>(['password-reset', 'email-verification'])

/** What a mail tells of a withdrawal as it stands. */
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
      return { template: 'withdrawal-failed', keepsFee: isSent, ...facts }
    case 'CANCELLED':
      return { template: 'withdrawal-cancelled', ...facts }
  }
}

type Job<T extends AccountMailJob['template']> = Extract<AccountMailJob, { template: T }>

interface Letter {
  to: AddresseeRow
  /** Where it goes, when that is not where the account's mail goes now. */
  address?: string
  message: AccountMessage
  /** Told apart by this where one request has several mails sent. */
  part?: string
}

interface Dependencies {
  database: Pick<Database, 'query'>
  tokens: OneTimeTokens
  mailer: Mailer
  compose: ComposeMail
  log: Log
  /** Where people find the service, without a trailing slash. */
  publicUrl: string
  /** Whether only verified addresses count. */
  verifiesAddresses: boolean
}

/**
 * Writes the mails about accounts when they are sent, from the account as it is then; the queue holds little more than its
 * identifier.
 */
export function createAccountMail(deps: Dependencies) {
  const { database, tokens, mailer, compose, log, publicUrl, verifiesAddresses } = deps
  const find = async (userId: string) => (await database.query(findAddressee, { user: userId }))[0]
  const findByEmail = async (email: string) => (await database.query(findAddresseeByEmail, { email }))[0]

  /**
   * A link, and the address that it is for. Undefined when a newer or a used one stands, when the account is locked, and when
   * as long as it is good for has passed since it was asked for: who asked has given up or asked again, and expects no such
   * mail any more.
   */
  async function issueLink(purpose: Purpose, job: Job<'password-reset' | 'email-verification'>, userId: string) {
    const { template, requestId, at } = job
    const [late] = await database.query(isOver, { since: at, seconds: lifetimes[purpose] })
    if (late) {
      log.error({ template, user: toId('user', userId) }, 'Mail dropped: its link expired before it could be sent')
      return undefined
    }
    const issued = await tokens.issue(purpose, userId, requestId)
    if (!issued) return undefined
    return { address: issued.email, link: `${publicUrl}/account/${template}/${toId('user', userId)}/${issued.token}` }
  }

  const counts = ({ email_held: emailHeld, email_verified: emailVerified }: AddresseeRow) =>
    addressCounts({ emailHeld, emailVerified }, verifiesAddresses)

  /** To the present address, which may be about to lose its account. */
  async function notice(
    template: 'email-change-requested' | 'email-changed',
    job: Omit<Job<'email-changed'>, 'template'>,
  ) {
    const to = await find(job.userId)
    if (!to) return []
    const message = { template, username: to.username, newEmail: job.newEmail, at: new Date(job.at) }
    return [{ to, address: job.email, message }]
  }

  /** Tells what is, when the mail is written: one that was cancelled by then is told so, whatever the job was about. */
  async function withdrawalMail({ userId, withdrawalId, at }: Job<'withdrawal-requested' | 'withdrawal-settled'>) {
    const to = await find(userId)
    const [found] = await database.query(findWithdrawal, { user: userId, withdrawal: withdrawalId })
    if (!to || !found || !counts(to)) return []
    const { amount, fee, recipient } = found
    const facts = {
      ...{ username: to.username, withdrawalId: toId('withdrawal', withdrawalId), to: recipient, at: new Date(at) },
      ...{ amount: formatAmount(amount), fee: formatAmount(fee) },
    }
    return [{ to, message: withdrawalMessage(found, facts) }]
  }

  const letters: { [T in AccountMailJob['template']]: (job: Job<T>) => Promise<Letter[]> } = {
    async 'password-reset'(job) {
      const to = await findByEmail(job.email)
      const issued = to && (await issueLink('PASSWORD_RESET', job, to.id))
      if (!issued) return []
      const { address, link } = issued
      const minutes = lifetimes.PASSWORD_RESET / 60
      return [{ to, address, message: { template: 'password-reset', username: to.username, link, minutes } }]
    },

    async 'password-changed'({ userId, at }) {
      const to = await find(userId)
      if (!to || !counts(to)) return []
      return [{ to, message: { template: 'password-changed', username: to.username, at: new Date(at) } }]
    },

    'email-change-requested': (job) => notice('email-change-requested', job),
    'email-changed': (job) => notice('email-changed', job),

    'withdrawal-requested': (job) => withdrawalMail(job),
    'withdrawal-settled': (job) => withdrawalMail(job),

    // An address may be claimed by several accounts: each has a link of its own, and its mail names it.
    async 'email-verification'(job) {
      const waiting =
        'userId' in job
          ? await database.query(findAddressee, { user: job.userId })
          : await database.query(findAwaiting, { email: job.email, asker: job.asker ?? null })
      const written: Letter[] = []
      for (const to of waiting) {
        if (to.email_verified && to.pending_email === null) continue
        const issued = await issueLink('EMAIL_VERIFICATION', job, to.id)
        if (!issued) continue
        const { address, link } = issued
        const hours = lifetimes.EMAIL_VERIFICATION / 3600
        const message = { template: 'email-verification', username: to.username, link, hours } as const
        written.push({ to, address, message, part: to.id })
      }
      return written
    },
  }

  return {
    /**
     * Carries out a job of the queue `account-mail`. Nobody is told anything when there is no such account, when it is
     * deleted, and gets no link when it is locked, a newer or used one stands, or it is too late. Raises UNAVAILABLE when the mail did
     * not get away: the queue tries again, and then the same mail carries the same link and the same id. Raises
     * RejectedRecipientError when a notice never will.
     */
    async handle(job: AccountMailJob): Promise<void> {
      // The table gives each template its own job; an index by a union forgets that.
      const write = letters[job.template] as (job: AccountMailJob) => Promise<Letter[]>
      const written = await write(job)
      const about = { template: job.template, user: 'userId' in job ? toId('user', job.userId) : undefined }
      if (written.length === 0) log.debug(about, 'Mail dropped: no recipient')
      for (const { to, address = to.email, message, part } of written) {
        const id = [job.template, job.requestId, part].filter(Boolean).join('-')
        const mail = { ...compose(message, to.language), id, to: { name: to.display_name, address } }
        const sent = mailer.send({ ...mail, date: new Date(job.at) })
        await (asked.has(job.template) ? sent.catch(dropIfRejected(log, about)) : sent)
      }
    },
  }
}
