import type { User } from '../../db/prisma/client.ts'
import {
  arrayOf,
  boolean,
  bytes,
  int,
  json,
  numeric,
  orNull,
  smallint,
  statement,
  text,
  textOf,
  uuid,
} from '../../db/sql.ts'
import type { SignedInUser } from '../../shared/actor.ts'
import { remembered, rememberSql } from '../../shared/idempotency.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { postTransferSql } from '../wallet/ledger-sql.ts'
import { accountMailSql } from './account-mail-sql.ts'
import { byAddressSql } from './email-lookup-sql.ts'

/** What is known of `u`, who is signed in by the token or session `token`, and of their wallet `w`, as one JSON value. */
export const signedInSql = (
  token: string,
) => `json_build_object('tokenId', ${token}, 'id', u.id, 'username', u.username, 'email', u.email, 'role', u.role,
     'language', u.language, 'emailVerified', u.email_verified, 'emailHeld', u.email_held,
     'pendingEmail', u.pending_email, 'displayName', u.display_name, 'description', u.description,
     'defaultTag', u.default_tag, 'referralCode', u.referral_code, 'allowC2paDownload', u.allow_c2pa_download,
     'assetCount', u.asset_count, 'createdAt', u.created_at,
     'wallet', json_build_object('userId', u.id, 'address', w.address, 'num', w.num::text, 'points', w.points::text))`

/**
 * Everything a request needs to know of its caller, and all that `me` tells, in one read, for requests that came together. One JSON column: the driver
 * takes a description apart with every answer, column by column, and this statement runs with every request. Of a list in a query of its own the
 * planner knows no length: one plan serves all, where it would make one for each short list else, which costs twice the look-up.
 */
export const findByTokens = statement(
  'account_by_tokens',
  {
    parameters: { hashes: arrayOf(bytes) },
    columns: {
      /** Position among the hashes that were asked for, from 1. */
      position: int,
      signed_in: json<Omit<SignedInUser, 'createdAt'> & { tokenId: string; createdAt: string }>(),
    },
  },
  `select asked.position::int, ${signedInSql('t.id')} as signed_in
   from unnest((select $hashes)) with ordinality as asked (hash, position)
     join access_tokens t on t.hash = asked.hash join users u on u.id = t.user_id join wallets w on w.user_id = u.id
   where (t.expires_at is null or t.expires_at > now()) and u.deleted_at is null and u.locked_at is null`,
)

/**
 * The password's hash of whom each of these addresses leads to: who holds it, or else claimed it first. `position` among them counts from 1.
 * For sign-ins that came together.
 */
export const findCredentials = statement(
  'account_credentials',
  {
    parameters: { emails: arrayOf(text) },
    columns: { position: int, id: uuid, password_hash: text, email_verified: boolean, is_locked: boolean },
  },
  `select asked.position::int, found.* from unnest((select $emails)) with ordinality as asked (address, position)
     cross join lateral (
       select id, password_hash, email_verified, locked_at is not null as is_locked
       from users ${byAddressSql('asked.address')}
     ) as found`,
)

/**
 * Which of these hashes are those of API keys that were not revoked; `position` among them counts from 1. For requests
 * that came together.
 */
export const findApiKeys = statement(
  'api_keys_by_hashes',
  { parameters: { hashes: arrayOf(bytes) }, columns: { position: int, id: uuid } },
  `select asked.position::int, k.id from unnest((select $hashes)) with ordinality as asked (hash, position)
     join api_keys k on k.hash = asked.hash where k.revoked_at is null`,
)

/**
 * User, wallet, key pair and the points they start with: all or nothing. `isToBeVerified`: whether the address is to be verified by
 * mail: until then it is only claimed, as others may, too. No row: somebody holds it. An operator vouches for an
 * administrator's. `wallet` is the key pair's address, `address` the one that the request came from.
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

/**
 * A session, if the account's password is still the one that was verified. No row: it was changed, or the account deleted or
 * locked, meanwhile. `hash` is the secret's, `days` until it ends or 0, `making` what the secret was made under.
 */
export const insertToken = statement(
  'account_token_insert',
  {
    parameters: {
      user: uuid,
      verifiedHash: text,
      hash: bytes,
      name: text,
      days: int,
      address: orNull(text),
      making: text,
      ...remembered,
    },
    columns: { id: uuid },
  },
  `with locked_user as materialized (
     select id from users where id = $user and password_hash = $verifiedHash and deleted_at is null and locked_at is null for share
   ),
   inserted_token as (
     insert into access_tokens (user_id, hash, name, expires_at)
     select id, $hash, $name, case when $days > 0 then now() + make_interval(days => $days) end from locked_user
     returning id, user_id
   ),
   ${auditSql({
     from: 'inserted_token',
     user: 'user_id',
     action: 'session.started',
     subject: `type_id('session', inserted_token.id)`,
     address: '$address',
   })},
   ${rememberSql(`type_id('session', inserted_token.id) || ':' || $making`, 'inserted_token')}
   select id from inserted_token`,
)

/** Whether a secret still opens a session, by its SHA-256. */
export const findLiveHash = statement(
  'account_live_hash',
  { parameters: { hash: bytes }, columns: { id: uuid } },
  `select t.id from access_tokens t join users u on u.id = t.user_id
   where t.hash = $hash and (t.expires_at is null or t.expires_at > now()) and u.deleted_at is null and u.locked_at is null`,
)

/** The account before its tokens: whoever locks them in another order could stand in the way of its deletion, and it in theirs. */
export const lockedUserSql = (user: string) =>
  `locked_user as materialized (select id from users where id = ${user} for key share)`

/**
 * Signs out: ends one session of a user, with an entry in the trail. `subject` is the session's identifier as callers see
 * it.
 */
export const deleteToken = statement(
  'account_token_delete',
  { parameters: { user: uuid, token: uuid, subject: text, address: text } },
  `with ${lockedUserSql('$user')},
   deleted_token as (
     delete from access_tokens t using locked_user where t.id = $token and t.user_id = locked_user.id returning t.user_id
   ),
   ${auditSql({ from: 'deleted_token', user: 'user_id', action: 'session.ended', subject: '$subject', address: '$address' })}
   select`,
)
