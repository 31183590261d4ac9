/** Each request, and other work of a caller, is counted against the caller before the work is done. */
import { afterEach, describe, expect, it } from 'vitest'
import { type EventReader, readEvents } from '../../support/event-stream.ts'
import { poll } from '../../support/eventually.ts'
import { codeOf, expectError, expectOk } from '../../support/expect-error.ts'
import { type Answer, send } from '../../support/http-client.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const PER_USER = 40
/** An address may send as many requests as five accounts. */
const PER_ADDRESS = 5 * PER_USER
const app = await createTestApp({
  env: { TRUSTED_PROXIES: '127.0.0.1', LIMITS: `requests-per-user=${PER_USER},requests-per-address=${PER_USER}` },
})

let addresses = 0
const newAddress = () => {
  addresses += 1
  return { 'X-Forwarded-For': `198.51.100.${addresses}` }
}

/** Sends requests until one is throttled. Returns how many were accepted, and the rejection. */
async function sendUntilThrottled(
  send: (n: number) => Promise<Answer>,
): Promise<{ accepted: number; rejection: Answer }> {
  for (let accepted = 0; ; accepted += 1) {
    const answer = await send(accepted)
    if (codeOf(answer) === 'THROTTLED') return { accepted, rejection: answer }
    if (accepted > 2 * PER_ADDRESS) throw new Error('No request was throttled')
  }
}

function expectRetryAfter({ headers }: Answer) {
  const wait = Number(headers.get('retry-after'))
  expect(wait).toBeGreaterThan(0)
  expect(wait).toBeLessThanOrEqual(60)
}

const post = (path: string, { token }: SignedIn, body: { raw: string; headers?: Record<string, string> }) =>
  send(app.url + path, {
    token,
    raw: body.raw,
    headers: { 'Content-Type': 'application/json', Accept: 'application/graphql-response+json', ...body.headers },
  })

describe('request quota of signed-in callers', () => {
  it.each([
    ['invalid JSON to GraphQL', '/graphql', '{"query": '],
    ['an invalid document', '/graphql', '{"query": "{ me {"}'],
    ['invalid JSON to REST', '/api/v3/auth/users/set_password/', '{"current_password": '],
  ])('throttles a signed-in caller who sends %s after the request quota', async (_, path, raw) => {
    const user = await app.newUser()
    const { accepted, rejection } = await sendUntilThrottled(() => post(path, user, { raw, headers: newAddress() }))
    expect([accepted, rejection.status]).toEqual([PER_USER, 429])
    expectRetryAfter(rejection)
  })

  it('a large new GraphQL document uses more of the request quota than a known document', async () => {
    const user = await app.newUser()
    const documentOf = (n: number) => `{ missing${n} ${'x '.repeat(5_000)}}`
    const ask = (n: number) => user.graphql(documentOf(n), {}, { headers: newAddress() })
    const { accepted, rejection } = await sendUntilThrottled(ask)
    expect(accepted).toBe(Math.floor(PER_USER / 6))
    expectRetryAfter(rejection)
    const other = await app.newUser()
    const again = await sendUntilThrottled(() => other.graphql(documentOf(0), {}, { headers: newAddress() }))
    expect(again.accepted).toBe(PER_USER)
  })

  it('a large body uses more of the request quota', async () => {
    const user = await app.newUser()
    const raw = `{"caption": "${'x'.repeat(500_000)}`
    const patch = () => post('/api/v3/auth/users/set_password/', user, { raw, headers: newAddress() })
    const { accepted, rejection } = await sendUntilThrottled(patch)
    expect(accepted).toBe(Math.floor(PER_USER / 6))
    expectRetryAfter(rejection)
  })

  it('the request quota of a user is shared by all sessions', async () => {
    const user = await app.newUser()
    const { accepted } = await sendUntilThrottled(() => user.rest('GET', 'auth/users/me/', { headers: newAddress() }))
    expect(accepted).toBe(PER_USER)
    const json = { email: user.email, password: PASSWORD }
    const { auth_token: token } = expectOk(await app.rest('POST', 'auth/token/login/', { json, headers: newAddress() }))
    expectError(await app.rest('GET', 'auth/users/me/', { actor: { token }, headers: newAddress() }), 'THROTTLED')
  })

  it('accounts at one address share its request quota, but not with anonymous callers', async () => {
    const headers = newAddress()
    const users = await Promise.all(Array.from({ length: 6 }, () => app.newUser()))
    const { accepted, rejection } = await sendUntilThrottled((n) =>
      users[n % users.length]!.rest('GET', 'auth/users/me/', { headers }),
    )
    expect(accepted).toBe(PER_ADDRESS)
    expectRetryAfter(rejection)
    expectOk(await app.rest('GET', 'assets/', { headers }))
    expectOk(await users[0]!.rest('GET', 'auth/users/me/', { headers: newAddress() }))
  })
})

describe('request quota of GraphQL subscriptions', () => {
  let readers: EventReader[] = []
  afterEach(async () => {
    for (const reader of readers) reader.close()
    await Promise.all(readers.map(({ ended }) => ended))
    readers = []
  })

  const follow = async (actor: SignedIn, nid: string) => {
    const query = `subscription { commitUpdated(nid: "${nid}") { sequence } }`
    const reader = await readEvents(`${app.url}/graphql`, { actor, headers: newAddress(), body: { query } })
    readers.push(reader)
    return reader
  }

  it("an event of a GraphQL subscription counts against the subscriber's quota, and is reported as THROTTLED beyond the quota", async () => {
    const [owner, spent, other] = await Promise.all([app.newUser({ num: '100' }), app.newUser(), app.newUser()])
    const { id } = await owner.register({ public_access: 'true' })
    const [busy, quiet] = [await follow(spent, id), await follow(other, id)]
    const change = async (caption: string) =>
      expectOk(await owner.rest('PATCH', `assets/${id}/`, { json: { caption }, headers: newAddress() }))
    const dataOf = async (reader: EventReader, count: number) =>
      (await poll(async () => reader.events.map(({ data }) => data)).until((found) => found.length >= count))!
    await change('first')
    expect(await dataOf(busy, 1)).toEqual([{ data: { commitUpdated: { sequence: 2 } } }])
    // The subscription and its event count as two requests.
    const { accepted } = await sendUntilThrottled(() => spent.rest('GET', 'auth/users/me/', { headers: newAddress() }))
    expect(accepted).toBe(PER_USER - 2)
    await change('second')
    const [, rejected] = await dataOf(busy, 2)
    expect(rejected.errors[0].extensions).toMatchObject({ code: 'THROTTLED', retryAfter: expect.any(Number) })
    expect((await dataOf(quiet, 2)).at(-1)).toEqual({ data: { commitUpdated: { sequence: 3 } } })
    expect(busy.hasEnded).toBe(false)
  })
})
