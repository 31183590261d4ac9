/** Import client for the REST API, with retries. It does not use GraphQL, which may be limited to trusted documents. */
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { statuses } from '../../http/error-status.ts'
import { forEachConcurrent } from '../../shared/async.ts'
import type { ImportRow } from './import-source.ts'

/** Timeout of a request, in milliseconds. */
const REQUEST_MS = 30_000
/** Timeout of an upload, in milliseconds. Long enough for the largest file over a slow connection. */
const UPLOAD_MS = 30 * 60_000
const PAGE_SIZE = 1_000

const retryableCodes = [
  ...(['CONFLICT', 'IDEMPOTENCY_KEY_IN_USE', 'INSUFFICIENT_STORAGE', 'REQUEST_TIMEOUT'] as const),
  ...(['THROTTLED', 'UNAVAILABLE'] as const),
]
const retryable = new Set<string>(['unreachable', ...retryableCodes.map((code) => statuses[code].type)])

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

/** Retries a request until it succeeds or fails permanently. */
export type Retry = <T>(request: () => Promise<T>) => Promise<T>

/** Pauses between attempts, in seconds. The request fails after the last one. */
const PAUSES_SECONDS = [1, 2, 4, 8, 15, 30, 30, 30]
/** Pause after a 429 response without Retry-After, in seconds. */
const THROTTLED_SECONDS = 10
/** Minimum pause that is reported to the user, in seconds. */
const REPORTED_SECONDS = 5

/**
 * Creates a function that retries requests. All its requests pause together. After a rate limit it waits as long as
 * the server requests. Requests must throw RefusedError. Throws the reason of `interrupted` before a new attempt.
 */
export function createRetry(report: (text: string) => void, interrupted: AbortSignal): Retry {
  /** End of the current pause, in milliseconds of `performance.now()`. */
  let pausedUntil = 0
  let pauses = 0
  /** Number of pauses since the last success, except those for the rate limit. */
  let failures = 0

  async function waitForPause() {
    const wait = pausedUntil - performance.now()
    if (wait > 0) await delay(wait, undefined, { signal: interrupted }).catch(() => undefined)
    interrupted.throwIfAborted()
  }

  function pauseAfter(refused: RefusedError) {
    const { code, message, retryAfter } = refused
    const isThrottled = code === statuses.THROTTLED.type
    const pause = isThrottled ? THROTTLED_SECONDS : PAUSES_SECONDS[failures]
    if (pause === undefined) throw refused
    if (!isThrottled) failures += 1
    const seconds = isThrottled ? (retryAfter ?? pause) : Math.max(retryAfter ?? 0, pause)
    pauses += 1
    pausedUntil = performance.now() + seconds * 1_000
    if (seconds < REPORTED_SECONDS) return
    const at = new Date(Date.now() + seconds * 1_000).toLocaleTimeString()
    report(`${message} Retrying in ${seconds} seconds, at ${at}.`)
  }

  return async (request) => {
    for (;;) {
      await waitForPause()
      const pausesBefore = pauses
      try {
        const answer = await request()
        failures = 0
        return answer
      } catch (error) {
        if (!(error instanceof RefusedError) || !retryable.has(error.code)) throw error
        // Concurrent requests fail for the same reason, so only the first one adds a pause.
        if (pauses === pausesBefore) pauseAfter(error)
      }
    }
  }
}

/** The file changed after it was examined, or can no longer be read. */
class ChangedFileError extends Error {
  constructor(cause?: unknown) {
    super('The file changed or disappeared during the import. Run the same command again.', { cause })
  }
}

/** Yields a file's content. Yields the last bytes only if the whole file has the expected hash. Throws ChangedFileError. */
async function* readUnchanged({ file, size, sha256 }: ImportRow): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let left = size
  try {
    for await (const part of createReadStream(file) as AsyncIterable<Buffer>) {
      left -= part.length
      hash.update(part)
      if (left < 0 || (left === 0 && hash.copy().digest('hex') !== sha256)) throw new ChangedFileError()
      yield part
    }
  } catch (error) {
    throw error instanceof ChangedFileError ? error : new ChangedFileError(error)
  }
  if (left > 0) throw new ChangedFileError()
}

/** Quotes a field name like browsers. */
const quote = (name: string) => `"${name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')}"`

/**
 * Returns the body and headers of an upload. Reading the body throws ChangedFileError, so that an incomplete form is
 * sent, which the server rejects. A `FormData` with a file would crash the process if the file changes.
 */
function formOf(row: ImportRow, fields: Record<string, string>) {
  const boundary = `annal-${randomUUID()}`
  const start = `--${boundary}\r\ncontent-disposition: form-data; name=`
  const texts = Object.entries(fields).map(([name, value]) => `${start}${quote(name)}\r\n\r\n${value}\r\n`)
  const before = Buffer.from(
    `${texts.join('')}${start}"asset_file"; filename=${quote(row.fileName)}\r\ncontent-type: ${row.type}\r\n\r\n`,
  )
  const after = Buffer.from(`\r\n--${boundary}--\r\n`)
  async function* parts() {
    yield before
    yield* readUnchanged(row)
    yield after
  }
  const headers = {
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': String(before.length + row.size + after.length),
  }
  // Fetch also accepts an async iterable.
  return { body: parts() as unknown as ReadableStream<Uint8Array>, headers, duplex: 'half' } as const
}

