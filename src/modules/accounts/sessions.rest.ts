import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { defineRoute } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { moment, nothing, same, sessionParam } from '../../http/rest/values.ts'

const sessionRecord = z
  .object({
    id: same('Session.id', z.string()),
    name: same('Session.name', z.string()),
    created_at: same('Session.createdAt', moment),
    last_used_at: same('Session.lastUsedAt', moment.nullable()),
    expires_at: same('Session.expiresAt', moment.nullable()),
    is_current: same('Session.isCurrent', z.boolean()),
  })
  .meta({ id: 'Session', description: 'A device on which a user is signed in.' })

const list = defineList({
  path: 'auth/sessions',
  operationId: 'listSessions',
  tag: 'Sessions',
  summary: 'List the devices on which you are signed in, newest first',
  action: 'session:read',
  record: sessionRecord,
  plural: 'Sessions',
  searched: 'the name',
  order: 'newest',
  operation: graphql(/* GraphQL */ `
    query RestSessions($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
      sessions(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
        totalCount
        pageInfo {
          startCursor
          endCursor
        }
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
  variables: (_request, part) => part,
  connectionOf: ({ sessions }) => sessions,
  present: ({ id, name, createdAt, lastUsedAt, expiresAt, isCurrent }) => ({
    id,
    name,
    created_at: createdAt,
    last_used_at: lastUsedAt,
    expires_at: expiresAt,
    is_current: isCurrent,
  }),
})

const revoke = defineRoute({
  method: 'DELETE',
  path: 'auth/sessions/:id',
  operationId: 'revokeSession',
  tag: 'Sessions',
  summary: 'End a session',
  params: sessionParam,
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
  answer: nothing,
  present: () => undefined,
})

/** A path of its own: `DELETE auth/sessions/` is what a caller sends whose identifier got lost. */
const revokeOthers = defineRoute({
  method: 'POST',
  path: 'auth/sessions/revoke-others',
  operationId: 'revokeOtherSessions',
  tag: 'Sessions',
  summary: 'End every session but this one',
  description: 'An administrator’s sessions at the pages for administrators end, too.',
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
  answer: nothing,
  present: () => undefined,
})

/** Sessions of one's own. */
export const sessionRoutes = [list, revoke, revokeOthers]
