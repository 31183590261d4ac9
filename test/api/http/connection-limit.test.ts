import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { createHttpServer } from '../../../src/http/http-server.ts'
import { atEnd } from '../../support/at-end.ts'
import { poll } from '../../support/eventually.ts'
import { createTestLog } from '../../support/test-log.ts'

const log = createTestLog()
const server = createHttpServer({ log, connections: 2 })
atEnd(() => server.drain(100))
const crowded = await server.listen(0, '127.0.0.1')
const other = await server.listen(0, '127.0.0.1')

const open = async (port: number) => {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

async function ask(socket: Socket) {
  socket.end('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  return (await text(socket).catch(() => '')).slice(0, 12)
}

it('closes new connections over the connection limit of one port until another connection ends', async () => {
  const silent = [await open(crowded), await open(crowded)]
  expect(await ask(await open(crowded))).toBe('')
  expect(await ask(await open(other))).toBe('HTTP/1.1 503')
  expect(await ask(await open(crowded))).toBe('')
  expect(log.lines.map(({ message }) => message)).toEqual(['Connection limit reached; closed new connections'])
  silent[0]!.destroy()
  await poll(async () => ask(await open(crowded))).until((answer) => answer === 'HTTP/1.1 503')
  silent[1]!.destroy()
})
