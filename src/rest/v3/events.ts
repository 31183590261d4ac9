import { z } from 'zod'
import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'
import { pageQuery } from '../page-record.ts'
import { MAX_LARGE_LIMIT, pageOf } from '../pagination.ts'
import { url } from '../values.ts'
import { eventRecord, presentEvent } from './present-event.ts'

const feedPage = z
  .object({
    next: url.nullable().describe('Where the next page is; null when there is no more for now.'),
    results: z.array(eventRecord),
  })
  .meta({ id: 'PageOfEvents', description: 'A page of a feed.' })

const list = defineRoute({
  method: 'GET',
  path: 'events',
  operationId: 'listEvents',
  tag: 'Events',
  summary: 'Read one’s feed page by page',
  description:
    'Oldest first. Keep the identifier of the last event, and ask for what came after it. An event stays for 90 days unless the operator says otherwise, 30 at least; the identifier of one that is forgotten is refused.',
  query: z.object({
    after: z.string().optional().describe('Identifier of an event of the feed: only what came after it.'),
    limit: pageQuery({}, MAX_LARGE_LIMIT).shape.limit,
  }),
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
  answer: feedPage,
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
