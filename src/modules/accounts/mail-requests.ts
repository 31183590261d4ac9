/** Mails that whoever knows an address can ask for. Nothing here looks an account up: what is not looked up cannot differ. */

import type { Database } from '../../db/database-types.ts'
import { orNull, statement, text, uuid } from '../../db/sql.ts'
import type { Actor } from '../../shared/actor.ts'
import {
  fingerprintOf,
  type Idempotency,
  type IdempotencyContext,
  remembered,
  rememberSql,
} from '../../shared/idempotency.ts'
import { networkOf, type RateLimiter } from '../../shared/rate-limiter.ts'
import { sha256 } from '../../shared/secrets.ts'
import { type AccountMailParts, accountMailSql } from './account-mail-sql.ts'

type Template = 'password-reset' | 'email-verification'

/** `email`: as given; `asker`: who is signed in, or null. */
const ask = (name: string, mail: AccountMailParts) =>
  statement(
    name,
    { parameters: { email: text, asker: orNull(uuid), ...remembered } },
    `with request as (select $email as address, $asker as asker),
     ${accountMailSql(mail)},
     ${rememberSql("'requested'", 'request')}
     select from enqueued_mails`,
  )

const kinds = {
  'password-reset': {
    limit: 'reset',
    asking: ask('password_reset_request', {
      from: 'request',
      template: 'password-reset',
      facts: { email: 'request.address' },
    }),
  },
  'email-verification': {
    limit: 'verification',
    asking: ask('account_verification_request', {
      from: 'request',
      template: 'email-verification',
      facts: { email: 'request.address', asker: 'request.asker' },
    }),
  },
} as const satisfies Record<Template, { limit: 'reset' | 'verification'; asking: object }>

const GMAIL = new Set(['gmail.com', 'googlemail.com'])

/**
 * The mailbox that a valid address leads to, as far as that can be told: what follows a `+` only sorts what comes in, and Gmail reads no
 * dots. For counting alone: whose an address is goes by the address.
 */
function mailboxOf(email: string): string {
  const [address = '', domain = ''] = email.toLowerCase().split('@')
  const tag = address.indexOf('+')
  const name = tag > 0 ? address.slice(0, tag) : address
  return GMAIL.has(domain) ? `${name.replaceAll('.', '')}@gmail.com` : `${name}@${domain}`
}

/** Valid addresses are ASCII. Limits hold digests of them: they are counted for strangers, too. */
const addressDigest = (email: string) => sha256(email.toLowerCase()).toString('hex')

/**
 * The same for all addresses of one mailbox, where a mail goes to whatever address is given. Not where one goes to accounts alone: who asks
 * for an address that nobody has would use up what its mailbox can ask for, and nobody would get a link.
 */
export const mailboxDigest = (email: string) => addressDigest(mailboxOf(email))

interface Dependencies {
  database: Database
  rateLimiter: RateLimiter
  idempotency: Idempotency
}

/** Asks for mails that anybody may ask for; what `createMailRequests` makes. */
export type MailRequests = ReturnType<typeof createMailRequests>

/** Takes wishes for a link by mail, counted by network address and by e-mail address, whether or not an account has it. */
export const createMailRequests = ({ database, rateLimiter, idempotency }: Dependencies) => ({
  /** Asked before a request is read. Raises THROTTLED. */
  async admit(actor: Actor, template: Template): Promise<void> {
    if (actor.kind === 'system') return
    const { limit } = kinds[template]
    await rateLimiter.assertAvailable(limit, networkOf(actor.address))
  },

  /** Has a mail sent to a valid address if an account has it; counted alike whether or not there is one. Raises THROTTLED. */
  async request(actor: Actor, template: Template, email: string, context: IdempotencyContext): Promise<void> {
    const { limit, asking } = kinds[template]
    await idempotency.once(actor, context, template, { email }, async () => {
      if (actor.kind !== 'system') {
        await rateLimiter.consume(limit, networkOf(actor.address))
      }
      await rateLimiter.consume(`${limit}-mailbox`, addressDigest(email))
      const asker = actor.kind === 'user' ? actor.id : null
      await database.query(asking, { email, asker, ...fingerprintOf(context) })
      return 'requested'
    })
  },
})
