/** A receiver of webhooks on the loopback interface that takes everything and remembers what it heard. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ProofContext } from './proof.ts'

export interface Sink {
  url: string
  /** The ids of the calls, as often as each was heard. */
  heard: Map<string, number>
}

export async function startSink({ afterwards }: Pick<ProofContext, 'afterwards'>): Promise<Sink> {
  const heard = new Map<string, number>()
  const server = createServer((request, response) => {
    const id = String(request.headers['webhook-id'])
    request.resume().once('end', () => {
      heard.set(id, (heard.get(id) ?? 0) + 1)
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterwards(async () => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, heard }
}
