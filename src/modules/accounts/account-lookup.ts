/** Whose account those mean who run the service, and why they touch it. */
import { z } from 'zod'
import type { Database } from '../../db/database-types.ts'
import { DomainError } from '../../shared/errors.ts'
import { fromId } from '../../shared/ids.ts'
import { requiredText } from '../../shared/input.ts'
import { findByName } from './account-locks.sql.ts'
import { normalizeEmail } from './email-address.ts'

/** Whose account, by identifier, e-mail address or username. */
export const whose = z.strictObject({ userId: requiredText(254).transform(normalizeEmail) })
/** The same, and why. */
export const withReason = whose.extend({ reason: requiredText(500) })
/** Both as a caller gives them. */
export type WithReason = z.input<typeof withReason>

interface Dependencies {
  database: Pick<Database, 'query'>
  /** Whether only verified addresses count. */
  verifiesAddresses: boolean
}

/** Whether a service refused something because the account is deleted. */
export const isDeleted = (error: unknown): boolean =>
  error instanceof DomainError && error.code === 'AUTHENTICATION_FAILED'

/** Finds accounts by what `withReason` takes. */
export function createFindAccount({ database, verifiesAddresses: mustBeVerified }: Dependencies) {
  /** The account's UUID; undefined where there is none, or none any more. */
  return async (who: string): Promise<string | undefined> => {
    const user = fromId(who, 'user')?.uuid ?? null
    const [found] = await database.query(findByName, { user, name: who, mustBeVerified })
    return found?.id
  }
}
