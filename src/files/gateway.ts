/** Serves files as a path gateway and a trustless gateway (https://specs.ipfs.tech/http-gateways/). */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CID } from 'multiformats/cid'
import { canonicalCid } from '../../packages/verify/src/cids.ts'
import { matchesEtag } from '../http/http-server.ts'
import { displayOf } from '../modules/assets/file-types.ts'
import { type FieldErrors, validationFailed } from '../shared/errors.ts'
import { cleanFileName } from '../shared/text.ts'
import { carOf } from './block-reader.ts'
import type { CarSelection, ContentStore } from './file-types.ts'

type ReadableStore = Pick<ContentStore, 'read' | 'size' | 'readBlock' | 'exportCar'>

/** CID of the empty file, which clients request to detect a gateway. No store contains it. */
const EMPTY_FILE_CID = 'bafkqaaa'
const readNothing = async () => new Uint8Array()
const emptyFile: ReadableStore = {
  async *read() {},
  size: async () => 0,
  readBlock: readNothing,
  exportCar: () => carOf(CID.parse(EMPTY_FILE_CID), readNothing),
}

type ByteRange = { offset: number; length: number } | undefined

async function stream(req: IncomingMessage, res: ServerResponse, source: AsyncIterable<Uint8Array>) {
  if (req.method === 'HEAD') return void res.end()
  try {
    await pipeline(Readable.from(source), res)
  } catch (error) {
    // The client disconnected, or the content store failed. After the headers, only closing the connection shows it.
    if (!res.destroyed) res.destroy(error as Error)
  }
}

/** `Cache-Control` values by audience. They expire, because assets can be deleted and signed copies change. */
const cacheControls = {
  'everybody-for-ever': 'public, max-age=29030400, immutable',
  everybody: 'public, max-age=300, must-revalidate',
  owner: 'private, max-age=300, must-revalidate',
  'everybody-now': 'public, no-cache',
  'owner-now': 'private, no-cache',
}

/** Returns the ETag of a file. For a CAR it is weak, because a new version of Annal may change the block order. */
const etagOf = (cid: string, requested: FileRequest) => {
  if (requested.kind === 'file') return `"${cid}"`
  if (requested.kind === 'raw') return `"${cid}.raw"`
  const { scope, bytes, duplicates } = requested
  const range = bytes && `${bytes.from}:${bytes.to}`
  const parts = [cid, scope !== 'all' && scope, range, duplicates && 'dups', 'car']
  return `W/"${parts.filter(Boolean).join('.')}"`
}

/** Removes a second type after a comma, because browsers would use that type. */
const shownTypeOf = (mimeType: string) => (mimeType.includes(',') ? mimeType.split(';', 1)[0]!.trimEnd() : mimeType)

