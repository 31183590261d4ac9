import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { defineRoute, endpoint, type RestRequest } from '../../http/rest/define-route.ts'
import type { AdministeredUserFragment } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { orderingFrom } from '../../http/rest/pagination.ts'
import { moment, neededText, same, userParam } from '../../http/rest/values.ts'

export const AdministeredUser = graphql(/* GraphQL */ `
  fragment AdministeredUser on User {
    id username displayName createdAt lockedAt
  }
`)

const userRecord = z
  .object({
    id: same('User.id', z.string()),
    username: same('User.username', z.string()),
    display_name: same('User.displayName', z.string()),
    created_at: same('User.createdAt', moment),
    locked_at: same('User.lockedAt', moment.nullable()),
  })
  .meta({ id: 'AdministeredUser', description: 'An account as administrators deal with it.' })

function orderFrom(query: URLSearchParams) {
  const order = orderingFrom(query)?.order
  return order && ({ newest: 'NEWEST', oldest: 'OLDEST' } as const)[order]
}

const presentUser = (user: AdministeredUserFragment): z.output<typeof userRecord> => ({
  ...{ id: user.id, username: user.username, display_name: user.displayName },
  ...{ created_at: user.createdAt, locked_at: user.lockedAt },
})

const search = defineList({
  path: 'store/users',
  operationId: 'findUsers',
  tag: 'Store',
  summary: 'Find accounts',
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
  present: presentUser,
})

const lockRoute = {
  params: userParam,
  action: 'store:administer',
  variables: ({ params, body }: RestRequest) => ({ input: { userId: params.id!, reason: body.text('reason') ?? '' } }),
  answer: userRecord,
} as const

const lock = defineRoute({
  ...endpoint('POST', 'store/users/:id/lock', 'lockUser', 'Store', 'Lock an account'),
  ...lockRoute,
  description:
    'The owner cannot sign in. All sessions, streams and mailed links end immediately. Paid orders are still delivered.',
  body: z
    .object({ reason: same('LockUserInput.reason', neededText(500)) })
    .meta({ id: 'LockUser', description: 'The reason for locking the account.' }),
  operation: graphql(/* GraphQL */ `
    mutation RestLockUser($input: LockUserInput!) {
      lockUser(input: $input) { user { ...AdministeredUser } }
    }
  `),
  present: ({ lockUser }) => presentUser(lockUser.user),
})

const unlock = defineRoute({
  ...endpoint('POST', 'store/users/:id/unlock', 'unlockUser', 'Store', 'Unlock an account'),
  ...lockRoute,
  description: 'Its owner may sign in again.',
  body: z
    .object({ reason: same('UnlockUserInput.reason', neededText(500)) })
    .meta({ id: 'UnlockUser', description: 'The reason for unlocking the account.' }),
  operation: graphql(/* GraphQL */ `
    mutation RestUnlockUser($input: UnlockUserInput!) {
      unlockUser(input: $input) { user { ...AdministeredUser } }
    }
  `),
  present: ({ unlockUser }) => presentUser(unlockUser.user),
})

export const userRoutes = [search, lock, unlock]
