import { auditSql } from '../audit/audit-sql.ts'
import { rememberSql } from '../idempotency.ts'
import { statement } from '../ports.ts'
import { accountMailSql } from './account-mail-sql.ts'
import { spendTokenSql, voidTokensSql } from './one-time-token-statements.ts'

/**
 * Gives an account another address, of which nothing is known yet; what was mailed to the old one is worth nothing any
 * more. The old one is told, for it may be a thief who changes it. No row: the password was changed meanwhile.
 * $1 user, $2 the verified password hash, $3 the address, $4 the network address it came from.
 */
export const changeEmail = statement<{ id: string }>(
  'account_email_change',
  `with held as materialized (
     select id, email from users where id = $1::uuid and password_hash = $2 and deleted_at is null for no key update
   ),
   changed as (
     update users u set email = $3, email_verified = false from held where u.id = held.id and held.email <> $3
     returning u.id, held.email as old
   ),
   ${voidTokensSql({ from: 'changed', purposes: ['PASSWORD_RESET', 'EMAIL_VERIFICATION'] })},
   ${auditSql({ name: 'audited', from: 'changed', user: 'changed.id', action: 'email.changed', address: '$4' })},
   ${accountMailSql({
     name: 'noticed',
     from: 'changed',
     template: 'email-changed',
     facts: { userId: 'changed.id', email: 'changed.old', newEmail: '$3::text' },
   })},
   ${accountMailSql({
     name: 'queued',
     from: 'changed',
     template: 'email-verification',
     facts: { userId: 'changed.id' },
   })},
   ${rememberSql('$5', '$6', 'held.id::text', 'held')}
   select id from held, (select count(*) from noticed) as notices, (select count(*) from queued) as jobs`,
)

/**
 * No row: the password was changed meanwhile.
 * $1 user, $2 the verified password hash, $3 the name, $4 the network address it came from.
 */
export const changeUsername = statement<{ id: string }>(
  'account_username_change',
  `with held as materialized (
     select id, username from users where id = $1::uuid and password_hash = $2 and deleted_at is null for no key update
   ),
   changed as (
     update users u set username = $3 from held where u.id = held.id and held.username <> $3 returning u.id
   ),
   ${auditSql({ name: 'audited', from: 'changed', user: 'changed.id', action: 'username.changed', address: '$4' })},
   ${rememberSql('$5', '$6', 'held.id::text', 'held')}
   select id from held`,
)

/** No row: the token is not good any more. $1 user, $2 the token's hash, $3 the network address it came from. */
export const verifyEmail = statement<{ id: string }>(
  'account_email_verify',
  `with held as materialized (
     select id, email from users where id = $1::uuid and deleted_at is null for no key update
   ),
   ${spendTokenSql({ held: 'held', purpose: 'EMAIL_VERIFICATION', hash: '$2' })},
   verified as (
     update users u set email_verified = true from spent where u.id = spent.user_id returning u.id
   ),
   ${auditSql({ name: 'audited', from: 'verified', user: 'verified.id', action: 'email.verified', address: '$3' })},
   ${rememberSql('$4', '$5', 'verified.id::text', 'verified')}
   select id from verified`,
)
