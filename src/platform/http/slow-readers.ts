/**
 * Cuts connections off whose reader does not read. What an answer holds stays in memory until it is taken, so a reader gets
 * so much time without taking anything, whatever the answer is: a document, a file, a stream of events. A stream that has
 * nothing to say holds nothing, and is left alone.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '../../domain/ports/log.ts'
import { removeItem } from '../remove-item.ts'

/** How long readers are waited for, and how much may wait for them. */
export interface SlowReaderOptions {
  /** Milliseconds without any progress. */
  patience: number
  /** Milliseconds while more waits to be read than `room`. */
  patienceWhenFull: number
  /** Bytes that may wait to be read, on all connections together. */
  room: number
  /** Bytes that never wait for longer than a look: above them nobody is borne with. */
  most: number
}

/** What holds for a server (decision 14). */
export const slowReaderDefaults: SlowReaderOptions = {
  patience: 20_000,
  patienceWhenFull: 1_000,
  room: 16_000_000,
  most: 32_000_000,
}

/** Milliseconds. */
const LOOK_EVERY_MS = 200

/**
 * What the system has not taken of what was written last. Node judges the progress of writes by it, too, and tells nobody:
 * `writableLength` stays what it is until the last byte of a write is taken, however long the write.
 */
const queueOf = (socket: Socket) =>
  (socket as Socket & { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0

/** Requests under way on one connection. Browsers send one after the other, and so does everybody who reads. */
const MOST_AT_ONCE = 16

interface Watched {
  /** Answers under way: but for the first they wait for their turn, and hold what they have until then. */
  answers: ServerResponse[]
  queue: number
  /** When its queue last changed. */
  since: number
}

/** Bytes that nobody has taken yet. */
function waitingOn(socket: Socket, { answers }: Watched): number {
  if (socket.destroyed) return 0
  let waiting = socket.writableLength
  // One whose turn it is writes to the connection, and is counted there.
  for (const answer of answers) if (!answer.socket) waiting += answer.writableLength
  return waiting
}

/** Watches a server's connections until it closes. A connection with more than 16 requests under way is cut, too. */
export function cutSlowReaders(
  server: Server,
  log: Log,
  { patience, patienceWhenFull, room, most }: SlowReaderOptions = slowReaderDefaults,
): void {
  const connections = new Map<Socket, Watched>()

  function cut(socket: Socket, { queue, since }: Watched, now: number) {
    log.info({ unreadBytes: queue, stalledMs: Math.round(now - since) }, 'Closed the connection of a slow reader')
    socket.destroy()
  }

  function look() {
    const now = performance.now()
    let waiting = 0
    const holders: { socket: Socket; watched: Watched; held: number }[] = []
    for (const [socket, watched] of connections) {
      const queue = queueOf(socket)
      if (queue === 0 || queue !== watched.queue) Object.assign(watched, { queue, since: now })
      else if (now - watched.since >= patience) cut(socket, watched, now)
      const held = waitingOn(socket, watched)
      if (held === 0) continue
      waiting += held
      holders.push({ socket, watched, held })
    }
    if (waiting <= room) return
    // A part of a file that waits for long gives back less than a large document that waits since the last look.
    const weightOf = ({ watched, held }: (typeof holders)[number]) => held * (now - watched.since + LOOK_EVERY_MS)
    for (const { socket, watched, held } of holders.sort((a, b) => weightOf(b) - weightOf(a))) {
      if (waiting <= room) return
      if (waiting <= most && now - watched.since < patienceWhenFull) continue
      waiting -= held
      cut(socket, watched, now)
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
    if (answers.length > MOST_AT_ONCE) socket.destroy()
  })
  const timer = setInterval(look, Math.min(LOOK_EVERY_MS, patienceWhenFull / 2))
  server.once('close', () => clearInterval(timer))
  // Whoever never listens never closes.
  timer.unref()
}
