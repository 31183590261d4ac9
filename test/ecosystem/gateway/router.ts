/**
 * A delegated router (https://specs.ipfs.tech/routing/http-routing-v1/) of its own: it says of everything that one trustless gateway has it.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const PEER = '12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp'

export interface Router {
  url: string
  stop(): Promise<void>
}

export async function startRouter(address: string): Promise<Router> {
  const record = { Schema: 'peer', ID: PEER, Addrs: [address], Protocols: ['transport-ipfs-gateway-http'] }
  const server = createServer((req, res) => {
    const isAsked = req.url?.startsWith('/routing/v1/providers/') || req.url?.startsWith('/routing/v1/peers/')
    res.writeHead(isAsked ? 200 : 404, { 'Content-Type': 'application/json' })
    res.end(JSON.stringify(req.url?.includes('/peers/') ? { Peers: [record] } : { Providers: [record] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
