import { bytes, orNull, statement, text, uuid } from '../../db/sql.ts'
import { remembered, rememberSql } from '../../shared/idempotency.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { accountMailSql } from './account-mail-sql.ts'
import { spendTokenSql, voidTokensSql } from './one-time-tokens.sql.ts'
import { passwordCheckKeySql } from './password-check.sql.ts'

/** The password hash of an account, by UUID. */
export const findOwnCredentials = statement(
  'password_own',
  { parameters: { user: uuid }, columns: { password_hash: text } },
  'select password_hash from users where id = $user and deleted_at is null',
)

/**
 * Holds an account's credentials to the end of a transaction. A sign-in that was quicker is finished then, and the next
 * statement, which looks anew, sees its session.
 */
export const holdCredentials = statement(
  'password_hold',
  { parameters: { user: uuid }, columns: { id: uuid } },
  'select id from users where id = $user and deleted_at is null for no key update',
)

const changedMail = accountMailSql({
  from: 'updated_user',
  template: 'password-changed',
  facts: { userId: 'updated_user.id' },
})

/**
 * Uses a token up for a new password. No row: the token is not good any more, or the account is locked. Whoever has it reads
 * the account's mailbox, so the address is verified, and guesses at the old password are forgotten; a change of address that
 * was under way is not theirs, and is given up. The unique index refuses an address that somebody else has verified meanwhile.
 * `hash` is the token's.
 */
export const resetPassword = statement(
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
   ${changedMail},
   ${rememberSql('updated_user.id::text', 'updated_user')}
   select id from updated_user, (select count(*) from enqueued_mails) as jobs`,
)

/**
 * Sets a new password in place of the one that was verified. No row: it was changed, or the account locked, meanwhile. Only
 * the session it came by goes on, and a change of address that was under way is given up: it may be what a thief began.
 */
export const changePassword = statement(
  'password_change',
  {
    parameters: {
      user: uuid,
      verifiedHash: text,
      passwordHash: text,
      session: uuid,
      address: orNull(text),
      ...remembered,
    },
    columns: { id: uuid },
  },
  `with updated_user as (
     update users set password_hash = $passwordHash, pending_email = null
     where id = $user and password_hash = $verifiedHash and deleted_at is null and locked_at is null
     returning id, old.pending_email
   ),
   abandoned_change as (select id from updated_user where pending_email is not null),
   deleted_tokens as (
     delete from access_tokens t using updated_user where t.user_id = updated_user.id and t.id <> $session
   ),
   ${voidTokensSql({ from: 'updated_user', purposes: ['PASSWORD_RESET'] })},
   ${voidTokensSql({ name: 'voided_verifications', from: 'abandoned_change', purposes: ['EMAIL_VERIFICATION'] })},
   ${auditSql({ from: 'updated_user', user: 'updated_user.id', action: 'password.changed', address: '$address' })},
   ${changedMail},
   ${rememberSql('updated_user.id::text', 'updated_user')}
   select id from updated_user, (select count(*) from enqueued_mails) as jobs`,
)
