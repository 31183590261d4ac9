import { Agent, request } from 'node:http'

export interface FuzzAnswer {
  /** 0 when there was no whole answer. */
  status: number
  type: string
  text: string
}

export interface FuzzMessage {
  method: string
  path: string
  headers: [string, string][]
  body?: Buffer | undefined
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 })

/** Milliseconds. Longer than any answer may take. */
const PATIENCE = 30_000
/** Milliseconds after the first byte of a stream, which has no end. */
const STREAM = 50

/** One request as it is. Never raises: no answer is told as the status 0. */
export const sendFuzz = (url: string, { method, path, headers, body }: FuzzMessage): Promise<FuzzAnswer> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const fail = (error: Error) => resolve({ status: 0, type: '', text: error.message })
    const length: [string, string][] = body ? [['Content-Length', String(body.length)]] : []
    const sent = request(
      { hostname, port, method, path, agent, timeout: PATIENCE, headers: Object.fromEntries([...headers, ...length]) },
      (response) => {
        const chunks: Buffer[] = []
        const type = response.headers['content-type'] ?? ''
        const done = () => resolve({ status: response.statusCode ?? 0, type, text: Buffer.concat(chunks).toString() })
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', done)
        response.on('error', fail)
        if (!type.startsWith('text/event-stream')) return
        setTimeout(() => {
          done()
          response.destroy()
        }, STREAM).unref()
      },
    )
    sent.on('error', fail)
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')))
    sent.end(body)
  })
