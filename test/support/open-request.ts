/** A request that is sent bit by bit, and answered before it ends or never. */
import http from 'node:http'
import { text } from 'node:stream/consumers'
import { type Answer, authorize } from './rest-client.ts'
import type { TestActor } from './user.ts'

export interface OpenRequest {
  /** The first answer. Rejects when the connection ends without one. */
  answer: Promise<Answer>
  write(bytes: string | Uint8Array): void
  end(): void
  /** Breaks the connection. */
  abort(): void
  /** Whether the server said `100 Continue`. */
  continued(): boolean
}

export interface OpenRequestOptions {
  method?: string
  actor?: TestActor | undefined
  headers?: Record<string, string>
}

/** Sends the head at once. */
export function openRequest(
  url: string,
  { method = 'POST', actor, headers = {} }: OpenRequestOptions = {},
): OpenRequest {
  let continued = false
  const request = http.request(url, { method, agent: false, headers: { ...authorize(actor), ...headers } })
  const answer = new Promise<Answer>((resolve, reject) => {
    request.on('error', reject)
    request.once('close', () => reject(new Error('The connection was closed without an answer.')))
    request.once('response', (response) => {
      const { statusCode: status = 0, headers: told } = response
      text(response).then((body) => {
        const isJson = body !== '' && told['content-type']?.includes('json')
        resolve({
          sent: `${method} ${url}`,
          status,
          headers: new Headers(told as Record<string, string>),
          text: body,
          body: isJson ? JSON.parse(body) : body,
        })
      }, reject)
    })
  })
  answer.catch(() => {})
  request.on('continue', () => {
    continued = true
  })
  request.flushHeaders()
  return {
    answer,
    write: (bytes) => void request.write(bytes),
    end: () => void request.end(),
    abort: () => void request.destroy(),
    continued: () => continued,
  }
}

export const BOUNDARY = 'an-end-of-parts'
export const multipartType = `multipart/form-data; boundary=${BOUNDARY}`

/** The beginning of a part of a form; a file's when it has a name. */
export const partHead = (name: string, filename?: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}\r\n` +
  `${filename === undefined ? '' : 'Content-Type: image/png\r\n'}\r\n`

export const part = (name: string, value: string) => `${partHead(name)}${value}\r\n`
