/** Mails about an account: what they say, and to whom. Words are the composer's, the way out is the mailer's. */
import { toId } from '../ids.ts'
import type { AccountMessage, ComposeMail, Database, Log, Mailer } from '../ports.ts'
import { type AddresseeRow, findAddressee, findAddresseeByEmail } from './account-mail-statements.ts'
import { lifetimes, type OneTimeTokens } from './one-time-token.ts'

interface Request {
  /** UUID, sortable by time: mails and tokens that are made for it again are the same. */
  requestId: string
  /** When what it tells happened: ISO 8601. */
  at: string
}

/** A job of the queue `account-mail`. `userId` is the account's UUID; `email` is as it was typed, by anybody. */
export type AccountMailJob = Request &
  (
    | { template: 'password-reset'; email: string }
    | { template: 'password-changed'; userId: string }
    /** `email`: the address that was given up. */
    | { template: 'email-changed'; userId: string; email: string; newEmail: string }
    | ({ template: 'email-verification' } & ({ userId: string } | { email: string }))
  )

type Job<T extends AccountMailJob['template']> = Extract<AccountMailJob, { template: T }>

interface Letter {
  to: AddresseeRow
  /** Where it goes, when that is not where the account's mail goes now. */
  address?: string
  message: AccountMessage
}

interface Dependencies {
  database: Pick<Database, 'query'>
  tokens: OneTimeTokens
  mailer: Mailer
  compose: ComposeMail
  log: Log
  /** Where people find the service, without a trailing slash. */
  publicUrl: string
}

export type AccountMail = ReturnType<typeof createAccountMail>

export function createAccountMail({ database, tokens, mailer, compose, log, publicUrl }: Dependencies) {
  const find = async (userId: string) => (await database.query(findAddressee, [userId]))[0]
  const findByEmail = async (email: string) => (await database.query(findAddresseeByEmail, [email]))[0]
  const linkTo = (page: string, userId: string, token: string) =>
    `${publicUrl}/account/${page}/${toId('user', userId)}/${token}`

  const letters: { [T in AccountMailJob['template']]: (job: Job<T>) => Promise<Letter | undefined> } = {
    async 'password-reset'({ email, requestId }) {
      const to = await findByEmail(email)
      const issued = to && (await tokens.issue('PASSWORD_RESET', to.id, requestId))
      if (!issued) return undefined
      const link = linkTo('password-reset', to.id, issued.token)
      const minutes = lifetimes.PASSWORD_RESET / 60
      const message = { template: 'password-reset', username: to.username, link, minutes } as const
      return { to, address: issued.email, message }
    },

    async 'password-changed'({ userId, at }) {
      const to = await find(userId)
      return to && { to, message: { template: 'password-changed', username: to.username, at: new Date(at) } }
    },

    async 'email-changed'({ userId, email, newEmail, at }) {
      const to = await find(userId)
      if (!to) return undefined
      const message = { template: 'email-changed', username: to.username, newEmail, at: new Date(at) } as const
      return { to, address: email, message }
    },

    async 'email-verification'(job) {
      const to = 'userId' in job ? await find(job.userId) : await findByEmail(job.email)
      if (!to || to.email_verified) return undefined
      const issued = await tokens.issue('EMAIL_VERIFICATION', to.id, job.requestId)
      if (!issued) return undefined
      const link = linkTo('email-verification', to.id, issued.token)
      const hours = lifetimes.EMAIL_VERIFICATION / 3600
      const message = { template: 'email-verification', username: to.username, link, hours } as const
      return { to, address: issued.email, message }
    },
  }

  return {
    /**
     * Carries out a job of the queue `account-mail`. Nobody is told anything when there is no such account, when it is
     * deleted, or when a newer or used link stands. Raises UNAVAILABLE when the mail did not get away: the queue tries
     * again, and then the same mail carries the same link and the same id.
     */
    async handle(job: AccountMailJob): Promise<void> {
      // The table gives each template its own job; an index by a union forgets that.
      const write = letters[job.template] as (job: AccountMailJob) => Promise<Letter | undefined>
      const letter = await write(job)
      if (!letter) {
        log.debug({ template: job.template, request: job.requestId }, 'A mail has nobody to go to')
        return
      }
      const { to, address = to.email, message } = letter
      await mailer.send({
        ...compose(message, to.language),
        id: `${job.template}-${job.requestId}`,
        to: { name: to.display_name, address },
        date: new Date(job.at),
      })
    },
  }
}
