/** One request and its answer as they are, with their times: for proofs that compare answers to the byte or by the clock. */
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'

export interface Exchange {
  /** 0 when there was no whole answer. */
  status: number
  /** Names in lower case. */
  headers: Record<string, string | string[] | undefined>
  text: string
  /** When it was sent: milliseconds of `performance.now()`. */
  sentAt: number
  milliseconds: number
}

export interface Message {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  url: string
  token?: string
  json?: object
  form?: Record<string, string>
  agent?: Agent
}

/** One connection, kept open: without the noise of new ones. */
export const oneConnection = () => new Agent({ keepAlive: true, maxSockets: 1 })

/** Milliseconds. Longer than anything that a gateway may take. */
const PATIENCE = 60_000

/** Never raises. */
export async function exchange({ method = 'POST', url, token, json, form, agent }: Message): Promise<Exchange> {
  const headers: Record<string, string | number> = {}
  if (token) headers.authorization = `token ${token}`
  const body = json ? JSON.stringify(json) : form && new URLSearchParams(form).toString()
  if (body !== undefined) {
    headers['content-type'] = json ? 'application/json' : 'application/x-www-form-urlencoded'
    headers['content-length'] = Buffer.byteLength(body)
  }
  const signal = AbortSignal.timeout(PATIENCE)
  const sentAt = performance.now()
  return new Promise((resolve) => {
    const done = (answer: Pick<Exchange, 'status' | 'headers' | 'text'>) =>
      resolve({ ...answer, sentAt, milliseconds: performance.now() - sentAt })
    const fail = (error: Error) => done({ status: 0, headers: {}, text: error.message })
    const sent = request(url, { method, headers, agent: agent ?? false, signal }, (response) => {
      text(response).then(
        (whole) => done({ status: response.statusCode!, headers: response.headers, text: whole }),
        fail,
      )
    })
    sent.once('error', fail)
    sent.end(body)
  })
}
