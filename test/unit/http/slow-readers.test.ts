import { get, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterEach, expect, it } from 'vitest'
import type { SlowReaderOptions } from '../../../src/http/connections.ts'
import { createHttpServer, type HttpServer } from '../../../src/http/http-server.ts'
import { eventually, until } from '../../support/eventually.ts'
import { createTestLog } from '../../support/test-log.ts'

const MEGABYTE = 1_000_000
const LARGE = 32 * MEGABYTE

let server: HttpServer | undefined
const clients: Socket[] = []
const patient = { patience: 1_000_000, patienceWhenFull: 1_000_000 }
const endlessRoom = { room: 1_000 * MEGABYTE, most: 1_000 * MEGABYTE }

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  await server?.drain(100)
})

async function* endless(bytes: number) {
  for (;;) yield Buffer.alloc(bytes)
}

interface Held {
  req: IncomingMessage
  res: ServerResponse
}

async function start(slowReaders: SlowReaderOptions) {
  const held: Held[] = []
  const answers: Record<string, (res: ServerResponse) => unknown> = {
    '/document': (res) => res.end(Buffer.alloc(LARGE)),
    '/file': (res) => pipeline(Readable.from(endless(MEGABYTE)), res).catch(() => undefined),
    '/film': (res) => pipeline(Readable.from(endless(MEGABYTE / 32)), res).catch(() => undefined),
    '/events': (res) => res.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(':\n\n'),
  }
  server = createHttpServer({ log: createTestLog(), slowReaders })
  await server.serve((app) =>
    app.get('/*', ({ raw: req }, reply) => {
      const { raw: res } = reply.hijack()
      held.push({ req, res })
      return answers[req.url!]!(res)
    }),
  )
  const port = await server.listen(0, '127.0.0.1')
  return {
    held,
    port,
    url: `http://127.0.0.1:${port}`,
    ask(path: string) {
      const client = connect(port, '127.0.0.1', () => client.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`))
      client.on('error', () => undefined).pause()
      clients.push(client)
    },
  }
}

it.each(['/document', '/file'])(
  'closes a connection whose client stops reading %s, and keeps idle connections',
  async (path) => {
    const { held, ask, url } = await start({ patience: 300, patienceWhenFull: 300, ...endlessRoom })
    const reported: string[] = []
    get(`${url}/events`, (response) => response.on('data', (part) => reported.push(String(part))))
    await until('the stream begins', () => reported.length === 1)
    ask(path)
    const [events, stuck] = await eventually(
      () => held,
      (all) => all.length === 2 && all[1]!.res.destroyed,
    )
    expect([stuck!.req.socket.destroyed, stuck!.res.writableFinished]).toEqual([true, false])
    events!.res.write('data: later\n\n')
    await until('the stream continues', () => reported.join('').includes('later'))
    events!.res.end()
  },
)

it.each([
  ['', ''],
  [' with Expect: 100-continue', 'Expect: 100-continue\r\n'],
  [' with an unknown Expect header', 'Expect: the-best\r\n'],
])('closes a connection that pipelines requests%s without reading the responses', async (_, expectation) => {
  const { held, port } = await start({ ...patient, ...endlessRoom })
  const request = `GET /document HTTP/1.1\r\nHost: a\r\n${expectation}\r\n`
  const client = connect(port, '127.0.0.1', () => client.write(request.repeat(100)))
  client.on('error', () => undefined).pause()
  clients.push(client)
  await until('it is closed', () => held.length > 0 && held.every(({ req }) => req.socket.destroyed))
  expect(held.length).toBeLessThan(20)
})

const waitingOn = (held: Held[]) =>
  held.reduce((sum, { req }) => sum + (req.socket.destroyed ? 0 : req.socket.writableLength), 0)

it.each([
  ['much', 'the longest idle connection', { patienceWhenFull: 50, room: 3.5 * LARGE, most: 1_000 * MEGABYTE }],
  ['too much', 'even a new connection', { patienceWhenFull: 1_000_000, room: LARGE, most: 3.5 * LARGE }],
])('with %s unread data, closes %s until memory is free', async (_, __, options) => {
  const { held, ask } = await start({ patience: 1_000_000, ...options })
  for (let i = 0; i < 6; i++) ask('/document')
  await until('memory is free', () => held.length === 6 && waitingOn(held) <= 3.5 * LARGE)
  expect(held.filter(({ req }) => !req.socket.destroyed)).toHaveLength(3)
})

it('keeps connections with little unread data while other connections have much', async () => {
  const { held, ask } = await start({ ...patient, room: LARGE, most: 1.5 * LARGE })
  ask('/film')
  await until('data is unread', () => waitingOn(held) > 0)
  for (let i = 0; i < 3; i++) ask('/document')
  await until('memory is free', () => held.length === 4 && waitingOn(held) <= 1.5 * LARGE)
  expect(held.map(({ req }) => req.socket.destroyed).filter(Boolean)).toHaveLength(2)
  expect(held[0]!.req.socket.destroyed).toBe(false)
})
