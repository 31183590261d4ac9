import { z } from 'zod'
import type { Use } from '../../context.ts'
import { boolean, orNull, statement, text, uuid } from '../../db/sql.ts'
import { notFound, validationFailed } from '../../shared/errors.ts'
import { type IdempotentContext, once, onceParams, onceSql, onceTypes } from '../../shared/idempotency.ts'
import { toId } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { assertMay, assertUserMay, type Caller, type UserActor } from '../../shared/policy.ts'
import { audited, auditorOf, auditSql } from '../audit/audit-sql.ts'
import * as account from './account-input.ts'
import { checkOwnPassword, lockCredentials, type OwnPasswordContext, wrongPassword } from './check-password.ts'
import { type AccountWithReason, accountWithReason, findAccount } from './find-users.ts'
import { accountMailSql, passwordChangedMailSql, voidTokensSql } from './mailed-links.ts'

/** SQL of users whose password is still the verified one, and who are not locked. */
const verifiedSql = 'id = $user and password_hash = $verifiedHash and deleted_at is null and locked_at is null'

/** Sets a password, ends other sessions and cancels a pending address. No row: the password or the lock changed. */
const updatePassword = statement(
  'password_change',
  {
    parameters: {
      ...{ user: uuid, verifiedHash: text, passwordHash: text, session: uuid, address: orNull(text), ...onceTypes },
    },
    columns: { id: uuid },
  },
  `with updated_user as (
     update users set password_hash = $passwordHash, pending_email = null where ${verifiedSql} returning id, old.pending_email
   ),
   cancelled_change as (select id from updated_user where pending_email is not null),
   deleted_tokens as (
     delete from access_tokens t using updated_user where t.user_id = updated_user.id and t.id <> $session
   ),
   ${voidTokensSql('updated_user', ['PASSWORD_RESET'])},
   ${voidTokensSql('cancelled_change', ['EMAIL_VERIFICATION'], 'voided_verifications')},
   ${auditSql({ from: 'updated_user', user: 'updated_user.id', action: 'password.changed', address: '$address' })},
   ${passwordChangedMailSql},
   ${onceSql('updated_user.id::text', 'updated_user')}
   select id from updated_user, (select count(*) from enqueued_mails) as jobs`,
)

/** Shape of a statement that changes address or username. `is_taken`: another account has the address. */
const identityChange = {
  parameters: { user: uuid, verifiedHash: text, newValue: text, address: text, ...onceTypes },
  columns: { id: uuid, is_taken: boolean },
}

/** SQL of the mails of a change: a notice to the old address, and a link to the new address. */
const changeMailsSql = (template: 'email-changed' | 'email-change-requested', noticeFrom = 'updated_user'): string => `
   ${accountMailSql({
     name: 'enqueued_notices',
     from: noticeFrom,
     template,
     facts: { userId: 'updated_user.id', email: 'updated_user.old', newEmail: '$newValue' },
   })},
   ${accountMailSql({ from: 'updated_user', template: 'email-verification', facts: { userId: 'updated_user.id' } })}`

/** SQL that makes a statement wait for the CTEs of `changeMailsSql`, and so notifies the workers. */
const withMails =
  ', (select count(*) from enqueued_notices) as notifications, (select count(*) from enqueued_mails) as jobs'

/** Changes an address without verification. Invalidates links that were mailed to the old address. */
const updateEmail = statement(
  'account_email_change',
  identityChange,
  `with locked_user as materialized (select id, email from users where ${verifiedSql} for no key update),
   updated_user as (
     update users u set email = $newValue, email_verified = false, email_held = true, pending_email = null
     from locked_user where u.id = locked_user.id and locked_user.email <> $newValue
     returning u.id, locked_user.email as old
   ),
   ${voidTokensSql('updated_user', ['PASSWORD_RESET', 'EMAIL_VERIFICATION'])},
   ${auditSql({ from: 'updated_user', user: 'updated_user.id', action: 'email.changed', address: '$address' })},
   ${changeMailsSql('email-changed')},
   ${onceSql('locked_user.id::text', 'locked_user')}
   select id, false as is_taken from locked_user${withMails}`,
)

/** Stores a pending address. If the input is the current address, cancels the pending address. */
const requestEmailChange = statement(
  'account_email_change_request',
  identityChange,
  `with locked_user as materialized (
     select id, email, email_held, pending_email, lower(email) = lower($newValue) as is_current,
       exists (select from users o where lower(o.email) = lower($newValue) and o.email_held and o.id <> $user) as is_taken
     from users where ${verifiedSql} for no key update
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
   ${voidTokensSql('touched_users', ['EMAIL_VERIFICATION'])},
   ${auditSql({ from: 'updated_user', user: 'updated_user.id', action: 'email.change-requested', address: '$address' })},
   ${changeMailsSql('email-change-requested', 'updated_user where updated_user.email_held')},
   accepted_request as (select id from locked_user where is_current or not is_taken),
   ${onceSql('accepted_request.id::text', 'accepted_request')}
   select id, is_taken and not is_current as is_taken from locked_user${withMails}`,
)

const updateUsername = statement(
  'account_username_change',
  identityChange,
  `with locked_user as materialized (select id, username from users where ${verifiedSql} for no key update),
   updated_user as (
     update users u set username = $newValue from locked_user
     where u.id = locked_user.id and locked_user.username <> $newValue returning u.id
   ),
   ${auditSql({ from: 'updated_user', user: 'updated_user.id', action: 'username.changed', address: '$address' })},
   ${onceSql('locked_user.id::text', 'locked_user')}
   select id, false as is_taken from locked_user`,
)

type Needs = IdempotentContext & OwnPasswordContext

