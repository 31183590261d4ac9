import { createHash } from 'node:crypto'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply } from 'fastify'

/** Headers that let any origin call the API. Credentials are in headers, never in cookies. */
export const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, Idempotency-Replayed, Retry-After, X-Request-Id',
}

/** Headers of a response that browsers must revalidate before each use. */
export const uncachedHeaders = { 'Cache-Control': 'private, no-cache' }

/** Sends JSON text, as bytes, because Fastify adds a charset to the Content-Type of a string. */
export const sendJsonText = (reply: FastifyReply, text: string): FastifyReply =>
  reply.headers({ ...corsHeaders, 'Content-Type': 'application/json', ...uncachedHeaders }).send(Buffer.from(text))

export const sendJson = (reply: FastifyReply, body: object): FastifyReply => sendJsonText(reply, JSON.stringify(body))

export const sendPage = (
  reply: FastifyReply,
  { status, headers, html }: { status: number; headers: Record<string, string>; html: string },
): FastifyReply => reply.code(status).headers(headers).send(html)

/**
 * Sends the parts of a body while they are created, each after the caller has read the previous one. Sends no body for HEAD.
 * Throws the error of a part. The caller must then abort the connection, so that the body does not look complete.
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

/** Sends a file that is created while it is sent, for saving. Throws the errors of `sendParts`. */
export function sendDownload(
  req: IncomingMessage,
  res: ServerResponse,
  { name, mediaType, content }: { name: string; mediaType: string; content: AsyncIterable<string | Uint8Array> },
): Promise<void> {
  res.writeHead(200, {
    ...corsHeaders,
    'Content-Type': mediaType,
    'Content-Disposition': `attachment; filename="${name}"`,
    'Cache-Control': 'no-store',
  })
  return sendParts(req, res, content)
}

/** Prefix of text that `writeJson` writes as raw JSON. Input cannot contain it. */
const MARK = '\0raw JSON: '

/** Marks JSON text that the response contains unchanged. Parsing it would change large numbers. */
export const rawJson = (text: string) => `${MARK}${text}`

/** Start of a marked text in JSON. */
const BEGIN = JSON.stringify(MARK).slice(0, -1)

/** Returns the position of the first quotation mark from `from` on that is not escaped. */
function endOfText(json: string, from: number): number {
  for (let end = json.indexOf('"', from); ; end = json.indexOf('"', end + 1)) {
    let backslashes = 0
    while (json[end - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end
  }
}

/** Returns a value as JSON, with marked texts unchanged. A regular expression would overflow the stack for long texts. */
export function writeJson(answer: unknown): string {
  const json = JSON.stringify(answer)
  const parts: string[] = []
  let written = 0
  for (let at = json.indexOf(BEGIN); at >= 0; at = json.indexOf(BEGIN, Math.max(written, at + 1))) {
    // The quotation mark is part of a text.
    if (json[at - 1] === '\\') continue
    const begin = at + BEGIN.length
    const end = endOfText(json, begin)
    parts.push(json.slice(written, at), JSON.parse(`"${json.slice(begin, end)}"`) as string)
    written = end + 1
  }
  return parts.join('') + json.slice(written)
}

/** Returns whether `If-None-Match` contains this entity tag, by weak comparison (RFC 9110). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  const bare = (tag: string) => tag.trim().replace(/^W\//, '')
  return header?.split(',').some((tag) => tag.trim() === '*' || bare(tag) === bare(etag)) ?? false
}

/** A static file, such as 9 MB of scripts. It is compressed once. `@fastify/compress` would compress each response. */
export interface StaticFile {
  bytes: Buffer
  zipped: Buffer
  etag: string
}

const zip = promisify(gzip)

export async function prepareFile(bytes: Buffer): Promise<StaticFile> {
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  return { bytes, zipped: await zip(bytes), etag }
}

/** Matches an `Accept-Encoding` that names gzip, except as `gzip;q=0`. */
const ACCEPTS_GZIP = /(?:^|,)\s*gzip\s*(?!;\s*q=0(?:\.0*)?\s*(?:,|$))(?:;|,|$)/i

/** Sends a static file in the form that the caller accepts, or 304 if the caller has this version. */
export function sendStaticFile(
  req: IncomingMessage,
  res: ServerResponse,
  { bytes, zipped, etag }: StaticFile,
  { Vary, ...headers }: OutgoingHttpHeaders,
): void {
  const common = { ...headers, ETag: etag, Vary: [Vary, 'Accept-Encoding'].filter(Boolean).join(', ') }
  if (matchesEtag(req.headers['if-none-match'], etag)) {
    res.writeHead(304, common).end()
    return
  }
  const isZipped = ACCEPTS_GZIP.test(String(req.headers['accept-encoding'] ?? ''))
  const body = isZipped ? zipped : bytes
  res.writeHead(200, { ...common, ...(isZipped && { 'Content-Encoding': 'gzip' }), 'Content-Length': body.length })
  res.end(req.method === 'HEAD' ? undefined : body)
}
