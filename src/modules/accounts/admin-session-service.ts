/**
 * Sessions of the pages for administrators. They are nobody's access tokens: what opens one opens nothing else, and no access
 * token opens the pages. They end by themselves soon, and with the password they began with.
 */
import { randomBytes } from 'node:crypto'
import type { Database } from '../../db/database-types.ts'
import { type Actor, assertUser, type UserActor } from '../../shared/actor.ts'
import { parse } from '../../shared/input.ts'
import { networkOf, type RateLimiter, type RequestQuota } from '../../shared/rate-limiter.ts'
import { sha256 } from '../../shared/secrets.ts'
import { signInInput } from './account-input.ts'
import { incorrectLogin } from './account-refusals.ts'
import { deleteAdminSession, insertAdminSession, useAdminSession } from './admin-sessions.sql.ts'
import { createCredentialsLookup, guessedAt } from './credentials-lookup.ts'
import type { OwnPassword } from './own-password.ts'
import type { PasswordCheck } from './password-check.ts'

interface Dependencies {
  database: Pick<Database, 'query'>
  rateLimiter: RateLimiter
  requestQuota: RequestQuota
  passwordCheck: PasswordCheck
  ownPassword: OwnPassword
}

const SECRET_BYTES = 32

type Administrator = { tokenId: string } & Omit<UserActor['user'], 'createdAt'> & { createdAt: string }

function userOf({ tokenId, ...user }: Administrator, origin: { address: string; service: undefined }) {
  const record = { ...user, createdAt: new Date(user.createdAt) }
  return { kind: 'user' as const, id: user.id, role: user.role, user: record, tokenId, ...origin }
}

/** Sessions of administrators at their pages. */
export function createAdminSessionService({
  database,
  rateLimiter,
  requestQuota,
  passwordCheck,
  ownPassword,
}: Dependencies) {
  const findCredentials = createCredentialsLookup(database)

  return {
    /**
     * Begins a session for an administrator's e-mail and password, under the limits of any sign-in; returns its secret, the only time it
     * is seen. Who is no administrator, or locked, is told what a wrong password is told. `address`: where the request came from.
     * Raises VALIDATION_FAILED, INCORRECT_LOGIN_CREDENTIALS, THROTTLED, UNAVAILABLE.
     */
    async signIn(address: string, rawInput: { email: string; password: string }): Promise<string> {
      const { email, password } = parse(signInInput, rawInput)
      await rateLimiter.consume('sign-in', networkOf(address))
      const found = await findCredentials(email)
      const guess = { account: guessedAt(found, email), password, isSignedIn: false }
      if (!(await passwordCheck.check(guess)) || !found) throw incorrectLogin()
      const secret = randomBytes(SECRET_BYTES).toString('base64url')
      const facts = { user: found.id, verifiedHash: found.password_hash, hash: sha256(secret), address }
      const [session] = await database.query(insertAdminSession, facts)
      if (!session) throw incorrectLogin()
      return secret
    },

    /** The administrator whose session this secret opens; anonymous when it opens none, or none any more. Raises THROTTLED. */
    async authenticate(secret: string | undefined, address: string): Promise<Exclude<Actor, { kind: 'system' }>> {
      const origin = { address, service: undefined }
      const [found] = secret === undefined ? [] : await database.query(useAdminSession, { hash: sha256(secret) })
      const actor = found ? userOf(found.signed_in, origin) : { kind: 'anonymous' as const, ...origin }
      await requestQuota.consume(actor, 1)
      return actor
    },

    /**
     * Asks for the password once more, before something that a session somebody left open must not be enough for.
     * Raises NOT_AUTHENTICATED, VALIDATION_FAILED of `currentPassword`, THROTTLED, UNAVAILABLE.
     */
    async confirm(actor: Actor, password: string): Promise<void> {
      assertUser(actor)
      await ownPassword.verify(actor, password)
    },

    /** Ends the session the actor came with. Raises NOT_AUTHENTICATED. */
    async signOut(actor: Actor): Promise<void> {
      assertUser(actor)
      await database.query(deleteAdminSession, { session: actor.tokenId, address: actor.address })
    },
  }
}
