/** Event streams and subscriptions share limits and session checks, and each event is read only once. */
import { randomUUIDv7 } from 'node:crypto'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { issueToken } from '../../../src/modules/accounts/mailed-links.ts'
import { type EventReader, readEvents } from '../../support/event-stream.ts'
import { poll } from '../../support/eventually.ts'
import { expectOk } from '../../support/expect-error.ts'
import { createRest, type Rest } from '../../support/rest-client.ts'
import { type AnotherApp, startAnother } from '../../support/start-another.ts'
import { recordStatements, withoutLooks } from '../../support/statements.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'
import { PASSWORD, type TestActor } from '../../support/user.ts'

const PER_USER = 3
const PER_ADDRESS = 24
const app = await createTestApp({
  env: { LIMITS: `streams-per-user=${PER_USER},streams-per-address=${PER_ADDRESS}` },
})

let readers: EventReader[] = []
afterEach(async () => {
  vi.useRealTimers()
  const left = readers
  readers = []
  for (const reader of left) reader.close()
  await Promise.all(left.map(({ ended }) => ended))
})

const keep = (reader: EventReader) => {
  readers.push(reader)
  return reader
}
const subscribe = async (actor: TestActor | undefined, query: string, headers = {}) =>
  keep(await readEvents(`${app.url}/graphql`, { ...(actor && { actor }), headers, body: { query } }))
const follow = async (actor: TestActor, headers = {}) =>
  keep(await readEvents(`${app.url}/api/v3/events/stream`, { actor, headers }))
const commitsOf = (nid: string) => `subscription { commitUpdated(nid: "${nid}") { sequence status committer } }`
const sequencesIn = ({ events }: EventReader) =>
  events.map(({ data }) => data.data?.commitUpdated.sequence ?? data.sequence)

describe('concurrent event streams', () => {
  const askAgain = async (open: () => Promise<EventReader>) => {
    const reader = await open()
    const status = reader.status
    const wait = Number(reader.headers.get('retry-after'))
    reader.close()
    return { status, wait }
  }

  it('limits concurrent event streams per user across both APIs, with 429 and Retry-After', async () => {
    const user = await app.newUser()
    const { id } = await user.register({ public_access: 'true' })
    const doors = [() => follow(user), () => subscribe(user, commitsOf(id))]
    for (let n = 0; n < PER_USER; n += 1) expect((await doors[n % 2]!()).status).toBe(200)
    for (const open of doors) {
      const { status, wait } = await askAgain(open)
      expect(status).toBe(429)
      expect(wait).toBeGreaterThan(0)
    }
    expect((await subscribe(undefined, commitsOf(id))).status).toBe(200)
    expect((await follow(await app.newUser())).status).toBe(200)
    readers[0]!.close()
    await poll(() => askAgain(() => follow(user))).until(({ status }) => status === 200)
  })

  it('rejects excess event streams in the error format of each API', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    for (let n = 0; n < PER_USER; n += 1) await follow(user)
    const answer = await user.rest('GET', 'events/stream')
    expect([answer.status, answer.body.error.type]).toEqual([429, 'throttled'])
    const reader = await subscribe(user, commitsOf(id))
    await reader.ended
    expect(reader.events[0]!.data.errors[0].extensions).toMatchObject({ code: 'THROTTLED', retryAfter: 30 })
  })

  it('limits event streams per address, without counting rejected streams and HEAD requests', async () => {
    const user = await app.newUser()
    const { id } = await user.register({ public_access: 'true' })
    const hidden = await user.register()
    for (let n = 0; n < 2 * PER_ADDRESS; n += 1) {
      const reader = await subscribe(undefined, commitsOf(hidden.id))
      await reader.ended
      expect(reader.events[0]!.data.errors[0].extensions.code).toBe('NOT_FOUND')
      expect((await user.rest('HEAD', 'events/stream')).status).toBe(200)
    }
    for (let n = 0; n < PER_ADDRESS; n += 1) expect((await subscribe(undefined, commitsOf(id))).status).toBe(200)
    expect((await askAgain(() => subscribe(undefined, commitsOf(id)))).status).toBe(429)
    expect((await askAgain(() => follow(user))).status).toBe(429)
  })
})