/** Returns a Content-Disposition header with ASCII and UTF-8 names (RFC 6266, RFC 8187). */
const dispositionOf = (kind: 'inline' | 'attachment', fileName: string) => {
  const plain = fileName.replaceAll(/[^ -~]|["\\%]/gu, '_')
  const percent = (found: string) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`
  const encoded = encodeURIComponent(fileName).replaceAll(/['()*]/g, percent)
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
  store: ReadableStore
  req: IncomingMessage
  res: ServerResponse
  cid: string
  etag: string
  headers: Record<string, string>
}

async function sendBytes(
  { req, res, etag, headers }: Response,
  size: number,
  read: (range: ByteRange) => AsyncIterable<Uint8Array>,
) {
  const { range: requested, 'if-range': condition } = req.headers
  // With `If-Range`, the client gets a range only if its version is current. Otherwise it gets the whole file.
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

async function sendCar({ store, req, res, cid, headers }: Response, requested: CarRequest) {
  // Read the size first, because errors must be thrown before the first byte is sent.
  const size = requested.bytes ? await store.size(cid) : 0
  const selection = selectionOf(requested, size)
  await store.readBlock(cid)
  res.writeHead(200, { ...headers, 'Accept-Ranges': 'none', 'Content-Type': carType(requested) })
  await stream(req, res, store.exportCar(cid, selection))
}

/** Creates the file gateway. Callers must check the permissions of the user. */
export function createGateway({ contentStore, publicUrl }: { contentStore: ContentStore; publicUrl: string }) {
  const base = new URL(publicUrl).pathname.replace(/\/$/, '')

  return {
    /** Returns the canonical form of a CID. Throws VALIDATION_FAILED if the text is not a CID. */
    nameOf(text: string): string {
      const cid = canonicalCid(text)
      if (cid === undefined) throw validationFailed({ cid: ['Expected a CID, as in bafkrei….'] })
      return cid
    },

    isProbe: (cid: string): boolean => cid === EMPTY_FILE_CID,

    /** Sends a file that the caller may read. Throws VALIDATION_FAILED, NOT_FOUND, UNAVAILABLE. */
    async send(
      req: IncomingMessage,
      res: ServerResponse,
      cid: string,
      query: URLSearchParams,
      file: { mimeType: string; fileName: string },
      audience: keyof typeof cacheControls,
      indexBlocks?: () => Promise<void>,
    ) {
      // A service worker at the URL of a file could answer requests for all other files of the origin.
      if (req.headers['service-worker'] === 'script')
        throw validationFailed({ 'service-worker': ['Files cannot be used as service workers.'] })
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
      if (matchesEtag(req.headers['if-none-match'], etag)) return void res.writeHead(304, common).end()
      const store = cid === EMPTY_FILE_CID ? emptyFile : contentStore
      const response = { store, req, res, cid, etag }
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
      // The header has no `filename*`, because Kubo reads at most 2 KiB of headers, including those of load balancers.
      const plain = `attachment; filename="${cid}.${requested.kind === 'raw' ? 'bin' : 'car'}"`
      const disposition = given ? dispositionOf('attachment', given) : plain
      const location = base + locationOf(cid, query, requested)
      const headers = { ...common, 'Content-Disposition': disposition, 'Content-Location': location }
      if (requested.kind === 'car') return sendCar({ ...response, headers }, requested)
      await indexBlocks?.()
      const block = await store.readBlock(cid)
      const raw = { ...response, headers: { ...headers, 'Content-Type': 'application/vnd.ipld.raw' } }
      return sendBytes(raw, block.length, async function* (range) {
        yield range ? block.subarray(range.offset, range.offset + range.length) : block
      })
    },
  }
}

interface CarRequest {
  kind: 'car'
  scope: 'block' | 'entity' | 'all'
  /** Positions of the first and the last byte of a range. Negative numbers count from the end of the file. */
  bytes?: { from: number; to: number | '*' } | undefined
  duplicates: boolean
}

/** `raw`: the root block. */
type FileRequest = { kind: 'file' } | { kind: 'raw' } | CarRequest

type Accepted = { kind: FileRequest['kind']; parameters: URLSearchParams }

const readAccept = (header = ''): Accepted[] => {
  const weightOf = ({ parameters }: Accepted) => Number(parameters.get('q') ?? 1)
  const formats = header.split(',').flatMap((part): Accepted[] => {
    const [type = '', ...rest] = part.toLowerCase().replaceAll(/[\s"]/g, '').split(';')
    const kind = /^application\/vnd\.ipld\.(raw|car)$/.exec(type)?.[1] as 'raw' | 'car' | undefined
    return type === '' ? [] : [{ kind: kind ?? 'file', parameters: new URLSearchParams(rest.join('&')) }]
  })
  return formats.filter((format) => weightOf(format) > 0).sort((a, b) => weightOf(b) - weightOf(a))
}

/** Allowed values of CAR parameters, by query name. The media type omits the prefix `car-`. */
const carParameters: Record<string, readonly string[]> = {
  'car-version': ['1'],
  'car-order': ['dfs', 'unk'],
  'car-dups': ['n', 'y'],
}

const carParameter = (name: string, query: URLSearchParams, { parameters }: Accepted) =>
  query.get(name) || parameters.get(name.slice('car-'.length)) || undefined

const problemOf = (query: URLSearchParams, accepted: Accepted): FieldErrors | undefined => {
  for (const [name, allowed] of Object.entries(carParameters)) {
    const value = carParameter(name, query, accepted)
    if (value !== undefined && !allowed.includes(value)) return { [name]: [`Expected ${allowed.join(' or ')}.`] }
  }
  return undefined
}

const readEntityBytes = (text: string | null): CarRequest['bytes'] => {
  if (text === null) return undefined
  const match = /^(-?\d{1,15}):(-?\d{1,15}|\*)$/.exec(text)
  const from = Number(match?.[1])
  const to = match?.[2] === '*' ? '*' : Number(match?.[2])
  if (!match || (to !== '*' && from < 0 === to < 0 && from > to)) {
    const problem = 'Expected the first and the last byte, as in 0:1023, 1024:* or -1024:*.'
    throw validationFailed({ 'entity-bytes': [problem] })
  }
  return { from, to }
}

const readCar = (query: URLSearchParams, accepted: Accepted): CarRequest => {
  const named = query.get('dag-scope')
  const scope = (['block', 'entity', 'all'] as const).find((each) => each === named)
  if (named !== null && !scope) throw validationFailed({ 'dag-scope': ['Expected block, entity or all.'] })
  const bytes = readEntityBytes(query.get('entity-bytes'))
  const duplicates = carParameter('car-dups', query, accepted) === 'y'
  if (bytes && (scope ?? 'entity') === 'entity') return { kind: 'car', scope: 'entity', bytes, duplicates }
  return { kind: 'car', scope: scope ?? 'all', duplicates }
}

function readFileRequest(query: URLSearchParams, accept: string | undefined): FileRequest {
  const named = query.get('format')
  if (named !== null && named !== 'raw' && named !== 'car')
    throw validationFailed({ format: ['Expected raw or car. Leave it out to get the bytes of the file.'] })
  const accepted = readAccept(accept)
  const fitting = accepted.filter(({ kind }) => named === null || kind === named)
  const candidates =
    fitting.length > 0 ? fitting : [{ kind: named ?? 'file', parameters: new URLSearchParams() } as const]
  const best = candidates.find((each) => each.kind !== 'car' || !problemOf(query, each))
  if (!best) throw validationFailed(problemOf(query, candidates[0]!)!)
  return best.kind === 'car' ? readCar(query, best) : { kind: best.kind }
}

/** Returns the block selection of a CAR request for a file of `size` bytes. Throws VALIDATION_FAILED. */
function selectionOf({ scope, bytes, duplicates }: CarRequest, size: number): CarSelection {
  if (!bytes) return { scope: scope === 'block' ? 'block' : 'all', duplicates }
  const { from, to } = bytes
  const first = from < 0 ? Math.max(size + from, 0) : from
  const last = to === '*' ? size - 1 : to < 0 ? size + to : Math.min(to, size - 1)
  if (size > 0 && first >= size) throw validationFailed({ 'entity-bytes': [`The file has ${size} bytes.`] })
  if (last < first) return { scope: 'block', duplicates }
  return { scope: 'all', range: { offset: first, length: last - first + 1 }, duplicates }
}

/** Parses a `Range` header. Returns undefined for the whole file, and null if the range is unsatisfiable. */
function parseRange(header: string | undefined, size: number): ByteRange | null {
  const match = /^bytes=(\d*)-(\d*)(?:\s*,\s*(?:\d+-\d*|-\d+))*$/i.exec(header ?? '')
  if (!match || (match[1] === '' && match[2] === '')) return undefined
  const start = match[1] === '' ? Math.max(size - Number(match[2]), 0) : Number(match[1])
  const end = match[1] === '' || match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1)
  return start > end || start >= size ? null : { offset: start, length: end - start + 1 }
}

export type FileLinks = ReturnType<typeof createFileLinks>

/**
 * Creates signed links to private files, valid for one to two hours. They work without credentials, because an `<img>`
 * cannot send a header. `key`: 32 bytes, the same in all processes of an installation.
 */
export function createFileLinks({ key }: { key: Uint8Array }) {
  // Parse the key once, not for every link.
  const secret = createSecretKey(key)
  const signatureOf = (assetId: string, cid: string, expires: number) =>
    createHmac('sha256', secret).update(`${assetId}\n${cid}\n${expires}`).digest('base64url')

  return {
    /** Returns path and query of a link to a file of an asset (UUID). The link is valid for at least an hour. */
    sign(assetId: string, cid: string): string {
      // Links to the same file are equal within an hour, so clients can cache the file.
      const expires = (Math.floor(Date.now() / 3_600_000) + 2) * 3_600
      const signature = signatureOf(assetId, cid, expires)
      return `/ipfs/${cid}?asset=${assetId}&expires=${expires}&signature=${signature}`
    },
    /** Returns the asset UUID in a link, or undefined if the signature is not valid. `cid`: any version and base. */
    verify(cid: string, query: URLSearchParams): string | undefined {
      const expires = Number(query.get('expires'))
      if (!Number.isInteger(expires) || expires * 1000 < Date.now()) return undefined
      const assetId = query.get('asset') ?? ''
      const given = Buffer.from(query.get('signature') ?? '')
      const expected = Buffer.from(signatureOf(assetId, canonicalCid(cid) ?? cid, expires))
      return given.length === expected.length && timingSafeEqual(given, expected) ? assetId : undefined
    },
  }
}
