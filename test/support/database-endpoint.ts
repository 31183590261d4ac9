/** A TCP endpoint that forwards to one of several PostgreSQL servers, like HAProxy for a Patroni cluster. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { PostgresServer } from './postgres-server.ts'

export async function startDatabaseEndpoint(first: PostgresServer) {
  let leader = first.place
  const open = new Set<Socket>()
  const endAll = () => {
    for (const socket of open) socket.destroy()
  }
  const server = createServer((client) => {
    const upstream = connect(leader.port, leader.hosts[0]!)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(first.url)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    leadTo({ place }: PostgresServer) {
      leader = place
      endAll()
    },
    close() {
      server.close()
      endAll()
    },
  }
}
