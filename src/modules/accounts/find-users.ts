import { z } from 'zod'
import type { Use } from '../../context.ts'
import type { Prisma, User } from '../../db/prisma/client.ts'
import { boolean, int, orNull, type RowOf, statement, text, textOf, timestamp, uuid } from '../../db/sql.ts'
import { DomainError, notFound } from '../../shared/errors.ts'
import { fromId } from '../../shared/ids.ts'
import { parse, requiredText } from '../../shared/input.ts'
import { countLimit } from '../../shared/lists.ts'
import { assertMay, assertUserMay } from '../../shared/policy.ts'
import { isEmailUsableSql, normalizeEmail } from './account-input.ts'

export const ACCOUNTS_PER_PAGE = 50

const foundColumns = {
  ...{ id: uuid, username: text, email: text, role: textOf<'USER' | 'ADMIN'>('role'), emailVerified: boolean },
  ...{ assetCount: int, createdAt: timestamp, lockedAt: orNull(timestamp), lockReason: orNull(text) },
}

/** SQL of the IDs of accounts. `max` limits the accounts whose username begins with the text. U+10FFFF sorts last. */
const foundSql = (max: string) => `
  select id from users where id = $user and deleted_at is null
  union select id from users where lower(email) = lower($text) and deleted_at is null
  union (
    select id from users where username_key ~>=~ username_key($text) and username_key ~<~ (username_key($text) || U&'\\+10ffff')
      and deleted_at is null
    order by username_key using ~<~ limit ${max})`

/** Finds accounts. Without an order, exact matches come first, and the others are sorted by username. */
const searchStatement = statement(
  'user_search',
  {
    parameters: { user: orNull(uuid), text, order: orNull(textOf<UserOrder>()), limit: int, offset: int },
    columns: foundColumns,
    isList: true,
  },
  `select u.id, u.username, u.email, u.role, u.email_verified as "emailVerified", u.asset_count as "assetCount",
     u.created_at as "createdAt", u.locked_at as "lockedAt",
     case when u.locked_at is not null then (
       select a.reason from audit_entries a
       where a.user_id = u.id and a.action = 'account.locked' order by a.id desc limit 1
     ) end as "lockReason"
   from users u
   where u.id in (${foundSql('case when $order is null then $limit + $offset end')})
   order by case $order when 'NEWEST' then u.created_at end desc, case $order when 'OLDEST' then u.created_at end,
     u.username_key = username_key($text) desc, u.username_key collate "C" limit $limit offset $offset`,
)

const countStatement = statement(
  'user_search_count',
  { parameters: { user: orNull(uuid), text, max: int }, columns: { count: int }, isList: true },
  `select least(count(*), $max)::int as count from (${foundSql('$max')}) found`,
)

/** Finds an account by UUID or else by name: an e-mail address if it contains an @, otherwise a username. */
export const findByName = statement(
  'user_by_name',
  { parameters: { user: orNull(uuid), name: text, mustBeVerified: boolean }, columns: { id: uuid } },
  `select id from users where deleted_at is null and (
     id = $user
     or ($user is null and $name like '%@%' and lower(email) = lower($name) and ${isEmailUsableSql('$mustBeVerified')})
     or ($user is null and $name not like '%@%' and username_key = username_key($name)))`,
)

export const accountSelector = z.strictObject({ userId: requiredText(254).transform(normalizeEmail) })
export const accountWithReason = accountSelector.extend({ reason: requiredText(500) })
export type AccountWithReason = z.input<typeof accountWithReason>

export const isDeletedError = (error: unknown): boolean =>
  error instanceof DomainError && error.code === 'AUTHENTICATION_FAILED'

