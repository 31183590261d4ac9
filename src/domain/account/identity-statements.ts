import { auditSql } from '../audit/audit-sql.ts'
import { remembered, rememberSql } from '../idempotency.ts'
import { boolean, bytes, orNull, type ParametersOf, type Statement, statement, text, uuid } from '../sql.ts'
import { accountMailSql } from './account-mail-sql.ts'
import { spendTokenSql, voidTokensSql } from './one-time-token-statements.ts'

/**
 * What a change takes that needs the account's password: the hash that was verified, the address or name that is wanted, and the
 * network address it came from.
 */
const change = { user: uuid, verifiedHash: text, wanted: text, address: text, ...remembered }
export type Change = Statement<ParametersOf<typeof change>, { id: string; is_taken?: boolean }>

/** The mails of a change: a notice to the address of before, and the link to the one that is wanted. */
const changeMailsSql = (template: 'email-changed' | 'email-change-requested', noticed = 'changed'): string => `
   ${accountMailSql({
     name: 'noticed',
     from: noticed,
     template,
     facts: { userId: 'changed.id', email: 'changed.old', newEmail: '$wanted' },
   })},
   ${accountMailSql({
     name: 'queued',
     from: 'changed',
     template: 'email-verification',
     facts: { userId: 'changed.id' },
   })}`

/**
 * Gives an account another address at once, of which nothing is known yet; what was mailed to the old one is worth nothing
 * any more. The old one is told, for it may be a thief who changes it. No row: the password was changed meanwhile.
 */
export const changeEmail = statement(
  'account_email_change',
  { parameters: change, columns: { id: uuid, is_taken: boolean } },
  `with held as materialized (
     select id, email from users where id = $user and password_hash = $verifiedHash and deleted_at is null
     for no key update
   ),
   changed as (
     update users u set email = $wanted, email_verified = false, email_held = true, pending_email = null
     from held where u.id = held.id and held.email <> $wanted
     returning u.id, held.email as old
   ),
   ${voidTokensSql({ from: 'changed', purposes: ['PASSWORD_RESET', 'EMAIL_VERIFICATION'] })},
   ${auditSql({ name: 'audited', from: 'changed', user: 'changed.id', action: 'email.changed', address: '$address' })},
   ${changeMailsSql('email-changed')},
   ${rememberSql('held.id::text', 'held')}
   select id, false as is_taken from held, (select count(*) from noticed) as notices, (select count(*) from queued) as jobs`,
)

/**
 * Notes an address that is to be the account's once it is verified; until then the present one stands, and is told. The
 * present one given again takes the wish back. Whether somebody holds the address is looked at only to say so: who verifies
 * it first has it. No row: the password was changed meanwhile.
 */
export const requestEmailChange = statement(
  'account_email_change_request',
  { parameters: change, columns: { id: uuid, is_taken: boolean } },
  `with held as materialized (
     select id, email, email_held, pending_email, lower(email) = lower($wanted) as is_present,
       exists (select from users o where lower(o.email) = lower($wanted) and o.email_held and o.id <> $user) as is_taken
     from users where id = $user and password_hash = $verifiedHash and deleted_at is null for no key update
   ),
   kept as (
     update users u set email = $wanted, pending_email = null from held
     where u.id = held.id and is_present and (held.email <> $wanted or held.pending_email is not null) returning u.id
   ),
   changed as (
     update users u set pending_email = $wanted from held where u.id = held.id and not is_present and not is_taken
     returning u.id, held.email as old, held.email_held
   ),
   touched as (select id from kept union all select id from changed),
   ${voidTokensSql({ from: 'touched', purposes: ['EMAIL_VERIFICATION'] })},
   ${auditSql({ name: 'audited', from: 'changed', user: 'changed.id', action: 'email.change-requested', address: '$address' })},
   ${changeMailsSql('email-change-requested', 'changed where changed.email_held')},
   done as (select id from held where is_present or not is_taken),
   ${rememberSql('done.id::text', 'done')}
   select id, is_taken and not is_present as is_taken
   from held, (select count(*) from noticed) as notices, (select count(*) from queued) as jobs`,
)

/** No row: the password was changed meanwhile. */
export const changeUsername = statement(
  'account_username_change',
  { parameters: change, columns: { id: uuid } },
  `with held as materialized (
     select id, username from users where id = $user and password_hash = $verifiedHash and deleted_at is null
     for no key update
   ),
   changed as (
     update users u set username = $wanted from held where u.id = held.id and held.username <> $wanted returning u.id
   ),
   ${auditSql({ name: 'audited', from: 'changed', user: 'changed.id', action: 'username.changed', address: '$address' })},
   ${rememberSql('held.id::text', 'held')}
   select id from held`,
)

/**
 * Makes an address the account's own, and moves the account to it where it waited for that. Of several accounts that
 * claim it the first one wins: the unique index refuses the others. No row: the token is not good any more.
 * `hash` is the token's.
 */
export const verifyEmail = statement(
  'account_email_verify',
  { parameters: { user: uuid, hash: bytes, address: orNull(text), ...remembered }, columns: { id: uuid } },
  `with held as materialized (
     select id, coalesce(pending_email, email) as email, email as old, email_held, pending_email is not null as moves
     from users where id = $user and deleted_at is null for no key update
   ),
   ${spendTokenSql({ held: 'held', purpose: 'EMAIL_VERIFICATION', hash: '$hash' })},
   verified as (
     update users u set email = held.email, pending_email = null, email_verified = true, email_held = true
     from spent join held on held.id = spent.user_id where u.id = held.id
     returning u.id, held.old, held.email, held.email_held as was_held, held.moves
   ),
   moved as (select * from verified where moves),
   ${voidTokensSql({ from: 'moved', purposes: ['PASSWORD_RESET'] })},
   ${auditSql({ name: 'audited', from: 'verified', user: 'verified.id', action: 'email.verified', address: '$address' })},
   ${auditSql({ name: 'noted', from: 'moved', user: 'moved.id', action: 'email.changed', address: '$address' })},
   ${accountMailSql({
     name: 'noticed',
     from: 'moved where moved.was_held',
     template: 'email-changed',
     facts: { userId: 'moved.id', email: 'moved.old', newEmail: 'moved.email' },
   })},
   ${rememberSql('verified.id::text', 'verified')}
   select id from verified, (select count(*) from noticed) as notices`,
)
