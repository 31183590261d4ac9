import { createHash } from 'node:crypto'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply } from 'fastify'

/** CORS headers that permit calls from any origin. This is safe because the API reads credentials only from headers. */
export const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, Idempotency-Replayed, Retry-After, X-Request-Id',
}

/** Headers of a response that browsers may cache but must revalidate before each use. */
export const uncachedHeaders = { 'Cache-Control': 'private, no-cache' }

/** Sends JSON text as bytes. For a string, Fastify would add a charset to the Content-Type. */
export const sendJsonText = (reply: FastifyReply, text: string): FastifyReply =>
  reply.headers({ ...corsHeaders, 'Content-Type': 'application/json', ...uncachedHeaders }).send(Buffer.from(text))

export const sendJson = (reply: FastifyReply, body: object): FastifyReply => sendJsonText(reply, JSON.stringify(body))

export const sendPage = (
  reply: FastifyReply,
  { status, headers, html }: { status: number; headers: Record<string, string>; html: string },
): FastifyReply => reply.code(status).headers(headers).send(html)

/**
 * Streams the parts of a body with backpressure. Sends no body for HEAD. Throws an error that occurs while a part is
 * created. The caller must then abort the connection, so that the body does not look complete.
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

/** Streams a file that browsers save instead of showing it. Throws the errors of `sendParts`. */
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

/** Prefix of strings that `writeJson` writes as raw JSON. User input cannot contain this prefix. */
const MARK = '\0raw JSON: '

/** Marks JSON text that `writeJson` must copy unchanged, because parsing it would change large numbers. */
export const rawJson = (text: string) => `${MARK}${text}`

/** JSON form of the prefix of raw JSON, with the opening quotation mark. */
const BEGIN = JSON.stringify(MARK).slice(0, -1)

/** Returns the position of the first unescaped quotation mark in `json` from the position `from`. */
function endOfText(json: string, from: number): number {
  for (let end = json.indexOf('"', from); ; end = json.indexOf('"', end + 1)) {
    let backslashes = 0
    while (json[end - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end
  }
}

/** Converts a value to JSON, with raw JSON unchanged. A regular expression would overflow the stack for long texts. */
export function writeJson(answer: unknown): string {
  const json = JSON.stringify(answer)
  const parts: string[] = []
  let written = 0
  for (let at = json.indexOf(BEGIN); at >= 0; at = json.indexOf(BEGIN, Math.max(written, at + 1))) {
    // An escaped quotation mark is part of a string, so this is not a marked value.
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

/** A static file, compressed once. `@fastify/compress` would compress each response, such as 9 MB of scripts. */
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

/** Sends a static file, compressed if the caller accepts gzip. Sends 304 if the caller has the current version. */
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
