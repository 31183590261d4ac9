import type { SignedInUser } from '../actor.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { rememberSql } from '../idempotency.ts'
import { statement } from '../ports.ts'
import { accountMailSql } from './account-mail-sql.ts'
import { byAddressSql } from './address-sql.ts'

/**
 * Everything a request needs to know of its caller, and all that `me` tells, in one read, for requests that came together. One JSON column: the driver
 * takes a description apart with every answer, column by column, and this statement runs with every request.
 */
export const findByTokens = statement<{
  /** Position among the hashes that were asked for, from 1. */
  position: number
  signed_in: Omit<SignedInUser, 'createdAt'> & { tokenId: string; createdAt: string }
}>(
  'account_by_tokens',
  `select asked.position::int, json_build_object('tokenId', t.id, 'id', u.id, 'username', u.username, 'email', u.email, 'role', u.role,
     'language', u.language, 'emailVerified', u.email_verified, 'emailHeld', u.email_held,
     'pendingEmail', u.pending_email, 'displayName', u.display_name, 'description', u.description,
     'defaultTag', u.default_tag, 'referralCode', u.referral_code, 'allowC2paDownload', u.allow_c2pa_download,
     'assetCount', u.asset_count, 'createdAt', u.created_at,
     'wallet', json_build_object('userId', u.id, 'address', w.address, 'num', w.num::text, 'points', w.points::text,
       'pointsExpireAt', w.points_expire_at)) as signed_in
   from unnest($1::bytea[]) with ordinality as asked (hash, position)
     join access_tokens t on t.hash = asked.hash join users u on u.id = t.user_id join wallets w on w.user_id = u.id
   where (t.expires_at is null or t.expires_at > now()) and u.deleted_at is null`,
)

export const findCredentials = statement<{ id: string; password_hash: string; email_verified: boolean }>(
  'account_credentials',
  `select id, password_hash, email_verified from users ${byAddressSql}`,
)

/** Position among the hashes that were asked for, from 1. */
export const findApiKeys = statement<{ position: number; id: string }>(
  'api_keys_by_hashes',
  `select asked.position::int, k.id from unnest($1::bytea[]) with ordinality as asked (hash, position)
     join api_keys k on k.hash = asked.hash where k.revoked_at is null`,
)

/**
 * User, wallet, key pair and the points they start with: all or nothing. $15: the address it came from, $16: how the key is wrapped,
 * $17: whether the address is to be verified by mail: until then it is only claimed, as others may, too. No row: somebody
 * holds it. An operator vouches for an administrator's.
 */
export const insertUser = statement<{ id: string }>(
  'account_sign_up',
  `with created as (
     insert into users (id, username, email, password_hash, display_name, language, referral_code, role, email_verified, email_held)
     select $1::uuid, $2, $3, $4, $2, $5, $6, $7::role, $7::role = 'ADMIN', not $17::boolean
     where not ($17::boolean and exists (select from users where lower(email) = lower($3) and email_held))
     returning id
   ),
   opened as (
     insert into wallets (user_id, address, points) select id, $8, $9::numeric from created
   ),
   sealed as (
     insert into user_keys (user_id, version, vault_key_id, wrapped_data_key, sealed_private_key)
     select id, $16::smallint, $10, $11::bytea, $12::bytea from created
   ),
   moved as (
     insert into transfers (reference) select 'sign-up:' || id from created where $9::numeric > 0 returning id
   ),
   booked as (
     insert into entries (transfer_id, position, wallet_id, book, currency, amount)
     select moved.id, line.position, line.wallet_id, line.book, 'POINTS', line.amount
     from moved, created, lateral (values (1, created.id, null::book, $9::numeric), (2, null, 'PROMOTION', -$9::numeric))
       as line (position, wallet_id, book, amount)
   ),
   ${auditSql({ name: 'audited', from: 'created', user: 'id', action: 'account.created', address: '$15' })},
   ${accountMailSql({
     name: 'queued',
     from: 'created where $17::boolean',
     template: 'email-verification',
     facts: { userId: 'created.id' },
   })},
   ${rememberSql('$13', '$14', '$1::text', 'created')}
   select id from created, (select count(*) from queued) as jobs`,
)

/**
 * A session, if the account's password is still the one that was verified. No row: it was changed or the account deleted
 * meanwhile. $1 user, $2 the verified hash, $3 the secret's hash, $4 the session's name, $5 days until it ends or 0, $6 the
 * address it came from, $7 what the secret was made under.
 */
export const insertToken = statement<{ id: string }>(
  'account_token_insert',
  `with holder as materialized (
     select id from users where id = $1::uuid and password_hash = $2 and deleted_at is null for share
   ),
   inserted as (
     insert into access_tokens (user_id, hash, name, expires_at)
     select id, $3::bytea, $4, case when $5::int > 0 then now() + make_interval(days => $5::int) end from holder
     returning id, user_id
   ),
   ${auditSql({
     name: 'audited',
     from: 'inserted',
     user: 'user_id',
     action: 'session.started',
     subject: `type_id('session', inserted.id)`,
     address: '$6',
   })},
   ${rememberSql('$8', '$9', `type_id('session', inserted.id) || ':' || $7`, 'inserted')}
   select id from inserted`,
)

/** Whether a secret still opens a session: $1 its SHA-256. */
export const findLiveHash = statement<{ id: string }>(
  'account_live_hash',
  `select t.id from access_tokens t join users u on u.id = t.user_id
   where t.hash = $1::bytea and (t.expires_at is null or t.expires_at > now()) and u.deleted_at is null`,
)

/** The account before its tokens: whoever locks them in another order could stand in the way of its deletion, and it in theirs. */
export const holderSql = (user: string) =>
  `holder as materialized (select id from users where id = ${user}::uuid for key share)`

/** $2: its identifier as callers see it, $3: the address it came from, $4: its owner. */
export const deleteToken = statement<never>(
  'account_token_delete',
  `with ${holderSql('$4')},
   ended as (delete from access_tokens t using holder where t.id = $1::uuid and t.user_id = holder.id returning t.user_id),
   ${auditSql({ name: 'audited', from: 'ended', user: 'user_id', action: 'session.ended', subject: '$2', address: '$3' })}
   select 1`,
)
