/** TCP proxy between gateways and PostgreSQL. It can delay, cut, freeze and reject connections, also at a specific write. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import type { ProofContext } from './proof.ts'

/** Fault for the next write statement. */
export type WriteFault =
  /** Cuts both connections after the write was forwarded. The server may finish it or not. */
  | 'reset'
  /** The server executes the write, but its response is lost. */
  | 'reply lost'

export interface PostgresProxy {
  /** Returns the database URL through the proxy for a gateway. */
  urlFor(name: string): string
  /** Delay of every response, in milliseconds. */
  latency: number
  /** Number of connections that `close` or `strike` cut, or that sent data while the proxy was frozen. */
  readonly faults: number
  /** Applies a fault to the next write. Resolves with the name of the statement when the connection is closed. */
  strike(fault: WriteFault): Promise<string>
  /** Silently stops all traffic. */
  freeze(): void
  thaw(): void
  /** Simulates a stopped server until `open`: connections are cut and new ones are rejected. */
  close(): Promise<void>
  open(): Promise<void>
}

/** Matches names of statements whose writes are acknowledged to callers. */
const WRITES = /^(asset_(insert|update)|account_(insert|sign_up)|order_|deletion_)/

/** Returns a parser of the names of bound statements in client messages. It keeps incomplete messages. */
function createListener() {
  let rest: Buffer = Buffer.alloc(0)
  let hasStarted = false
  return (chunk: Buffer): string[] => {
    rest = Buffer.concat([rest, chunk])
    const names: string[] = []
    for (;;) {
      const header = hasStarted ? 1 : 0
      if (rest.length < header + 4) return names
      const length = rest.readInt32BE(header) + header
      if (rest.length < length) return names
      if (hasStarted && rest[0] === 'B'.charCodeAt(0)) {
        const portal = rest.indexOf(0, 5)
        names.push(rest.toString('utf8', portal + 1, rest.indexOf(0, portal + 1)))
      }
      hasStarted = true
      rest = rest.subarray(length)
    }
  }
}

export async function startPostgresProxy({ afterwards }: ProofContext, databaseUrl: string): Promise<PostgresProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const fronts = new Set<Socket>()
  let faults = 0
  let isFrozen = false
  let struck: { fault: WriteFault; happened(name: string): void } | undefined

  const serve = (front: Socket) => {
    const back = connect(Number(target.port), target.hostname)
    const hear = createListener()
    let isReplyLost = false
    const cut = () => {
      front.destroy()
      back.destroy()
    }
    fronts.add(front)
    front.once('close', () => fronts.delete(front))
    for (const socket of [front, back]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', cut)
      socket.on('close', () => {
        sockets.delete(socket)
        cut()
      })
      if (isFrozen) socket.pause()
    }
    front.on('data', (chunk: Buffer) => {
      const name = hear(chunk).find((each) => WRITES.test(each))
      back.write(chunk)
      if (name === undefined || !struck) return
      const { fault, happened } = struck
      struck = undefined
      front.once('close', () => {
        faults += 1
        happened(name)
      })
      if (fault === 'reply lost') isReplyLost = true
      // Sends a reset instead of closing, but delivers written data first.
      else back.end(() => cut())
    })
    back.on('data', (chunk: Buffer) => {
      if (isReplyLost) return cut()
      if (proxy.latency === 0) return void front.write(chunk)
      setTimeout(() => front.destroyed || front.write(chunk), proxy.latency)
    })
  }

  let server: Server
  let port = 0
  const listen = async () => {
    server = createServer(serve).listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }
  const close = async () => {
    const closed = once(server, 'close')
    server.close()
    faults += fronts.size
    for (const socket of sockets) socket.destroy()
    await closed
  }
  await listen()
  afterwards(close)

  const proxy: PostgresProxy = {
    latency: 0,
    get faults() {
      return faults
    },
    urlFor(name) {
      const url = new URL(databaseUrl)
      url.port = String(port)
      url.searchParams.set('application_name', name)
      return url.href
    },
    strike: (fault) =>
      new Promise((happened) => {
        struck = { fault, happened }
      }),
    freeze() {
      isFrozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw() {
      isFrozen = false
      for (const front of fronts) if (front.readableLength > 0) faults += 1
      for (const socket of sockets) socket.resume()
    },
    close,
    open: listen,
  }
  return proxy
}
