/** A receiver of webhooks on this machine that answers as it is told and remembers every call. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ProofContext } from './proof.ts'

export interface ReceivedCall {
  /** The `webhook-id`. */
  id: string
  headers: IncomingHttpHeaders
  body: Buffer
  /** When the call was there in whole, and when its connection ended: milliseconds since the epoch. */
  arrivedAt: number
  closedAt?: number
}

export type Respond = (response: ServerResponse, call: ReceivedCall) => void

export interface Receiver {
  url: string
  port: number
  calls: ReceivedCall[]
  /** How many connections were opened, with or without a request. */
  connections(): number
  /** Ends all connections and listens no more. */
  close(): void
}

export const answerWith =
  (status: number, headers: Record<string, string> = {}, body = ''): Respond =>
  (response) =>
    void response.writeHead(status, headers).end(body)

export async function startReceiver(
  { afterwards }: Pick<ProofContext, 'afterwards'>,
  respond: Respond = answerWith(204),
): Promise<Receiver> {
  const calls: ReceivedCall[] = []
  let connections = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => {
      const { headers } = request
      const call: ReceivedCall = {
        id: String(headers['webhook-id']),
        headers,
        body: Buffer.concat(chunks),
        arrivedAt: Date.now(),
      }
      calls.push(call)
      request.socket.once('close', () => {
        call.closedAt = Date.now()
      })
      respond(response, call)
    })
  })
  server.on('connection', () => {
    connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  afterwards(async () => close())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, port, calls, connections: () => connections, close }
}
