/**
 * Mailed links with one-time tokens. Only the newest token of a purpose is valid, once, and for the address that received
 * the token. The database stores the SHA-256 of a token.
 */
import { z } from 'zod'
import type { Use } from '../../context.ts'
import { type Database, violatedConstraint } from '../../db/database-types.ts'
import type { OneTimeToken } from '../../db/prisma/client.ts'
import { bytes, int, orNull, statement, text, textOf, uuid } from '../../db/sql.ts'
import { type AccountMailJob, enqueueSql, type SqlOf } from '../../jobs/queues.ts'
import { DomainError } from '../../shared/errors.ts'
import { type IdempotentContext, once, onceParams, onceSql, onceTypes } from '../../shared/idempotency.ts'
import { fromId, newSecret, sha256 } from '../../shared/ids.ts'
import { text as limitedText, parse } from '../../shared/input.ts'
import { networkOf } from '../../shared/limiters.ts'
import { type Actor, assertMay, assertUser } from '../../shared/policy.ts'
import { auditorOf, auditSql } from '../audit/audit-sql.ts'
import { addressDigest, email, password, throwDuplicate } from './account-input.ts'
import { lockCredentials, passwordCheckKeySql } from './check-password.ts'

export type Purpose = OneTimeToken['purpose']
export type MailedLink = { uid: string; token: string }

type Template = AccountMailJob['template']
type FactsOf<Job> = Job extends unknown ? SqlOf<Omit<Job, 'template' | 'requestId' | 'at'>> : never

export type AccountMailParts = { name?: string; from: string } & {
  [T in Template]: { template: T; facts: FactsOf<Extract<AccountMailJob, { template: T }>> }
}[Template]

/** SQL of a CTE that enqueues a mail in the statement that causes the mail. The database clock orders requests. */
export const accountMailSql = ({ name = 'enqueued_mails', from, template, facts }: AccountMailParts): string => {
  const data = { template: `'${template}'`, requestId: 'uuidv7()', at: 'now()', ...facts }
  return enqueueSql(name, { queue: 'account-mail', from, data })
}

export const passwordChangedMailSql = accountMailSql({
  from: 'updated_user',
  template: 'password-changed',
  facts: { userId: 'updated_user.id' },
})

/** Lifetimes of tokens, in seconds. */
export const lifetimes = { PASSWORD_RESET: 30 * 60, EMAIL_VERIFICATION: 24 * 3600 } satisfies Record<Purpose, number>

const tokenParameters = { user: uuid, purpose: textOf<Purpose>('token_purpose'), hash: bytes }

/** SQL of the address that a link is sent to. A verification link is sent to the pending address, if there is one. */
const addressSql = (users: string) =>
  `case when $purpose = 'EMAIL_VERIFICATION' then coalesce(${users}.pending_email, ${users}.email) else ${users}.email end`

/** Stores the token of a request unless a newer token exists. A retry restarts the lifetime of the token. */
const upsertToken = statement(
  'one_time_token_issue',
  { parameters: { ...tokenParameters, request: uuid, seconds: int }, columns: { email: text } },
  `insert into one_time_tokens as t (user_id, purpose, request_id, hash, email, expires_at)
   select id, $purpose, $request, $hash, ${addressSql('users')}, now() + make_interval(secs => $seconds)
   from users where id = $user and deleted_at is null and locked_at is null for share
   on conflict (user_id, purpose) do update set request_id = excluded.request_id, hash = excluded.hash,
     email = excluded.email, created_at = now(), expires_at = excluded.expires_at, used_at = null
   where excluded.request_id > t.request_id
     or (excluded.request_id = t.request_id and t.used_at is null and excluded.email = t.email)
   returning email`,
)

/** Finds a token that is neither used nor expired, for the current address of an account that is not locked. */
const findUsableToken = statement(
  'one_time_token_usable',
  { parameters: tokenParameters, columns: { email: text, username: text } },
  `select t.email, u.username from one_time_tokens t join users u on u.id = t.user_id
   where t.user_id = $user and t.purpose = $purpose and t.hash = $hash and t.used_at is null
     and t.expires_at > now() and lower(${addressSql('u')}) = lower(t.email) and u.deleted_at is null
     and u.locked_at is null`,
)

/** SQL of a CTE that uses the token `$hash` and returns `user_id`. The CTE `locked_user` has `id` and `email`. */
const spendTokenSql = (purpose: Purpose): string => `
  spent_token as (
    update one_time_tokens t set used_at = now() from locked_user
    where t.user_id = locked_user.id and t.purpose = '${purpose}' and t.hash = $hash and t.used_at is null
      and t.expires_at > clock_timestamp() and lower(t.email) = lower(locked_user.email)
    returning t.user_id
  )`