const withPassword = z.strictObject({ currentPassword: account.presentPassword })
const passwordInput = withPassword.extend({ newPassword: account.password })
const emailInput = withPassword.extend({ newEmail: account.email })
const usernameInput = withPassword.extend({ newUsername: account.username })

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
    const parameters = { user, verifiedHash, passwordHash, session, address, ...onceParams(context) }
    const [changed] = await database.transaction(async (query) => {
      await query(lockCredentials, { user })
      return query(updatePassword, parameters)
    })
    if (!changed) throw wrongPassword()
    return changed.id
  })
}

async function changeIdentity(
  context: Needs,
  { id: user, address }: UserActor & Caller,
  statement: typeof updateEmail,
  change: { verifiedHash: string; newValue: string },
): Promise<string> {
  const parameters = { user, address, ...change, ...onceParams(context) }
  const [changed] = await context.database.query(statement, parameters).catch(account.throwDuplicate)
  // The password changed after it was verified.
  if (!changed) throw wrongPassword()
  if (changed.is_taken) throw account.emailInUse()
  return changed.id
}

/** Changes the e-mail address, or requests the change if the service verifies addresses. Returns the user's UUID. */
export async function changeEmail(context: Needs & Use<'config'>, rawInput: z.input<typeof emailInput>) {
  const { actor, config, rateLimiter } = context
  assertUserMay(actor, 'account:update')
  const input = parse(emailInput, rawInput)
  const verifiesEmails = config.emailVerification !== 'off'
  return once(context, 'changeEmail', input, async () => {
    const verifiedHash = await checkOwnPassword(context, actor, input.currentPassword)
    await rateLimiter.consume('email-change', actor.id)
    // The current address cancels a pending change, even one of an attacker. A rate limit must not prevent that.
    const isRevert = verifiesEmails && input.newEmail.toLowerCase() === actor.user.email.toLowerCase()
    if (!isRevert) await rateLimiter.consume('email-change-mailbox', account.mailboxDigest(input.newEmail))
    const statement = verifiesEmails ? requestEmailChange : updateEmail
    return changeIdentity(context, actor, statement, { verifiedHash, newValue: input.newEmail })
  })
}

/** Changes the username. The display name stays. Returns the UUID of the user. */
export async function changeUsername(context: Needs, rawInput: z.input<typeof usernameInput>): Promise<string> {
  const { actor } = context
  assertUserMay(actor, 'account:update')
  const input = parse(usernameInput, rawInput)
  const problem = account.addressProblem(input.newUsername, actor.user.email)
  if (problem) throw validationFailed({ newUsername: [problem] })
  return once(context, 'changeUsername', input, async () => {
    const verifiedHash = await checkOwnPassword(context, actor, input.currentPassword)
    return changeIdentity(context, actor, updateUsername, { verifiedHash, newValue: input.newUsername })
  })
}

const shape = {
  parameters: { user: uuid, subject: text, reason: text, ...audited, ...onceTypes },
  columns: { id: uuid },
}

/**
 * Creates a statement that ends all sessions and mailed links of an account, and applies `assignments`. `subject` is the
 * public ID of the account. Only the administrator's audit entry contains the network address.
 */
const lockStatement = (
  name: string,
  action: `account.${'locked' | 'unlocked'}`,
  assignments: string,
  condition: string,
) =>
  statement(
    name,
    shape,
    `with found_user as materialized (
       select id, locked_at from users where id = $user and deleted_at is null for no key update
     ),
     updated_user as (
       update users u set ${assignments} from found_user
       where u.id = found_user.id and found_user.locked_at ${condition} returning u.id
     ),
     deleted_tokens as (delete from access_tokens t using updated_user where t.user_id = updated_user.id),
     deleted_admin_sessions as (delete from admin_sessions s using updated_user where s.user_id = updated_user.id),
     ${voidTokensSql('updated_user', ['PASSWORD_RESET', 'EMAIL_VERIFICATION'])},
     ${auditSql({ name: 'owner_entry', from: 'updated_user', user: 'updated_user.id', action, reason: '$reason' })},
     ${auditSql({ name: 'administrator_entry', from: 'updated_user', user: '$actor', action, subject: '$subject', address: '$address', reason: '$reason' })},
     ${onceSql('found_user.id::text', 'found_user')}
     select id from found_user`,
  )

const lockStatements = {
  lockUser: lockStatement('user_lock', 'account.locked', 'locked_at = now(), pending_email = null', 'is null'),
  unlockUser: lockStatement('user_unlock', 'account.unlocked', 'locked_at = null', 'is not null'),
}

type LockContext = IdempotentContext & Use<'config'>

async function changeLock(context: LockContext, operation: keyof typeof lockStatements, rawInput: AccountWithReason) {
  const { actor, database } = context
  assertMay(actor, 'store:administer')
  const input = parse(accountWithReason, rawInput)
  return once(context, operation, input, async () => {
    const user = await findAccount(context, input.userId)
    if (user === undefined) throw notFound('User')
    const isOwn = actor.kind === 'user' && actor.id === user
    if (isOwn) throw validationFailed({ userId: ['You cannot lock or unlock your own account.'] })
    const [changed] = await database.query(lockStatements[operation], {
      ...{ user, subject: toId('user', user), reason: input.reason },
      ...auditorOf(actor),
      ...onceParams(context),
    })
    if (!changed) throw notFound('User')
    return changed.id
  })
}

/** Locks an account. The owner cannot sign in. A locked account keeps its first reason. Returns the user's UUID. */
export const lockUser = (context: LockContext, input: AccountWithReason) => changeLock(context, 'lockUser', input)

/** Unlocks an account. The owner has to sign in again. Returns and throws as `lockUser`. */
export const unlockUser = (context: LockContext, input: AccountWithReason) => changeLock(context, 'unlockUser', input)
