import type { Use } from '../../context.ts'
import type { Prisma, User } from '../../db/prisma/client.ts'
import { notFound } from '../../shared/errors.ts'
import { assertUserMay } from '../../shared/policy.ts'

/** Fields to load, as Prisma arguments. GraphQL builds them from the document. */
export type UserQuery = Omit<Prisma.UserFindUniqueArgs, 'where'>

const hasAllFields = (row: object, select: object | null | undefined): boolean =>
  Object.entries(select ?? { everything: true }).every(([name, wanted]) => {
    const value = (row as Record<string, unknown>)[name]
    if (wanted === true) return value !== undefined
    return (
      wanted === false ||
      (typeof value === 'object' &&
        value !== null &&
        Object.keys(wanted).length === 1 &&
        hasAllFields(value, wanted.select))
    )
  })

/** Returns the caller's own record. Authentication has already read what most callers ask for. Throws NOT_AUTHENTICATED. */
export async function readMe({ actor, database }: Use<'actor' | 'database'>, query: UserQuery = {}): Promise<User> {
  assertUserMay(actor, 'account:read')
  return hasAllFields(actor.user, query.select)
    ? (actor.user as unknown as User)
    : database.read.user.findUniqueOrThrow({ ...query, where: { id: actor.id } })
}

/** Returns the record of a user by UUID, or null. The schema hides private fields. */
export const findUser = ({ database }: Use<'database'>, id: string, query: UserQuery = {}): Promise<User | null> =>
  database.read.user.findFirst({ ...query, where: { id, deletedAt: null } })

/**
 * Returns the record of a user by UUID. Uses the record that authentication read if that is enough. The wallet is always read, because the request may have
 * changed its balances. Do not use this after a change of the account.
 */
export async function readUser(context: Use<'actor' | 'database'>, id: string, query: UserQuery = {}): Promise<User> {
  const { actor } = context
  if (actor.kind === 'user' && actor.id === id && !query.select?.wallet && hasAllFields(actor.user, query.select))
    return actor.user as unknown as User
  const user = await findUser(context, id, query)
  if (!user) throw notFound('User')
  return user
}

/** Returns the record of a user by UUID as it is stored now, also of a deleted account. Throws NOT_FOUND. */
export async function readStoredUser({ database }: Use<'database'>, id: string, query?: UserQuery): Promise<User> {
  const user = await database.read.user.findFirst({ ...query, where: { id } })
  if (!user) throw notFound('User')
  return user
}
