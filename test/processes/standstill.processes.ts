import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runAnnal } from '../support/annal-command.ts'
import { until } from '../support/eventually.ts'
import { type Answer, send } from '../support/http-client.ts'
import { createSharedInstallation } from '../support/service.ts'

const shared = await createSharedInstallation()
afterAll(shared.remove)

it('the service executes no request that arrived while it was suspended, and continues afterwards', async () => {
  const service = await shared.start()
  const signUp = (username: string) =>
    send(service.url, {
      path: '/api/v3/auth/users/',
      json: { username, email: `${username}@example.org`, password: 'correct horse' },
    })
  service.child.kill('SIGSTOP')
  const signUps = ['ada', 'eve', 'joe'].map(signUp)
  await shared.sql('select pg_sleep(11)')
  service.child.kill('SIGCONT')
  // A connection that the process accepted before it stopped may be closed without a response.
  for (const { value, reason } of (await Promise.allSettled(signUps)) as {
    value?: Answer
    reason?: { code: string }
  }[]) {
    if (reason) expect(reason.code).toBe('ECONNRESET')
    else expect(value).toMatchObject({ status: 503, body: { error: { type: 'service_unavailable' } } })
  }
  // A connection can also be closed during the first requests afterwards. Few attempts stay below the limit of sign-ups.
  const hasSignedUp = async () => {
    await signUp('bert').catch(() => undefined)
    return (await shared.sql('select from users')).length > 0
  }
  await until('no sign-up after the suspension', hasSignedUp, 60_000, 500)
  expect(await shared.sql('select username from users')).toEqual([{ username: 'bert' }])
  expect(await service.stop()).toMatchObject({ code: 0 })
})

it.each([
  { command: 'gc --json', end: { code: 0, stderr: '' } },
  { command: 'users delete nobody --reason letter --yes', end: { code: 1, stderr: 'User not found.\n' } },
])('runs `annal $command` even if loading the service is very slow', async ({ command, end }) => {
  const env = { ...shared.env, NODE_OPTIONS: `--import=${join(import.meta.dirname, 'slow-loading.ts')}` }
  expect(await runAnnal(shared.dir, command.split(' '), { env })).toMatchObject(end)
})
