import { auditSql } from '../audit/audit-sql.ts'
import { rememberSql } from '../idempotency.ts'
import { listStatement, statement } from '../ports.ts'
import { holderSql } from './account-statements.ts'

/** A session as its owner sees it, but for its secret. */
export interface SessionRow {
  /** UUID. */
  id: string
  name: string
  createdAt: Date
  lastUsedAt: Date | null
  expiresAt: Date | null
}

const standing = '(expires_at is null or expires_at > now())'

const columns = `id, name, created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt"`

/** $1 session, $2 its owner. */
export const readSession = statement<SessionRow>(
  'session_read',
  `select ${columns} from access_tokens where id = $1::uuid and user_id = $2::uuid and ${standing}`,
)

/** $1 user, $2 older than, $3 newer than, $4 limit, $5 offset. Identifiers are in the order of time. */
const readPage = (name: string, direction: 'asc' | 'desc') =>
  listStatement<SessionRow>(
    name,
    `select ${columns} from access_tokens
     where user_id = $1::uuid and ${standing}
       and id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
       and id > coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
     order by id ${direction} limit $4::int offset $5::int`,
  )
export const readSessions = readPage('session_page', 'desc')
export const readSessionsUp = readPage('session_page_up', 'asc')

export const countSessions = listStatement<{ count: number }>(
  'session_count',
  `select count(*)::int as count from access_tokens where user_id = $1::uuid and ${standing}`,
)

/** $1 session, $2 its owner, $3 its identifier as callers see it, $4 the address it came from. */
export const revokeSession = statement<{ id: string }>(
  'session_revoke',
  `with ${holderSql('$2')},
   ended as (
     delete from access_tokens t using holder where t.id = $1::uuid and t.user_id = holder.id and ${standing}
     returning t.id, t.user_id
   ),
   ${auditSql({ name: 'audited', from: 'ended', user: 'user_id', action: 'session.revoked', subject: '$3', address: '$4' })},
   ${rememberSql('$5', '$6', '$2::text', 'ended')}
   select id from ended`,
)

/** One entry in the trail for all of them. $1 user, $2 the session that stays, $3 the address it came from. */
export const revokeOtherSessions = statement<never>(
  'session_revoke_others',
  `with ${holderSql('$1')},
   ended as (
     delete from access_tokens t using holder where t.user_id = holder.id and t.id <> $2::uuid and ${standing}
     returning t.id
   ),
   counted as (select count(*) from ended),
   ${auditSql({ name: 'audited', from: 'counted where count > 0', user: '$1', action: 'session.revoked', address: '$3' })},
   ${rememberSql('$4', '$5', '$1::text', 'counted')}
   select 1`,
)

/**
 * So many at once of everybody's sessions and mailed links, and an entry in the trail of each account. Nothing is left when
 * `tokens` is 0.
 */
export const endSessions = statement<{ sessions: number; tokens: number }>(
  'session_end_all',
  `with doomed as materialized (
     select id from access_tokens limit 1000 for update
   ),
   ended as (delete from access_tokens t using doomed where t.id = doomed.id returning t.user_id),
   unlinked as (
     delete from one_time_tokens o using (
       select user_id, purpose from one_time_tokens limit 1000
     ) link where o.user_id = link.user_id and o.purpose = link.purpose returning 1
   ),
   owners as (select distinct user_id from ended),
   ${auditSql({ name: 'audited', from: 'owners', user: 'user_id', action: 'session.revoked' })}
   select (select count(*) from ended)::int as sessions,
     ((select count(*) from ended) + (select count(*) from unlinked))::int as tokens`,
)
