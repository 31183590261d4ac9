/** Webhook receivers on real ports. They respond as configured and record every call. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AtEnd, listen } from './listen.ts'

export interface ReceivedCall {
  id: string
  method: string
  path: string
  headers: IncomingHttpHeaders
  bytes: Buffer
  body: string
  arrivedAt: number
  closedAt?: number
}

export type Respond = (response: ServerResponse, call: ReceivedCall, request: IncomingMessage) => void

export const answerWith =
  (status: number, headers: Record<string, string> = {}, body = ''): Respond =>
  (response) =>
    void response.writeHead(status, headers).end(body)

export async function startReceiver(atEnd: AtEnd, respond: Respond = answerWith(204), host = '127.0.0.1') {
  const calls: ReceivedCall[] = []
  let connections = 0
  const server = createServer((request, response) => {
    const { method = '', url: path = '', headers, socket } = request
    const chunks: Buffer[] = []
    // Tests also cover callers that abort.
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => {
      const bytes = Buffer.concat(chunks)
      const id = String(headers['webhook-id'])
      const call: ReceivedCall = { id, method, path, headers, bytes, body: bytes.toString(), arrivedAt: Date.now() }
      calls.push(call)
      socket.once('close', () => {
        call.closedAt = Date.now()
      })
      respond(response, call, request)
    })
  })
  server.on('connection', () => {
    connections += 1
  })
  const port = await listen(server, atEnd, host)
  return {
    url: `http://${host}:${port}/hook`,
    port,
    calls,
    connections: () => connections,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>
