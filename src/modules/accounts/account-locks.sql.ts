import { boolean, int, orNull, type RowOf, statement, text, textOf, timestamp, uuid } from '../../db/sql.ts'
import { remembered, rememberSql } from '../../shared/idempotency.ts'
import { audited, auditSql } from '../audit/audit-sql.ts'
import { countsSql } from './email-lookup-sql.ts'
import { voidTokensSql } from './one-time-tokens.sql.ts'

const foundColumns = {
  id: uuid,
  username: text,
  email: text,
  role: textOf<'USER' | 'ADMIN'>('role'),
  emailVerified: boolean,
  assetCount: int,
  createdAt: timestamp,
  /** Since when it is locked. */
  lockedAt: orNull(timestamp),
  /** Why it is locked; null while it is not. */
  lockReason: orNull(text),
}

/** An account as operators find it. */
export type FoundUser = RowOf<typeof foundColumns>

/** Order of accounts by creation time. */
export type UserOrder = 'NEWEST' | 'OLDEST'

/** No character stands behind it: what begins alike stands before this after the same beginning. */
const LAST = '\u{10ffff}'

/** Identifiers of accounts by identifier (`user`, or null), e-mail address or the beginning of a username. `most` bounds the last of them. */
const foundSql = (most: string) => `
  select id from users where id = $user and deleted_at is null
  union select id from users where lower(email) = lower($text) and deleted_at is null
  union (
    select id from users where username_key ~>=~ username_key($text) and username_key ~<~ (username_key($text) || '${LAST}')
      and deleted_at is null
    order by username_key using ~<~ limit ${most})`

/** Accounts that match a search. Without an order, exact matches come first, and the others are sorted by username. */
export const searchUsers = statement(
  'user_search',
  {
    parameters: { user: orNull(uuid), text, order: orNull(textOf<UserOrder>()), limit: int, offset: int },
    columns: foundColumns,
    isList: true,
  },
  `select u.id, u.username, u.email, u.role, u.email_verified as "emailVerified", u.asset_count as "assetCount",
     u.created_at as "createdAt", u.locked_at as "lockedAt",
     case when u.locked_at is not null then (
       select a.reason from audit_entries a
       where a.user_id = u.id and a.action = 'account.locked' order by a.id desc limit 1
     ) end as "lockReason"
   from users u
   where u.id in (${foundSql('case when $order is null then $limit + $offset end')})
   order by case $order when 'NEWEST' then u.created_at end desc, case $order when 'OLDEST' then u.created_at end,
     u.username_key = username_key($text) desc, u.username_key collate "C" limit $limit offset $offset`,
)

/** Number of accounts that match a search, counted up to `most`. */
export const countUsers = statement(
  'user_search_count',
  { parameters: { user: orNull(uuid), text, most: int }, columns: { count: int }, isList: true },
  `select least(count(*), $most)::int as count from (${foundSql('$most')}) found`,
)

/** A user by UUID, or, where that is null, by a name: an e-mail address if it looks like one, else a username. */
export const findByName = statement(
  'user_by_name',
  { parameters: { user: orNull(uuid), name: text, mustBeVerified: boolean }, columns: { id: uuid } },
  `select id from users where deleted_at is null and (
     id = $user
     or ($user is null and $name like '%@%' and lower(email) = lower($name) and ${countsSql('$mustBeVerified')})
     or ($user is null and $name not like '%@%' and username_key = username_key($name)))`,
)

const change = { user: uuid, subject: text, reason: text, ...audited, ...remembered }

/** It stands in the trail of whose account it is, and in that of whoever did it, who alone is told from where. */
const tellSql = (action: 'account.locked' | 'account.unlocked'): string => `
   ${auditSql({ name: 'told_owner', from: 'updated_user', user: 'updated_user.id', action, reason: '$reason' })},
   ${auditSql({ name: 'told_actor', from: 'updated_user', user: '$actor', action, subject: '$subject', address: '$address', reason: '$reason' })}`

const endedLinksSql = voidTokensSql({ from: 'updated_user', purposes: ['PASSWORD_RESET', 'EMAIL_VERIFICATION'] })

/**
 * Locks an account: its sessions, mailed links and a change of address that was under way end, and none is begun until it
 * is unlocked. One that is locked stays as it is. No row: there is no such account. `subject` is its identifier as callers see it.
 */
export const lockUser = statement(
  'user_lock',
  { parameters: change, columns: { id: uuid } },
  `with found_user as materialized (
     select id, locked_at from users where id = $user and deleted_at is null for no key update
   ),
   updated_user as (
     update users u set locked_at = now(), pending_email = null from found_user
     where u.id = found_user.id and found_user.locked_at is null returning u.id
   ),
   deleted_tokens as (delete from access_tokens t using found_user where t.user_id = found_user.id),
   deleted_admin_sessions as (delete from admin_sessions s using found_user where s.user_id = found_user.id),
   ${endedLinksSql},
   ${tellSql('account.locked')},
   ${rememberSql('found_user.id::text', 'found_user')}
   select id from found_user`,
)

/**
 * Lets the owner of a locked account in again. A session or a mailed link that was made while it was being locked does not come
 * back. No row: there is no such account.
 */
export const unlockUser = statement(
  'user_unlock',
  { parameters: change, columns: { id: uuid } },
  `with found_user as materialized (
     select id, locked_at from users where id = $user and deleted_at is null for no key update
   ),
   updated_user as (
     update users u set locked_at = null from found_user
     where u.id = found_user.id and found_user.locked_at is not null returning u.id
   ),
   deleted_tokens as (delete from access_tokens t using updated_user where t.user_id = updated_user.id),
   deleted_admin_sessions as (delete from admin_sessions s using updated_user where s.user_id = updated_user.id),
   ${endedLinksSql},
   ${tellSql('account.unlocked')},
   ${rememberSql('found_user.id::text', 'found_user')}
   select id from found_user`,
)
