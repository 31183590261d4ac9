import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'
import { MAX_LARGE_LIMIT, pageOf } from '../pagination.ts'
import { presentEvent } from './present-event.ts'

const list = defineRoute({
  method: 'GET',
  path: 'events',
  action: 'event:read',
  operation: graphql(/* GraphQL */ `
    query RestEvents($limit: Int!, $after: String) {
      events(first: $limit, after: $after) {
        nodes {
          ...EventRecord
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `),
  variables: (request) => ({
    limit: pageOf(request, MAX_LARGE_LIMIT).limit,
    after: request.query.get('after') || null,
  }),
  present: ({ events: { nodes, pageInfo } }, request) => {
    const query = new URLSearchParams({
      after: pageInfo.endCursor ?? '',
      limit: String(pageOf(request, MAX_LARGE_LIMIT).limit),
    })
    return { next: pageInfo.hasNextPage ? `${request.url}?${query}` : null, results: nodes.map(presentEvent) }
  },
})

/** The feed, page by page. */
export const eventRoutes = [list]
