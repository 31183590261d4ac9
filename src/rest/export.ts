/** Everything that is kept of a person, as a file. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { DirectRequest } from './define-route.ts'
import { corsHeaders } from './rest-handler.ts'

/** Streams the actor's export as a download. Raises NOT_AUTHENTICATED, THROTTLED, UNAVAILABLE before anything is sent. */
export async function sendExport({ req, res, context: { actor, services } }: DirectRequest): Promise<void> {
  await services.exports.stream(actor, (text) => send(req, res, text))
}

async function send(req: DirectRequest['req'], res: DirectRequest['res'], text: AsyncIterable<string>): Promise<void> {
  res.writeHead(200, {
    ...corsHeaders,
    'Content-Type': 'application/json',
    'Content-Disposition': 'attachment; filename="my-data.json"',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  })
  if (req.method === 'HEAD') {
    res.end()
    return
  }
  await pipeline(Readable.from(text, { highWaterMark: 1 }), res).catch((error: unknown) => {
    // A caller who leaves is no fault.
    if (!req.destroyed && !res.closed) throw error
  })
}
