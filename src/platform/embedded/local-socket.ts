/** Asks a server on this machine over a Unix socket: one line of JSON there, one back, as Ethereum nodes speak it ("IPC"). */
import { connect } from 'node:net'

const newline = 0x0a
const scheme = 'ipc:'

/** The path of an `ipc:` URL, such as `ipc:///run/geth.ipc`; undefined for any other URL. */
export const socketPathOf = (url: string): string | undefined => {
  const { protocol, pathname } = new URL(url)
  return protocol === scheme ? decodeURIComponent(pathname) : undefined
}

/** The `ipc:` URL of a socket at an absolute path. */
export const socketUrlOf = (path: string): string => `${scheme}//${path.split('/').map(encodeURIComponent).join('/')}`

/** An answer that nobody reads to its end. */
export const tooLong = (mostBytes: number) => new Error(`answered with more than ${mostBytes} bytes`)

/**
 * Sends a line to the socket at a path; resolves to the line that comes back. Raises when nobody listens there, when the
 * answer breaks off or is longer than `mostBytes`, and when `signal` says so.
 */
export const askLocalSocket = (
  path: string,
  line: string,
  signal: AbortSignal,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<string> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const parts: Buffer[] = []
    let size = 0
    const socket = connect(path)
    const giveUp = () => socket.destroy(signal.reason)
    signal.addEventListener('abort', giveUp)
    socket.on('data', (part: Buffer) => {
      const end = part.indexOf(newline)
      size += part.length
      if (size > mostBytes) return void socket.destroy(tooLong(mostBytes))
      parts.push(end < 0 ? part : part.subarray(0, end))
      if (end < 0) return
      resolve(Buffer.concat(parts).toString())
      socket.destroy()
    })
    socket.once('error', reject)
    socket.once('close', () => {
      signal.removeEventListener('abort', giveUp)
      reject(new Error('the connection ended before the answer'))
    })
    socket.write(`${line}\n`)
  })
