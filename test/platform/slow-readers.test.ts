import { get, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterEach, expect, it } from 'vitest'
import { createHttpServer, type HttpServer } from '../../src/platform/http-server.ts'
import type { SlowReaderOptions } from '../../src/platform/slow-readers.ts'
import { eventually } from '../support/eventually.ts'
import { createTestLog } from '../support/test-log.ts'

const MEGABYTE = 1_000_000
/** More than the system keeps for a connection by itself. */
const LARGE = 32 * MEGABYTE

let server: HttpServer | undefined
const clients: Socket[] = []

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  await server?.drain(100)
})

async function* endless() {
  for (;;) yield Buffer.alloc(MEGABYTE)
}

interface Held {
  req: IncomingMessage
  res: ServerResponse
}

async function start(slowReaders: SlowReaderOptions) {
  const held: Held[] = []
  const answers: Record<string, (res: ServerResponse) => unknown> = {
    '/document': (res) => res.end(Buffer.alloc(LARGE)),
    '/file': (res) => pipeline(Readable.from(endless()), res).catch(() => undefined),
    '/events': (res) => res.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(':\n\n'),
  }
  server = createHttpServer({
    doors: [
      {
        knows: () => true,
        handle: (req, res) => {
          held.push({ req, res })
          return answers[req.url!]!(res)
        },
      },
    ],
    presentError: () => ({ status: 400, headers: {}, body: {} }),
    log: createTestLog(),
    slowReaders,
  })
  const port = await server.listen(0, '127.0.0.1')
  return {
    held,
    port,
    url: `http://127.0.0.1:${port}`,
    /** Asks, and reads nothing. */
    ask(path: string) {
      const client = connect(port, '127.0.0.1', () => client.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`))
      client.on('error', () => undefined).pause()
      clients.push(client)
    },
  }
}

it.each(['/document', '/file'])('who does not read %s is cut off, and who has nothing to read is not', async (path) => {
  const { held, ask, url } = await start({ patience: 300, patienceWhenFull: 300, room: 1_000 * MEGABYTE })
  const told: string[] = []
  get(`${url}/events`, (response) => response.on('data', (part) => told.push(String(part))))
  await eventually(
    () => told.length,
    (count) => count === 1,
  )
  ask(path)
  const [events, stuck] = await eventually(
    () => held,
    (all) => all.length === 2 && all[1]!.res.destroyed,
  )
  expect([stuck!.req.socket.destroyed, stuck!.res.writableFinished]).toEqual([true, false])
  events!.res.write('data: later\n\n')
  await eventually(
    () => told,
    (parts) => parts.join('').includes('later'),
  )
  events!.res.end()
})

it('who asks for more and more at once without reading is cut off', async () => {
  const { held, port } = await start({ patience: 1_000_000, patienceWhenFull: 1_000_000, room: 1_000 * MEGABYTE })
  const client = connect(port, '127.0.0.1', () => client.write('GET /document HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(100)))
  client.on('error', () => undefined).pause()
  clients.push(client)
  await eventually(
    () => held,
    (all) => all.length > 0 && all.every(({ req }) => req.socket.destroyed),
  )
  expect(held.length).toBeLessThan(20)
})

it('when much waits to be read those who have not read for longest are cut off sooner, until there is room', async () => {
  const room = 3.5 * LARGE
  const { held, ask } = await start({ patience: 1_000_000, patienceWhenFull: 50, room })
  for (let i = 0; i < 6; i++) ask('/document')
  const waiting = () => held.reduce((sum, { req }) => sum + (req.socket.destroyed ? 0 : req.socket.writableLength), 0)
  await eventually(
    () => [held.length, waiting()] as const,
    ([count, bytes]) => count === 6 && bytes <= room,
  )
  expect(held.filter(({ req }) => !req.socket.destroyed)).toHaveLength(3)
})
