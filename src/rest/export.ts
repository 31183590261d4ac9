/** Everything that is kept of a person, as a file. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import type { DirectDescription, DirectRequest } from './define-route.ts'
import { corsHeaders } from './rest-handler.ts'

/** What is told of the export. */
export const exportDescription: DirectDescription = {
  operationId: 'exportMe',
  tag: 'Account',
  summary: 'Download everything that is kept of oneself',
  access: 'user',
  answers: {
    200: {
      description: 'The document, as a file.',
      mediaType: 'application/json',
      schema: z
        .looseObject({})
        .meta({ id: 'Export', description: 'The account, and a list of each kind of thing that is kept of it.' }),
    },
  },
}

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
