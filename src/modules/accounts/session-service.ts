/** The sessions of an account: its access tokens, without their secrets. Contract: `/api/v3/auth/sessions`. */

import type { Database } from '../../db/database-types.ts'
import type { Actor } from '../../shared/actor.ts'
import { authenticationFailed, notFound } from '../../shared/errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext } from '../../shared/idempotency.ts'
import { fromId, toId, uuidFrom } from '../../shared/ids.ts'
import { cursorUuid, type Search, searchPatterns } from '../../shared/lists.ts'
import { assertUserMay } from '../../shared/policy.ts'
import {
  countSessions,
  endSessions,
  readSession,
  readSessions,
  readSessionsUp,
  revokeOtherSessions,
  revokeSession,
  type SessionRow,
} from './sessions.sql.ts'
import type { TokenUse } from './token-use.ts'

/** A session as its owner sees it. */
export interface Session extends SessionRow {
  /** Whether the request came with it. */
  isCurrent: boolean
}

/** Which part of a list of sessions is wanted: by position, or by identifiers before or after it. */
export interface SessionPage {
  limit: number
  offset?: number
  search?: Search
  /** Identifiers (`session_…`). */
  after?: string | undefined
  before?: string | undefined
  /** From the end: oldest first. */
  inverted?: boolean
}

interface Dependencies {
  database: Database
  idempotency: Idempotency
  tokenUse: TokenUse
}

/** The sessions of an account, for its owner, and for an operator who ends everybody's. */
export function createSessionService({ database, idempotency, tokenUse }: Dependencies) {
  /** The actor's session with this identifier (`session_…`), or null when they have none that has not ended. */
  async function find(actor: Actor, id: string): Promise<Session | null> {
    const uuid = fromId(id, 'session')?.uuid
    if (actor.kind !== 'user' || uuid === undefined) return null
    const [row] = await database.query(readSession, { session: uuid, user: actor.id })
    return row ? { ...row, isCurrent: row.id === actor.tokenId } : null
  }

  return {
    /** The actor's sessions that have not ended, newest first. Raises NOT_AUTHENTICATED, VALIDATION_FAILED. */
    async list(
      actor: Actor,
      { limit, offset = 0, search, after, before, inverted = false }: SessionPage,
    ): Promise<Session[]> {
      assertUserMay(actor, 'session:read')
      const bounds = { after: cursorUuid('after', after, 'session'), before: cursorUuid('before', before, 'session') }
      const page = { user: actor.id, patterns: searchPatterns(search), ...bounds, limit, offset }
      const rows = await database.query(inverted ? readSessionsUp : readSessions, page)
      return rows.map((row) => ({ ...row, isCurrent: row.id === actor.tokenId }))
    },

    find,

    /** How many there are in all. Raises NOT_AUTHENTICATED. */
    async count(actor: Actor, search?: Search): Promise<number> {
      assertUserMay(actor, 'session:read')
      const [counted] = await database.query(countSessions, { user: actor.id, patterns: searchPatterns(search) })
      return counted!.count
    },

    /**
     * Ends one of the actor's sessions by its identifier (`session_…`), also the one they came with.
     * Raises NOT_AUTHENTICATED, NOT_FOUND.
     */
    async revoke(actor: Actor, id: string, context: IdempotencyContext): Promise<void> {
      assertUserMay(actor, 'session:end')
      const uuid = uuidFrom(id, 'session', 'Session')
      await idempotency.once(actor, context, 'revokeSession', { uuid }, async () => {
        const session = { session: uuid, subject: toId('session', uuid) }
        const parameters = { user: actor.id, ...session, address: actor.address, ...fingerprintOf(context) }
        const [ended] = await database.query(revokeSession, parameters)
        if (!ended) throw notFound('Session')
        return actor.id
      })
    },

    /**
     * Ends all of the actor's sessions but the one they came with, which is returned; those at the pages for administrators,
     * too. Raises NOT_AUTHENTICATED, and IDEMPOTENCY_KEY_REUSED for a key that was used from another session.
     */
    async revokeOthers(actor: Actor, context: IdempotencyContext): Promise<Session> {
      assertUserMay(actor, 'session:end')
      const { id: user, tokenId: session, address } = actor
      // From another session it is another request: which stays, and which end, is not the same.
      await idempotency.once(actor, context, 'revokeOtherSessions', { session }, async () => {
        await database.query(revokeOtherSessions, { user, session, address, ...fingerprintOf(context) })
        return actor.id
      })
      const current = await find(actor, toId('session', session))
      if (!current) throw authenticationFailed()
      return current
    },

    /**
     * Ends everybody's sessions and mailed links: a database that came back from a backup has those again that had ended
     * since. Returns how many sessions.
     */
    async endAll(): Promise<number> {
      let ended = 0
      for (;;) {
        const [batch] = await database.query(endSessions)
        ended += batch!.sessions
        if (batch!.tokens === 0) return ended
      }
    },

    /** Writes down which sessions were used since the last time. */
    recordUse: () => tokenUse.record(),
  }
}
