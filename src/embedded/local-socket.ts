/** JSON-RPC over a Unix socket (IPC): one line for the request, one line for the response. */
import { connect } from 'node:net'
import { readAtMost } from '../shared/async.ts'

const SCHEME = 'ipc:'

/** Returns the path of an `ipc:` URL, such as `ipc:///run/geth.ipc`. Undefined for other URLs. */
export const socketPathOf = (url: string): string | undefined => {
  const { protocol, pathname } = new URL(url)
  return protocol === SCHEME ? decodeURIComponent(pathname) : undefined
}

export const socketUrlOf = (path: string): string => `${SCHEME}//${path.split('/').map(encodeURIComponent).join('/')}`

async function* readLine(path: string, request: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const socket = connect({ path, signal })
  socket.write(`${request}\n`)
  for await (const part of socket as AsyncIterable<Buffer>) {
    const end = part.indexOf('\n')
    yield end < 0 ? part : part.subarray(0, end)
    if (end >= 0) return
  }
  throw new Error('the connection ended before the answer')
}

/** Sends a line and returns the response line. Throws if the connection fails, the response is incomplete or too long, or `signal` aborts. */
export const askLocalSocket = async (path: string, request: string, signal: AbortSignal, maxBytes = Infinity) =>
  (await readAtMost(readLine(path, request, signal), maxBytes)).toString()
