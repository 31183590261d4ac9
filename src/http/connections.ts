/** Limits connections and closes those of slow readers, whose unread responses use memory. Idle event streams stay open. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { totalmem } from 'node:os'
import { report } from 'node:process'
import { removeItem } from '../shared/async.ts'
import { createLogThrottle, type Log } from '../shared/log.ts'

/** Share of the process's file descriptors that connections may use. */
const SHARE_OF_FILES = 1 / 2
/** Estimated memory per connection, in bytes: twice the 60 KB of the largest request headers and their objects. */
const BYTES_PER_CONNECTION = 131_072

/** Returns Infinity without a limit, as on Windows. */
export function openFileLimit(): number {
  // With network data, the report resolves each connected address. That takes five seconds without a name server.
  Object.assign(report, { excludeNetwork: true })
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft: number | string } } }
  const limit = userLimits?.open_files?.soft
  return typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY
}

export const maxConnections = (
  files = openFileLimit(),
  bytes = Math.min(process.constrainedMemory() || totalmem(), totalmem()),
): number => Math.floor(Math.min(files * SHARE_OF_FILES, bytes / BYTES_PER_CONNECTION))

/** Logs every ten seconds how many connections the limit closed. */
export function createDropLogger(log: Pick<Log, 'warn'>, connections: number): () => void {
  const throttle = createLogThrottle(10_000)
  let closed = 0
  return () => {
    closed += 1
    if (!throttle('drop')) return
    log.warn({ connections, closed }, 'Connection limit reached; closed new connections')
    closed = 0
  }
}

export const slowReaderDefaults = {
  /** Maximum time without progress, in milliseconds (decision 14). */
  patience: 20_000,
  /** Maximum time without progress while the unread bytes exceed `room`, in milliseconds. */
  patienceWhenFull: 1_000,
  /** Number of response bytes that clients have not read, above which `patienceWhenFull` applies. */
  room: 16_000_000,
  /** Number of unread bytes above which the next check closes connections, even if their readers make progress. */
  most: 32_000_000,
}

export type SlowReaderOptions = typeof slowReaderDefaults
const CHECK_INTERVAL_MS = 200

/** Bytes that the system has not accepted. `writableLength` changes only when a write ends. Node's timeout reads this too. */
const queueOf = (socket: Socket) =>
  (socket as Socket & { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0

const MAX_OPEN_REQUESTS = 16

interface Watched {
  /** Open responses of the connection. Only the first response is sent. The others buffer their bytes until it ends. */
  responses: ServerResponse[]
  /** Unsent bytes at the last check, as returned by `queueOf`. */
  queue: number
  /** Time of the last change of `queue`. */
  since: number
}

function unreadBytes(socket: Socket, { responses }: Watched): number {
  if (socket.destroyed) return 0
  let unread = socket.writableLength
  // The socket already counts the bytes of the first response.
  for (const response of responses) if (!response.socket) unread += response.writableLength
  return unread
}

/** Closes connections of slow readers and those with more than 16 open requests. */
export function closeSlowReaders(
  server: Server,
  log: Log,
  { patience, patienceWhenFull, room, most }: SlowReaderOptions = slowReaderDefaults,
) {
  const connections = new Map<Socket, Watched>()

  function close(socket: Socket, { queue, since }: Watched, now: number) {
    log.info({ unreadBytes: queue, stalledMs: Math.round(now - since) }, 'Closed the connection of a slow reader')
    socket.destroy()
  }

  function check() {
    const now = performance.now()
    let unread = 0
    const readers: { socket: Socket; watched: Watched; held: number; weight: number }[] = []
    for (const [socket, watched] of connections) {
      const queue = queueOf(socket)
      if (queue === 0 || queue !== watched.queue) Object.assign(watched, { queue, since: now })
      else if (now - watched.since >= patience) close(socket, watched, now)
      const held = unreadBytes(socket, watched)
      if (held === 0) continue
      unread += held
      readers.push({ socket, watched, held, weight: held * (now - watched.since + CHECK_INTERVAL_MS) })
    }
    // The weight of a reader is its unread bytes times their age, so that closing few connections frees much memory.
    for (const { socket, watched, held } of readers.sort((a, b) => b.weight - a.weight)) {
      if (unread <= room) return
      if (unread <= most && now - watched.since < patienceWhenFull) continue
      unread -= held
      close(socket, watched, now)
    }
  }

  server.on('connection', (socket: Socket) => {
    connections.set(socket, { responses: [], queue: 0, since: performance.now() })
    socket.once('close', () => connections.delete(socket))
  })
  server.prependListener('request', ({ socket }: IncomingMessage, res: ServerResponse) => {
    const responses = connections.get(socket)?.responses
    if (!responses) return
    responses.push(res)
    res.once('close', () => removeItem(responses, res))
    if (responses.length > MAX_OPEN_REQUESTS) socket.destroy()
  })
  const timer = setInterval(check, Math.min(CHECK_INTERVAL_MS, patienceWhenFull / 2))
  server.once('close', () => clearInterval(timer))
  // A server that never listens emits no `close`.
  timer.unref()

  return {
    currentResponse: (socket: object): ServerResponse | undefined => connections.get(socket as Socket)?.responses[0],
  }
}

const LINGER_MS = 30_000

/** Discards the rest of a rejected body, and half-closes: a destroyed connection loses the response (broken-bodies.test.ts). */
export function discardRest(req: IncomingMessage, res: ServerResponse) {
  // This listener must run before Node's own `finish` listener, which ends the connection.
  res.prependOnceListener('finish', () => {
    if (req.complete) return
    req.resume()
    const { socket } = req
    const close = socket.destroySoon
    let ends = false
    socket.destroySoon = () => {
      ends = true
      socket.end()
    }
    const timer = setTimeout(() => socket.destroy(), LINGER_MS)
    const restore = () => {
      clearTimeout(timer)
      socket.off('close', restore)
      socket.destroySoon = close
      if (ends) close.call(socket)
    }
    req.once('close', restore)
    // The request does not emit `close` if its connection ends after the response.
    socket.once('close', restore)
  })
}

/** Resets the connection of an incomplete HTTP/1.0 response. Clients treat a normal end as complete (gateway.test.ts). */
export function abortByReset({ socket }: IncomingMessage, res: ServerResponse) {
  const { destroy } = socket
  socket.destroy = (error) => {
    socket.destroy = destroy
    return res.headersSent && !res.writableFinished ? socket.resetAndDestroy() : destroy.call(socket, error)
  }
  res.once('finish', () => {
    socket.destroy = destroy
  })
}
