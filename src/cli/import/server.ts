/** The server that an import goes to: its front door, as any caller has it. REST alone, for GraphQL may be shut but to known documents. */

import { statuses } from '../../http/error-status.ts'
import type { ErrorCode } from '../../shared/errors.ts'
import { forEach, type ImportRow } from './files.ts'
import { ChangedError, formOf } from './form.ts'

/** Milliseconds: a question, and a file of the largest size over a slow line. */
const ASK_MS = 30_000
const SEND_MS = 30 * 60_000
const PAGE = 1_000

/** The server said no, or nothing. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  /** As REST has it in `error.type`; `unreachable` when no answer came. */
  readonly code: string
  /** Seconds until asking again makes sense; undefined when the server did not say so. */
  readonly retryAfter: number | undefined

  constructor(code: string, message: string, retryAfter?: number) {
    super(message)
    this.code = code
    this.retryAfter = retryAfter
  }

  /** Whether the same request may succeed later. */
  get isPassing(): boolean {
    return passing.has(this.code)
  }
}

const passingCodes: ErrorCode[] = [
  'CONFLICT',
  'IDEMPOTENCY_KEY_IN_USE',
  'INSUFFICIENT_STORAGE',
  'REQUEST_TIMEOUT',
  'THROTTLED',
  'UNAVAILABLE',
]
const passing = new Set(['unreachable', ...passingCodes.map((code) => statuses[code].type)])

/** What registering costs, and what the account can pay. Decimal strings. */
export interface ImportQuote {
  each: string
  available: string
}

/** What an import asks of a server. All raise RefusedError. */
export interface ImportServer {
  /** Username of whose token it is. */
  whose(): Promise<string>
  quote(): Promise<ImportQuote>
  /** Which of these files, by SHA-256, the account has registered, with their nids. */
  findRegistered(hashes: ReadonlySet<string>): Promise<Map<string, string>>
  /** What is wrong with what a row says of its file; undefined when nothing is. */
  judge(row: ImportRow): Promise<{ code: string; message: string } | undefined>
  /** Registers a file for at most `maxCost`; returns its nid. The same `idempotencyKey` registers and charges once. */
  register(row: ImportRow, maxCost: string, idempotencyKey: string): Promise<string>
}

/** Has a question asked until it is answered, or there is no use in asking. */
export type Patiently = <T>(ask: () => Promise<T>) => Promise<T>

interface Body {
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

async function answerOf<Answer>(response: Response): Promise<Answer> {
  const body = (await response.json().catch(() => undefined)) as (Body & Answer) | undefined
  if (response.ok && body !== undefined) return body
  const { type, message } = body?.error ?? {}
  if (type !== undefined && message !== undefined) {
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    throw new RefusedError(type, message, Number.isFinite(seconds) ? seconds : undefined)
  }
  const elsewhere = response.headers.get('location')
  const leads = elsewhere === null ? '' : ` and leads to ${elsewhere}`
  // A proxy may answer for a server that is being started.
  throw new RefusedError(
    response.status >= 500 ? statuses.UNAVAILABLE.type : 'not_annal',
    `${response.url} answers with status ${response.status}${leads}, and not as Annal does.`,
  )
}

/** What `fetch` failed of. */
const causeOf = (error: unknown): Error => {
  const { cause } = error as Error
  return cause instanceof Error ? cause : (error as Error)
}

/** A server by its address, asked with somebody's access token, so many questions at once. Asks nothing yet. */
export function createImportServer(
  address: string,
  token: string,
  { atOnce, patiently }: { atOnce: number; patiently: Patiently },
): ImportServer {
  const url = address.replace(/\/+$/, '')

  async function askOnce<Answer>(path: string, makeInit: () => RequestInit, patience: number): Promise<Answer> {
    const init = makeInit()
    const headers = { ...init.headers, authorization: `token ${token}`, accept: 'application/json' }
    const signal = AbortSignal.timeout(patience)
    // What leads elsewhere is told: it would take the token there, or make a question of what is to be registered.
    const asked = fetch(`${url}/api/v3/${path}`, { ...init, headers, redirect: 'manual', signal })
    const response = await asked.catch((error: unknown) => {
      const cause = causeOf(error)
      if (cause instanceof ChangedError) throw new RefusedError('not_sent', cause.message)
      throw new RefusedError('unreachable', `${url} cannot be reached: ${cause.message || cause.name}.`)
    })
    return answerOf(response)
  }
  const ask = <Answer>(path: string, init = (): RequestInit => ({}), patience = ASK_MS): Promise<Answer> =>
    patiently(() => askOnce(path, init, patience))

  const quote = (fields: Record<string, string>) =>
    ask<Quote>('quotes/assets/', () => ({
      method: 'POST',
      body: JSON.stringify(fields),
      headers: { 'content-type': 'application/json' },
    }))

  return {
    async whose() {
      return (await ask<{ username: string }>('auth/users/me/')).username
    },

    async quote() {
      const { total_cost: each, available } = await quote({})
      return { each, available }
    },

    async findRegistered(hashes) {
      const found = new Map<string, string>()
      const keep = ({ results }: Page) => {
        for (const { id, proof_hash: hash } of results) if (hashes.has(hash)) found.set(hash, id)
        return results.length
      }
      const { count } = await ask<Page>('assets/?limit=1')
      // Page by page, or file by file: whichever takes fewer questions.
      if (count > PAGE * (hashes.size - 1)) {
        await forEach(hashes, atOnce, async (hash) => void keep(await ask<Page>(`assets/?limit=1&proof_hash=${hash}`)))
        return found
      }
      for (let seen = 0, last = 1; last > 0 && seen < count; seen += last) {
        last = keep(await ask<Page>(`assets/?limit=${PAGE}&offset=${seen}`))
      }
      return found
    },

    async judge({ fields }) {
      // Without a file, whose absence is told as well.
      const { errors } = await quote(fields)
      const [problem] = errors.filter(({ field }) => field !== null && field !== 'asset_file')
      return problem && { code: problem.type, message: `${problem.field}: ${problem.message}` }
    },

    async register(row, maxCost, idempotencyKey) {
      const init = () => {
        const { headers, ...form } = formOf(row, { ...row.fields, max_cost: maxCost })
        return { ...form, method: 'POST', headers: { ...headers, 'idempotency-key': idempotencyKey } }
      }
      const { id, proof_hash: hash } = await ask<Page['results'][number]>('assets/', init, SEND_MS)
      if (hash === row.sha256) return id
      throw new RefusedError('damaged', `It was registered as ${id}, whose bytes are not those of the file.`)
    },
  }
}
