/** Finding accounts and locking them, for administrators. Contract: `users`, `lockUser`, `unlockUser`, `/api/v3/store/users/`. */
import { z } from 'zod'
import type { Database } from '../../db/database-types.ts'
import type { User } from '../../db/prisma/client.ts'
import type { Actor } from '../../shared/actor.ts'
import { notFound, validationFailed } from '../../shared/errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext } from '../../shared/idempotency.ts'
import { fromId, toId } from '../../shared/ids.ts'
import { parse, requiredText } from '../../shared/input.ts'
import { countLimit } from '../../shared/lists.ts'
import { assertMay } from '../../shared/policy.ts'
import { auditorOf } from '../audit/audit-sql.ts'
import { countUsers, type FoundUser, lockUser, searchUsers, type UserOrder, unlockUser } from './account-locks.sql.ts'
import { createFindAccount, type WithReason, withReason } from './account-lookup.ts'
import type { UserQuery } from './account-service.ts'
import { normalizeEmail } from './email-address.ts'

/** Number of accounts that a search returns when the caller sets no limit. */
export const ACCOUNTS_PER_PAGE = 50

const searchInput = z.strictObject({ search: requiredText(254).transform(normalizeEmail) })
/** A lock or its end as a caller gives it. */
export type LockInput = WithReason

/** The part of a search result that is read. */
export interface SearchPage {
  limit?: number | undefined
  offset?: number | undefined
  /** Exact matches first, then by username, when left out. */
  order?: UserOrder | undefined
}

interface Dependencies {
  database: Database
  idempotency: Idempotency
  /** Whether only verified addresses count. */
  verifiesAddresses: boolean
}

/** Accounts as those who run the service deal with them. What is accepted and paid for goes on, whoever is locked. */
export function createLockService({ database, idempotency, verifiesAddresses }: Dependencies) {
  const findAccount = createFindAccount({ database, verifiesAddresses })

  async function change(
    actor: Actor,
    operation: 'lockUser' | 'unlockUser',
    rawInput: LockInput,
    context: IdempotencyContext,
  ): Promise<string> {
    assertMay(actor, 'store:administer')
    const input = parse(withReason, rawInput)
    return idempotency.once(actor, context, operation, input, async () => {
      const user = await findAccount(input.userId)
      if (user === undefined) throw notFound('User')
      if (actor.kind === 'user' && actor.id === user) {
        throw validationFailed({ userId: ['This is your own account.'] })
      }
      const facts = { user, subject: toId('user', user), reason: input.reason }
      const statement = operation === 'lockUser' ? lockUser : unlockUser
      const [changed] = await database.query(statement, { ...facts, ...auditorOf(actor), ...fingerprintOf(context) })
      if (!changed) throw notFound('User')
      return changed.id
    })
  }

  /** Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED. */
  function wantedBy(actor: Actor, rawSearch: string) {
    assertMay(actor, 'store:administer')
    const { search: text } = parse(searchInput, { search: rawSearch })
    return { user: fromId(text, 'user')?.uuid ?? null, text }
  }

  async function search(
    actor: Actor,
    wanted: string,
    { limit = ACCOUNTS_PER_PAGE, offset = 0, order }: SearchPage = {},
  ): Promise<FoundUser[]> {
    return database.query(searchUsers, { ...wantedBy(actor, wanted), limit, offset, order: order ?? null })
  }

  return {
    /**
     * Accounts by identifier, e-mail address or the beginning of a username, with the facts that operators need. Raises NOT_AUTHENTICATED,
     * PERMISSION_DENIED, VALIDATION_FAILED.
     */
    search,

    /** Number of accounts that match a search, counted no further than a page behind `offset` needs. Raises what `search` raises. */
    async count(actor: Actor, wanted: string, offset?: number | null): Promise<number> {
      const [counted] = await database.query(countUsers, { ...wantedBy(actor, wanted), most: countLimit(offset) })
      return counted!.count
    },

    /** The same accounts as records, in the same order. Raises what `search` raises. */
    async list(actor: Actor, wanted: string, page: SearchPage, query: UserQuery = {}): Promise<User[]> {
      const ids = (await search(actor, wanted, page)).map(({ id }) => id)
      const users = await database.read.user.findMany({ ...query, where: { id: { in: ids }, deletedAt: null } })
      return users.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
    },

    /**
     * Locks an account: its owner is not let in, and their sessions and mailed links end now. One that is locked stays locked, for the
     * reason it had. Returns the user's UUID. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND.
     */
    lock: (actor: Actor, input: LockInput, context: IdempotencyContext) => change(actor, 'lockUser', input, context),

    /** Lets the owner in again, by a new sign-in. Returns and raises as `lock`. */
    unlock: (actor: Actor, input: LockInput, context: IdempotencyContext) =>
      change(actor, 'unlockUser', input, context),
  }
}
