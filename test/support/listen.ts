/** Servers of tests and proofs, on the loopback interface. */
import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'

/** Something to be done when a test, a test file or a proof is over: `onTestFinished`, `atEnd`, `afterwards`. */
export type AtEnd = (work: () => Promise<void>) => void

/** Listens on a free port until the end, when every connection is broken off. Returns the port. */
export async function listen(server: Server, atEnd: AtEnd, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await once(server.listen(0, host), 'listening')
  atEnd(async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}