/** Price of a registration, and the account's balance, as decimal strings. */
export interface ImportQuote {
  each: string
  available: string
}

interface ErrorBody {
  error?: { type?: string; message?: string }
}
interface Quote {
  total_cost: string
  available: string
  errors: { type: string; field: string | null; message: string }[]
}
interface Page {
  count: number
  results: { id: string; proof_hash: string }[]
}

/** Returns the body of a successful response. Throws RefusedError. */
async function readResponse<Body>(response: Response): Promise<Body> {
  const body = (await response.json().catch(() => undefined)) as (ErrorBody & Body) | undefined
  if (response.ok && body !== undefined) return body
  const { type, message } = body?.error ?? {}
  if (type !== undefined && message !== undefined) {
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    throw new RefusedError(type, message, Number.isFinite(seconds) ? seconds : undefined)
  }
  const location = response.headers.get('location')
  const redirect = location === null ? '' : ` and redirects to ${location}`
  // A proxy may respond while the server starts.
  throw new RefusedError(
    response.status >= 500 ? statuses.UNAVAILABLE.type : 'not_annal',
    `${response.url} responds with status ${response.status}${redirect}, which is not a response of Annal.`,
  )
}

/** Client of the server, with the access token of the paying account. All methods throw RefusedError. */
export type ImportServer = ReturnType<typeof createImportServer>

export function createImportServer(
  address: string,
  token: string,
  { concurrency, retry }: { concurrency: number; retry: Retry },
) {
  const url = address.replace(/\/+$/, '')

  async function requestOnce<Body>(path: string, init: RequestInit, timeout: number): Promise<Body> {
    const headers = { ...init.headers, authorization: `token ${token}`, accept: 'application/json' }
    const signal = AbortSignal.timeout(timeout)
    // Following a redirect would send the token to another host or change the POST to a GET.
    const sent = fetch(`${url}/api/v3/${path}`, { ...init, headers, redirect: 'manual', signal })
    const response = await sent.catch((error: Error) => {
      const cause = error.cause instanceof Error ? error.cause : error
      if (cause instanceof ChangedFileError) throw new RefusedError('not_sent', cause.message)
      throw new RefusedError('unreachable', `Cannot reach ${url}: ${cause.message || cause.name}.`)
    })
    return readResponse(response)
  }
  const request = <Body>(path: string, createInit = (): RequestInit => ({}), timeout = REQUEST_MS): Promise<Body> =>
    retry(() => requestOnce(path, createInit(), timeout))

  const quote = (fields: Record<string, string>) =>
    request<Quote>('quotes/assets/', () => ({
      method: 'POST',
      body: JSON.stringify(fields),
      headers: { 'content-type': 'application/json' },
    }))

  return {
    async readUsername(): Promise<string> {
      return (await request<{ username: string }>('auth/users/me/')).username
    },

    async quote(): Promise<ImportQuote> {
      const { total_cost: each, available } = await quote({})
      return { each, available }
    },

    /** Returns the nids of the files that the account already registered, by SHA-256. */
    async findRegistered(hashes: ReadonlySet<string>): Promise<Map<string, string>> {
      const found = new Map<string, string>()
      const collect = ({ results }: Page) => {
        for (const { id, proof_hash: hash } of results) if (hashes.has(hash)) found.set(hash, id)
        return results.length
      }
      const { count } = await request<Page>('assets/?limit=1')
      // Reads all pages or searches for each file, whichever needs fewer requests.
      if (count > PAGE_SIZE * (hashes.size - 1)) {
        await forEachConcurrent(hashes, concurrency, async (hash) => {
          collect(await request<Page>(`assets/?limit=1&proof_hash=${hash}`))
        })
        return found
      }
      for (let seen = 0, last = 1; last > 0 && seen < count; seen += last) {
        last = collect(await request<Page>(`assets/?limit=${PAGE_SIZE}&offset=${seen}`))
      }
      return found
    },

    /** Validates the metadata of a row. Returns the first problem, or undefined. */
    async validate({ fields }: ImportRow): Promise<{ code: string; message: string } | undefined> {
      // A quote also reports the missing file, which is expected here.
      const { errors } = await quote(fields)
      const [problem] = errors.filter(({ field }) => field !== null && field !== 'asset_file')
      return problem && { code: problem.type, message: `${problem.field}: ${problem.message}` }
    },

    /** Registers a file for at most `maxCost` and returns its nid. Repeating a call with the same `idempotencyKey` registers and charges once. */
    async register(row: ImportRow, maxCost: string, idempotencyKey: string): Promise<string> {
      const createInit = () => {
        const { headers, ...form } = formOf(row, { ...row.fields, max_cost: maxCost })
        return { ...form, method: 'POST', headers: { ...headers, 'idempotency-key': idempotencyKey } }
      }
      const { id, proof_hash: hash } = await request<Page['results'][number]>('assets/', createInit, UPLOAD_MS)
      if (hash === row.sha256) return id
      throw new RefusedError(
        'damaged',
        `The file was registered as ${id}, but its bytes differ from those of the file.`,
      )
    },
  }
}
