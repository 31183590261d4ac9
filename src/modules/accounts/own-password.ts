import type { Database } from '../../db/database-types.ts'
import type { UserActor } from '../../shared/actor.ts'
import { validationFailed } from '../../shared/errors.ts'
import type { RateLimiter } from '../../shared/rate-limiter.ts'
import type { PasswordCheck } from './password-check.ts'
import { findOwnCredentials } from './passwords.sql.ts'

/** The refusal of a wrong present password, as VALIDATION_FAILED of its field. */
export const wrongPassword = () => validationFailed({ currentPassword: ['Invalid password.'] })

interface Dependencies {
  database: Pick<Database, 'query'>
  rateLimiter: RateLimiter
  passwordCheck: PasswordCheck
}

/** Asks who is signed in for their password; what `createOwnPassword` makes. */
export type OwnPassword = ReturnType<typeof createOwnPassword>

/** For changes that a session alone does not allow: whoever finds an open one must not take the account over. */
export function createOwnPassword({ database, rateLimiter, passwordCheck }: Dependencies) {
  return {
    /**
     * The stored hash, if this is the actor's password: a statement that relies on it holds only while it stands.
     * Raises VALIDATION_FAILED of `currentPassword`, THROTTLED, UNAVAILABLE.
     */
    async verify({ id }: UserActor, password: string): Promise<string> {
      const [account] = await database.query(findOwnCredentials, { user: id })
      if (!account) throw wrongPassword()
      await rateLimiter.assertAvailable('own-password', id)
      const { password_hash: passwordHash } = account
      const guess = { account: { user: id, passwordHash }, password, isSignedIn: true }
      if (!(await passwordCheck.check(guess))) throw wrongPassword()
      // Wrong passwords count as guesses, so a stolen session cannot use up this limit.
      await rateLimiter.consume('own-password', id)
      return passwordHash
    },
  }
}
