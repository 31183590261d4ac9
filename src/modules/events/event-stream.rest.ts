/** The feed as server-sent events: what was missed since `Last-Event-ID`, then each event as it happens. */
import type { ServerResponse } from 'node:http'
import { z } from 'zod'
import type { DirectDescription, DirectRequest } from '../../http/rest/define-route.ts'
import { corsHeaders } from '../../http/send.ts'
import { assertMay } from '../../shared/policy.ts'
import { presentEvent } from './present-event.ts'

/** Milliseconds: proxies and receivers take a connection that says nothing for a dead one. */
const HEARTBEAT_MS = 10_000
const COMMENT = ':\n\n'

/** What is told of the stream. */
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

/** Until a slow reader has room again, or has left. */
const hasRoom = (res: ServerResponse) =>
  new Promise<void>((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done)
      resolve()
    }
    res.on('drain', done).on('close', done)
  })

/**
 * Streams the actor's feed until the reader leaves or the session ends. Raises NOT_AUTHENTICATED, AUTHENTICATION_FAILED,
 * VALIDATION_FAILED, THROTTLED before anything is sent.
 */
export async function streamEvents({ req, res, query, context: { actor, services } }: DirectRequest): Promise<void> {
  assertMay(actor, 'event:read')
  const lastEventId = (req.headers['last-event-id'] as string | undefined) || query.get('last_event_id') || undefined
  const events = await services.events.follow(actor, lastEventId)
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
      const told = presentEvent({ ...event, data: await services.events.data(event) })
      const frame = `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(told)}\n\n`
      if (!res.write(frame) && !res.closed) await hasRoom(res)
    }
    res.end()
  } finally {
    clearInterval(heartbeat)
  }
}
