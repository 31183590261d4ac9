import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runAnnal } from '../support/annal-command.ts'
import { eventually } from '../support/eventually.ts'
import { expectOk } from '../support/expect-error.ts'
import { newPicture } from '../support/pictures.ts'
import { createRest, type Rest } from '../support/rest-client.ts'
import { createSharedInstallation } from '../support/service.ts'

const ada = { username: 'ada', email: 'ada@example.org', password: 'correct horse' }

const shared = await createSharedInstallation({ EMAIL_VERIFICATION: 'on' })
afterAll(shared.remove)

const missing = async (service: { readiness(): Promise<{ body: { missing?: string[] } }> }) =>
  (await service.readiness()).body.missing

const holders = () => shared.sql<{ name: string }>('select name from leases where expires_at > clock_timestamp()')
const sessions = (name: string) =>
  shared.sql('select from pg_stat_activity where datname = current_database() and application_name = $1', [name])
const jobs = async (queue: string) =>
  (await shared.sql<{ state: string }>('select state::text from jobs.job where name = $1', [queue])).map(
    ({ state }) => state,
  )
const mails = () => readdir(join(shared.dir, 'mail')).catch(() => [])

it('each role runs in its processes, and a missing role is reported', async () => {
  const http = await shared.start(['--roles', 'http'])
  expect(await http.readiness()).toEqual({
    status: 200,
    body: { status: 'degraded', missing: ['role relay', 'role jobs', 'role deliveries'] },
  })

  const anonymous: Rest = createRest(http.url)
  expectOk(await anonymous('POST', 'auth/users/', { json: ada }))
  const { auth_token: token } = expectOk(await anonymous('POST', 'auth/token/login/', { json: ada }))
  const rest = createRest(http.url, { actor: { token } })
  const file = new File([await newPicture()], 'photo.jpg', { type: 'image/jpeg' })
  const { id: nid } = expectOk(await rest('POST', 'assets/', { multipart: { asset_file: file } }))
  const status = async () => expectOk(await rest('GET', `assets/${nid}/history/`)).commits[0].status

  expect(await holders()).toEqual([])
  expect(await sessions('annal-jobs')).toEqual([])

  const relay = await shared.start([], { ROLES: 'relay' })
  await eventually(status, (found) => found === 'final')
  expect(await missing(http)).toEqual(['role jobs', 'role deliveries'])
  expect((await fetch(`${relay.url}/healthz`)).status).toBe(200)
  expect((await fetch(`${relay.url}/version`)).status).toBe(200)
  for (const path of ['/', '/graphql', '/api/v3/assets/', '/metrics'])
    expect((await fetch(relay.url + path)).status, path).toBe(404)
  expect(await sessions('annal-jobs')).toEqual([])

  const worker = await shared.start(['--roles', 'jobs'])
  await eventually(async () => (await jobs('thumbnail')).every((state) => state === 'completed'))
  expect(await missing(http)).toEqual(['role deliveries'])
  expect(await jobs('account-mail')).toEqual(['created'])
  expect(await mails()).toEqual([])

  const deliveries = await shared.start(['--roles', 'deliveries'])
  await eventually(mails, (found) => found.length === 1)
  expect(await http.readiness()).toEqual({ status: 200, body: { status: 'ok' } })

  expect(await relay.stop()).toMatchObject({ code: 0 })
  expect(await missing(http)).toEqual(['role relay'])
  const { code, stdout } = await runAnnal(shared.dir, ['doctor', '--only', 'roles'], { env: shared.env })
  expect(code).toBe(1)
  expect(stdout).toMatch(/roles +error +No process has the role relay\./)

  await worker.stop('SIGKILL')
  await eventually(async () => (await missing(http))?.includes('role jobs') === true)
  for (const service of [deliveries, http]) expect(await service.stop()).toMatchObject({ code: 0 })
})

it('rejects an unknown process role and lists the valid roles', async () => {
  const { code, output } = await (await shared.spawn(['--roles', 'http,relays'])).ended
  expect(code).not.toBe(0)
  expect(output).toMatch(/ROLES: Expected some of http, relay, jobs, deliveries/)
})
