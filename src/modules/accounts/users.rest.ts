import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { defineRoute, get, post, type RestRequest } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { orderingFrom } from '../../http/rest/pagination.ts'
import { moment, neededText, objectOf, same, sameFields, snakeCased, userParam } from '../../http/rest/values.ts'

export const AdministeredUser = graphql(/* GraphQL */ `
  fragment AdministeredUser on User {
    id username displayName createdAt lockedAt
  }
`)

const userRecord = objectOf('AdministeredUser', 'An account as administrators deal with it.', {
  ...sameFields('User', { id: z.string(), username: z.string(), display_name: z.string(), created_at: moment }),
  ...sameFields('User', { locked_at: moment.nullable() }),
})

function orderFrom(query: URLSearchParams) {
  const order = orderingFrom(query)?.order
  return order && ({ newest: 'NEWEST', oldest: 'OLDEST' } as const)[order]
}

const search = defineList({
  ...get('store/users', 'findUsers', 'Store', 'Find accounts'),
  description:
    'Accounts with exactly this identifier, e-mail address or username come first. Then follow usernames that begin with it, in alphabetical order; `ordering` sorts all of them.',
  filters: { search: same('Query.users.search', z.string().max(254)) },
  action: 'store:administer',
  record: userRecord,
  plural: 'AdministeredUsers',
  order: 'newest',
  hasBoundedCount: true,
  operation: graphql(/* GraphQL */ `
    query RestUsers($search: String!, $limit: Int!, $offset: Int!, $order: UserOrder) {
      users(search: $search, limit: $limit, offset: $offset, order: $order) { ...AdministeredUser }
      userCount(search: $search, offset: $offset)
    }
  `),
  variables: (request, { first, last, after, before, offset = 0 }) => ({
    search: request.query.get('search') ?? '',
    limit: first ?? last!,
    offset: Number(after ?? before ?? offset),
    order: orderFrom(request.query),
  }),
  connectionOf: ({ users, userCount }, { last, after, before, offset = 0 }) => {
    const end = String(Number(after ?? before ?? offset) + users.length)
    return {
      totalCount: userCount,
      pageInfo: { startCursor: end, endCursor: end },
      nodes: last === undefined ? users : users.toReversed(),
    }
  },
  present: snakeCased,
})

const lockRoute = {
  params: userParam,
  action: 'store:administer',
  variables: ({ params, body }: RestRequest) => ({ input: { userId: params.id!, reason: body.text('reason') ?? '' } }),
  answer: userRecord,
} as const

const lock = defineRoute({
  ...post('store/users/:id/lock', 'lockUser', 'Store', 'Lock an account'),
  ...lockRoute,
  description:
    'The owner cannot sign in. All sessions, streams and mailed links end immediately. Paid orders are still delivered.',
  body: objectOf('LockUser', 'The reason for locking the account.', {
    reason: same('LockUserInput.reason', neededText(500)),
  }),
  operation: graphql(/* GraphQL */ `
    mutation RestLockUser($input: LockUserInput!) { lockUser(input: $input) { user { ...AdministeredUser } } }
  `),
  present: ({ lockUser }) => snakeCased(lockUser.user),
})

const unlock = defineRoute({
  ...post('store/users/:id/unlock', 'unlockUser', 'Store', 'Unlock an account'),
  ...lockRoute,
  description: 'Its owner may sign in again.',
  body: objectOf('UnlockUser', 'The reason for unlocking the account.', {
    reason: same('UnlockUserInput.reason', neededText(500)),
  }),
  operation: graphql(/* GraphQL */ `
    mutation RestUnlockUser($input: UnlockUserInput!) {
      unlockUser(input: $input) { user { ...AdministeredUser } }
    }
  `),
  present: ({ unlockUser }) => snakeCased(unlockUser.user),
})

export const userRoutes = [search, lock, unlock]
