/** Import client for the REST API, with retries. It does not use GraphQL, which may be limited to trusted documents. */
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { statuses } from '../../http/error-status.ts'
import { report } from '../terminal.ts'
import type { ImportRow } from './import-source.ts'

/** Timeouts in milliseconds. An upload may send the largest file over a slow connection. */
const [REQUEST_MS, UPLOAD_MS] = [30_000, 30 * 60_000]
const PAGE_SIZE = 1_000
/** Pauses between attempts, in seconds. */
const PAUSES_SECONDS = [1, 2, 4, 8, 15, 30, 30, 30]
/** Pause after a 429 response without Retry-After, and the minimum pause that is reported to the user. */
const [THROTTLED_SECONDS, REPORTED_SECONDS] = [10, 5]

const { CONFLICT, IDEMPOTENCY_KEY_IN_USE, INSUFFICIENT_STORAGE, REQUEST_TIMEOUT, THROTTLED, UNAVAILABLE } = statuses
const retried = [CONFLICT, IDEMPOTENCY_KEY_IN_USE, INSUFFICIENT_STORAGE, REQUEST_TIMEOUT, THROTTLED, UNAVAILABLE]
const retryable = new Set<string>(['unreachable', ...retried.map(({ type }) => type)])

/** An error response of the server, or a missing response. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  /** `error.type` of the REST API, or `unreachable`, `not_annal`, `not_sent` or `damaged`. */
  readonly code: string
  /** Value of the header Retry-After, in seconds. */
  readonly retryAfter: number | undefined

  constructor(code: string, message: string, retryAfter?: number) {
    super(message)
    this.code = code
    this.retryAfter = retryAfter
  }
}

/** Repeats a request until it succeeds or fails permanently. Throws the reason of `interrupted` before a new attempt. */
async function retry<T>(request: () => Promise<T>, interrupted: AbortSignal): Promise<T> {
  for (let failures = 0; ; ) {
    interrupted.throwIfAborted()
    try {
      return await request()
    } catch (error) {
      if (!(error instanceof RefusedError) || !retryable.has(error.code)) throw error
      const { code, message, retryAfter = 0 } = error
      const isThrottled = code === THROTTLED.type
      if (!isThrottled && failures === PAUSES_SECONDS.length) throw error
      const seconds = isThrottled ? retryAfter || THROTTLED_SECONDS : Math.max(retryAfter, PAUSES_SECONDS[failures++]!)
      const time = new Date(Date.now() + seconds * 1_000).toLocaleTimeString()
      if (seconds >= REPORTED_SECONDS) report(`${message} Retrying in ${seconds} seconds, at ${time}.`)
      await delay(seconds * 1_000, undefined, { signal: interrupted }).catch(() => undefined)
    }
  }
}

/** Yields a file's content. Yields the last bytes only if the whole file has the expected hash. Throws RefusedError. */
async function* readUnchanged({ file, size, sha256 }: ImportRow): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let left = size
  try {
    for await (const part of createReadStream(file) as AsyncIterable<Buffer>) {
      left -= part.length
      hash.update(part)
      if (left < 0 || (left === 0 && hash.copy().digest('hex') !== sha256)) break
      yield part
    }
  } catch {
    left = -1
  }
  if (left === 0 && hash.digest('hex') === sha256) return
  throw new RefusedError('not_sent', 'The file changed or disappeared during the import. Run the same command again.')
}

const quoted = (name: string) => `"${name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')}"`

/**
 * Returns the request of an upload. An error while the body is read sends an incomplete form, which the server rejects. A `FormData` with a file would
 * crash the process if the file changes.
 */
function uploadOf(row: ImportRow, fields: Record<string, string>, idempotencyKey: string) {
  const boundary = `annal-${randomUUID()}`
  const start = `--${boundary}\r\ncontent-disposition: form-data; name=`
  const texts = Object.entries(fields).map(([name, value]) => `${start}${quoted(name)}\r\n\r\n${value}\r\n`)
  const fileHeader = `${start}"asset_file"; filename=${quoted(row.fileName)}\r\ncontent-type: ${row.type}\r\n\r\n`
  const [before, after] = [Buffer.from(texts.join('') + fileHeader), Buffer.from(`\r\n--${boundary}--\r\n`)]
  async function* parts() {
    yield before
    yield* readUnchanged(row)
    yield after
  }
  const headers = {
    ...{ 'content-type': `multipart/form-data; boundary=${boundary}`, 'idempotency-key': idempotencyKey },
    'content-length': String(before.length + row.size + after.length),
  }
  // Fetch also accepts an async iterable.
  return { method: 'POST', body: parts() as unknown as ReadableStream<Uint8Array>, headers, duplex: 'half' } as const
}

