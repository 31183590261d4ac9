import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'
import { pageOf, presentPage } from '../pagination.ts'

const list = defineRoute({
  method: 'GET',
  path: 'auth/sessions',
  action: 'session:read',
  operation: graphql(/* GraphQL */ `
    query RestSessions($limit: Int!, $offset: Int!) {
      sessions(first: $limit, offset: $offset) {
        totalCount
        nodes {
          id
          name
          createdAt
          lastUsedAt
          expiresAt
          isCurrent
        }
      }
    }
  `),
  variables: pageOf,
  present: ({ sessions: { totalCount, nodes } }, request) =>
    presentPage(
      request,
      totalCount,
      nodes.map(({ id, name, createdAt, lastUsedAt, expiresAt, isCurrent }) => ({
        id,
        name,
        created_at: createdAt,
        last_used_at: lastUsedAt,
        expires_at: expiresAt,
        is_current: isCurrent,
      })),
    ),
})

const revoke = defineRoute({
  method: 'DELETE',
  path: 'auth/sessions/:id',
  action: 'session:end',
  operation: graphql(/* GraphQL */ `
    mutation RestRevokeSession($input: RevokeSessionInput!) {
      revokeSession(input: $input) {
        id
      }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
  status: 204,
  present: () => undefined,
})

/** A path of its own: `DELETE auth/sessions/` is what a caller sends whose identifier got lost. */
const revokeOthers = defineRoute({
  method: 'POST',
  path: 'auth/sessions/revoke-others',
  action: 'session:end',
  operation: graphql(/* GraphQL */ `
    mutation RestRevokeOtherSessions {
      revokeOtherSessions {
        session {
          id
        }
      }
    }
  `),
  variables: () => ({}),
  status: 204,
  present: () => undefined,
})

/** Sessions of one's own. */
export const sessionRoutes = [list, revoke, revokeOthers]
