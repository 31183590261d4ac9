import { z } from 'zod'
import type { Use } from '../../context.ts'
import { boolean, orNull, type ParametersOf, type Statement, statement, text, uuid } from '../../db/sql.ts'
import { validationFailed } from '../../shared/errors.ts'
import { type IdempotentContext, idempotencyParams, once, remembered, rememberSql } from '../../shared/idempotency.ts'
import { parse } from '../../shared/input.ts'
import { assertUserMay, type UserActor } from '../../shared/policy.ts'
import { auditSql } from '../audit/audit-sql.ts'
import {
  addressProblem,
  email,
  emailInUse,
  mailboxDigest,
  password,
  presentPassword,
  translateDuplicate,
  username,
} from './account-input.ts'
import { checkOwnPassword, lockCredentials, type OwnPasswordContext, wrongPassword } from './check-password.ts'
import { accountMailSql, passwordChangedMailSql, voidTokensSql } from './mailed-links.ts'

/** Sets a password, ends other sessions and cancels a pending address. No row: the password or the lock changed. */
const updatePassword = statement(
  'password_change',
  {
    parameters: {
      ...{ user: uuid, verifiedHash: text, passwordHash: text, session: uuid, address: orNull(text), ...remembered },
    },
    columns: { id: uuid },
  },
  `with updated_user as (
     update users set password_hash = $passwordHash, pending_email = null
     where id = $user and password_hash = $verifiedHash and deleted_at is null and locked_at is null
     returning id, old.pending_email
   ),
   cancelled_change as (select id from updated_user where pending_email is not null),
   deleted_tokens as (
     delete from access_tokens t using updated_user where t.user_id = updated_user.id and t.id <> $session
   ),
   ${voidTokensSql({ from: 'updated_user', purposes: ['PASSWORD_RESET'] })},
   ${voidTokensSql({ name: 'voided_verifications', from: 'cancelled_change', purposes: ['EMAIL_VERIFICATION'] })},
   ${auditSql({ from: 'updated_user', user: 'updated_user.id', action: 'password.changed', address: '$address' })},
   ${passwordChangedMailSql},
   ${rememberSql('updated_user.id::text', 'updated_user')}
   select id from updated_user, (select count(*) from enqueued_mails) as jobs`,
)

/** `verifiedHash` is the hash of the verified password, `newValue` the address or username. */
const change = { user: uuid, verifiedHash: text, newValue: text, address: text, ...remembered }
/** A statement that changes the address or the username. `is_taken` is true if another account holds the address. */
type IdentityChange = Statement<ParametersOf<typeof change>, { id: string; is_taken?: boolean }>

/** SQL of the mails of a change: a notice to the old address, and a link to the new address. */
const changeMailsSql = (template: 'email-changed' | 'email-change-requested', noticeFrom = 'updated_user'): string => `
   ${accountMailSql({
     name: 'enqueued_notices',
     from: noticeFrom,
     template,
     facts: { userId: 'updated_user.id', email: 'updated_user.old', newEmail: '$newValue' },
   })},
   ${accountMailSql({ from: 'updated_user', template: 'email-verification', facts: { userId: 'updated_user.id' } })}`

/** Changes an address without verification. Invalidates links that were mailed to the old address. */
const updateEmail = statement(
  'account_email_change',
  { parameters: change, columns: { id: uuid, is_taken: boolean } },
  `with locked_user as materialized (
     select id, email from users where id = $user and password_hash = $verifiedHash and deleted_at is null
       and locked_at is null for no key update
   ),
   updated_user as (
     update users u set email = $newValue, email_verified = false, email_held = true, pending_email = null
     from locked_user where u.id = locked_user.id and locked_user.email <> $newValue
     returning u.id, locked_user.email as old
   ),
   ${voidTokensSql({ from: 'updated_user', purposes: ['PASSWORD_RESET', 'EMAIL_VERIFICATION'] })},
   ${auditSql({ from: 'updated_user', user: 'updated_user.id', action: 'email.changed', address: '$address' })},
   ${changeMailsSql('email-changed')},
   ${rememberSql('locked_user.id::text', 'locked_user')}
   select id, false as is_taken
   from locked_user, (select count(*) from enqueued_notices) as notifications, (select count(*) from enqueued_mails) as jobs`,
)

/**
 * Stores a pending address, which replaces the current address once it is verified. Notifies the current address. The
 * current address as input cancels a pending address. `is_taken` only informs the caller, because the account that
 * verifies an address first gets it. No row: as for `updatePassword`.
 */