/** Price of a registration, and the balance of the account, as decimal strings. */
export type ImportQuote = { each: string; available: string }

type Problem = { type: string; field: string | null; message: string }
type Quote = { total_cost: string; available: string; errors: Problem[] }
type Asset = { id: string; proof_hash: string }

async function readResponse<Body>(response: Response): Promise<Body> {
  type ResponseBody = Body & { error?: { type?: string; message?: string } }
  const body = (await response.json().catch(() => undefined)) as ResponseBody | undefined
  if (response.ok && body !== undefined) return body
  const { type, message } = body?.error ?? {}
  if (type !== undefined && message !== undefined)
    throw new RefusedError(type, message, Number(response.headers.get('retry-after')) || undefined)
  const location = response.headers.get('location')
  const redirect = location === null ? '' : ` and redirects to ${location}`
  throw new RefusedError(
    // A proxy may respond while the server starts.
    response.status >= 500 ? UNAVAILABLE.type : 'not_annal',
    `${response.url} responds with status ${response.status}${redirect}, which is not a response of Annal.`,
  )
}

export type ImportServer = ReturnType<typeof createImportServer>

/** Creates a client with the access token of the paying account. All methods throw RefusedError. */
export function createImportServer(address: string, token: string, interrupted: AbortSignal) {
  const url = address.replace(/\/+$/, '')

  async function requestOnce<Body>(path: string, init: RequestInit, timeout: number): Promise<Body> {
    const headers = { ...init.headers, authorization: `token ${token}`, accept: 'application/json' }
    const signal = AbortSignal.timeout(timeout)
    // Following a redirect would send the token to another host or change the POST to a GET.
    const sent = fetch(`${url}/api/v3/${path}`, { ...init, headers, redirect: 'manual', signal })
    const response = await sent.catch((error: Error) => {
      const cause = error.cause instanceof Error ? error.cause : error
      if (cause instanceof RefusedError) throw cause
      throw new RefusedError('unreachable', `Cannot reach ${url}: ${cause.message || cause.name}.`)
    })
    return readResponse(response)
  }
  const request = <Body>(path: string, createInit = (): RequestInit => ({}), timeout = REQUEST_MS): Promise<Body> =>
    retry(() => requestOnce(path, createInit(), timeout), interrupted)

  const readAssets = (query: string) => request<{ count: number; results: Asset[] }>(`assets/?${query}`)
  const quote = (fields: Record<string, string>) => {
    const headers = { 'content-type': 'application/json' }
    return request<Quote>('quotes/assets/', () => ({ method: 'POST', body: JSON.stringify(fields), headers }))
  }

  return {
    readUsername: async () => (await request<{ username: string }>('auth/users/me/')).username,

    async quote(): Promise<ImportQuote> {
      const { total_cost: each, available } = await quote({})
      return { each, available }
    },

    /** Returns the nids of all assets that the account registered, by SHA-256. */
    async readRegistered(): Promise<Map<string, string>> {
      const found = new Map<string, string>()
      for (let offset = 0, isComplete = false; !isComplete; offset += PAGE_SIZE) {
        const { count, results } = await readAssets(`limit=${PAGE_SIZE}&offset=${offset}`)
        for (const { id, proof_hash: hash } of results) found.set(hash, id)
        isComplete = results.length === 0 || offset + PAGE_SIZE >= count
      }
      return found
    },

    findRegistered: async (sha256: string) => (await readAssets(`limit=1&proof_hash=${sha256}`)).results[0]?.id,

    /** Validates the metadata of a row. Returns the first problem, or undefined. */
    async validate({ fields }: ImportRow): Promise<{ code: string; message: string } | undefined> {
      // A quote also reports the missing file, which is expected here.
      const { errors } = await quote(fields)
      const problem = errors.find(({ field }) => field !== null && field !== 'asset_file')
      return problem && { code: problem.type, message: `${problem.field}: ${problem.message}` }
    },

    /** Registers a file for at most `maxCost` and returns its nid. Repeating a call with the same `idempotencyKey` registers and charges once. */
    async register(row: ImportRow, maxCost: string, idempotencyKey: string): Promise<string> {
      const createInit = () => uploadOf(row, { ...row.fields, max_cost: maxCost }, idempotencyKey)
      const { id, proof_hash: hash } = await request<Asset>('assets/', createInit, UPLOAD_MS)
      if (hash === row.sha256) return id
      throw new RefusedError('damaged', `The registered file ${id} has other bytes than the sent file.`)
    },
  }
}
