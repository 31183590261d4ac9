/** Starts servers of tests and proofs on the loopback interface. */
import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'

/** Registers a cleanup function for the end of a test, a test file or a proof: `onTestFinished`, `atEnd` or `afterwards`. */
export type AtEnd = (work: () => Promise<void>) => void

/** Listens on a free port, and returns it. All connections are closed at the end. */
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
