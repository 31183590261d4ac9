import { once } from 'node:events'
import { z } from 'zod'
import { corsHeaders } from '../../http/http-server.ts'
import { type DirectDescription, type DirectRequest, get } from '../../http/rest/define-route.ts'
import { anyObject, objectOf, optionalText, sameFields, snakeCased, time } from '../../http/rest/fields.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { defineList, LARGE_RECORDS } from '../../http/rest/lists.ts'
import { assertMay } from '../../shared/policy.ts'
import { followEvents, readEventData } from './events.ts'

export const EventRecord = graphql(/* GraphQL */ `
  fragment EventRecord on Event { id sequence type createdAt orderId commitId deliveryId transferId data }
`)

const nullableId = z.string().nullable()

const eventRecord = objectOf('Event', 'An event in your feed.', {
  ...sameFields('Event', { id: z.string(), sequence: z.number().int(), type: z.string(), created_at: time }),
  ...sameFields('Event', { order_id: nullableId, commit_id: nullableId, delivery_id: nullableId }),
  ...sameFields('Event', { transfer_id: nullableId, data: anyObject.nullable() }),
})

const list = defineList({
  ...get('events', 'listEvents', 'Events', 'Read your feed page by page'),
  description:
    'Lists your events, oldest first. Store the ID of the last event, and request the events after it with `after`. Events are deleted after 90 days, unless the operator configures another time of at least 30 days. The ID of a deleted event is rejected.',
  filters: {
    after: optionalText('ID of an event in your feed. Only events after this event are listed.'),
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
        totalCount pageInfo { startCursor endCursor } nodes { ...EventRecord }
      }
    }
  `),
  variables: ({ query }, part) => ({ ...part, after: part.after ?? (query.get('after') || undefined) }),
  present: snakeCased,
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
    'Last-Event-ID': optionalText('ID of the last received event. Without it, the stream starts with new events.'),
  }),
  query: z.object({
    last_event_id: optionalText('Same as `Last-Event-ID`, for clients that cannot set headers.'),
  }),
  answers: { 200: { description: 'A stream of events.', mediaType: 'text/event-stream', schema: z.string() } },
}

/** Streams the caller's feed. Throws NOT_AUTHENTICATED, AUTHENTICATION_FAILED, VALIDATION_FAILED, THROTTLED. */
export async function streamEvents({ req, res, query, context }: DirectRequest): Promise<void> {
  assertMay(context.actor, 'event:read')
  const lastEventId = (req.headers['last-event-id'] as string | undefined) || query.get('last_event_id') || undefined
  const events = await followEvents(context, lastEventId)
  if (res.closed) return void events.return?.()
  res.writeHead(200, {
    ...corsHeaders,
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  })
  const closed = new AbortController()
  res.on('close', () => {
    closed.abort()
    void events.return?.()
  })
  if (req.method === 'HEAD') return void res.end()
  res.write(COMMENT)
  const heartbeat = setInterval(() => res.write(COMMENT), HEARTBEAT_MS)
  try {
    for await (const event of events) {
      const body = snakeCased({ ...event, data: await readEventData(context, event) })
      const frame = `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(body)}\n\n`
      // `once` rejects when the client closes the connection.
      if (!res.write(frame) && !res.closed) await once(res, 'drain', { signal: closed.signal }).catch(() => {})
    }
    res.end()
  } finally {
    clearInterval(heartbeat)
  }
}
