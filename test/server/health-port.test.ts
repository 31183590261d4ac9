import { createServer } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { createHttpServer, type HttpServer } from '../../src/platform/http/http-server.ts'
import { presentError } from '../../src/rest/status.ts'
import { createTestLog } from '../support/test-log.ts'

const host = '127.0.0.1'
const answers = { matches: () => true, handle: (_: unknown, res: { end(text: string): unknown }) => res.end('here') }
let server: HttpServer
afterEach(() => server.drain(1_000))

const create = () => createHttpServer({ handlers: [answers], presentError, log: createTestLog() })
const ask = async (port: number) => (await fetch(`http://${host}:${port}/healthz`)).text()

it('two ports answer alike, and stop together', async () => {
  server = create()
  const ports = [await server.listen(0, host), await server.listen(0, host, 'HEALTH_PORT')]
  expect(new Set(ports).size).toBe(2)
  expect(await Promise.all(ports.map(ask))).toEqual(['here', 'here'])
  await server.drain(1_000)
  for (const port of ports) await expect(ask(port)).rejects.toThrow()
})

it('a second port that is taken is told with its variable', async () => {
  const other = createServer()
  const taken = await new Promise<number>((resolve) =>
    other.listen(0, host, () => resolve((other.address() as { port: number }).port)),
  )
  server = create()
  await server.listen(0, host)
  await expect(server.listen(taken, host, 'HEALTH_PORT')).rejects.toThrow(/choose another with HEALTH_PORT=/)
  await new Promise((resolve) => other.close(resolve))
})