const requestEmailChange = statement(
  'account_email_change_request',
  { parameters: change, columns: { id: uuid, is_taken: boolean } },
  `with locked_user as materialized (
     select id, email, email_held, pending_email, lower(email) = lower($newValue) as is_current,
       exists (select from users o where lower(o.email) = lower($newValue) and o.email_held and o.id <> $user) as is_taken
     from users where id = $user and password_hash = $verifiedHash and deleted_at is null and locked_at is null
     for no key update
   ),
   reverted_user as (
     update users u set email = $newValue, pending_email = null from locked_user
     where u.id = locked_user.id and is_current
       and (locked_user.email <> $newValue or locked_user.pending_email is not null)
     returning u.id
   ),
   updated_user as (
     update users u set pending_email = $newValue from locked_user
     where u.id = locked_user.id and not is_current and not is_taken
     returning u.id, locked_user.email as old, locked_user.email_held
   ),
   touched_users as (select id from reverted_user union all select id from updated_user),
   ${voidTokensSql({ from: 'touched_users', purposes: ['EMAIL_VERIFICATION'] })},
   ${auditSql({ from: 'updated_user', user: 'updated_user.id', action: 'email.change-requested', address: '$address' })},
   ${changeMailsSql('email-change-requested', 'updated_user where updated_user.email_held')},
   accepted_request as (select id from locked_user where is_current or not is_taken),
   ${rememberSql('accepted_request.id::text', 'accepted_request')}
   select id, is_taken and not is_current as is_taken
   from locked_user, (select count(*) from enqueued_notices) as notifications, (select count(*) from enqueued_mails) as jobs`,
)

const updateUsername = statement(
  'account_username_change',
  { parameters: change, columns: { id: uuid } },
  `with locked_user as materialized (
     select id, username from users where id = $user and password_hash = $verifiedHash and deleted_at is null
       and locked_at is null for no key update
   ),
   updated_user as (
     update users u set username = $newValue from locked_user
     where u.id = locked_user.id and locked_user.username <> $newValue returning u.id
   ),
   ${auditSql({ from: 'updated_user', user: 'updated_user.id', action: 'username.changed', address: '$address' })},
   ${rememberSql('locked_user.id::text', 'locked_user')}
   select id from locked_user`,
)

type Needs = IdempotentContext & OwnPasswordContext

const passwordInput = z.strictObject({ currentPassword: presentPassword, newPassword: password })
const emailInput = z.strictObject({ currentPassword: presentPassword, newEmail: email })
const usernameInput = z.strictObject({ currentPassword: presentPassword, newUsername: username })

/** Changes the caller's password, and ends all other sessions. Returns the UUID of the user. */
export async function changePassword(context: Needs, rawInput: z.input<typeof passwordInput>): Promise<string> {
  const { actor, database, passwords, rateLimiter } = context
  assertUserMay(actor, 'account:update')
  const input = parse(passwordInput, rawInput)
  return once(context, 'changePassword', input, async () => {
    const verifiedHash = await checkOwnPassword(context, actor, input.currentPassword)
    await rateLimiter.consume('password-change', actor.id)
    const passwordHash = await passwords.hash(input.newPassword)
    const { id: user, tokenId: session, address } = actor
    const [changed] = await database.transaction(async (query) => {
      await query(lockCredentials, { user })
      const hashes = { verifiedHash, passwordHash }
      return query(updatePassword, { user, ...hashes, session, address, ...idempotencyParams(context) })
    })
    if (!changed) throw wrongPassword()
    return changed.id
  })
}

/** Writes an address or a username if the password did not change since it was verified. */
async function changeIdentity(
  context: Needs,
  { id: user, address }: UserActor & { address: string },
  statement: IdentityChange,
  change: { verifiedHash: string; newValue: string },
): Promise<string> {
  const parameters = { user, address, ...change, ...idempotencyParams(context) }
  const [changed] = await context.database.query(statement, parameters).catch((error: unknown) => {
    throw translateDuplicate(error)
  })
  if (!changed) throw wrongPassword()
  if (changed.is_taken) throw emailInUse()
  return changed.id
}

/** Changes the e-mail address. If addresses are verified, the old one stays until then. Returns the user's UUID. */
export async function changeEmail(context: Needs & Use<'config'>, rawInput: z.input<typeof emailInput>) {
  const { actor, config, rateLimiter } = context
  assertUserMay(actor, 'account:update')
  const input = parse(emailInput, rawInput)
  const verifiesEmails = config.emailVerification !== 'off'
  return once(context, 'changeEmail', input, async () => {
    const verifiedHash = await checkOwnPassword(context, actor, input.currentPassword)
    await rateLimiter.consume('email-change', actor.id)
    // The current address cancels a pending change, which an attacker may have requested. A rate limit must not prevent
    // that.
    const isRevert = verifiesEmails && input.newEmail.toLowerCase() === actor.user.email.toLowerCase()
    if (!isRevert) await rateLimiter.consume('email-change-mailbox', mailboxDigest(input.newEmail))
    const statement = verifiesEmails ? requestEmailChange : updateEmail
    return changeIdentity(context, actor, statement, { verifiedHash, newValue: input.newEmail })
  })
}

/** Changes the username. The display name stays. Returns the UUID of the user. */
export async function changeUsername(context: Needs, rawInput: z.input<typeof usernameInput>): Promise<string> {
  const { actor } = context
  assertUserMay(actor, 'account:update')
  const input = parse(usernameInput, rawInput)
  const problem = addressProblem(input.newUsername, actor.user.email)
  if (problem) throw validationFailed({ newUsername: [problem] })
  return once(context, 'changeUsername', input, async () => {
    const verifiedHash = await checkOwnPassword(context, actor, input.currentPassword)
    return changeIdentity(context, actor, updateUsername, { verifiedHash, newValue: input.newUsername })
  })
}
