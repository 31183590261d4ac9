/** Passwords: reset by mail, and changed by who knows the present one. Contract: `/api/v3/auth/users/…password…`. */
import { z } from 'zod'
import { type Database, violatedConstraint } from '../../db/database-types.ts'
import type { PasswordHasher } from '../../keys/key-types.ts'
import type { Actor } from '../../shared/actor.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext } from '../../shared/idempotency.ts'
import { parse, text } from '../../shared/input.ts'
import { assertMay, assertUserMay } from '../../shared/policy.ts'
import type { RateLimiter } from '../../shared/rate-limiter.ts'
import { auditorOf } from '../audit/audit-sql.ts'
import { email, password, presentPassword } from './account-input.ts'
import type { MailRequests } from './mail-requests.ts'
import { invalidToken, type OneTimeTokens, type PresentedToken, tokenKey } from './one-time-token.ts'
import { type OwnPassword, wrongPassword } from './own-password.ts'
import { changePassword, holdCredentials, resetPassword } from './passwords.sql.ts'

interface Dependencies {
  database: Database
  passwords: PasswordHasher
  ownPassword: OwnPassword
  tokens: OneTimeTokens
  mailRequests: MailRequests
  rateLimiter: RateLimiter
  idempotency: Idempotency
}

const requestInput = z.strictObject({ email })
const resetInput = z.strictObject({ uid: text(64), token: text(256), newPassword: password })
const changeInput = z.strictObject({ currentPassword: presentPassword, newPassword: password })

/** Passwords: a reset by a mailed link, and a change by who knows the present one. Both end sessions. */
export function createPasswordService(deps: Dependencies) {
  const { database, passwords, ownPassword, tokens, mailRequests, rateLimiter, idempotency } = deps

  return {
    /** Asked before a request for a link is read. Raises THROTTLED. */
    admitResetRequest: (actor: Actor) => mailRequests.admit(actor, 'password-reset'),

    /**
     * Has a link mailed by which a new password can be set. Known and unknown addresses cannot be told apart, for nothing
     * is looked up here. Raises VALIDATION_FAILED, THROTTLED.
     */
    async requestReset(
      actor: Actor,
      rawInput: z.input<typeof requestInput>,
      context: IdempotencyContext,
    ): Promise<void> {
      assertMay(actor, 'password:reset')
      const { email } = parse(requestInput, rawInput)
      await mailRequests.request(actor, 'password-reset', email, context)
    },

    /** Where a link was sent that could be used now. */
    async addressOf(presented: PresentedToken): Promise<string | undefined> {
      const key = tokenKey(presented)
      return key && (await tokens.find('PASSWORD_RESET', key))?.email
    },

    /**
     * Sets a new password by a mailed token, which is used up, and ends every session; returns the user's UUID.
     * Raises VALIDATION_FAILED, INVALID_TOKEN, UNAVAILABLE.
     */
    async reset(actor: Actor, rawInput: z.input<typeof resetInput>, context: IdempotencyContext): Promise<string> {
      assertMay(actor, 'password:reset')
      const input = parse(resetInput, rawInput)
      const key = tokenKey(input)
      if (!key) throw invalidToken()
      return idempotency.once(actor, context, 'resetPassword', input, async () => {
        // Hashing takes 64 MiB for a while: not for everybody who sends something.
        if (!(await tokens.find('PASSWORD_RESET', key))) throw invalidToken()
        const { userId: user, hash } = key
        const passwordHash = await passwords.hash(input.newPassword)
        const { address } = auditorOf(actor)
        const work = async (query: Database['query']) => {
          await query(holdCredentials, { user })
          return query(resetPassword, { user, hash, passwordHash, address, ...fingerprintOf(context) })
        }
        const [changed] = await database.transaction(work).catch((error: unknown) => {
          // The address has become somebody else's, and the link was for the address.
          throw violatedConstraint(error) === 'users_email_key' ? invalidToken() : error
        })
        if (!changed) throw invalidToken()
        return changed.id
      })
    },

    /**
     * Sets a new password and ends every other session; returns the user's UUID. A wrong present one is told as a field's
     * problem. Raises NOT_AUTHENTICATED, VALIDATION_FAILED, THROTTLED, UNAVAILABLE.
     */
    async change(actor: Actor, rawInput: z.input<typeof changeInput>, context: IdempotencyContext): Promise<string> {
      assertUserMay(actor, 'account:update')
      const input = parse(changeInput, rawInput)
      return idempotency.once(actor, context, 'changePassword', input, async () => {
        const verifiedHash = await ownPassword.verify(actor, input.currentPassword)
        await rateLimiter.consume('password-change', actor.id)
        const passwordHash = await passwords.hash(input.newPassword)
        const { id: user, tokenId: session, address } = actor
        const [changed] = await database.transaction(async (query) => {
          await query(holdCredentials, { user })
          const hashes = { verifiedHash, passwordHash }
          return query(changePassword, { user, ...hashes, session, address, ...fingerprintOf(context) })
        })
        if (!changed) throw wrongPassword()
        return changed.id
      })
    },
  }
}