/** Returns the UUID of an account by ID, e-mail address or username. Undefined if it does not exist or is deleted. */
export async function findAccount(
  { config, database }: Use<'database'> & { readonly config: Pick<Use<'config'>['config'], 'emailVerification'> },
  name: string,
): Promise<string | undefined> {
  const user = fromId(name, 'user')?.uuid ?? null
  const [found] = await database.query(findByName, { user, name, mustBeVerified: config.emailVerification !== 'off' })
  return found?.id
}

const searchInput = z.strictObject({ search: requiredText(254).transform(normalizeEmail) })

type Needs = Use<'actor' | 'database'>
type UserOrder = 'NEWEST' | 'OLDEST'
type SearchPage = { limit?: number | undefined; offset?: number | undefined; order?: UserOrder | undefined }

function parseSearch({ actor }: Needs, rawSearch: string) {
  assertMay(actor, 'store:administer')
  const { search } = parse(searchInput, { search: rawSearch })
  return { user: fromId(search, 'user')?.uuid ?? null, text: search }
}

/** Finds accounts by ID, e-mail address or prefix of the username. Throws PERMISSION_DENIED, VALIDATION_FAILED. */
export async function searchUsers(
  context: Needs,
  search: string,
  { limit = ACCOUNTS_PER_PAGE, offset = 0, order }: SearchPage = {},
): Promise<RowOf<typeof foundColumns>[]> {
  const parameters = { ...parseSearch(context, search), limit, offset, order: order ?? null }
  return context.database.query(searchStatement, parameters)
}

/** Counts accounts that match a search, up to the limit for a page at `offset`. Throws the errors of `searchUsers`. */
export async function countUsers(context: Needs, search: string, offset?: number | null): Promise<number> {
  const parameters = { ...parseSearch(context, search), max: countLimit(offset) }
  const [counted] = await context.database.query(countStatement, parameters)
  return counted!.count
}

/** Returns the accounts of `searchUsers` as records, in the same order. Throws the errors of `searchUsers`. */
export async function listUsers(context: Needs, search: string, page: SearchPage, query: UserQuery = {}) {
  const ids = (await searchUsers(context, search, page)).map(({ id }) => id)
  const users = await context.database.read.user.findMany({ ...query, where: { id: { in: ids }, deletedAt: null } })
  return users.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
}

/** Fields to load, as Prisma arguments. GraphQL builds them from the document. */
type UserQuery = Omit<Prisma.UserFindUniqueArgs, 'where'>

const hasAllFields = (row: object, select: object | null | undefined): boolean =>
  Object.entries(select ?? { everything: true }).every(([name, wanted]) => {
    const value = (row as Record<string, unknown>)[name]
    if (typeof wanted === 'boolean') return !wanted || value !== undefined
    const isObject = typeof value === 'object' && value !== null
    return isObject && Object.keys(wanted).length === 1 && hasAllFields(value, wanted.select)
  })

/** Returns the caller's record. Uses the fields that authentication read if they suffice. Throws NOT_AUTHENTICATED. */
export async function readMe({ actor, database }: Use<'actor' | 'database'>, query: UserQuery = {}): Promise<User> {
  assertUserMay(actor, 'account:read')
  return hasAllFields(actor.user, query.select)
    ? (actor.user as unknown as User)
    : database.read.user.findUniqueOrThrow({ ...query, where: { id: actor.id } })
}

/** Returns the record of a user by UUID, or null. The schema hides private fields. */
export const findUser = ({ database }: Use<'database'>, id: string, query: UserQuery = {}): Promise<User | null> =>
  database.read.user.findFirst({ ...query, where: { id, deletedAt: null } })

/** Returns a user. May return the caller as authentication read it, so do not use this after a change. */
export async function readUser(context: Use<'actor' | 'database'>, id: string, query: UserQuery = {}): Promise<User> {
  const { actor } = context
  if (actor.kind === 'user' && actor.id === id && !query.select?.wallet && hasAllFields(actor.user, query.select))
    return actor.user as unknown as User
  const user = await findUser(context, id, query)
  if (!user) throw notFound('User')
  return user
}
