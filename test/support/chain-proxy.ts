/** A proxy between a gateway and the chain that simulates faults of networks and nodes. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AtEnd } from './listen.ts'

export type RpcRequest = { jsonrpc: '2.0'; id: number; method: string; params: unknown[] }

export type RpcReply = { jsonrpc: '2.0'; id: number; result?: unknown; error?: { code: number; message: string } }

export type Outcome = RpcReply[] | { status: number; type: string; text: string } | 'cut' | 'hang'

/** Handles one HTTP request. `pass` forwards it to the node, optionally with other calls. */
export type Fault = (
  calls: readonly RpcRequest[],
  pass: (calls?: readonly RpcRequest[]) => Promise<RpcReply[]>,
) => Promise<Outcome | undefined> | Outcome | undefined

export interface ChainProxy {
  url: string
  fault: Fault | undefined
  faults: number
  ambush: ((moment: 'before' | 'after') => boolean | Promise<boolean>) | undefined
  sent: string[]
  close(): Promise<void>
  open(): Promise<void>
}

export const isSending = ({ method }: RpcRequest) => method === 'eth_sendRawTransaction'

/** `sent`: records the sent transactions. Several proxies may share it. */
export async function startChainProxy(atEnd: AtEnd, target: string, sent: string[] = []): Promise<ChainProxy> {
  const ask = async (body: string) => {
    const answer = await fetch(target, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    return (await answer.json()) as RpcReply | RpcReply[]
  }
  const server = createServer(async (request, response) => {
    try {
      let body = ''
      for await (const chunk of request) body += chunk
      const parsed = JSON.parse(body) as RpcRequest | RpcRequest[]
      const calls = [parsed].flat()
      const sends = calls.some(isSending)
      for (const { params } of calls.filter(isSending)) proxy.sent.push(params[0] as string)
      if (sends && (await proxy.ambush?.('before'))) return void request.socket.destroy()
      const pass = async (others: readonly RpcRequest[] = calls) => [await ask(JSON.stringify(others))].flat()
      const struck = await proxy.fault?.(calls, pass)
      if (struck !== undefined) proxy.faults += 1
      const outcome = struck ?? (await pass())
      if (outcome === 'hang') return
      if (outcome === 'cut' || (sends && (await proxy.ambush?.('after')))) return void request.socket.destroy()
      if (Array.isArray(outcome)) {
        const text = JSON.stringify(Array.isArray(parsed) ? outcome : outcome[0])
        return void response.writeHead(200, { 'content-type': 'application/json' }).end(text)
      }
      response.writeHead(outcome.status, { 'content-type': outcome.type }).end(outcome.text)
    } catch {
      request.socket.destroy()
    }
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const close = async () => {
    server.closeAllConnections()
    await new Promise<unknown>((resolve) => server.close(resolve))
  }
  await listen(0)
  atEnd(close)
  const { port } = server.address() as AddressInfo
  const proxy: ChainProxy = {
    url: `http://127.0.0.1:${port}`,
    fault: undefined,
    faults: 0,
    ambush: undefined,
    sent,
    close,
    open: () => listen(port),
  }
  return proxy
}
