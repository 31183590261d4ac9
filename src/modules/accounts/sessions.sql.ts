import { arrayOf, int, orNull, type RowOf, statement, text, timestamp, uuid } from '../../db/sql.ts'
import { remembered, rememberSql } from '../../shared/idempotency.ts'
import { NIL_UUID } from '../../shared/ids.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { lockedUserSql } from './accounts.sql.ts'

const columns = {
  id: uuid,
  name: text,
  createdAt: timestamp,
  lastUsedAt: orNull(timestamp),
  expiresAt: orNull(timestamp),
}
/** A session as its owner sees it, but for its secret. */
export type SessionRow = RowOf<typeof columns>

const standing = '(expires_at is null or expires_at > now())'

const columnsSql = `id, name, created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt"`

/** One session of a user, unless it has ended. */
export const readSession = statement(
  'session_read',
  { parameters: { session: uuid, user: uuid }, columns },
  `select ${columnsSql} from access_tokens where id = $session and user_id = $user and ${standing}`,
)

/** Those that are older than `after` and newer than `before`, if given. Identifiers are in the order of time. */
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
     where user_id = $user and ${standing} and name ilike all ($patterns)
       and id < coalesce($after, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
       and id > coalesce($before, '${NIL_UUID}')
     order by id ${direction} limit $limit offset $offset`,
  )
/** A page of a user's sessions that have not ended, newest first. */
export const readSessions = readPage('session_page', 'desc')
/** The same page from the end: oldest first. */
export const readSessionsUp = readPage('session_page_up', 'asc')

/** Number of sessions of a user that have not ended and match a search. */
export const countSessions = statement(
  'session_count',
  { parameters: { user: uuid, patterns: arrayOf(text) }, columns: { count: int }, isList: true },
  `select count(*)::int as count from access_tokens where user_id = $user and ${standing} and name ilike all ($patterns)`,
)

/**
 * Ends one session of a user, with an entry in the trail. `subject` is its identifier as callers see it. No row: there is
 * none.
 */
export const revokeSession = statement(
  'session_revoke',
  { parameters: { user: uuid, session: uuid, subject: text, address: text, ...remembered }, columns: { id: uuid } },
  `with ${lockedUserSql('$user')},
   deleted_token as (
     delete from access_tokens t using locked_user where t.id = $session and t.user_id = locked_user.id and ${standing}
     returning t.id, t.user_id
   ),
   ${auditSql({ from: 'deleted_token', user: 'user_id', action: 'session.revoked', subject: '$subject', address: '$address' })},
   ${rememberSql('$user::text', 'deleted_token')}
   select id from deleted_token`,
)

/**
 * Ends all sessions of a user but one, those at the pages for administrators among them, with one entry in the trail for all of
 * them.
 */
export const revokeOtherSessions = statement(
  'session_revoke_others',
  { parameters: { user: uuid, session: uuid, address: text, ...remembered } },
  `with ${lockedUserSql('$user')},
   deleted_tokens as (
     delete from access_tokens t using locked_user where t.user_id = locked_user.id and t.id <> $session and ${standing}
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

/**
 * So many at once of everybody's sessions and mailed links, those at the pages for administrators all at once, and an entry in the
 * trail of each account. Nothing is left when `tokens` is 0.
 */
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
