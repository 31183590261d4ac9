import { afterAll, afterEach, expect, it, onTestFinished } from 'vitest'
import { type EventReader, readEvents } from '../../support/event-stream.ts'
import { poll } from '../../support/eventually.ts'
import { expectError } from '../../support/expect-error.ts'
import { formType, partHead } from '../../support/form-parts.ts'
import { createGraphQL } from '../../support/graphql-client.ts'
import { openRequest } from '../../support/http-client.ts'
import { createRest, type RestOptions } from '../../support/rest-client.ts'
import { startAnother } from '../../support/start-another.ts'
import { createTestApp, newFile, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp({
  env: {
    LIMITS:
      'sign-up=2,sign-in=4,reset=2,verification=2,upload=2,upload-megabytes=1,streams-per-user=2,streams-per-address=3',
    TRUSTED_PROXIES: '127.0.0.1',
  },
})
const another = await startAnother(app)
afterAll(another.stop)

const urls = [app.url, another.url] as const
let hosts = 0
const newAddress = () => {
  hosts += 1
  return { 'X-Forwarded-For': `198.51.100.${hosts}` }
}

const ask = (url: string, method: string, path: string, options: RestOptions) => createRest(url)(method, path, options)

/** Sends `most` requests, alternating between the processes, and then one more to each. Only the last two must be rejected. */
async function expectShared(most: number, attempt: (url: string, n: number) => Promise<{ status: number }>) {
  const statuses: number[] = []
  for (let n = 0; n < most + 2; n += 1) statuses.push((await attempt(urls[n % 2]!, n)).status)
  expect(statuses.slice(0, most)).not.toContain(429)
  expect(statuses.slice(most)).toEqual([429, 429])
}

const login = (url: string, email: string, headers: Record<string, string>) =>
  ask(url, 'POST', 'auth/token/login/', { json: { email, password: 'wrong password' }, headers })

it('two processes share the limit of sign-ins per address', async () => {
  const headers = newAddress()
  await expectShared(4, (url, n) => login(url, `nobody${n}@example.org`, headers))
})

it('limits concurrent sign-ins per address across processes, and resets the limit after the window', async () => {
  const networks = [newAddress(), newAddress()]
  const letIn = () =>
    Promise.all(
      networks.map(async (headers, network) => {
        const asked = Array.from({ length: 10 }, (_, n) =>
          login(urls[Math.floor(n / 5)]!, `nobody${network}${n}@example.org`, headers),
        )
        return (await Promise.all(asked)).filter(({ status }) => status !== 429).length
      }),
    )
  expect(await letIn()).toEqual([4, 4])
  await app.sql(`update limits set window_end = now() - interval '1 second' where key like 'sign-in:%'`)
  expect(await letIn()).toEqual([4, 4])
  expect(await letIn()).toEqual([0, 0])
})

it('two processes share the limit of password guesses per account', async () => {
  const { email } = await app.newUser()
  await expectShared(4, (url) => login(url, email, newAddress()))
})

const registerAsset = 'mutation ($input: RegisterAssetInput!) { registerAsset(input: $input) { asset { id } } }'

/** Starts a registration that announces this many bytes and sends a few. */
function beginUpload(url: string, { token }: SignedIn, bytes: number) {
  const headers = { ...newAddress(), 'Content-Type': formType, 'Content-Length': String(bytes) }
  const request = openRequest(`${url}/api/v3/assets/`, { token, headers })
  request.answer.catch(() => {})
  request.write(partHead('asset_file', 'a.bin'))
  request.write(Buffer.alloc(1_000))
  onTestFinished(request.abort)
  return request
}
const reportedOf = async ({ id }: SignedIn) => {
  const reported = `select (held->>'amount')::int as bytes from concurrency_counters, jsonb_each(holders) as holder (process, held) where subject = 'uploads:' || $1`
  return (await app.sql<{ bytes: number }>(reported, [id])).map(({ bytes }) => bytes).sort((a, b) => a - b)
}
const register = (url: string, actor: SignedIn) =>
  ask(url, 'POST', 'assets/', { actor, multipart: { asset_file: newFile() }, headers: newAddress() })

it("two processes share a user's limit of bytes being uploaded, and ended uploads free their bytes", async () => {
  const user = await app.newUser()
  const first = beginUpload(app.url, user, 700_000)
  await poll(() => reportedOf(user)).until((reported) => reported.join() === '700000')
  beginUpload(another.url, user, 300_000)
  await poll(() => reportedOf(user)).until((reported) => reported.join() === '300000,700000')
  for (const url of urls) {
    const refused = await register(url, user)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
  }
  const upload = { input: { assetFile: newFile() } }
  expectError(await createGraphQL(another.url)(registerAsset, upload, { actor: user }), 'THROTTLED')
  first.abort()
  await poll(() => reportedOf(user)).until((reported) => reported.join() === '300000')
  expect((await register(another.url, user)).status).toBe(201)
})

it('frees the upload bytes of a dead process after a minute', async () => {
  const user = await app.newUser()
  beginUpload(app.url, user, 1_000_000)
  await poll(() => reportedOf(user)).until((reported) => reported.join() === '1000000')
  expect((await register(another.url, user)).status).toBe(429)
  // Simulates a process that was killed a minute ago.
  await app.sql(
    `update concurrency_counters set holders = (select jsonb_object_agg(key, value || '{"until": 0}') from jsonb_each(holders)) where subject = 'uploads:' || $1`,
    [user.id],
  )
  expect((await register(another.url, user)).status).toBe(201)
  // A live process renews its counters.
  await app.maintenance.renewCounters()
  expect((await register(another.url, user)).status).toBe(429)
})

let readers: EventReader[] = []
afterEach(async () => {
  for (const reader of readers) reader.close()
  await Promise.all(readers.map(({ ended }) => ended))
  readers = []
})

async function follow(url: string, actor: SignedIn, headers: Record<string, string>) {
  const reader = await readEvents(`${url}/api/v3/events/stream`, { actor, headers })
  readers.push(reader)
  return reader
}

it('two processes share the limit of open streams per user, and closed streams count no longer', async () => {
  const user = await app.newUser()
  await expectShared(2, (url) => follow(url, user, newAddress()))
  readers[0]!.close()
  await poll(() => follow(another.url, user, newAddress())).until(({ status }) => status === 200)
})

it("two processes share the limit of streams per address, and a dead process's streams expire after a minute", async () => {
  const headers = newAddress()
  await expectShared(3, async (url) => follow(url, await app.newUser(), headers))
  // Simulates a process that was killed a minute ago.
  await app.sql(
    `update concurrency_counters set holders = (select jsonb_object_agg(key, value || '{"until": 0}') from jsonb_each(holders)) where subject = $1`,
    [`streams:address:${headers['X-Forwarded-For']}`],
  )
  expect((await follow(another.url, await app.newUser(), headers)).status).toBe(200)
  // A live process renews its counters.
  await app.maintenance.renewCounters()
  expect((await follow(another.url, await app.newUser(), headers)).status).toBe(429)
})
