import { boolean, bytes, orNull, type ParametersOf, type Statement, statement, text, uuid } from '../../db/sql.ts'
import { remembered, rememberSql } from '../../shared/idempotency.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { accountMailSql } from './account-mail-sql.ts'
import { spendTokenSql, voidTokensSql } from './one-time-tokens.sql.ts'

/**
 * What a change takes that needs the account's password: the hash that was verified, the address or name that is wanted, and the
 * network address it came from.
 */
const change = { user: uuid, verifiedHash: text, wanted: text, address: text, ...remembered }
/** A statement that changes address or name of an account; `is_taken`: somebody else holds the address. */
export type Change = Statement<ParametersOf<typeof change>, { id: string; is_taken?: boolean }>

/** The mails of a change: a notice to the address of before, and the link to the one that is wanted. */
const changeMailsSql = (template: 'email-changed' | 'email-change-requested', noticed = 'updated_user'): string => `
   ${accountMailSql({
     name: 'enqueued_notices',
     from: noticed,
     template,
     facts: { userId: 'updated_user.id', email: 'updated_user.old', newEmail: '$wanted' },
   })},
   ${accountMailSql({
     from: 'updated_user',
     template: 'email-verification',
     facts: { userId: 'updated_user.id' },
   })}`

/**
 * Gives an account another address at once, of which nothing is known yet; what was mailed to the old one is worth nothing
 * any more. The old one is told, for it may be a thief who changes it. No row: the password was changed, or the account
 * locked, meanwhile.
 */
export const changeEmail = statement(
  'account_email_change',
  { parameters: change, columns: { id: uuid, is_taken: boolean } },
  `with locked_user as materialized (
     select id, email from users where id = $user and password_hash = $verifiedHash and deleted_at is null
       and locked_at is null for no key update
   ),
   updated_user as (
     update users u set email = $wanted, email_verified = false, email_held = true, pending_email = null
     from locked_user where u.id = locked_user.id and locked_user.email <> $wanted
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
 * Notes an address that is to be the account's once it is verified; until then the present one stands, and is told. The
 * present one given again takes the wish back. Whether somebody holds the address is looked at only to say so: who verifies
 * it first has it. No row: the password was changed, or the account locked, meanwhile.
 */
export const requestEmailChange = statement(
  'account_email_change_request',
  { parameters: change, columns: { id: uuid, is_taken: boolean } },
  `with locked_user as materialized (
     select id, email, email_held, pending_email, lower(email) = lower($wanted) as is_present,
       exists (select from users o where lower(o.email) = lower($wanted) and o.email_held and o.id <> $user) as is_taken
     from users where id = $user and password_hash = $verifiedHash and deleted_at is null and locked_at is null
     for no key update
   ),
   reverted_user as (
     update users u set email = $wanted, pending_email = null from locked_user
     where u.id = locked_user.id and is_present
       and (locked_user.email <> $wanted or locked_user.pending_email is not null)
     returning u.id
   ),
   updated_user as (
     update users u set pending_email = $wanted from locked_user
     where u.id = locked_user.id and not is_present and not is_taken
     returning u.id, locked_user.email as old, locked_user.email_held
   ),
   touched_users as (select id from reverted_user union all select id from updated_user),
   ${voidTokensSql({ from: 'touched_users', purposes: ['EMAIL_VERIFICATION'] })},
   ${auditSql({ from: 'updated_user', user: 'updated_user.id', action: 'email.change-requested', address: '$address' })},
   ${changeMailsSql('email-change-requested', 'updated_user where updated_user.email_held')},
   accepted_request as (select id from locked_user where is_present or not is_taken),
   ${rememberSql('accepted_request.id::text', 'accepted_request')}
   select id, is_taken and not is_present as is_taken
   from locked_user, (select count(*) from enqueued_notices) as notifications, (select count(*) from enqueued_mails) as jobs`,
)

/**
 * Gives an account another username. No row: the password was changed, or the account locked, meanwhile; raises the unique
 * index on a name that is taken.
 */
export const changeUsername = statement(
  'account_username_change',
  { parameters: change, columns: { id: uuid } },
  `with locked_user as materialized (
     select id, username from users where id = $user and password_hash = $verifiedHash and deleted_at is null
       and locked_at is null for no key update
   ),
   updated_user as (
     update users u set username = $wanted from locked_user
     where u.id = locked_user.id and locked_user.username <> $wanted returning u.id
   ),
   ${auditSql({ from: 'updated_user', user: 'updated_user.id', action: 'username.changed', address: '$address' })},
   ${rememberSql('locked_user.id::text', 'locked_user')}
   select id from locked_user`,
)

/**
 * Makes an address the account's own, and moves the account to it where it waited for that. Of several accounts that
 * claim it the first one wins: the unique index refuses the others. No row: the token is not good any more, or
 * the account is locked.
 * `hash` is the token's.
 */
export const verifyEmail = statement(
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
