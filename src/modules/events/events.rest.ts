import type { ServerResponse } from 'node:http'
import { z } from 'zod'
import { defineList, LARGE_RECORDS } from '../../http/rest/define-list.ts'
import type { DirectDescription, DirectRequest } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { anyObject, moment, same } from '../../http/rest/values.ts'
import { corsHeaders } from '../../http/send.ts'
import { assertMay } from '../../shared/policy.ts'
import { readEventData } from './events.ts'
import { followEvents } from './follow-events.ts'

export const EventRecord = graphql(/* GraphQL */ `
  fragment EventRecord on Event {
    id
    sequence
    type
    createdAt
    orderId
    commitId
    deliveryId
    transferId
    data
  }
`)

export const eventRecord = z
  .object({
    id: same('Event.id', z.string()),
    sequence: same('Event.sequence', z.number().int()),
    type: same('Event.type', z.string()),
    created_at: same('Event.createdAt', moment),
    order_id: same('Event.orderId', z.string().nullable()),
    commit_id: same('Event.commitId', z.string().nullable()),
    delivery_id: same('Event.deliveryId', z.string().nullable()),
    transfer_id: same('Event.transferId', z.string().nullable()),
    data: same('Event.data', anyObject.nullable()),
  })
  .meta({ id: 'Event', description: 'An event in your feed.' })

interface EventFacts {
  id: string
  sequence: number
  type: string
  createdAt: Date | string
  orderId: string | null
  commitId: string | null
  deliveryId: string | null
  transferId: string | null
  /** Body of the webhook call. Null if no webhook receives the event. */
  data: Record<string, unknown> | null
}

export const presentEvent = (event: EventFacts): z.output<typeof eventRecord> => ({
  id: event.id,
  sequence: event.sequence,
  type: event.type,
  created_at: event.createdAt,
  order_id: event.orderId,
  commit_id: event.commitId,
  delivery_id: event.deliveryId,
  transfer_id: event.transferId,
  data: event.data,
})

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

/** Proxies and clients close idle connections. */
const HEARTBEAT_MS = 10_000
const COMMENT = ':\n\n'

export const streamDescription: DirectDescription = {
  operationId: 'streamEvents',
  tag: 'Events',
  summary: 'Follow one’s feed as server-sent events',
  description:
    'What was missed since `Last-Event-ID`, then each event as it happens, until the session ends. `id` is the event’s identifier, `event` its type, and `data` the event as JSON, as the feed has it.',
  access: 'user',
  headers: z.object({
    'Last-Event-ID': z
      .string()
      .optional()
      .describe('Identifier of the last event that came; without one, from now on.'),
  }),
  query: z.object({
    last_event_id: z.string().optional().describe('The same for clients that cannot set the header.'),
  }),
  answers: { 200: { description: 'The stream.', mediaType: 'text/event-stream', schema: z.string() } },
}

/** Waits until the response accepts more data or is closed. */
const waitForDrain = (res: ServerResponse) =>
  new Promise<void>((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done)
      resolve()
    }
    res.on('drain', done).on('close', done)
  })

/**
 * Sends the caller's feed as server-sent events until the client disconnects or the session ends. Throws NOT_AUTHENTICATED,
 * AUTHENTICATION_FAILED, VALIDATION_FAILED, THROTTLED before it sends anything.
 */
export async function streamEvents({ req, res, query, context }: DirectRequest): Promise<void> {
  assertMay(context.actor, 'event:read')
  const lastEventId = (req.headers['last-event-id'] as string | undefined) || query.get('last_event_id') || undefined
  const events = await followEvents(context, lastEventId)
  if (res.closed) {
    void events.return?.()
    return
  }
  res.writeHead(200, {
    ...corsHeaders,
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  })
  if (req.method === 'HEAD') {
    void events.return?.()
    res.end()
    return
  }
  res.on('close', () => void events.return?.())
  res.write(COMMENT)
  const heartbeat = setInterval(() => res.write(COMMENT), HEARTBEAT_MS)
  try {
    for await (const event of events) {
      const body = presentEvent({ ...event, data: await readEventData(context, event) })
      const frame = `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(body)}\n\n`
      if (!res.write(frame) && !res.closed) await waitForDrain(res)
    }
    res.end()
  } finally {
    clearInterval(heartbeat)
  }
}
