/** A delegated router (https://specs.ipfs.tech/routing/http-routing-v1/) that names one trustless gateway for every file. */
import { createServer } from 'node:http'
import { atEnd } from '../../support/at-end.ts'
import { listen } from '../../support/listen.ts'

const PEER = '12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp'

export async function startRouter(address: string): Promise<string> {
  const record = { Schema: 'peer', ID: PEER, Addrs: [address], Protocols: ['transport-ipfs-gateway-http'] }
  const server = createServer((req, res) => {
    const [, kind] = /^\/routing\/v1\/(providers|peers)\//.exec(req.url ?? '') ?? []
    res.writeHead(kind ? 200 : 404, { 'Content-Type': 'application/json' })
    res.end(JSON.stringify(kind === 'peers' ? { Peers: [record] } : { Providers: [record] }))
  })
  return `http://127.0.0.1:${await listen(server, atEnd)}`
}