/** SQL of a CTE that invalidates tokens of an account. The rows stay, so that an older request cannot replace them. */
export const voidTokensSql = (from: string, purposes: readonly Purpose[], name = 'voided_tokens'): string => `
  ${name} as (
    update one_time_tokens t set used_at = now() from ${from}
    where t.user_id = ${from}.id and t.purpose in (${purposes.map((purpose) => `'${purpose}'`).join(', ')})
      and t.used_at is null
  )`

const invalidToken = () => new DomainError('INVALID_TOKEN', 'The link is invalid or has expired. Request a new link.')

/** Returns the UUID of the account and the hash of the token of a link. Undefined if the UUID is malformed. */
export function tokenKey({ uid, token }: MailedLink): { userId: string; hash: Buffer } | undefined {
  const userId = fromId(uid, 'user')?.uuid
  return userId === undefined ? undefined : { userId, hash: sha256(token) }
}

/** Issues the token of a request. The token is derived from the request, so that a retry mails the same token. */
export async function issueToken(
  { database, vault }: Use<'database' | 'vault'>,
  { purpose, userId: user, requestId: request }: { purpose: Purpose; userId: string; requestId: string },
): Promise<{ token: string; email: string } | undefined> {
  const derivationKey = vault.derive('one-time-token')
  const token = newSecret(derivationKey, `${purpose}\n${user}`, request, 32).toString('base64url')
  const parameters = { user, purpose, request, hash: sha256(token), seconds: lifetimes[purpose] }
  const [issued] = await database.query(upsertToken, parameters)
  return issued && { token, email: issued.email }
}

/** Finds the address and the username of a valid link. The statement that uses the token validates the link again. */
export async function findLink({ database }: Use<'database'>, purpose: Purpose, link: MailedLink) {
  const key = tokenKey(link)
  return key && (await database.query(findUsableToken, { user: key.userId, purpose, hash: key.hash }))[0]
}

const enqueueMail = (name: string, template: Template, facts: object) =>
  statement(
    name,
    { parameters: { email: text, requester: orNull(uuid), ...onceTypes } },
    `with request as (select $email as address, $requester as requester),
     ${accountMailSql({ from: 'request', template, facts } as AccountMailParts)},
     ${onceSql("'requested'", 'request')}
     select from enqueued_mails`,
  )
const enqueueReset = enqueueMail('password_reset_request', 'password-reset', { email: 'request.address' })
const enqueueVerification = enqueueMail('account_verification_request', 'email-verification', {
  ...{ email: 'request.address', requester: 'request.requester' },
})

/** Checks the rate limit of a mail before the body of the request is read. Throws THROTTLED. */
export async function assertMayRequestMail(
  { actor, rateLimiter }: Use<'actor' | 'rateLimiter'>,
  limit: 'reset' | 'verification',
): Promise<void> {
  if (actor.kind !== 'system') await rateLimiter.assertAvailable(limit, networkOf(actor.address))
}

type RequestContext = IdempotentContext & Use<'rateLimiter'>

/** Enqueues a mail. Does not look up the account, so that the response does not show whether it exists. */
async function requestMail(context: RequestContext, limit: 'reset' | 'verification', email: string): Promise<void> {
  const { actor, database, rateLimiter } = context
  await once(context, limit, { email }, async () => {
    if (actor.kind !== 'system') await rateLimiter.consume(limit, networkOf(actor.address))
    await rateLimiter.consume(`${limit}-mailbox`, addressDigest(email))
    const requester = actor.kind === 'user' ? actor.id : null
    const enqueue = limit === 'reset' ? enqueueReset : enqueueVerification
    await database.query(enqueue, { email, requester, ...onceParams(context) })
    return 'requested'
  })
}

/**
 * Sets a new password with a mailed token. Verifies the address and deletes the count of wrong guesses, because the user
 * can read the mailbox. Cancels a pending address, which may be an attacker's. No row: the token is invalid. The unique
 * index rejects an address that another account has verified.
 */
const updatePassword = statement(
  'password_reset',
  {
    parameters: { user: uuid, hash: bytes, passwordHash: text, address: orNull(text), ...onceTypes },
    columns: { id: uuid },
  },
  `with locked_user as materialized (
     select id, email from users where id = $user and deleted_at is null and locked_at is null for no key update
   ),
   ${spendTokenSql('PASSWORD_RESET')},
   updated_user as (
     update users u set password_hash = $passwordHash, email_verified = true, email_held = true, pending_email = null
     from spent_token where u.id = spent_token.user_id returning u.id, u.email
   ),
   deleted_tokens as (delete from access_tokens t using updated_user where t.user_id = updated_user.id),
   ${voidTokensSql('updated_user', ['EMAIL_VERIFICATION'])},
   deleted_limits as (
     delete from limits l using updated_user where l.key = ${passwordCheckKeySql('updated_user.id')}
   ),
   ${auditSql({ from: 'updated_user', user: 'updated_user.id', action: 'password.reset', address: '$address' })},
   ${passwordChangedMailSql},
   ${onceSql('updated_user.id::text', 'updated_user')}
   select id from updated_user, (select count(*) from enqueued_mails) as jobs`,
)

