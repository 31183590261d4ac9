/**
 * Reads files over HTTP as a path gateway (https://specs.ipfs.tech/http-gateways/path-gateway/): the bytes as they are, with
 * ranges, or by the trustless gateway's `format=raw` and `format=car`, so that a stranger can check what they got.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { matchesEtag } from '../http/send.ts'
import { displayOf } from '../modules/assets/file-types.ts'
import { validationFailed } from '../shared/errors.ts'
import { cleanFileName } from '../shared/text.ts'
import { assertCid } from './cids.ts'
import type { ContentStore } from './file-types.ts'
import { type CarRequest, type FileRequest, parseRange, readFileRequest, selectionOf } from './gateway-request.ts'
import { PROBE_CID, probe } from './probe.ts'

/** How a file is served. */
export interface ReadableFile {
  mimeType: string
  fileName: string
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

/** The entity tag. That of a CAR is weak: how blocks are put together may change with a version of ours. */
const etagOf = (cid: string, asked: FileRequest) => {
  if (asked.kind === 'file') return `"${cid}"`
  if (asked.kind === 'raw') return `"${cid}.raw"`
  const { scope, bytes, duplicates } = asked
  const parts = [scope !== 'all' && scope, bytes && `${bytes.from}:${bytes.to}`, duplicates && 'dups', 'car'].filter(
    Boolean,
  )
  return `W/"${cid}.${parts.join('.')}"`
}

/**
 * The type that browsers are told. A comma would begin another type, which they would go by (`image/png;,text/html`); recorders of browsers write one
 * between codecs, which a player finds out by itself.
 */
const shownTypeOf = (mimeType: string) => (mimeType.includes(',') ? mimeType.split(';', 1)[0]!.trimEnd() : mimeType)

/** Returns a Content-Disposition header with the name in both forms: `filename` in ASCII for old clients, and `filename*` (RFC 6266, RFC 8187). */
const dispositionOf = (kind: 'inline' | 'attachment', fileName: string) => {
  const plain = fileName.replaceAll(/[^ -~]|["\\%]/gu, '_')
  const encoded = encodeURIComponent(fileName).replaceAll(
    /['()*]/g,
    (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`
}

const carType = ({ duplicates }: CarRequest) =>
  `application/vnd.ipld.car; version=1; order=dfs; dups=${duplicates ? 'y' : 'n'}`

/** The address of a block or CAR itself, so that caches keep it apart from the bytes however it was asked for. */
const locationOf = (cid: string, query: URLSearchParams, asked: Exclude<FileRequest, { kind: 'file' }>) => {
  const own = new URLSearchParams({ format: asked.kind })
  if (asked.kind === 'car') {
    for (const name of ['dag-scope', 'entity-bytes']) if (query.has(name)) own.set(name, query.get(name)!)
    own.set('car-version', '1')
    own.set('car-order', 'dfs')
    own.set('car-dups', asked.duplicates ? 'y' : 'n')
  }
  return `/ipfs/${cid}?${own}`
}

interface Answering {
  store: Pick<ContentStore, 'read' | 'size' | 'readBlock' | 'exportCar'>
  req: IncomingMessage
  res: ServerResponse
  cid: string
  etag: string
  headers: Record<string, string>
}

/** Sends bytes, or the range of them that is asked for. */
async function sendBytes(
  { req, res, etag, headers }: Answering,
  size: number,
  read: (range?: { offset: number; length: number }) => AsyncIterable<Uint8Array>,
) {
  const { range: asked, 'if-range': condition } = req.headers
  // A part of other bytes than the caller has would not fit them.
  const range = parseRange(condition === undefined || condition === etag ? asked : undefined, size)
  const described = { ...headers, 'Accept-Ranges': 'bytes' }
  if (range === null) {
    const refused = { 'Cache-Control': 'no-store', 'Content-Range': `bytes */${size}` }
    res.writeHead(416, { ...described, ...refused, 'Content-Type': 'text/plain', 'Content-Length': 0 }).end()
    return
  }
  if (range) {
    const end = range.offset + range.length - 1
    const part = { 'Content-Length': range.length, 'Content-Range': `bytes ${range.offset}-${end}/${size}` }
    res.writeHead(206, { ...described, ...part })
  } else res.writeHead(200, { ...described, 'Content-Length': size })
  await stream(req, res, read(range))
}

async function* cut(block: Uint8Array, range?: { offset: number; length: number }) {
  yield range ? block.subarray(range.offset, range.offset + range.length) : block
}

async function sendCar({ store, req, res, cid, headers }: Answering, asked: CarRequest) {
  // Whatever can be refused is refused before the first byte.
  const size = asked.bytes ? await store.size(cid) : 0
  const selection = selectionOf(asked, size)
  await store.readBlock(cid)
  res.writeHead(200, { ...headers, 'Accept-Ranges': 'none', 'Content-Type': carType(asked) })
  await stream(req, res, store.exportCar(cid, selection))
}

/** Serves files of the content store to callers who were found to be allowed to read them. */
export function createGateway({ contentStore, publicUrl }: { contentStore: ContentStore; publicUrl: string }) {
  const base = new URL(publicUrl).pathname.replace(/\/$/, '')

  return {
    /** Returns the canonical form of a CID. Raises VALIDATION_FAILED if the text is not a CID. */
    nameOf: assertCid,

    /** Whether it is the empty file by which clients find out whether there is a gateway. */
    isProbe: (cid: string): boolean => cid === PROBE_CID,

    /**
     * Sends a file that the caller may read. Raises VALIDATION_FAILED for a form that is not had here, NOT_FOUND and UNAVAILABLE, all
     * before anything is sent. `takeApart` is called first when a block is wanted: its reader goes on to ask for those below it.
     */
    async send(
      req: IncomingMessage,
      res: ServerResponse,
      cid: string,
      query: URLSearchParams,
      file: ReadableFile,
      audience: Audience,
      takeApart?: () => Promise<void>,
    ) {
      // A worker registered at a file's address could answer for all others of the origin.
      if (req.headers['service-worker'] === 'script')
        throw validationFailed({ 'service-worker': ['No service worker is served here.'] })
      const asked = readFileRequest(query, req.headers.accept)
      const etag = etagOf(cid, asked)
      const common = {
        ETag: etag,
        'Cache-Control': cacheControls[audience],
        'Ipfs-Uri': `ipfs://${cid}`,
        'X-Ipfs-Path': `/ipfs/${cid}`,
        'X-Ipfs-Roots': cid,
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Expose-Headers':
          'Content-Length, Content-Location, Content-Range, ETag, Ipfs-Uri, X-Ipfs-Path, X-Ipfs-Roots, X-Request-Id',
        'Cross-Origin-Resource-Policy': 'cross-origin',
      }
      if (matchesEtag(req.headers['if-none-match'], etag)) {
        res.writeHead(304, common).end()
        return
      }
      const store = cid === PROBE_CID ? probe : contentStore
      const answering = { store, req, res, cid, etag }
      // Whoever gives somebody an address chooses it.
      const given = cleanFileName(query.get('filename'))
      if (asked.kind === 'file') {
        const inline = displayOf(file.mimeType) !== 'download' && query.get('download') !== 'true'
        const headers = {
          ...common,
          'Content-Security-Policy': "default-src 'none'; sandbox",
          'Content-Disposition': dispositionOf(inline ? 'inline' : 'attachment', given ?? file.fileName),
          'Content-Type': inline ? shownTypeOf(file.mimeType) : 'application/octet-stream',
        }
        const size = await store.size(cid)
        return sendBytes({ ...answering, headers }, size, (range) => store.read(cid, range))
      }
      const extension = asked.kind === 'raw' ? 'bin' : 'car'
      const headers = {
        ...common,
        // Without the second way to write the same name: Kubo reads no more than 2 KiB of headers, those of balancers included.
        'Content-Disposition': given
          ? dispositionOf('attachment', given)
          : `attachment; filename="${cid}.${extension}"`,
        'Content-Location': base + locationOf(cid, query, asked),
      }
      if (asked.kind === 'car') return sendCar({ ...answering, headers }, asked)
      await takeApart?.()
      const block = await store.readBlock(cid)
      return sendBytes(
        { ...answering, headers: { ...headers, 'Content-Type': 'application/vnd.ipld.raw' } },
        block.length,
        (range) => cut(block, range),
      )
    },
  }
}
