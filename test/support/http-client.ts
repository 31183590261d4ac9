/** The HTTP client of tests and proofs. It sends requests and returns responses unchanged. */
import { type Agent, type ClientRequest, request as createRequest, type IncomingMessage } from 'node:http'
import { urlToHttpOptions } from 'node:url'

export type FormValue = string | File

export type Credentials = { token?: string | undefined; apiKey?: string | undefined }

export interface Message extends Credentials {
  method?: string | undefined
  path?: string
  name?: string
  key?: string
  headers?: Record<string, string>
  json?: unknown
  multipart?: FormData | Record<string, FormValue> | undefined
  urlencoded?: Record<string, string> | undefined
  raw?: string | Uint8Array | undefined
}

/** The options of a request, and its observers. */
export type Delivery = { agent?: Agent; patience?: number; streamFor?: number; onSent?(): void; onFirstByte?(): void }

export interface Answer {
  sent: string
  status: number
  headers: Headers
  rawHeaders: string[]
  bytes: Buffer
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers by path, and a wrong path fails the test.
  body: any
  sentAt: number
  milliseconds: number
  toJSON(): unknown
}

const PATIENCE = 60_000

function formOf(fields: NonNullable<Message['multipart']>): FormData {
  if (fields instanceof FormData) return fields
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return form
}

async function encode({ json, multipart, urlencoded, raw }: Message): Promise<{ bytes?: Buffer; type?: string }> {
  if (json !== undefined) return { bytes: Buffer.from(JSON.stringify(json)), type: 'application/json' }
  if (raw !== undefined) return { bytes: Buffer.from(raw as string) }
  if (!multipart && !urlencoded) return {}
  const response = new Response(multipart ? formOf(multipart) : new URLSearchParams(urlencoded))
  return { bytes: Buffer.from(await response.arrayBuffer()), type: response.headers.get('content-type')! }
}

export const headersOf = ({ token, apiKey, key, headers }: Message): Record<string, string> => ({
  ...(token && { authorization: `token ${token}` }),
  ...(apiKey && { 'x-api-key': apiKey }),
  ...(key && { 'idempotency-key': key }),
  ...Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])),
})

function headersIn(raw: readonly string[]): Headers {
  const headers = new Headers()
  for (let at = 0; at < raw.length; at += 2) headers.append(raw[at]!, raw[at + 1]!)
  return headers
}

const begun = (request: ClientRequest, { onSent }: Delivery) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    request.once('finish', () => onSent?.())
    request.once('timeout', () => request.destroy(new Error('No answer came in time.')))
    request.once('close', () => reject(new Error('The connection was closed without an answer.')))
    request.on('error', reject)
  })

const isStream = ({ headers }: IncomingMessage) => headers['content-type']?.startsWith('text/event-stream')

const readWhole = (response: IncomingMessage, { streamFor, onFirstByte }: Delivery) =>
  new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = []
    const finish = () => resolve(Buffer.concat(chunks))
    response.once('data', () => onFirstByte?.())
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('error', reject)
    response.once('close', () =>
      response.complete ? finish() : reject(new Error('The connection was closed within an answer.')),
    )
    if (streamFor === undefined || !isStream(response)) return
    setTimeout(() => {
      finish()
      response.destroy()
    }, streamFor).unref()
  })

async function answerTo(request: ClientRequest, sent: string, delivery: Delivery): Promise<Answer> {
  const sentAt = performance.now()
  const response = await begun(request, delivery)
  const bytes = await readWhole(response, delivery)
  const milliseconds = performance.now() - sentAt
  const { statusCode: status = 0, rawHeaders } = response
  const [headers, text] = [headersIn(rawHeaders), bytes.toString()]
  const isJson = text !== '' && headers.get('content-type')?.includes('json')
  return {
    ...{ sent, status, headers, rawHeaders, bytes, text, sentAt, milliseconds },
    get body() {
      return isJson ? JSON.parse(text) : text
    },
    toJSON() {
      return { sent, status, text }
    },
  }
}

function open(base: string, message: Message, delivery: Delivery) {
  const { agent = false, patience = PATIENCE } = delivery
  const url = new URL(base)
  const path = base.slice(url.origin.length) + (message.path ?? '') || '/'
  const { method = 'GET', name = `${method} ${path}` } = message
  const request = createRequest({
    ...urlToHttpOptions(url),
    ...{ method, path, agent, timeout: patience, headers: headersOf(message) },
  })
  return { request, answer: answerTo(request, name, delivery) }
}

export async function send(base: string, message: Message = {}, delivery: Delivery = {}): Promise<Answer> {
  const { bytes, type } = await encode(message)
  const headers = {
    ...(type && { 'content-type': type }),
    ...(bytes && { 'content-length': String(bytes.length) }),
    ...message.headers,
  }
  const method = message.method ?? (bytes ? 'POST' : 'GET')
  const { request, answer } = open(base, { ...message, method, headers }, delivery)
  request.end(bytes)
  return answer
}

const none = { status: 0, headers: new Headers(), rawHeaders: [], bytes: Buffer.alloc(0), body: undefined }

/** Sends a request like `send`, but returns status 0 and the reason as text if there is no complete response. */
export async function trySend(base: string, message: Message = {}, delivery: Delivery = {}): Promise<Answer> {
  const sentAt = performance.now()
  return send(base, message, delivery).catch(({ message: text }: Error) => {
    const milliseconds = performance.now() - sentAt
    return { ...none, sent: message.name ?? base, text, sentAt, milliseconds, toJSON: () => ({ status: 0, text }) }
  })
}

/** A request that is sent in pieces. The response may arrive before its end. */
export interface OpenRequest {
  answer: Promise<Answer>
  write(bytes: string | Uint8Array, written?: () => void): void
  end(bytes?: string): void
  abort(): void
  continued(): boolean
}

/** Sends the headers immediately over a new connection. */
export function openRequest(url: string, message: Pick<Message, 'method' | 'token' | 'headers'> = {}): OpenRequest {
  let continued = false
  const { request, answer } = open(url, { method: 'POST', ...message }, { patience: 0 })
  answer.catch(() => {})
  request.on('continue', () => {
    continued = true
  })
  request.flushHeaders()
  return {
    answer,
    write: (bytes, written) => void request.write(bytes, written),
    end: (bytes) => void request.end(bytes),
    abort: () => void request.destroy(),
    continued: () => continued,
  }
}
