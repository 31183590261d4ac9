/** A caller who writes down what was sent and what came back, byte for byte. */
import { request } from 'node:http'
import { connect } from 'node:net'
import type { Canary, Haystack } from './canaries.ts'

export interface Sent {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: string | Buffer
}

export interface Got {
  status: number
  /** Headers as they came, as JSON. */
  head: string
  text: string
  json(): Record<string, unknown>
}

export interface Exchange {
  /** Method and path without what follows `?`. */
  what: string
  sent: Buffer
  status: number
  /** Head and body. */
  answer: Buffer
  /** Refused, by its status or by what GraphQL says. */
  isError: boolean
  /** Names of the secrets that the answer is there to tell. */
  tells: readonly string[]
}

export interface Transcript {
  exchanges: Exchange[]
  /** `tells`: names of the secrets that the answer is there to tell. */
  ask(sent: Sent, tells?: readonly string[]): Promise<Got>
  /** Bytes for a socket, as no HTTP library would send them. */
  askRaw(text: string): Promise<void>
}

const isRefused = (status: number, body: string) => status >= 400 || /^\{"(errors|error)"|"errors":\[/.test(body)

export function createTranscript(base: string): Transcript {
  const exchanges: Exchange[] = []
  const { hostname, port } = new URL(base)
  return {
    exchanges,
    ask: ({ method = 'POST', path, headers = {}, body = '' }, tells = []) =>
      new Promise((resolve, reject) => {
        const bytes = Buffer.from(body as string)
        const head = `${method} ${path}\n${JSON.stringify(headers)}\n`
        const outgoing = request(
          {
            hostname,
            port,
            method,
            path,
            agent: false,
            timeout: 60_000,
            headers: { ...headers, 'content-length': bytes.length },
          },
          (response) => {
            const chunks: Buffer[] = []
            response.on('data', (chunk: Buffer) => chunks.push(chunk))
            response.once('close', () => {
              const whole = Buffer.concat(chunks)
              const status = response.statusCode!
              exchanges.push({
                what: `${method} ${path.split('?')[0]}`,
                sent: Buffer.concat([Buffer.from(head), bytes]),
                status,
                answer: Buffer.concat([Buffer.from(`${status} ${JSON.stringify(response.rawHeaders)}\n`), whole]),
                isError: isRefused(status, whole.toString()),
                tells,
              })
              resolve({
                status,
                head: JSON.stringify(response.rawHeaders),
                text: whole.toString(),
                json: () => JSON.parse(whole.toString()),
              })
            })
          },
        )
        outgoing.once('timeout', () => outgoing.destroy(new Error(`No answer to ${method} ${path}`)))
        outgoing.once('error', reject)
        outgoing.end(bytes)
      }),
    askRaw: (text) =>
      new Promise((resolve) => {
        const chunks: Buffer[] = []
        const socket = connect(Number(port), hostname, () => socket.end(text))
        socket.on('data', (chunk: Buffer) => chunks.push(chunk))
        socket.on('error', () => undefined)
        socket.setTimeout(5_000, () => socket.destroy())
        socket.once('close', () => {
          const answer = Buffer.concat(chunks)
          const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer.toString('latin1'))?.[1] ?? 0)
          exchanges.push({ what: 'raw bytes', sent: Buffer.from(text), status, answer, isError: true, tells: [] })
          resolve()
        })
      }),
  }
}

/** How often each canary was sent, in the clear or encoded for a URL. */
export const timesSent = ({ exchanges }: Transcript, { text }: Canary): number => {
  const forms = [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)]
  return exchanges.filter(({ sent }) => forms.some((form) => sent.includes(form))).length
}

/** Every answer with what it may tell. A refusal may tell nothing. */
export const answersOf = ({ exchanges }: Transcript): (Haystack & { tells: readonly string[] })[] =>
  exchanges.map(({ what, status, answer, isError, tells }, index) => ({
    place: `answer ${index} (${status}) to ${what}`,
    bytes: answer,
    tells: isError ? [] : tells,
  }))
