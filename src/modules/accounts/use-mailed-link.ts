import { z } from 'zod'
import type { Use } from '../../context.ts'
import { type Database, violatedConstraint } from '../../db/database-types.ts'
import { bytes, orNull, statement, text, uuid } from '../../db/sql.ts'
import { type Actor, assertUser } from '../../shared/actor.ts'
import { type IdempotentContext, idempotencyParams, once, remembered, rememberSql } from '../../shared/idempotency.ts'
import { text as limitedText, parse } from '../../shared/input.ts'
import { assertMay } from '../../shared/policy.ts'
import { auditorOf, auditSql } from '../audit/audit-sql.ts'
import { email, password, translateDuplicate } from './account-input.ts'
import { lockCredentials, passwordCheckKeySql } from './check-password.ts'
import {
  accountMailSql,
  findLink,
  invalidToken,
  passwordChangedMailSql,
  requestMail,
  spendTokenSql,
  tokenKey,
  voidTokensSql,
} from './mailed-links.ts'

/**
 * Sets a new password with a mailed token. `hash` is the token's. No row: the token is invalid or the account is locked. The user can read the mailbox, so the
 * address is verified and wrong guesses are forgotten. A pending change of the address is cancelled, because it may be an attacker's. The unique index rejects
 * an address that another account has verified.
 */
const updatePassword = statement(
  'password_reset',
  {
    parameters: { user: uuid, hash: bytes, passwordHash: text, address: orNull(text), ...remembered },
    columns: { id: uuid },
  },
  `with locked_user as materialized (
     select id, email from users where id = $user and deleted_at is null and locked_at is null for no key update
   ),
   ${spendTokenSql({ held: 'locked_user', purpose: 'PASSWORD_RESET', hash: '$hash' })},
   updated_user as (
     update users u set password_hash = $passwordHash, email_verified = true, email_held = true, pending_email = null
     from spent_token where u.id = spent_token.user_id
     returning u.id, u.email
   ),
   deleted_tokens as (delete from access_tokens t using updated_user where t.user_id = updated_user.id),
   ${voidTokensSql({ from: 'updated_user', purposes: ['EMAIL_VERIFICATION'] })},
   deleted_limits as (
     delete from limits l using updated_user where l.key = ${passwordCheckKeySql('updated_user.id')}
   ),
   ${auditSql({ from: 'updated_user', user: 'updated_user.id', action: 'password.reset', address: '$address' })},
   ${passwordChangedMailSql},
   ${rememberSql('updated_user.id::text', 'updated_user')}
   select id from updated_user, (select count(*) from enqueued_mails) as jobs`,
)

const resetRequest = z.strictObject({ email })
const resetInput = z.strictObject({ uid: limitedText(64), token: limitedText(256), newPassword: password })

/** Mails a link that sets a new password. The response is the same for unknown addresses. Throws VALIDATION_FAILED, THROTTLED. */
export async function requestPasswordReset(
  context: IdempotentContext & Use<'rateLimiter'>,
  input: z.input<typeof resetRequest>,
): Promise<void> {
  assertMay(context.actor, 'password:reset')
  await requestMail(context, 'password-reset', parse(resetRequest, input).email)
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
    // Hashing takes 64 MiB, so only a valid token leads to it.
    if (!(await findLink(context, 'PASSWORD_RESET', input))) throw invalidToken()
    const { userId: user, hash } = key
    const passwordHash = await passwords.hash(input.newPassword)
    const { address } = auditorOf(actor)
    const work = async (query: Database['query']) => {
      await query(lockCredentials, { user })
      return query(updatePassword, { user, hash, passwordHash, address, ...idempotencyParams(context) })
    }
    const [changed] = await database.transaction(work).catch((error: unknown) => {
      // Another account verified the address in the meantime, and the link was for the address.
      throw violatedConstraint(error) === 'users_email_key' ? invalidToken() : error
    })
    if (!changed) throw invalidToken()
    return changed.id
  })
}

/** Verifies the address of an account, or its pending address, which then becomes the current one. No row: the token is invalid. */
const markVerified = statement(
  'account_email_verify',
  { parameters: { user: uuid, hash: bytes, address: orNull(text), ...remembered }, columns: { id: uuid } },
  `with locked_user as materialized (
     select id, coalesce(pending_email, email) as email, email as old, email_held, pending_email is not null as moves
     from users where id = $user and deleted_at is null and locked_at is null for no key update
   ),
   ${spendTokenSql({ held: 'locked_user', purpose: 'EMAIL_VERIFICATION', hash: '$hash' })},
   verified_user as (
     update users u set email = locked_user.email, pending_email = null, email_verified = true, email_held = true
     from spent_token join locked_user on locked_user.id = spent_token.user_id where u.id = locked_user.id
     returning u.id, locked_user.old, locked_user.email, locked_user.email_held as was_held, locked_user.moves
   ),
   moved_user as (select * from verified_user where moves),
   ${voidTokensSql({ from: 'moved_user', purposes: ['PASSWORD_RESET'] })},
   ${auditSql({ from: 'verified_user', user: 'verified_user.id', action: 'email.verified', address: '$address' })},
   ${auditSql({
     name: 'inserted_change_entries',
     from: 'moved_user',
     user: 'moved_user.id',
     action: 'email.changed',
     address: '$address',
   })},
   ${accountMailSql({
     name: 'enqueued_notices',
     from: 'moved_user where moved_user.was_held',
     template: 'email-changed',
     facts: { userId: 'moved_user.id', email: 'moved_user.old', newEmail: 'moved_user.email' },
   })},
   ${rememberSql('verified_user.id::text', 'verified_user')}
   select id from verified_user, (select count(*) from enqueued_notices) as notifications`,
)

const verificationRequest = z.strictObject({ email: email.optional() })
const verifyInput = z.strictObject({ uid: limitedText(64), token: limitedText(256) })

function ownAddress(actor: Actor): string {
  assertUser(actor)
  return actor.user.pendingEmail ?? actor.user.email
}

/** Mails a link that verifies an address, by default the caller's own. Returns the address. The response is the same for unknown addresses. */
export async function requestEmailVerification(
  context: IdempotentContext & Use<'rateLimiter'>,
  input: z.input<typeof verificationRequest>,
): Promise<string> {
  assertMay(context.actor, 'email:verify')
  const address = parse(verificationRequest, input).email ?? ownAddress(context.actor)
  await requestMail(context, 'email-verification', address)
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
    const parameters = { user: key.userId, hash: key.hash, address, ...idempotencyParams(context) }
    const [verified] = await database.query(markVerified, parameters).catch((error: unknown) => {
      throw translateDuplicate(error)
    })
    if (!verified) throw invalidToken()
    return verified.id
  })
}
