/** Statements that create and change accounts, and the errors of their unique indexes. */
import { violatedConstraint } from '../../db/database-types.ts'
import type { User } from '../../db/prisma/client.ts'
import {
  boolean,
  bytes,
  numeric,
  orNull,
  type ParametersOf,
  type Statement,
  smallint,
  statement,
  text,
  textOf,
  uuid,
} from '../../db/sql.ts'
import { DomainError } from '../../shared/errors.ts'
import { remembered, rememberSql } from '../../shared/idempotency.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { postTransferSql } from '../wallet/ledger-sql.ts'
import { accountMailSql } from './account-mail.sql.ts'
import { passwordCheckKeySql } from './check-password.ts'
import { spendTokenSql, voidTokensSql } from './mailed-links.ts'

const duplicateCodes: Record<string, 'DUPLICATE_EMAIL' | 'DUPLICATE_USERNAME'> = {
  users_username_key: 'DUPLICATE_USERNAME',
  users_email_key: 'DUPLICATE_EMAIL',
}

const taken = (code: 'DUPLICATE_EMAIL' | 'DUPLICATE_USERNAME') => {
  const field = code === 'DUPLICATE_EMAIL' ? 'email' : 'username'
  return new DomainError(code, `This ${field} is taken.`, {
    details: { [field]: [`A user with this ${field} already exists.`] },
  })
}

/** The error DUPLICATE_EMAIL, for statements that return it in a column. */
export const emailTaken = () => taken('DUPLICATE_EMAIL')

/** Returns DUPLICATE_USERNAME or DUPLICATE_EMAIL for the violation of a unique index. Returns other errors unchanged. */
export function translateDuplicate(error: unknown): unknown {
  const code = duplicateCodes[violatedConstraint(error) ?? '']
  return code ? taken(code) : error
}

/**
 * Inserts a user with wallet, key pair and initial points. No row: another account holds the address. With `isToBeVerified`, the address is only claimed until it
 * is verified, and others may claim it, too. The address of an administrator counts as verified. `wallet` is the address of the key pair, `address` the network
 * address of the request.
 */
export const insertUser = statement(
  'account_sign_up',
  {
    parameters: {
      user: uuid,
      username: text,
      email: text,
      passwordHash: text,
      language: text,
      referralCode: text,
      role: textOf<User['role']>('role'),
      isToBeVerified: boolean,
      wallet: text,
      points: numeric,
      version: smallint,
      vaultKeyId: text,
      wrappedDataKey: bytes,
      sealedPrivateKey: bytes,
      address: orNull(text),
      ...remembered,
    },
    columns: { id: uuid },
  },
  `with inserted_user as (
     insert into users (id, username, email, password_hash, display_name, language, referral_code, role, email_verified, email_held)
     select $user, $username, $email, $passwordHash, $username, $language, $referralCode, $role, $role = 'ADMIN',
       not $isToBeVerified
     where not ($isToBeVerified and exists (select from users where lower(email) = lower($email) and email_held))
     returning id, uuidv7() as transfer_id
   ),
   inserted_wallet as (
     insert into wallets (user_id, address, points) select id, $wallet, $points from inserted_user
   ),
   inserted_user_key as (
     insert into user_keys (user_id, version, vault_key_id, wrapped_data_key, sealed_private_key)
     select id, $version, $vaultKeyId, $wrappedDataKey, $sealedPrivateKey from inserted_user
   ),
   ${postTransferSql({
     from: 'inserted_user',
     reference: `'sign-up:' || inserted_user.id`,
     when: '$points > 0',
     lines: [
       { wallet: 'inserted_user.id', currency: 'POINTS', amount: '$points' },
       { book: 'PROMOTION', currency: 'POINTS', amount: '-$points' },
     ],
   })},
   ${auditSql({ from: 'inserted_user', user: 'id', action: 'account.created', address: '$address' })},
   ${accountMailSql({
     from: 'inserted_user where $isToBeVerified',
     template: 'email-verification',
     facts: { userId: 'inserted_user.id' },
   })},
   ${rememberSql('$user::text', 'inserted_user')}
   select id from inserted_user, (select count(*) from enqueued_mails) as jobs`,
)

/** Locks an account's credentials until the end of the transaction. The next statement sees the sessions of earlier sign-ins. */
export const lockCredentials = statement(
  'password_hold',
  { parameters: { user: uuid }, columns: { id: uuid } },
  'select id from users where id = $user and deleted_at is null for no key update',
)

const passwordChangedMailSql = accountMailSql({
  from: 'updated_user',
  template: 'password-changed',
  facts: { userId: 'updated_user.id' },
})

/**
 * Sets a new password with a mailed token. `hash` is the token's. No row: the token is invalid or the account is locked. The user can read the mailbox, so the address is verified
 * and wrong guesses are forgotten. A pending change of the address is cancelled, because it may be an attacker's. The unique index rejects an address that another account
 * has verified.
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
   ${passwordChangedMailSql},
   ${rememberSql('updated_user.id::text', 'updated_user')}
   select id from updated_user, (select count(*) from enqueued_mails) as jobs`,
)

/**
 * Replaces the verified password. No row: the password was changed or the account was locked. Ends all sessions except the caller's, and cancels a pending change of
 * the address, which may be an attacker's.
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
   ${passwordChangedMailSql},
   ${rememberSql('updated_user.id::text', 'updated_user')}
   select id from updated_user, (select count(*) from enqueued_mails) as jobs`,
)

/** `verifiedHash` is the hash of the verified password, `wanted` the new address or username, `address` the network address. */
const change = { user: uuid, verifiedHash: text, wanted: text, address: text, ...remembered }
/** A statement that changes the address or the username. `is_taken` is true if another account holds the address. */
export type IdentityChange = Statement<ParametersOf<typeof change>, { id: string; is_taken?: boolean }>

/** SQL of the mails of a change: a notice to the old address, and a link to the new one. */
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
 * Changes an address that is not verified. Invalidates links that were mailed to the old one, and notifies it. No row: the password was changed or the account
 * was locked.
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
 * Stores a pending address, which replaces the current one once it is verified. Notifies the current address. The current address as input cancels a pending one. `is_taken` only
 * informs the caller: the account that verifies an address first gets it. No row: the password was changed or the account was locked.
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

/** Changes the username. No row: the password was changed or the account was locked. The unique index rejects a taken name. */
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
 * Verifies the address of an account, or its pending address, which then becomes the current one. `hash` is the token's. No row: the token is invalid or the account is
 * locked. The unique index rejects an address that another account verified first.
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
