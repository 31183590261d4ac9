/**
 * Limits connections and slow readers. Unread responses stay in memory, so a reader has a time limit for each step of progress. An idle stream of
 * events holds no bytes and stays open. Node's socket timeout would close it.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { totalmem } from 'node:os'
import { report } from 'node:process'
import { removeItem } from '../shared/async.ts'
import type { Log } from '../shared/log.ts'

/** Share of the open files that connections may use. The process needs the others. */
const SHARE_OF_FILES = 1 / 2
/** Memory that is reserved for a connection, in bytes: twice the size of the largest headers, some 60 KB with the objects that Node creates. */
const BYTES_PER_CONNECTION = 131_072

/** Returns the maximum number of open files of this process, or Infinity without a limit, as on Windows. */
export function openFileLimit(): number {
  // Otherwise the report resolves the name of each connected address: five seconds if no name server answers.
  Object.assign(report, { excludeNetwork: true })
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft: number | string } } }
  const limit = userLimits?.open_files?.soft
  return typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY
}

/** Returns the maximum number of open connections at a port. A container may have less memory than the machine. */
export const maxConnections = (
  files = openFileLimit(),
  bytes = Math.min(process.constrainedMemory() || totalmem(), totalmem()),
): number => Math.floor(Math.min(files * SHARE_OF_FILES, bytes / BYTES_PER_CONNECTION))

const LOG_EVERY_MS = 10_000

/** Creates a function to call for each connection that was closed above the limit. It logs their number at most every ten seconds. */
export function createDropLogger(log: Pick<Log, 'warn'>, connections: number): () => void {
  let closed = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  return () => {
    closed += 1
    const now = performance.now()
    if (now - loggedAt < LOG_EVERY_MS) return
    log.warn({ connections, closed }, 'Connection limit reached; closed new connections')
    closed = 0
    loggedAt = now
  }
}

/** Limits of slow readers in production (decision 14). */
export const slowReaderDefaults = {
  /** Maximum time without progress, in milliseconds. */
  patience: 20_000,
  /** The same while more bytes than `room` wait to be read. */
  patienceWhenFull: 1_000,
  /** Bytes that wait to be read on all connections. Above this number, `patienceWhenFull` applies. */
  room: 16_000_000,
  /** Bytes that wait to be read on all connections. Above this number, connections are closed at the next check. */
  most: 32_000_000,
}

export type SlowReaderOptions = typeof slowReaderDefaults

const CHECK_INTERVAL_MS = 200

/**
 * Bytes of the newest write that the system has not taken. `writableLength` does not change until a write is complete, so Node's own
 * timeout also reads this private property.
 */
const queueOf = (socket: Socket) =>
  (socket as Socket & { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0

const MAX_OPEN_REQUESTS = 16

interface Watched {
  /** Open responses. All but the first wait for their turn and keep their bytes. */
  answers: ServerResponse[]
  queue: number
  /** Time of the last change of `queue`. */
  since: number
}

function waitingOn(socket: Socket, { answers }: Watched): number {
  if (socket.destroyed) return 0
  let waiting = socket.writableLength
  // The first response writes to the connection, whose bytes are counted above.
  for (const answer of answers) if (!answer.socket) waiting += answer.writableLength
  return waiting
}

/** Watches the connections of a server until it closes. Also closes a connection with more than 16 open requests. */
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
    let waiting = 0
    const holders: { socket: Socket; watched: Watched; held: number; weight: number }[] = []
    for (const [socket, watched] of connections) {
      const queue = queueOf(socket)
      if (queue === 0 || queue !== watched.queue) Object.assign(watched, { queue, since: now })
      else if (now - watched.since >= patience) close(socket, watched, now)
      const held = waitingOn(socket, watched)
      if (held === 0) continue
      waiting += held
      holders.push({ socket, watched, held, weight: held * (now - watched.since + CHECK_INTERVAL_MS) })
    }
    if (waiting <= room) return
    // Weighs bytes by time: a small part that waits long frees less than a large document.
    for (const { socket, watched, held } of holders.sort((a, b) => b.weight - a.weight)) {
      if (waiting <= room) return
      if (waiting <= most && now - watched.since < patienceWhenFull) continue
      waiting -= held
      close(socket, watched, now)
    }
  }

  server.on('connection', (socket: Socket) => {
    connections.set(socket, { answers: [], queue: 0, since: performance.now() })
    socket.once('close', () => connections.delete(socket))
  })
  server.prependListener('request', ({ socket }: IncomingMessage, res: ServerResponse) => {
    const answers = connections.get(socket)?.answers
    if (!answers) return
    answers.push(res)
    res.once('close', () => removeItem(answers, res))
    if (answers.length > MAX_OPEN_REQUESTS) socket.destroy()
  })
  const timer = setInterval(check, Math.min(CHECK_INTERVAL_MS, patienceWhenFull / 2))
  server.once('close', () => clearInterval(timer))
  // A server that never listens emits no `close`.
  timer.unref()

  return {
    currentAnswer: (socket: object): ServerResponse | undefined => connections.get(socket as Socket)?.answers[0],
  }
}

/** Time to read and discard a rejected body, in milliseconds. A caller whose connection is cut at once never reads the response. */
const LINGER_MS = 30_000

/**
 * Reads the rest of a rejected body for a while and discards it. Node destroys a connection that ends with its response
 * (`Connection: close`, HTTP/1.0), and the bytes that still arrive would then discard the response. So such a connection is half
 * closed until its body has arrived (test/api/http/broken-bodies.test.ts).
 */
export function discardRest(req: IncomingMessage, res: ServerResponse) {
  // Before Node's own listener, which ends the connection.
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
    const forget = () => {
      clearTimeout(timer)
      socket.off('close', forget)
      socket.destroySoon = close
      if (ends) close.call(socket)
    }
    req.once('close', forget)
    // An answered request has no event for the end of its connection.
    socket.once('close', forget)
  })
}

/**
 * Aborts an incomplete HTTP/1.0 response by a reset. A reader by HTTP/1.0, such as nginx, treats the end of the connection as the end of a
 * response without a length (test/api/files/gateway.test.ts).
 */
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
