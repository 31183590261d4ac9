import type { Use } from '../../context.ts'
import { arrayOf, int, orNull, type RowOf, statement, text, timestamp, uuid } from '../../db/sql.ts'
import { authenticationFailed, notFound } from '../../shared/errors.ts'
import { type IdempotentContext, idempotencyParams, once, remembered, rememberSql } from '../../shared/idempotency.ts'
import { fromId, NIL_UUID, toId, uuidFrom } from '../../shared/ids.ts'
import { cursorUuid, type Search, searchPatterns } from '../../shared/lists.ts'
import { assertUserMay } from '../../shared/policy.ts'
import { auditSql } from '../audit/audit-sql.ts'

const columns = {
  id: uuid,
  name: text,
  createdAt: timestamp,
  lastUsedAt: orNull(timestamp),
  expiresAt: orNull(timestamp),
}
type SessionRow = RowOf<typeof columns>

const isLiveSql = '(expires_at is null or expires_at > now())'

const columnsSql = `id, name, created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt"`

/** SQL of a CTE that locks the user. Every statement locks the user before its tokens, so that statements cannot deadlock with a deletion. */
export const lockedUserSql = (user: string) =>
  `locked_user as materialized (select id from users where id = ${user} for key share)`

const readSession = statement(
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
const readSessions = readPage('session_page', 'desc')
const readSessionsBackwards = readPage('session_page_up', 'asc')

const countLive = statement(
  'session_count',
  { parameters: { user: uuid, patterns: arrayOf(text) }, columns: { count: int }, isList: true },
  `select count(*)::int as count from access_tokens where user_id = $user and ${isLiveSql} and name ilike all ($patterns)`,
)

/** Ends a session with an idempotency key. `subject` is its public ID. No row: there is no such session. */
const deleteSession = statement(
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
const deleteOtherSessions = statement(
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
const endSessions = statement(
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

export interface Session extends SessionRow {
  isCurrent: boolean
}

/** Part of a list of sessions. `after` and `before` are public IDs. */
export interface SessionPage {
  limit: number
  offset?: number
  search?: Search
  after?: string | undefined
  before?: string | undefined
  /** True to read from the end, oldest first. */
  inverted?: boolean
}

type Needs = Use<'actor' | 'database'>

/** Returns the caller's sessions that have not ended, newest first. Throws NOT_AUTHENTICATED, VALIDATION_FAILED. */
export async function listSessions(
  { actor, database }: Needs,
  { limit, offset = 0, search, after, before, inverted = false }: SessionPage,
): Promise<Session[]> {
  assertUserMay(actor, 'session:read')
  const bounds = { after: cursorUuid('after', after, 'session'), before: cursorUuid('before', before, 'session') }
  const page = { user: actor.id, patterns: searchPatterns(search), ...bounds, limit, offset }
  const rows = await database.query(inverted ? readSessionsBackwards : readSessions, page)
  return rows.map((row) => ({ ...row, isCurrent: row.id === actor.tokenId }))
}

export async function countSessions({ actor, database }: Needs, search?: Search): Promise<number> {
  assertUserMay(actor, 'session:read')
  const [counted] = await database.query(countLive, { user: actor.id, patterns: searchPatterns(search) })
  return counted!.count
}

/** Returns a session of the caller by its public ID, or null if there is none that has not ended. */
export async function findSession({ actor, database }: Needs, id: string): Promise<Session | null> {
  const uuid = fromId(id, 'session')?.uuid
  if (actor.kind !== 'user' || uuid === undefined) return null
  const [row] = await database.query(readSession, { session: uuid, user: actor.id })
  return row ? { ...row, isCurrent: row.id === actor.tokenId } : null
}

/** Ends a session of the caller by its public ID. It may be the session of the request. Throws NOT_AUTHENTICATED, NOT_FOUND. */
export async function revokeSession(context: IdempotentContext, { id }: { id: string }): Promise<void> {
  const { actor, database } = context
  assertUserMay(actor, 'session:end')
  const uuid = uuidFrom(id, 'session', 'Session')
  await once(context, 'revokeSession', { uuid }, async () => {
    const session = { session: uuid, subject: toId('session', uuid) }
    const parameters = { user: actor.id, ...session, address: actor.address, ...idempotencyParams(context) }
    const [ended] = await database.query(deleteSession, parameters)
    if (!ended) throw notFound('Session')
    return actor.id
  })
}

/** Ends all other sessions of the caller, including those of the pages for administrators. Returns the current session. */
export async function revokeOtherSessions(context: IdempotentContext): Promise<Session> {
  const { actor, database } = context
  assertUserMay(actor, 'session:end')
  const { id: user, tokenId: session, address } = actor
  // The session is part of the input, because from another session the request would end others.
  await once(context, 'revokeOtherSessions', { session }, async () => {
    await database.query(deleteOtherSessions, { user, session, address, ...idempotencyParams(context) })
    return actor.id
  })
  const current = await findSession(context, toId('session', session))
  if (!current) throw authenticationFailed()
  return current
}

/** Ends the sessions and mailed links of all accounts, after a restore from a backup. Returns the number of ended sessions. */
export async function endAllSessions({ database }: Use<'database'>): Promise<number> {
  let ended = 0
  for (;;) {
    const [batch] = await database.query(endSessions)
    ended += batch!.sessions
    if (batch!.tokens === 0) return ended
  }
}
