/** Sessions of an account: its access tokens without their secrets. */
import type { Use } from '../../context.ts'
import { authenticationFailed, notFound } from '../../shared/errors.ts'
import { type IdempotentContext, idempotencyParams, once } from '../../shared/idempotency.ts'
import { fromId, toId, uuidFrom } from '../../shared/ids.ts'
import { cursorUuid, type Search, searchPatterns } from '../../shared/lists.ts'
import { assertUserMay } from '../../shared/policy.ts'
import {
  countSessions as countSessionsSql,
  endSessions,
  readSession,
  readSessions,
  readSessionsBackwards,
  revokeOtherSessions as revokeOtherSessionsSql,
  revokeSession as revokeSessionSql,
  type SessionRow,
} from './sessions.sql.ts'

/** A session of the caller. */
export interface Session extends SessionRow {
  /** True for the session of the request. */
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

/** Counts the caller's sessions that match a search. Throws NOT_AUTHENTICATED. */
export async function countSessions({ actor, database }: Needs, search?: Search): Promise<number> {
  assertUserMay(actor, 'session:read')
  const [counted] = await database.query(countSessionsSql, { user: actor.id, patterns: searchPatterns(search) })
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
    const [ended] = await database.query(revokeSessionSql, parameters)
    if (!ended) throw notFound('Session')
    return actor.id
  })
}

/**
 * Ends all other sessions of the caller, including those of the pages for administrators. Returns the current session. Throws NOT_AUTHENTICATED, and
 * IDEMPOTENCY_KEY_REUSED for a key from another session.
 */
export async function revokeOtherSessions(context: IdempotentContext): Promise<Session> {
  const { actor, database } = context
  assertUserMay(actor, 'session:end')
  const { id: user, tokenId: session, address } = actor
  // The session is part of the input, because from another session the request would end others.
  await once(context, 'revokeOtherSessions', { session }, async () => {
    await database.query(revokeOtherSessionsSql, { user, session, address, ...idempotencyParams(context) })
    return actor.id
  })
  const current = await findSession(context, toId('session', session))
  if (!current) throw authenticationFailed()
  return current
}

/**
 * Ends the sessions and mailed links of all accounts, after a database was restored from a backup with sessions that had ended. Returns the number of ended
 * sessions.
 */
export async function endAllSessions({ database }: Use<'database'>): Promise<number> {
  let ended = 0
  for (;;) {
    const [batch] = await database.query(endSessions)
    ended += batch!.sessions
    if (batch!.tokens === 0) return ended
  }
}
