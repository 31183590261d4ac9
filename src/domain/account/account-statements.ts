import type { SignedInUser } from '../actor.ts'
import { rememberSql } from '../idempotency.ts'
import { statement } from '../ports.ts'

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
     'language', u.language, 'emailVerified', u.email_verified, 'displayName', u.display_name, 'description', u.description,
     'defaultTag', u.default_tag, 'referralCode', u.referral_code, 'allowC2paDownload', u.allow_c2pa_download,
     'assetCount', u.asset_count, 'createdAt', u.created_at,
     'wallet', json_build_object('userId', u.id, 'address', w.address, 'num', w.num::text, 'points', w.points::text)) as signed_in
   from unnest($1::bytea[]) with ordinality as asked (hash, position)
     join access_tokens t on t.hash = asked.hash join users u on u.id = t.user_id join wallets w on w.user_id = u.id
   where (t.expires_at is null or t.expires_at > now())`,
)

export const findCredentials = statement<{ id: string; password_hash: string }>(
  'account_credentials',
  'select id, password_hash from users where lower(email) = lower($1)',
)

/** Position among the hashes that were asked for, from 1. */
export const findApiKeys = statement<{ position: number; id: string }>(
  'api_keys_by_hashes',
  `select asked.position::int, k.id from unnest($1::bytea[]) with ordinality as asked (hash, position)
     join api_keys k on k.hash = asked.hash where k.revoked_at is null`,
)

/** User, wallet, key pair and the points they start with: all or nothing. */
export const insertUser = statement<{ id: string }>(
  'account_sign_up',
  `with created as (
     insert into users (id, username, email, password_hash, display_name, language, referral_code, role)
     values ($1::uuid, $2, $3, $4, $2, $5, $6, $7::role) returning id
   ),
   opened as (
     insert into wallets (user_id, address, points) select id, $8, $9::numeric from created
   ),
   sealed as (
     insert into user_keys (user_id, vault_key_id, wrapped_data_key, sealed_private_key)
     select id, $10, $11::bytea, $12::bytea from created
   ),
   moved as (
     insert into transfers (id, reference) select $13::uuid, 'sign-up:' || id from created where $9::numeric > 0
   ),
   booked as (
     insert into entries (transfer_id, position, wallet_id, book, currency, amount)
     select $13::uuid, line.position, line.wallet_id, line.book, 'POINTS', line.amount
     from created, lateral (values (1, created.id, null::book, $9::numeric), (2, null, 'PROMOTION', -$9::numeric))
       as line (position, wallet_id, book, amount)
     where $9::numeric > 0
   ),
   ${rememberSql('$14', '$15', '$1::text', 'created')}
   select id from created`,
)

export const insertToken = statement<never>(
  'account_token_insert',
  `with inserted as (
     insert into access_tokens (user_id, hash) values ($1::uuid, $2) on conflict (hash) do nothing returning user_id
   ),
   ${rememberSql('$3', '$4', '$1::text', 'inserted')}
   select 1`,
)

/** Whether a session still stands. */
export const findLiveToken = statement<{ id: string }>(
  'account_live_token',
  'select id from access_tokens where id = $1 and (expires_at is null or expires_at > now())',
)

export const deleteToken = statement<never>('account_token_delete', 'delete from access_tokens where id = $1')