describe('events', () => {
  it('reads an event from the database once for all subscribers', async () => {
    const user = await app.newUser({ num: '100' })
    const { id } = await user.register({ public_access: 'true' })
    const sent = recordStatements()
    const without = async (work: () => Promise<unknown>) => {
      sent.length = 0
      await work()
      return withoutLooks(sent)
    }
    const registerThree = async () => {
      for (let n = 0; n < 3; n += 1) await user.register()
    }
    const alone = await without(registerThree)
    const many = await Promise.all(Array.from({ length: PER_ADDRESS - 1 }, () => subscribe(undefined, commitsOf(id))))
    const followed = await without(registerThree)
    const change = await without(async () => {
      expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'New' } }))
      for (const reader of many) await poll(() => sequencesIn(reader)).until((found) => found.length > 0)
    })
    expect(many.map(sequencesIn)).toEqual(many.map(() => [2]))
    // Notifications are batched, so there may be fewer.
    const notifications = 3
    expect(followed.length).toBeLessThanOrEqual(alone.length + notifications)
    expect(change.length).toBeLessThan(many.length / 2)
  })

  it('sends an event exactly once to streams that open at the same time', async () => {
    const user = await app.newUser({ num: '100' })
    const { id } = await user.register({ public_access: 'true' })
    const change = async (n: number) =>
      expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: `${n}` } }))
    const opening = Promise.all([follow(user, { 'Last-Event-ID': '0' }), follow(user, { 'Last-Event-ID': '0' })])
    for (let n = 2; n <= 6; n += 1) await change(n)
    for (const reader of await opening) {
      await poll(() => sequencesIn(reader).length).until((length) => length >= 6)
      expect(sequencesIn(reader)).toEqual([1, 2, 3, 4, 5, 6])
    }
  })

  it('the deletion of an asset ends its subscriptions', async () => {
    const user = await app.newUser()
    const { id } = await user.register({ public_access: 'true' })
    const reader = await subscribe(undefined, commitsOf(id))
    expect((await user.rest('DELETE', `assets/${id}/`)).status).toBe(204)
    await reader.ended
    expect(sequencesIn(reader)).toEqual([])
  })
})

describe('sessions that end in another process', () => {
  let other: AnotherApp
  beforeAll(async () => {
    other = await startAnother(app)
    return other.stop
  })

  const signInElsewhere = async (user: SignedIn): Promise<Rest> => {
    const json = { email: user.email, password: PASSWORD }
    const { auth_token: token } = expectOk(await createRest(other.url)('POST', 'auth/token/login/', { json }))
    return createRest(other.url, { actor: { token } })
  }
  const sessionsOf = async (user: SignedIn) =>
    expectOk(await user.rest('GET', 'auth/sessions/')).results as { id: string; is_current: boolean }[]

  const endings: Record<string, (user: SignedIn) => Promise<unknown>> = {
    'signing out': (user) => createRest(other.url, { actor: user })('POST', 'auth/token/logout/'),
    'revoking the session': async (user) => {
      const { id } = (await sessionsOf(user)).find(({ is_current }) => is_current)!
      return (await signInElsewhere(user))('DELETE', `auth/sessions/${id}/`)
    },
    'revoking all other sessions': async (user) =>
      (await signInElsewhere(user))('POST', 'auth/sessions/revoke-others/'),
    'changing the password': async (user) =>
      (await signInElsewhere(user))('POST', 'auth/users/set_password/', {
        json: { current_password: PASSWORD, new_password: 'staple battery horse' },
      }),
    'resetting the password': async (user) => {
      const request = { purpose: 'PASSWORD_RESET', userId: user.id, requestId: randomUUIDv7() } as const
      const { token } = (await issueToken(app.context, request))!
      const json = { uid: user.publicId, token, new_password: 'staple battery horse' }
      return createRest(other.url)('POST', 'auth/users/reset_password_confirm/', { json })
    },
    'deleting the account': (user) => createRest(other.url, { actor: user })('DELETE', 'auth/users/me/'),
  }

  it.each(Object.entries(endings))(
    '%s in another process ends the event streams of the session over both APIs',
    async (_, endIt) => {
      // Disables the poll every two seconds.
      vi.useFakeTimers({ toFake: ['setInterval'] })
      const [user, bystander] = [await app.newUser(), await app.newUser()]
      const { id } = await user.register({ public_access: 'true' })
      const streams = [await follow(user), await subscribe(user, commitsOf(id))]
      // The subscription is for an asset that outlives the user's account.
      const { id: another } = await bystander.register({ public_access: 'true' })
      const others = [await follow(bystander), await subscribe(undefined, commitsOf(another))]
      await listening()
      expect(await endIt(user)).toMatchObject({ status: 204 })
      await Promise.all(streams.map(({ ended }) => ended))
      expect(await Promise.race([...others.map(({ ended }) => ended), 'open'])).toBe('open')
    },
  )

  it('revoking an API key ends the event streams that use the key', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] })
    const [admin, user, store] = [await app.admin(), await app.newUser(), await createStore(app)]
    const issued = expectOk(await admin.rest('POST', 'store/api-keys/', { json: { name: 'Partner' } }))
    const order = await store.order(user)
    const headers = { 'x-api-key': issued.key }
    const streams = [
      await follow(user, headers),
      await subscribe(user, `subscription { orderUpdated(id: "${order.id}") { id } }`, headers),
    ]
    const without = await follow(user)
    await listening()
    expectOk(await createRest(other.url, { actor: admin })('DELETE', `store/api-keys/${issued.id}/`))
    await Promise.all(streams.map(({ ended }) => ended))
    expect(await Promise.race([without.ended, 'open'])).toBe('open')
  })
})

describe('sessions that expire', () => {
  it('a session that expires ends its event streams', async () => {
    const user = await app.newUser()
    const reader = await follow(user)
    await app.sql(`update access_tokens set expires_at = now() - interval '1 ms' where user_id = $1::uuid`, [user.id])
    await reader.ended
  })
})

/** Waits for LISTEN, because notifications reach only current listeners. */
const listening = () =>
  poll(() =>
    app.sql(
      `select 1 from pg_stat_activity where application_name = 'annal-events' and datname = current_database()
           and query ilike 'listen%' and state = 'idle'`,
    ),
  ).until((rows) => rows.length > 0)
