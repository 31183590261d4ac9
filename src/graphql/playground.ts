/** GraphiQL from our own files. The page is 9 MB of script: made, compressed and tagged once. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const examples = readFileSync(new URL('./playground.graphql', import.meta.url), 'utf8')

/** The page brings its script and workers along, so these are allowed here and nowhere else. Nothing comes from other hosts. */
const policy = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval' blob:",
  'worker-src blob: data:',
  "style-src 'unsafe-inline'",
  'font-src data:',
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

async function render() {
  // Loaded when the first person asks: the service starts half a second sooner.
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
  const page = String(renderGraphiQL({ title: 'Annal', defaultQuery: examples, endpoint: '/graphql' }))
  const etag = `"${createHash('sha256').update(page).digest('hex').slice(0, 32)}"`
  return { plain: Buffer.from(page), zipped: await promisify(gzip)(page), etag }
}

/** Whether a browser asks for a page and not for an answer. */
export const wantsPlayground = (req: IncomingMessage) =>
  (req.method === 'GET' || req.method === 'HEAD') &&
  (req.headers.accept ?? '').includes('text/html') &&
  !/[?&](query|documentId)=/.test(req.url ?? '')

/** Serves the playground, with everything that it loads, from one page that is made at the first request. */
export function createPlayground() {
  let rendered: ReturnType<typeof render> | undefined

  return async (req: IncomingMessage, res: ServerResponse) => {
    rendered ??= render()
    const { plain, zipped, etag } = await rendered
    res.setHeader('ETag', etag)
    res.setHeader('Cache-Control', 'no-cache')
    res.setHeader('Vary', 'Accept, Accept-Encoding')
    if (req.headers['if-none-match'] === etag) {
      res.writeHead(304).end()
      return
    }
    const compressed = /\bgzip\b/.test(String(req.headers['accept-encoding'] ?? ''))
    const body = compressed ? zipped : plain
    res.writeHead(200, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Length': body.length,
      'Content-Security-Policy': policy,
      ...(compressed && { 'Content-Encoding': 'gzip' }),
    })
    res.end(req.method === 'HEAD' ? undefined : body)
  }
}
