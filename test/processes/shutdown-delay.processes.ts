import { Agent } from 'node:http'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { send } from '../support/http-client.ts'
import { createSharedInstallation } from '../support/service.ts'

/** Seconds. More than the test needs on a busy machine. */
const DELAY = '12'

const shared = await createSharedInstallation({ SHUTDOWN_DELAY_SECONDS: DELAY })
afterAll(shared.remove)

it('the service reports that it is not ready after SIGTERM, still serves requests, and then ends', async () => {
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const HEALTH_PORT = String(await findFreePort())
  const service = await shared.start([], { HEALTH_PORT })
  const health = `http://127.0.0.1:${HEALTH_PORT}/readyz`
  await eventually(async () => (await send(health)).text === '{"status":"ok"}')
  const ready = await send(service.url, { path: '/version' }, { agent })
  expect(ready.headers.get('connection')).not.toBe('close')

  service.child.kill('SIGTERM')
  for (const url of [health, `${service.url}/readyz`]) {
    await eventually(async () => (await send(url)).status !== 200)
    expect(await send(url)).toMatchObject({ status: 503, body: { status: 'unavailable', missing: ['stopping'] } })
  }
  const answer = await send(service.url, { path: '/graphql', json: { query: '{ __typename }' } }, { agent })
  expect(answer).toMatchObject({ status: 200, body: { data: { __typename: 'Query' } } })
  expect(answer.headers.get('connection')).toBe('close')
  expect(await service.ended).toMatchObject({ code: 0, signal: null })
})
