import { auditSql } from '../audit/audit-sql.ts'
import { remembered, rememberSql } from '../idempotency.ts'
import { bytes, orNull, statement, text, uuid } from '../sql.ts'
import { accountMailSql } from './account-mail-sql.ts'
import { spendTokenSql, voidTokensSql } from './one-time-token-statements.ts'
import { passwordCheckKeySql } from './password-check-statements.ts'

export const findOwnCredentials = statement(
  'password_own',
  { parameters: { user: uuid }, columns: { email: text, password_hash: text } },
  'select email, password_hash from users where id = $user and deleted_at is null',
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
  name: 'queued',
  from: 'changed',
  template: 'password-changed',
  facts: { userId: 'changed.id' },
})

/**
 * Uses a token up for a new password. No row: the token is not good any more. Whoever has it reads the account's mailbox,
 * so the address is verified, and guesses at the old password are forgotten; a change of address that was under way is not
 * theirs, and is given up. The unique index refuses an address that somebody else has verified meanwhile.
 * `hash` is the token's.
 */
export const resetPassword = statement(
  'password_reset',
  {
    parameters: { user: uuid, hash: bytes, passwordHash: text, address: orNull(text), ...remembered },
    columns: { id: uuid },
  },
  `with held as materialized (
     select id, email from users where id = $user and deleted_at is null for no key update
   ),
   ${spendTokenSql({ held: 'held', purpose: 'PASSWORD_RESET', hash: '$hash' })},
   changed as (
     update users u set password_hash = $passwordHash, email_verified = true, email_held = true, pending_email = null from spent where u.id = spent.user_id
     returning u.id, u.email
   ),
   ended as (delete from access_tokens t using changed where t.user_id = changed.id),
   ${voidTokensSql({ from: 'changed', purposes: ['EMAIL_VERIFICATION'] })},
   forgotten as (delete from limits l using changed where l.key = ${passwordCheckKeySql('changed.email')}),
   ${auditSql({ name: 'audited', from: 'changed', user: 'changed.id', action: 'password.reset', address: '$address' })},
   ${changedMail},
   ${rememberSql('changed.id::text', 'changed')}
   select id from changed, (select count(*) from queued) as jobs`,
)

/**
 * Sets a new password in place of the one that was verified. No row: it was changed meanwhile. Only the session it came
 * by goes on, and a change of address that was under way is given up: it may be what a thief began.
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
  `with changed as (
     update users set password_hash = $passwordHash, pending_email = null
     where id = $user and password_hash = $verifiedHash and deleted_at is null returning id, old.pending_email
   ),
   settled as (select id from changed where pending_email is not null),
   ended as (delete from access_tokens t using changed where t.user_id = changed.id and t.id <> $session),
   ${voidTokensSql({ from: 'changed', purposes: ['PASSWORD_RESET'] })},
   ${voidTokensSql({ name: 'forgone', from: 'settled', purposes: ['EMAIL_VERIFICATION'] })},
   ${auditSql({ name: 'audited', from: 'changed', user: 'changed.id', action: 'password.changed', address: '$address' })},
   ${changedMail},
   ${rememberSql('changed.id::text', 'changed')}
   select id from changed, (select count(*) from queued) as jobs`,
)
