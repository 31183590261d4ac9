import type { ServerResponse } from 'node:http'
import { z } from 'zod'
import { corsHeaders } from '../../http/http-server.ts'
import type { DirectDescription, DirectRequest } from '../../http/rest/define-route.ts'
import { anyObject, defineRecord, same, time } from '../../http/rest/fields.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { defineList, LARGE_RECORDS } from '../../http/rest/lists.ts'
import { assertMay } from '../../shared/policy.ts'
import { type EventRecord as EventFacts, followEvents, readEventData } from './events.ts'

export const EventRecord = graphql(/* GraphQL */ `
  fragment EventRecord on Event { id sequence type createdAt orderId commitId deliveryId transferId data }
`)

/** Event with `data`, the body of the webhook call. `data` is null if no webhook receives the event. */
type EventSource = Omit<EventFacts, 'createdAt' | 'type'> & {
  type: string
  createdAt: Date | string
  data: Record<string, unknown> | null
}

const nullableId = z.string().nullable()

const eventRecord = defineRecord<EventSource>()(
  { id: 'Event', description: 'An event in your feed.' },
  {
    id: [same('Event.id', z.string()), ({ id }) => id],
    sequence: [same('Event.sequence', z.number().int()), ({ sequence }) => sequence],
    type: [same('Event.type', z.string()), ({ type }) => type],
    created_at: [same('Event.createdAt', time), ({ createdAt }) => createdAt],
    order_id: [same('Event.orderId', nullableId), ({ orderId }) => orderId],
    commit_id: [same('Event.commitId', nullableId), ({ commitId }) => commitId],
    delivery_id: [same('Event.deliveryId', nullableId), ({ deliveryId }) => deliveryId],
    transfer_id: [same('Event.transferId', nullableId), ({ transferId }) => transferId],
    data: [same('Event.data', anyObject.nullable()), ({ data }) => data],
  },
)

const list = defineList({
  path: 'events',
  operationId: 'listEvents',
  tag: 'Events',
  summary: 'Read your feed page by page',
  description:
    'Lists your events, oldest first. Store the ID of the last event, and request the events after it with `after`. Events are deleted after 90 days, unless the operator configures another time of at least 30 days. The ID of a deleted event is rejected.',
  filters: {
    after: z.string().optional().describe('ID of an event in your feed. Only events after this event are listed.'),
  },
  action: 'event:read',
  record: eventRecord.schema,
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
        pageInfo { startCursor endCursor }
        nodes { ...EventRecord }
      }
    }
  `),
  variables: ({ query }, part) => ({ ...part, after: part.after ?? (query.get('after') || undefined) }),
  connectionOf: ({ events }) => events,
  present: eventRecord.present,
})

export const eventRoutes = [list]

/** Interval of heartbeats in milliseconds. Proxies and clients close idle connections. */
const HEARTBEAT_MS = 10_000
const COMMENT = ':\n\n'

export const streamDescription: DirectDescription = {
  operationId: 'streamEvents',
  tag: 'Events',
  summary: 'Follow your feed as server-sent events',
  description:
    'Sends the events after `Last-Event-ID`, then each new event, until the session ends. `id` is the ID of the event, `event` its type, and `data` the event as JSON, as in the list of events.',
  access: 'user',
  headers: z.object({
    'Last-Event-ID': z
      .string()
      .optional()
      .describe('ID of the last received event. Without it, the stream starts with new events.'),
  }),
  query: z.object({
    last_event_id: z.string().optional().describe('Same as `Last-Event-ID`, for clients that cannot set headers.'),
  }),
  answers: { 200: { description: 'A stream of events.', mediaType: 'text/event-stream', schema: z.string() } },
}

const waitForDrain = (res: ServerResponse) =>
  new Promise<void>((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done)
      resolve()
    }
    res.on('drain', done).on('close', done)
  })

/** Streams the caller's feed. Throws NOT_AUTHENTICATED, AUTHENTICATION_FAILED, VALIDATION_FAILED, THROTTLED. */
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
      const body = eventRecord.present({ ...event, data: await readEventData(context, event) })
      const frame = `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(body)}\n\n`
      if (!res.write(frame) && !res.closed) await waitForDrain(res)
    }
    res.end()
  } finally {
    clearInterval(heartbeat)
  }
}
