import { arrayOf, bytes, int, orNull, type RowOf, statement, text, timestamp, uuid } from '../../db/sql.ts'
import { remembered, rememberSql } from '../../shared/idempotency.ts'
import { NIL_UUID } from '../../shared/ids.ts'
import { auditSql } from '../audit/audit-sql.ts'

const columns = {
  id: uuid,
  name: text,
  createdAt: timestamp,
  lastUsedAt: orNull(timestamp),
  expiresAt: orNull(timestamp),
}
/** A session without its secret. */
export type SessionRow = RowOf<typeof columns>

const isLiveSql = '(expires_at is null or expires_at > now())'

const columnsSql = `id, name, created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt"`

/**
 * Inserts a session if the password is still the verified one. No row: the password was changed, or the account was deleted or locked. `hash` is the SHA-256 of the token,
 * `days` the lifetime or 0, and `seed` the seed of the token.
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
      seed: text,
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
   ${rememberSql(`type_id('session', inserted_token.id) || ':' || $seed`, 'inserted_token')}
   select id from inserted_token`,
)

/** Finds the session of a token by its SHA-256, unless it has ended. */
export const findLiveToken = statement(
  'account_live_hash',
  { parameters: { hash: bytes }, columns: { id: uuid } },
  `select t.id from access_tokens t join users u on u.id = t.user_id
   where t.hash = $hash and (t.expires_at is null or t.expires_at > now()) and u.deleted_at is null and u.locked_at is null`,
)

/** SQL of a CTE that locks the user. Every statement locks the user before its tokens, so that statements cannot deadlock with a deletion. */
const lockedUserSql = (user: string) =>
  `locked_user as materialized (select id from users where id = ${user} for key share)`

/** Ends a session. `subject` is its public ID. */
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

/** Returns a session of a user, unless it has ended. */
export const readSession = statement(
  'session_read',
  { parameters: { session: uuid, user: uuid }, columns },
  `select ${columnsSql} from access_tokens where id = $session and user_id = $user and ${isLiveSql}`,
)

/** Sessions older than `after` and newer than `before`. IDs are in the order of time. */
const readPage = (name: string, direction: 'asc' | 'desc') =>
  statement(
    name,
    {
      parameters: {
        ...{ user: uuid, patterns: arrayOf(text), after: orNull(uuid), before: orNull(uuid) },
        ...{ limit: int, offset: int },
      },
      columns,
      isList: true,
    },
    `select ${columnsSql} from access_tokens
     where user_id = $user and ${isLiveSql} and name ilike all ($patterns)
       and id < coalesce($after, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
       and id > coalesce($before, '${NIL_UUID}')
     order by id ${direction} limit $limit offset $offset`,
  )
/** Returns a page of a user's sessions that have not ended, newest first. */
export const readSessions = readPage('session_page', 'desc')
/** Returns the same page from the end, oldest first. */
export const readSessionsBackwards = readPage('session_page_up', 'asc')

/** Counts the sessions of a user that have not ended and match a search. */
export const countSessions = statement(
  'session_count',
  { parameters: { user: uuid, patterns: arrayOf(text) }, columns: { count: int }, isList: true },
  `select count(*)::int as count from access_tokens where user_id = $user and ${isLiveSql} and name ilike all ($patterns)`,
)

/** Ends a session with an idempotency key. `subject` is its public ID. No row: there is no such session. */
export const revokeSession = statement(
  'session_revoke',
  { parameters: { user: uuid, session: uuid, subject: text, address: text, ...remembered }, columns: { id: uuid } },
  `with ${lockedUserSql('$user')},
   deleted_token as (
     delete from access_tokens t using locked_user where t.id = $session and t.user_id = locked_user.id and ${isLiveSql}
     returning t.id, t.user_id
   ),
   ${auditSql({ from: 'deleted_token', user: 'user_id', action: 'session.revoked', subject: '$subject', address: '$address' })},
   ${rememberSql('$user::text', 'deleted_token')}
   select id from deleted_token`,
)

/** Ends all other sessions of a user, including those of the pages for administrators. Writes one audit entry for all of them. */
export const revokeOtherSessions = statement(
  'session_revoke_others',
  { parameters: { user: uuid, session: uuid, address: text, ...remembered } },
  `with ${lockedUserSql('$user')},
   deleted_tokens as (
     delete from access_tokens t using locked_user where t.user_id = locked_user.id and t.id <> $session and ${isLiveSql}
     returning t.id
   ),
   deleted_admin_sessions as (
     delete from admin_sessions s using locked_user where s.user_id = locked_user.id and s.id <> $session returning s.id
   ),
   deleted_count as (select (select count(*) from deleted_tokens) + (select count(*) from deleted_admin_sessions) as count),
   ${auditSql({ from: 'deleted_count where count > 0', user: '$user', action: 'session.revoked', address: '$address' })},
   ${rememberSql('$user::text', 'deleted_count')}
   select`,
)

/** Ends up to 1,000 sessions and mailed links of all accounts, and all sessions of the pages for administrators. Done when `tokens` is 0. */
export const endSessions = statement(
  'session_end_all',
  { columns: { sessions: int, tokens: int } },
  `with locked_tokens as materialized (
     select id from access_tokens limit 1000 for update
   ),
   deleted_tokens as (
     delete from access_tokens t using locked_tokens where t.id = locked_tokens.id returning t.user_id
   ),
   deleted_admin_sessions as (delete from admin_sessions returning user_id),
   deleted_one_time_tokens as (
     delete from one_time_tokens o using (
       select user_id, purpose from one_time_tokens limit 1000
     ) link where o.user_id = link.user_id and o.purpose = link.purpose returning 1
   ),
   deleted_sessions as (select user_id from deleted_tokens union all select user_id from deleted_admin_sessions),
   owners as (select distinct user_id from deleted_sessions),
   ${auditSql({ from: 'owners', user: 'user_id', action: 'session.revoked' })}
   select (select count(*) from deleted_sessions)::int as sessions,
     ((select count(*) from deleted_sessions) + (select count(*) from deleted_one_time_tokens))::int as tokens`,
)
