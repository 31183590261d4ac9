import type { UserActor } from '../actor.ts'
import { validationFailed } from '../errors.ts'
import type { Limit, Limits } from '../limits.ts'
import type { Database } from '../ports/database.ts'
import type { PasswordCheck } from './password-check.ts'
import { findOwnCredentials } from './password-statements.ts'

/** The refusal of a wrong present password, as VALIDATION_FAILED of its field. */
export const wrongPassword = () => validationFailed({ currentPassword: ['Invalid password.'] })

/** Each takes 64 MiB and a core from everybody who signs in. Wrong ones are counted as guesses, so a found session uses none of these up. */
const proofs: Limit = { name: 'own-password', count: 100, seconds: 3600 }

interface Dependencies {
  database: Pick<Database, 'query'>
  limits: Limits
  passwordCheck: PasswordCheck
}

/** Asks who is signed in for their password; what `createOwnPassword` makes. */
export type OwnPassword = ReturnType<typeof createOwnPassword>

/** For changes that a session alone does not allow: whoever finds an open one must not take the account over. */
export function createOwnPassword({ database, limits, passwordCheck }: Dependencies) {
  return {
    /**
     * The stored hash, if this is the actor's password: a statement that relies on it holds only while it stands.
     * Raises VALIDATION_FAILED of `currentPassword`, THROTTLED, UNAVAILABLE.
     */
    async verify({ id }: UserActor, password: string): Promise<string> {
      const [account] = await database.query(findOwnCredentials, { user: id })
      if (!account) throw wrongPassword()
      await limits.assertOpen(proofs, id)
      const { password_hash: passwordHash } = account
      const guess = { account: { user: id, passwordHash }, password, isSignedIn: true }
      if (!(await passwordCheck.check(guess))) throw wrongPassword()
      await limits.take(proofs, id)
      return passwordHash
    },
  }
}
