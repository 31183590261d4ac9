/**
 * Serves files over HTTP as a path gateway (https://specs.ipfs.tech/http-gateways/path-gateway/): the bytes with ranges, or blocks and CARs of the
 * trustless gateway, which untrusted clients can verify.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CID } from 'multiformats/cid'
import { matchesEtag } from '../http/send.ts'
import { displayOf } from '../modules/assets/file-types.ts'
import { validationFailed } from '../shared/errors.ts'
import { cleanFileName } from '../shared/text.ts'
import { carOf } from './block-reader.ts'
import { assertCid } from './cids.ts'
import type { ContentStore } from './file-types.ts'
import { type CarRequest, type FileRequest, parseRange, readFileRequest, selectionOf } from './gateway-request.ts'

/**
 * The CID of the empty file. Clients request it to detect a gateway
 * (https://specs.ipfs.tech/http-gateways/trustless-gateway/#dedicated-probe-paths). It is in no store.
 */
export const EMPTY_FILE_CID = 'bafkqaaa'

const empty = new Uint8Array()

export const emptyFile: Pick<ContentStore, 'read' | 'size' | 'readBlock' | 'exportCar'> = {
  async *read() {},
  size: async () => 0,
  readBlock: async () => empty,
  exportCar: () => carOf(CID.parse(EMPTY_FILE_CID), async () => empty),
}

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
    // The client disconnected, or the store failed. After the headers, only a closed connection reports an error.
    if (!res.destroyed) res.destroy(error as Error)
  }
}

/** Cache headers of a file. Documents without an owner never change. Assets can be deleted, and signed copies change. */
export type Audience = 'everybody-for-ever' | 'everybody' | 'owner' | 'everybody-now' | 'owner-now'

/** Seconds that a cached asset is fresh. */
const FRESH_SECONDS = 300

const cacheControls: Record<Audience, string> = {
  'everybody-for-ever': 'public, max-age=29030400, immutable',
  everybody: `public, max-age=${FRESH_SECONDS}, must-revalidate`,
  owner: `private, max-age=${FRESH_SECONDS}, must-revalidate`,
  'everybody-now': 'public, no-cache',
  'owner-now': 'private, no-cache',
}

/** Returns the entity tag. That of a CAR is weak, because the order of blocks may change with a version of Annal. */
const etagOf = (cid: string, requested: FileRequest) => {
  if (requested.kind === 'file') return `"${cid}"`
  if (requested.kind === 'raw') return `"${cid}.raw"`
  const { scope, bytes, duplicates } = requested
  const parts = [scope !== 'all' && scope, bytes && `${bytes.from}:${bytes.to}`, duplicates && 'dups', 'car'].filter(
    Boolean,
  )
  return `W/"${cid}.${parts.join('.')}"`
}

/**
 * Returns the Content-Type header. Browsers read a second type after a comma (`image/png;,text/html`). Recorders write a comma between codecs, which
 * players do not need.
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

/** Returns the canonical URL of a block or CAR, so that caches separate it from the bytes. */
const locationOf = (cid: string, query: URLSearchParams, requested: Exclude<FileRequest, { kind: 'file' }>) => {
  const own = new URLSearchParams({ format: requested.kind })
  if (requested.kind === 'car') {
    for (const name of ['dag-scope', 'entity-bytes']) if (query.has(name)) own.set(name, query.get(name)!)
    own.set('car-version', '1')
    own.set('car-order', 'dfs')
    own.set('car-dups', requested.duplicates ? 'y' : 'n')
  }
  return `/ipfs/${cid}?${own}`
}

interface Response {
  store: Pick<ContentStore, 'read' | 'size' | 'readBlock' | 'exportCar'>
  req: IncomingMessage
  res: ServerResponse
  cid: string
  etag: string
  headers: Record<string, string>
}

/** Sends bytes, or the requested range of them. */
async function sendBytes(
  { req, res, etag, headers }: Response,
  size: number,
  read: (range?: { offset: number; length: number }) => AsyncIterable<Uint8Array>,
) {
  const { range: requested, 'if-range': condition } = req.headers
  // With `If-Range`, a range of another version would not fit the bytes of the client.
  const range = parseRange(condition === undefined || condition === etag ? requested : undefined, size)
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

async function sendCar({ store, req, res, cid, headers }: Response, requested: CarRequest) {
  // Errors must be thrown before the first byte.
  const size = requested.bytes ? await store.size(cid) : 0
  const selection = selectionOf(requested, size)
  await store.readBlock(cid)
  res.writeHead(200, { ...headers, 'Accept-Ranges': 'none', 'Content-Type': carType(requested) })
  await stream(req, res, store.exportCar(cid, selection))
}

/** Creates the gateway. Its callers check permissions. */
export function createGateway({ contentStore, publicUrl }: { contentStore: ContentStore; publicUrl: string }) {
  const base = new URL(publicUrl).pathname.replace(/\/$/, '')

  return {
    /** Returns the canonical form of a CID. Throws VALIDATION_FAILED if the text is not a CID. */
    nameOf: assertCid,

    isProbe: (cid: string): boolean => cid === EMPTY_FILE_CID,

    /**
     * Sends a file that the caller may read. `indexBlocks` is called before a block is sent, because the client requests its children next. Throws
     * VALIDATION_FAILED for an unsupported format, NOT_FOUND, UNAVAILABLE before it sends anything.
     */
    async send(
      req: IncomingMessage,
      res: ServerResponse,
      cid: string,
      query: URLSearchParams,
      file: ReadableFile,
      audience: Audience,
      indexBlocks?: () => Promise<void>,
    ) {
      // A service worker at the URL of a file could answer requests for all other files of the origin.
      if (req.headers['service-worker'] === 'script')
        throw validationFailed({ 'service-worker': ['No service worker is served here.'] })
      const requested = readFileRequest(query, req.headers.accept)
      const etag = etagOf(cid, requested)
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
      const store = cid === EMPTY_FILE_CID ? emptyFile : contentStore
      const response = { store, req, res, cid, etag }
      // The author of the URL chooses this name.
      const given = cleanFileName(query.get('filename'))
      if (requested.kind === 'file') {
        const inline = displayOf(file.mimeType) !== 'download' && query.get('download') !== 'true'
        const headers = {
          ...common,
          'Content-Security-Policy': "default-src 'none'; sandbox",
          'Content-Disposition': dispositionOf(inline ? 'inline' : 'attachment', given ?? file.fileName),
          'Content-Type': inline ? shownTypeOf(file.mimeType) : 'application/octet-stream',
        }
        const size = await store.size(cid)
        return sendBytes({ ...response, headers }, size, (range) => store.read(cid, range))
      }
      const extension = requested.kind === 'raw' ? 'bin' : 'car'
      const headers = {
        ...common,
        // Without `filename*`: Kubo reads at most 2 KiB of headers, including those of load balancers.
        'Content-Disposition': given
          ? dispositionOf('attachment', given)
          : `attachment; filename="${cid}.${extension}"`,
        'Content-Location': base + locationOf(cid, query, requested),
      }
      if (requested.kind === 'car') return sendCar({ ...response, headers }, requested)
      await indexBlocks?.()
      const block = await store.readBlock(cid)
      return sendBytes(
        { ...response, headers: { ...headers, 'Content-Type': 'application/vnd.ipld.raw' } },
        block.length,
        (range) => cut(block, range),
      )
    },
  }
}
