/** Asks a server on this machine over a Unix socket: one line of JSON there, one back, as Ethereum nodes speak it ("IPC"). */
import { connect } from 'node:net'
import { readAtMost } from '../shared/async.ts'

const newline = 0x0a
const scheme = 'ipc:'

/** The path of an `ipc:` URL, such as `ipc:///run/geth.ipc`; undefined for any other URL. */
export const socketPathOf = (url: string): string | undefined => {
  const { protocol, pathname } = new URL(url)
  return protocol === scheme ? decodeURIComponent(pathname) : undefined
}

/** The `ipc:` URL of a socket at an absolute path. */
export const socketUrlOf = (path: string): string => `${scheme}//${path.split('/').map(encodeURIComponent).join('/')}`

/** Sends a line to the socket at a path, and gives the line that comes back as it comes. Raises as `askLocalSocket` does. */
export async function* readLocalSocket(path: string, line: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  signal.throwIfAborted()
  const socket = connect(path)
  const giveUp = () => socket.destroy(signal.reason)
  signal.addEventListener('abort', giveUp)
  try {
    socket.write(`${line}\n`)
    for await (const part of socket as AsyncIterable<Buffer>) {
      const end = part.indexOf(newline)
      yield end < 0 ? part : part.subarray(0, end)
      if (end >= 0) return
    }
  } finally {
    signal.removeEventListener('abort', giveUp)
    socket.destroy()
  }
  throw new Error('the connection ended before the answer')
}

/**
 * Sends a line to the socket at a path; resolves to the line that comes back. Raises when nobody listens there, when the
 * answer breaks off or is longer than `mostBytes`, and when `signal` says so.
 */
export async function askLocalSocket(
  path: string,
  line: string,
  signal: AbortSignal,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<string> {
  return (await readAtMost(readLocalSocket(path, line, signal), mostBytes)).toString()
}
