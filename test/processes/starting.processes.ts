/** A process that is not ready yet, behind a balancer that asks nobody whether it is: no request may come to it. */
import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { findFreePort } from '../../src/platform/embedded/child-process.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { listen } from '../support/listen.ts'
import { createSharedInstallation, type SharedInstallation } from '../support/service.ts'

let shared: SharedInstallation
beforeAll(async () => {
  shared = await createSharedInstallation()
})
afterAll(() => shared.remove())

/** A database that takes connections and never says a word: who asks it goes on starting. */
const silentDatabase = async () =>
  `postgresql://annal@127.0.0.1:${await listen(createServer(), onTestFinished)}/annal?connect_timeout=60`

it('with a port for probes, says there that it starts, and opens that of requests once it answers them', async () => {
  const HEALTH_PORT = String(await findFreePort())
  const health = `http://127.0.0.1:${HEALTH_PORT}/readyz`
  const starting = await shared.spawn([], { HEALTH_PORT, DATABASE_URL: await silentDatabase() })
  const told = await eventually(
    () => send(health).catch(() => undefined),
    (answer) => answer !== undefined,
  )
  expect(told).toMatchObject({ status: 503 })
  await expect(fetch(`${starting.url}/version`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  await starting.stop('SIGKILL')

  const service = await shared.start([], { HEALTH_PORT })
  expect((await send(health)).status).toBe(200)
  expect(await service.stop()).toMatchObject({ code: 0 })
})

it('without one, says at its own port that it starts', async () => {
  const starting = await shared.spawn([], { DATABASE_URL: await silentDatabase() })
  const told = await eventually(
    () => send(`${starting.url}/readyz`).catch(() => undefined),
    (answer) => answer !== undefined,
  )
  expect(told).toMatchObject({ status: 503 })
  await starting.stop('SIGKILL')
})
