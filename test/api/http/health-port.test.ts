import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createHttpServer, type HttpServer } from '../../../src/http/http-server.ts'
import { canListen } from '../../support/free-port.ts'
import { createTestLog } from '../../support/test-log.ts'

const host = '127.0.0.1'
let server: HttpServer
afterEach(() => server.drain(1_000))

async function create() {
  const created = createHttpServer({ log: createTestLog() })
  await created.serve((app) => app.get('/*', async () => 'here'))
  return created
}
const ask = async (port: number) => (await fetch(`http://${host}:${port}/healthz`)).text()

it('a server serves the same responses on two ports and stops both ports together', async () => {
  server = await create()
  const ports = [await server.listen(0, host), await server.listen(0, host, 'HEALTH_PORT')]
  expect(new Set(ports).size).toBe(2)
  expect(await Promise.all(ports.map(ask))).toEqual(['here', 'here'])
  await server.drain(1_000)
  for (const port of ports) await expect(ask(port)).rejects.toThrow()
})

it('names the environment variable of a second port that is already in use', async () => {
  const other = createServer()
  const taken = await new Promise<number>((resolve) =>
    other.listen(0, host, () => resolve((other.address() as { port: number }).port)),
  )
  server = await create()
  await server.listen(0, host)
  await expect(server.listen(taken, host, 'HEALTH_PORT')).rejects.toThrow(/set HEALTH_PORT to another port/)
  await new Promise((resolve) => other.close(resolve))
})

describe.runIf(await canListen('::1'))('host localhost', () => {
  it('a server on the host localhost listens on the IPv4 and the IPv6 loopback address', async () => {
    server = await create()
    const port = await server.listen(0, 'localhost')
    for (const address of ['127.0.0.1', '[::1]', 'localhost']) {
      expect(await (await fetch(`http://${address}:${port}/`)).text()).toBe('here')
    }
    await server.drain(1_000)
    for (const address of ['127.0.0.1', '[::1]']) await expect(fetch(`http://${address}:${port}/`)).rejects.toThrow()
  })
})
