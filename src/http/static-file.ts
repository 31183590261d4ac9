/** Sends large files of this program, such as 9 MB of scripts. They are compressed once: `@fastify/compress` would compress each response. */
import { createHash } from 'node:crypto'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { matchesEtag } from './headers.ts'

/** A file in both forms. */
export interface StaticFile {
  bytes: Buffer
  zipped: Buffer
  etag: string
}

const zip = promisify(gzip)

/** Compresses a file and computes its entity tag. */
export async function prepareFile(bytes: Buffer): Promise<StaticFile> {
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  return { bytes, zipped: await zip(bytes), etag }
}

/** Returns whether `Accept-Encoding` names gzip, except as `gzip;q=0`. */
function acceptsGzip(header: string): boolean {
  const codings = header.split(',').map((coding) => coding.split(';').map((part) => part.trim().toLowerCase()))
  return codings.some(
    ([name, weight]) => name === 'gzip' && !(weight?.startsWith('q=') && Number(weight.slice(2)) === 0),
  )
}

/** Sends a file in the form that the caller accepts, or 304 if the caller has this version. */
export function sendFile(
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
  const isZipped = acceptsGzip(String(req.headers['accept-encoding'] ?? ''))
  const body = isZipped ? zipped : bytes
  res.writeHead(200, { ...common, ...(isZipped && { 'Content-Encoding': 'gzip' }), 'Content-Length': body.length })
  res.end(req.method === 'HEAD' ? undefined : body)
}
