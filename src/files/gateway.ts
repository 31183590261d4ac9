/**
 * Reads files over HTTP: the bytes as they are, with ranges, or by the trustless gateway's `format=raw` and `format=car`,
 * so that a stranger can check what they got.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ContentStore } from '../domain/ports.ts'

/** How a file is served. */
export interface ReadableFile {
  mimeType: string
  fileName: string
}

/** Shown as a page others could run scripts in our origin, so they are only ever downloaded; and no header takes all characters. */
const inlineTypes =
  /^(image\/(jpeg|png|gif|webp|avif|heic|tiff|bmp)|audio\/|video\/|text\/plain|application\/json$)[ -~]*$/

const representations: Record<string, 'raw' | 'car'> = {
  'application/vnd.ipld.raw': 'raw',
  'application/vnd.ipld.car': 'car',
}

function representationOf(req: IncomingMessage, query: URLSearchParams): 'raw' | 'car' | 'file' {
  const format = query.get('format')
  if (format === 'raw' || format === 'car') return format
  const accept = (req.headers.accept ?? '').split(/[;,]/)[0]!.trim()
  return representations[accept] ?? 'file'
}

/** One range of bytes; undefined means all, null means unsatisfiable. */
export function parseRange(
  header: string | undefined,
  size: number,
): { offset: number; length: number } | null | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '')
  if (!match || (match[1] === '' && match[2] === '')) return undefined
  const start = match[1] === '' ? Math.max(size - Number(match[2]), 0) : Number(match[1])
  const end = match[1] === '' || match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1)
  return start > end || start >= size ? null : { offset: start, length: end - start + 1 }
}

async function stream(req: IncomingMessage, res: ServerResponse, source: AsyncIterable<Uint8Array>) {
  if (req.method === 'HEAD') {
    res.end()
    return
  }
  try {
    await pipeline(Readable.from(source), res)
  } catch (error) {
    // The reader left, or the store failed midway: a cut connection is the only honest answer after the headers.
    if (!res.destroyed) res.destroy(error as Error)
  }
}

/** Who may see a file, and for how long: what nobody owns never changes; an asset can be withdrawn, and what is made of it changes. */
export type Audience = 'everybody-for-ever' | 'everybody' | 'owner' | 'everybody-now' | 'owner-now'

/** Seconds that a copy of an asset may be shown without asking again whether it still may be. */
const FRESH_SECONDS = 300

const cacheControls: Record<Audience, string> = {
  'everybody-for-ever': 'public, max-age=29030400, immutable',
  everybody: `public, max-age=${FRESH_SECONDS}, must-revalidate`,
  owner: `private, max-age=${FRESH_SECONDS}, must-revalidate`,
  'everybody-now': 'public, no-cache',
  'owner-now': 'private, no-cache',
}

/** Whether a list of entity tags names this one. */
const names = (header: string | undefined, etag: string) =>
  header?.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag) ?? false

/** Serves files of the content store to callers who were found to be allowed to read them. */
export function createGateway({ contentStore }: { contentStore: ContentStore }) {
  return {
    /** Sends a file that the caller may read. Raises NOT_FOUND, UNAVAILABLE before anything is sent. */
    async send(
      req: IncomingMessage,
      res: ServerResponse,
      cid: string,
      query: URLSearchParams,
      file: ReadableFile,
      audience: Audience,
    ) {
      const representation = representationOf(req, query)
      const etag = `"${cid}${representation === 'file' ? '' : `.${representation}`}"`
      const common = {
        ETag: etag,
        'Cache-Control': cacheControls[audience],
        'X-Ipfs-Path': `/ipfs/${cid}`,
        'Access-Control-Allow-Origin': '*',
        'Cross-Origin-Resource-Policy': 'cross-origin',
      }
      if (names(req.headers['if-none-match'], etag)) {
        res.writeHead(304, common).end()
        return
      }
      if (representation === 'raw') {
        const block = await contentStore.readBlock(cid)
        res.writeHead(200, { ...common, 'Content-Type': 'application/vnd.ipld.raw', 'Content-Length': block.length })
        res.end(req.method === 'HEAD' ? undefined : block)
        return
      }
      if (representation === 'car') {
        await contentStore.readBlock(cid)
        res.writeHead(200, { ...common, 'Content-Type': 'application/vnd.ipld.car; version=1; order=dfs; dups=n' })
        await stream(req, res, contentStore.exportCar(cid))
        return
      }
      const size = await contentStore.size(cid)
      const { range: asked, 'if-range': condition } = req.headers
      // A part of other bytes than the caller has would not fit them.
      const range = parseRange(condition === undefined || condition === etag ? asked : undefined, size)
      if (range === null) {
        res.writeHead(416, { ...common, 'Cache-Control': 'no-store', 'Content-Range': `bytes */${size}` }).end()
        return
      }
      const inline = inlineTypes.test(file.mimeType) && query.get('download') !== 'true'
      const described = {
        ...common,
        'Accept-Ranges': 'bytes',
        'Content-Security-Policy': "default-src 'none'; sandbox",
        'Content-Disposition': `${inline ? 'inline' : 'attachment'}; filename*=UTF-8''${encodeURIComponent(file.fileName)}`,
        'Content-Type': inline ? file.mimeType : 'application/octet-stream',
      }
      if (range) {
        const end = range.offset + range.length - 1
        const part = { 'Content-Length': range.length, 'Content-Range': `bytes ${range.offset}-${end}/${size}` }
        res.writeHead(206, { ...described, ...part })
      } else res.writeHead(200, { ...described, 'Content-Length': size })
      await stream(req, res, contentStore.read(cid, range))
    },
  }
}

/** Serves files; what `createGateway` makes. */
export type Gateway = ReturnType<typeof createGateway>
