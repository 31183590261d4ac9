/**
 * Reads files over HTTP: the bytes as they are, with ranges, or by the trustless gateway's `format=raw` and `format=car`,
 * so that a stranger can check what they got.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ContentStore } from '../domain/ports.ts'

export interface ReadableFile {
  mimeType: string
  fileName: string
}

/** Shown as a page these could run scripts in our origin; so they are only ever downloaded. */
const inlineTypes = /^(image\/(jpeg|png|gif|webp|avif|heic|tiff|bmp)|audio\/|video\/|text\/plain|application\/json$)/

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

export function createGateway({ contentStore }: { contentStore: ContentStore }) {
  return {
    /** Sends a file that the caller may read. Raises NOT_FOUND, UNAVAILABLE before anything is sent. */
    async send(
      req: IncomingMessage,
      res: ServerResponse,
      cid: string,
      query: URLSearchParams,
      file: ReadableFile,
      shared: boolean,
    ) {
      const representation = representationOf(req, query)
      const etag = `"${cid}${representation === 'file' ? '' : `.${representation}`}"`
      res.setHeader('ETag', etag)
      res.setHeader('X-Ipfs-Path', `/ipfs/${cid}`)
      res.setHeader('Access-Control-Allow-Origin', '*')
      res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin')
      res.setHeader('Cache-Control', shared ? 'public, max-age=29030400, immutable' : 'private, max-age=3600')
      if (req.headers['if-none-match']?.includes(etag)) {
        res.writeHead(304).end()
        return
      }
      if (representation === 'raw') {
        const block = await contentStore.readBlock(cid)
        res.writeHead(200, { 'Content-Type': 'application/vnd.ipld.raw', 'Content-Length': block.length })
        res.end(req.method === 'HEAD' ? undefined : block)
        return
      }
      if (representation === 'car') {
        await contentStore.readBlock(cid)
        res.writeHead(200, { 'Content-Type': 'application/vnd.ipld.car; version=1; order=dfs; dups=n' })
        await stream(req, res, contentStore.exportCar(cid))
        return
      }
      const size = await contentStore.size(cid)
      const range = parseRange(req.headers.range, size)
      const inline = inlineTypes.test(file.mimeType) && query.get('download') !== 'true'
      res.setHeader('Accept-Ranges', 'bytes')
      res.setHeader('Content-Security-Policy', "default-src 'none'; sandbox")
      res.setHeader(
        'Content-Disposition',
        `${inline ? 'inline' : 'attachment'}; filename*=UTF-8''${encodeURIComponent(file.fileName)}`,
      )
      if (range === null) {
        res.writeHead(416, { 'Content-Range': `bytes */${size}` }).end()
        return
      }
      const type = { 'Content-Type': inline ? file.mimeType : 'application/octet-stream' }
      if (range) {
        const end = range.offset + range.length - 1
        res.writeHead(206, {
          ...type,
          'Content-Length': range.length,
          'Content-Range': `bytes ${range.offset}-${end}/${size}`,
        })
      } else res.writeHead(200, { ...type, 'Content-Length': size })
      await stream(req, res, contentStore.read(cid, range))
    },
  }
}

export type Gateway = ReturnType<typeof createGateway>
