/** Receivers of webhooks, each behind a real port of this machine. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface ReceivedCall {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

export interface Receiver {
  url: string
  port: number
  calls: ReceivedCall[]
  /** How many connections were opened, with or without a request. */
  connections(): number
}

export type Respond = (res: ServerResponse, call: ReceivedCall, req: IncomingMessage) => void

export const answerWith =
  (status: number, headers: Record<string, string> = {}, body = ''): Respond =>
  (res) =>
    void res.writeHead(status, headers).end(body)

/** Stops after the test. */
export async function createReceiver(respond: Respond = answerWith(204), host = '127.0.0.1'): Promise<Receiver> {
  const calls: ReceivedCall[] = []
  let connections = 0
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const call = { method: req.method!, path: req.url!, headers: req.headers, body }
    calls.push(call)
    respond(res, call, req)
  })
  server.on('connection', () => {
    connections += 1
  })
  await once(server.listen(0, host), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://${host}:${port}/hook`, port, calls, connections: () => connections }
}
