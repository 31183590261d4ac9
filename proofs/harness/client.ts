/** A caller who never gives up: the same request with the same Idempotency-Key until it is answered. */
import { request } from 'node:http'
import { until } from '../../test/support/eventually.ts'

export interface Call {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  key?: string
  token?: string
  /** Of a trusted service. */
  apiKey?: string
  body?: { type: string; bytes: Buffer }
}

export interface Answer {
  status: number
  body: unknown
  replayed: boolean
  /** Whether it says when to ask again. */
  hasRetryAfter: boolean
}

/** Moments of one request that somebody else may want to know of. */
export interface Watch {
  onSent?(): void
  onFirstByte?(): void
}

export const jsonBody = (value: object): Call['body'] => ({
  type: 'application/json',
  bytes: Buffer.from(JSON.stringify(value)),
})

export const multipartBody = async (form: FormData): Promise<Call['body']> => {
  const response = new Response(form)
  return { type: response.headers.get('content-type')!, bytes: Buffer.from(await response.arrayBuffer()) }
}

/** One try. Undefined when there was no whole answer. */
export const tryOnce = (base: string, call: Call, watch: Watch = {}): Promise<Answer | undefined> =>
  new Promise((resolve) => {
    const headers: Record<string, string | number> = {}
    if (call.key) headers['idempotency-key'] = call.key
    if (call.token) headers.authorization = `token ${call.token}`
    if (call.apiKey) headers['x-api-key'] = call.apiKey
    if (call.body) Object.assign(headers, { 'content-type': call.body.type, 'content-length': call.body.bytes.length })
    const sent = request(
      base + call.path,
      { method: call.method, headers, timeout: 15_000, agent: false },
      (response) => {
        const chunks: Buffer[] = []
        response.once('data', () => watch.onFirstByte?.())
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('close', () => {
          if (!response.complete) return resolve(undefined)
          const text = Buffer.concat(chunks).toString()
          const replayed = response.headers['idempotency-replayed'] === 'true'
          const hasRetryAfter = response.headers['retry-after'] !== undefined
          const body = text === '' ? undefined : JSON.parse(text)
          resolve({ status: response.statusCode!, body, replayed, hasRetryAfter })
        })
        response.once('error', () => resolve(undefined))
      },
    )
    sent.once('finish', () => watch.onSent?.())
    sent.once('timeout', () => sent.destroy())
    sent.once('error', () => resolve(undefined))
    sent.end(call.body?.bytes)
  })

/** Answers that say "not now": a caller sends the same again. */
const isTransient = ({ status, hasRetryAfter }: Answer) => (status === 503 && hasRetryAfter) || status === 409

export interface Persistence {
  answer: Answer
  tries: number
}

/** Tries until there is an answer that counts, each time at a gateway that `choose` names. */
export async function persist(
  choose: () => string | undefined,
  call: Call,
  watchOf?: (base: string) => Watch,
): Promise<Persistence> {
  let tries = 0
  const answer = await until(
    `an answer to ${call.method} ${call.path}`,
    async () => {
      const base = choose()
      if (!base) return undefined
      tries += 1
      const got = await tryOnce(base, call, watchOf?.(base))
      return got && !isTransient(got) ? got : undefined
    },
    120_000,
    20,
  )
  return { answer, tries }
}