const resetRequest = z.strictObject({ email })
const resetInput = z.strictObject({ uid: limitedText(64), token: limitedText(256), newPassword: password })

export async function requestPasswordReset(context: RequestContext, input: { email: string }): Promise<void> {
  assertMay(context.actor, 'password:reset')
  await requestMail(context, 'reset', parse(resetRequest, input).email)
}

/** Sets a new password with a mailed token, and ends all sessions of the account. Returns the UUID of the user. */
export async function resetPassword(
  context: IdempotentContext & Use<'passwords'>,
  rawInput: z.input<typeof resetInput>,
): Promise<string> {
  const { actor, database, passwords } = context
  assertMay(actor, 'password:reset')
  const input = parse(resetInput, rawInput)
  const key = tokenKey(input)
  if (!key) throw invalidToken()
  return once(context, 'resetPassword', input, async () => {
    // Hashing needs 64 MiB, so the token is validated first.
    if (!(await findLink(context, 'PASSWORD_RESET', input))) throw invalidToken()
    const { userId: user, hash } = key
    const passwordHash = await passwords.hash(input.newPassword)
    const { address } = auditorOf(actor)
    const work = async (query: Database['query']) => {
      await query(lockCredentials, { user })
      return query(updatePassword, { user, hash, passwordHash, address, ...onceParams(context) })
    }
    const [changed] = await database.transaction(work).catch((error: unknown) => {
      // Another account has verified the address since the mail was sent.
      throw violatedConstraint(error) === 'users_email_key' ? invalidToken() : error
    })
    if (!changed) throw invalidToken()
    return changed.id
  })
}

/** Verifies an address. A pending address becomes the current one. No row: the token is invalid. */
const markVerified = statement(
  'account_email_verify',
  { parameters: { user: uuid, hash: bytes, address: orNull(text), ...onceTypes }, columns: { id: uuid } },
  `with locked_user as materialized (
     select id, coalesce(pending_email, email) as email, email as old, email_held, pending_email is not null as is_changed
     from users where id = $user and deleted_at is null and locked_at is null for no key update
   ),
   ${spendTokenSql('EMAIL_VERIFICATION')},
   verified_user as (
     update users u set email = locked_user.email, pending_email = null, email_verified = true, email_held = true
     from spent_token join locked_user on locked_user.id = spent_token.user_id where u.id = locked_user.id
     returning u.id, locked_user.old, locked_user.email, locked_user.email_held as was_held, locked_user.is_changed
   ),
   changed_user as (select * from verified_user where is_changed),
   ${voidTokensSql('changed_user', ['PASSWORD_RESET'])},
   ${auditSql({ from: 'verified_user', user: 'verified_user.id', action: 'email.verified', address: '$address' })},
   ${auditSql({ name: 'inserted_changes', from: 'changed_user', user: 'changed_user.id', action: 'email.changed', address: '$address' })},
   ${accountMailSql({
     name: 'enqueued_notices',
     from: 'changed_user where changed_user.was_held',
     template: 'email-changed',
     facts: { userId: 'changed_user.id', email: 'changed_user.old', newEmail: 'changed_user.email' },
   })},
   ${onceSql('verified_user.id::text', 'verified_user')}
   select id from verified_user, (select count(*) from enqueued_notices) as notifications`,
)

const verificationRequest = z.strictObject({ email: email.optional() })
const verifyInput = z.strictObject({ uid: limitedText(64), token: limitedText(256) })

function ownAddress(actor: Actor): string {
  assertUser(actor)
  return actor.user.pendingEmail ?? actor.user.email
}

/** Mails a link that verifies an address, by default the caller's. Returns the address. */
export async function requestEmailVerification(context: RequestContext, input: { email?: string | undefined }) {
  assertMay(context.actor, 'email:verify')
  const address = parse(verificationRequest, input).email ?? ownAddress(context.actor)
  await requestMail(context, 'verification', address)
  return address
}

/** Verifies an address with a mailed token. Throws DUPLICATE_EMAIL if another account verified the address first. */
export async function verifyEmail(context: IdempotentContext, rawInput: z.input<typeof verifyInput>): Promise<string> {
  const { actor, database } = context
  assertMay(actor, 'email:verify')
  const input = parse(verifyInput, rawInput)
  const key = tokenKey(input)
  if (!key) throw invalidToken()
  return once(context, 'verifyEmail', input, async () => {
    const { address } = auditorOf(actor)
    const parameters = { user: key.userId, hash: key.hash, address, ...onceParams(context) }
    const [verified] = await database.query(markVerified, parameters).catch(throwDuplicate)
    if (!verified) throw invalidToken()
    return verified.id
  })
}
