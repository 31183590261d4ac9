/** Stands between the relay and the chain, and does what networks do. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Fault {
  /** The node gets the request; the caller never gets the answer. */
  kind: 'drop-reply' | 'refuse' | 'hang' | 'answer'
  status?: number
  body?: string
}

export interface ChainProxy {
  url: string
  /** Decides for each request; undefined lets it through. */
  intercept: (body: string) => Fault | undefined
  /** Results of single calls changed on their way back. */
  rewrite: (answer: string) => string
  faults: number
  stop(): Promise<void>
}

export const startProxy = async (target: string): Promise<ChainProxy> => {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const fault = proxy.intercept(body)
    if (fault) proxy.faults += 1
    if (fault?.kind === 'refuse') return void request.socket.destroy()
    if (fault?.kind === 'hang') return
    if (fault?.kind === 'answer') return void response.writeHead(fault.status ?? 200).end(fault.body)
    const answer = await fetch(target, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    const text = proxy.rewrite(await answer.text())
    if (fault?.kind === 'drop-reply') return void request.socket.destroy()
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const proxy: ChainProxy = {
    url: `http://127.0.0.1:${port}`,
    intercept: () => undefined,
    rewrite: (answer) => answer,
    faults: 0,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return proxy
}
