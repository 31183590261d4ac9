import { createServer } from 'node:net'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { until } from '../support/eventually.ts'
import { canListen, findFreePort } from '../support/free-port.ts'
import { send } from '../support/http-client.ts'
import { listen } from '../support/listen.ts'
import { createSharedInstallation } from '../support/service.ts'
import { newFile } from '../support/test-app.ts'

const shared = await createSharedInstallation()
afterAll(shared.remove)

/** A database that accepts connections and never responds, so that the service keeps starting. */
const silentDatabase = async () =>
  `postgresql://annal@127.0.0.1:${await listen(createServer(), onTestFinished)}/annal?connect_timeout=60`

const expectStarting = async (url: string) =>
  expect(await until('a response', () => send(url).catch(() => undefined))).toMatchObject({ status: 503 })

it('with HEALTH_PORT, the service reports its start there, and opens PORT when it is ready', async () => {
  const HEALTH_PORT = String(await findFreePort())
  const health = `http://127.0.0.1:${HEALTH_PORT}/readyz`
  const starting = await shared.spawn([], { HEALTH_PORT, DATABASE_URL: await silentDatabase() })
  await expectStarting(health)
  await expect(fetch(`${starting.url}/version`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  await starting.stop('SIGKILL')

  const service = await shared.start([], { HEALTH_PORT })
  expect((await send(health)).status).toBe(200)
  expect(await service.stop()).toMatchObject({ code: 0 })
})

it('without HEALTH_PORT, the service reports its start on PORT', async () => {
  const starting = await shared.spawn([], { DATABASE_URL: await silentDatabase() })
  await expectStarting(`${starting.url}/readyz`)
  await starting.stop('SIGKILL')
})

it('without HOST, the service listens on both loopback addresses, each with links to itself', async () => {
  const service = await shared.start()
  const { port } = new URL(service.url)
  const account = { username: 'ada', email: 'ada@example.org', password: 'correct horse' }
  expect((await send(service.url, { path: '/api/v3/auth/users/', json: account })).status).toBe(201)
  const { body } = await send(service.url, { path: '/api/v3/auth/token/login/', json: account })
  const list = { path: '/api/v3/assets/?limit=1', token: body.auth_token as string }
  for (let count = 0; count < 2; count += 1) {
    const multipart = { asset_file: newFile() }
    expect((await send(service.url, { path: '/api/v3/assets/', multipart, token: list.token })).status).toBe(201)
  }
  const hosts = ['127.0.0.1', 'localhost', ...((await canListen('::1')) ? ['[::1]'] : [])]
  for (const host of hosts) {
    const origin = `http://${host}:${port}`
    const page = (await send(origin, list)).body
    expect([page.next, page.results[0].asset_file].map((url: string) => new URL(url).origin)).toEqual([origin, origin])
    expect((await send(page.next, { token: list.token })).body.count).toBe(2)
  }
  expect(await service.stop()).toMatchObject({ code: 0 })
})
