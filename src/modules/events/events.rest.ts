import { z } from 'zod'
import { defineList, LARGE_RECORDS } from '../../http/rest/define-list.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { eventRecord, presentEvent } from './present-event.ts'

const list = defineList({
  path: 'events',
  operationId: 'listEvents',
  tag: 'Events',
  summary: 'Read your feed page by page',
  description:
    'Oldest first. Keep the identifier of the last event and ask for the events after it. An event is kept for 90 days unless the operator configures another time, at least 30 days. The identifier of a deleted event is rejected.',
  filters: {
    after: z.string().optional().describe('Identifier of an event of the feed. Only events after it are listed.'),
  },
  action: 'event:read',
  record: eventRecord,
  plural: 'Events',
  searched: 'the type',
  order: 'oldest',
  partSize: LARGE_RECORDS,
  hasBoundedCount: true,
  cursorLinks: 'always',
  operation: graphql(/* GraphQL */ `
    query RestEvents($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
      events(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
        totalCount
        pageInfo {
          startCursor
          endCursor
        }
        nodes {
          ...EventRecord
        }
      }
    }
  `),
  variables: ({ query }, part) => ({ ...part, after: part.after ?? (query.get('after') || undefined) }),
  connectionOf: ({ events }) => events,
  present: presentEvent,
})

/** The feed, page by page. */
export const eventRoutes = [list]
