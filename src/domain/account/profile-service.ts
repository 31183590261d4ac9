/** What a person tells of themselves, and their settings. Contract: `PATCH /api/v3/auth/users/me`, `…/profile`. */
import { type Actor, assertUser } from '../actor.ts'
import { authenticationFailed } from '../errors.ts'
import { type Attempt, type Idempotency, markValues } from '../idempotency.ts'
import { parse } from '../input.ts'
import { assertMay } from '../policy.ts'
import type { Database } from '../ports.ts'
import { type ProfileInput, profileInput } from './profile-input.ts'
import { changeProfile } from './profile-statements.ts'

interface Dependencies {
  database: Database
  idempotency: Idempotency
}

export type ProfileService = ReturnType<typeof createProfileService>

export function createProfileService({ database, idempotency }: Dependencies) {
  return {
    /** Changes what is given of the actor's own record; returns their UUID. Raises NOT_AUTHENTICATED, VALIDATION_FAILED. */
    async update(actor: Actor, rawInput: ProfileInput, attempt: Attempt): Promise<string> {
      assertMay(actor, 'account:update')
      assertUser(actor)
      const input = parse(profileInput, rawInput)
      const { displayName, description, language, defaultTag, allowC2paDownload } = input
      return idempotency.once(actor, attempt, 'updateProfile', input, async () => {
        const facts = [displayName, description, language, defaultTag, allowC2paDownload].map((fact) => fact ?? null)
        if (facts.every((fact) => fact === null)) {
          await idempotency.remember(attempt, actor.id)
          return actor.id
        }
        const [changed] = await database.query(changeProfile, [
          ...[actor.id, ...facts, actor.address],
          ...markValues(attempt),
        ])
        // The account was deleted since the request came in.
        if (!changed) throw authenticationFailed()
        return changed.id
      })
    },
  }
}
