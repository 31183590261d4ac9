/** Requests to the REST door, encoded as old callers do. */
import type { TestActor } from './user.ts'

export type FormValue = string | File

export interface RestOptions {
  actor?: TestActor | undefined
  headers?: Record<string, string>
  json?: unknown
  multipart?: Record<string, FormValue>
  urlencoded?: Record<string, string>
  /** Sent as it is, without any Content-Type unless `headers` says one. */
  raw?: string | Uint8Array
}

export interface Answer {
  /** The request in one line, for messages. */
  sent: string
  status: number
  headers: Headers
  text: string
  /** Parsed when it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers by path, and a wrong path fails the test.
  body: any
}

export type Rest = (method: string, path: string, options?: RestOptions) => Promise<Answer>

const encode = ({ json, multipart, urlencoded, raw }: RestOptions): { body?: BodyInit; type?: string } => {
  if (json !== undefined) return { body: JSON.stringify(json), type: 'application/json' }
  if (urlencoded) return { body: new URLSearchParams(urlencoded) }
  if (raw !== undefined) return { body: Buffer.from(raw) }
  if (!multipart) return {}
  const form = new FormData()
  for (const [name, value] of Object.entries(multipart)) form.set(name, value)
  return { body: form }
}

export async function readAnswer(response: Response, sent: string): Promise<Answer> {
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== ''
  return { sent, status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : text }
}

export const authorize = (actor: TestActor | undefined): Record<string, string> =>
  actor ? { Authorization: `token ${actor.token}` } : {}

/** `path` is below `/api/v3/`, or from the root when it starts with a slash. */
export const createRest =
  (url: string, defaults: Pick<RestOptions, 'actor'> = {}): Rest =>
  async (method, path, options = {}) => {
    const { actor = defaults.actor, headers = {} } = options
    const { body, type } = encode(options)
    const target = path.startsWith('/') ? path : `/api/v3/${path}`
    const response = await fetch(url + target, {
      method,
      body,
      redirect: 'manual',
      headers: { ...(type && { 'Content-Type': type }), ...authorize(actor), ...headers },
    })
    return readAnswer(response, `${method} ${target}`)
  }
