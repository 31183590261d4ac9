/** Sends responses of the REST API and pages. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply } from 'fastify'
import type { PageAnswer } from '../../modules/pages/page.ts'

/** Browsers of any origin may read and call. Credentials are in headers, never in cookies. */
export const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, Idempotency-Replayed, Retry-After, X-Request-Id',
}

/** Headers of a response that browsers check before each use. */
export const uncachedHeaders = { 'Cache-Control': 'private, no-cache' }

/** Sends JSON text. It is sent as bytes: to a text, Fastify would add a charset to the Content-Type. */
export const sendJsonText = (reply: FastifyReply, text: string): FastifyReply =>
  reply.headers({ ...corsHeaders, 'Content-Type': 'application/json', ...uncachedHeaders }).send(Buffer.from(text))

/** Sends a value as JSON. */
export const sendJson = (reply: FastifyReply, body: object): FastifyReply => sendJsonText(reply, JSON.stringify(body))

/** Sends a page. */
export const sendPage = (reply: FastifyReply, { status, headers, html }: PageAnswer): FastifyReply =>
  reply.code(status).headers(headers).send(html)

/**
 * Sends the parts of a body while they are read, each after the caller has read the one before. Sends no body for HEAD. Raises the error
 * of a part: the connection must then be aborted, because an incomplete body must not look complete. A caller that leaves is not an error.
 */
export async function sendParts(
  req: IncomingMessage,
  res: ServerResponse,
  parts: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  if (req.method === 'HEAD') {
    res.end()
    return
  }
  await pipeline(Readable.from(parts, { highWaterMark: 1 }), res).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  })
}

/** A file that is created while it is sent. */
interface Download {
  name: string
  mediaType: string
  content: AsyncIterable<string | Uint8Array>
}

/** Sends a file to be saved. It is not cached. Raises the error of its content: the connection must then be aborted. */
export function sendDownload(
  req: IncomingMessage,
  res: ServerResponse,
  { name, mediaType, content }: Download,
): Promise<void> {
  res.writeHead(200, {
    ...corsHeaders,
    'Content-Type': mediaType,
    'Content-Disposition': `attachment; filename="${name}"`,
    'Cache-Control': 'no-store',
  })
  return sendParts(req, res, content)
}
