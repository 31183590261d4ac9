/** A chain node and a gateway over HTTP with responses that the test controls. */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { createRpc } from '../../src/chain/rpc.ts'
import { type AtEnd, listen } from './listen.ts'

export type Lie = (method: string, params: readonly unknown[], truth: unknown) => unknown

/** An HTTP response to send instead. `undefined` forwards the request, and `null` never responds. */
export type Answer = (methods: readonly string[], calls: readonly Call[]) => HttpAnswer | null | undefined

export type HttpAnswer = { status?: number; body: string }

export type FakeNode = { url: string; lie: Lie | undefined; answer: Answer | undefined }

export type Call = { id: number; method: string; params: unknown[] }

/** A proxy in front of the node at `rpcUrl`, which may be a socket. */
export async function startFakeNode(atEnd: AtEnd, rpcUrl: string): Promise<FakeNode> {
  const rpc = createRpc({ url: rpcUrl, timeout: 60_000 })
  const server = createServer(async (request, response) => {
    const asked = JSON.parse(await text(request)) as Call | Call[]
    const calls = [asked].flat()
    const answer = node.answer?.(
      calls.map(({ method }) => method),
      calls,
    )
    if (answer === null) return
    if (answer) return void response.writeHead(answer.status ?? 200).end(answer.body)
    const outcomes = await rpc.batch(calls)
    const replies = calls.map(({ id, method, params }, index) => {
      const { result, error } = outcomes[index]!
      if (error) return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } }
      const said = node.lie?.(method, params, result)
      if (said instanceof Error) return { jsonrpc: '2.0', id, error: { code: -32000, message: said.message } }
      return { jsonrpc: '2.0', id, result: said === undefined ? result : said }
    })
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify(Array.isArray(asked) ? replies : replies[0]))
  })
  const node: FakeNode = {
    url: `http://127.0.0.1:${await listen(server, atEnd)}`,
    ...{ lie: undefined, answer: undefined },
  }
  return node
}

/** Bytes or a status to send instead. null: 404. 'hangs': no response. */
export type Swap = (cid: string, format: string | null) => Uint8Array | number | 'hangs' | null | undefined

export type ToldGateway = { url: string; swap: Swap | undefined }

/** A proxy in front of the gateway at `behind`. */
export async function startToldGateway(atEnd: AtEnd, behind: string): Promise<ToldGateway> {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', behind)
    const swapped = gateway.swap?.(url.pathname.split('/').at(-1)!, url.searchParams.get('format'))
    if (swapped === 'hangs') return
    if (typeof swapped === 'number') return void response.writeHead(swapped).end()
    if (swapped !== undefined) return void response.writeHead(swapped ? 200 : 404).end(swapped ?? undefined)
    const answer = await fetch(url)
    response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()))
  })
  const gateway: ToldGateway = { url: `http://127.0.0.1:${await listen(server, atEnd)}`, swap: undefined }
  return gateway
}
