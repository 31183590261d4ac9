/** Points that administrators give: both doors alike, once for each key, and gone when their time is over. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { codeOf, expectError, expectOk } from '../support/expect-error.ts'
import { expireGrants } from '../support/grants.ts'
import type { Answer } from '../support/http-client.ts'
import type { Rest } from '../support/rest-client.ts'
import { createTestApp, type SignedIn } from '../support/test-app.ts'

const app = await createTestApp()
const admin = await app.admin()
const HOUR = 3_600_000
const later = () => new Date(Date.now() + HOUR).toISOString()

const grantMutation = `mutation ($input: GrantPointsInput!) {
  grantPoints(input: $input) { grant { id user { id } amount reason expiresAt expiredAt createdAt } }
}`
const give = (user: SignedIn, fields: object = {}, rest: Rest = admin.rest, headers: Record<string, string> = {}) =>
  rest('POST', 'store/point-grants/', {
    json: { user_id: user.publicId, amount: '5', reason: 'A present', ...fields },
    headers,
  })
const eventsOf = async (user: SignedIn) =>
  (
    await app.sql<{ type: string }>('select type from events where owner_id = $1::uuid order by sequence', [user.id])
  ).map(({ type }) => type)

const letExpire = (user: SignedIn) => expireGrants(app, user)

describe('granting points', () => {
  it('raises the balance in one transfer that the feed tells', async () => {
    const user = await app.newUser()
    const expiresAt = later()
    const answer = await give(user, { expires_at: expiresAt })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^grant_/),
      user_id: user.publicId,
      amount: '5',
      reason: 'A present',
      expires_at: expiresAt,
      expired_at: null,
      created_at: expect.any(String),
    })
    expect(await app.wallet(user)).toEqual({ num: '0', points: '17' })
    expect(await eventsOf(user)).toEqual(['points.granted'])
    expect(
      await app.sql(
        `select e.book::text, e.amount::int from entries e join transfers t on t.id = e.transfer_id
           join point_grants g on t.reference = 'grant:' || g.id where g.wallet_id = $1::uuid order by e.position`,
        [user.id],
      ),
    ).toEqual([
      { book: null, amount: 5 },
      { book: 'PROMOTION', amount: -5 },
    ])
    const [row] = await app.sql('select granted_by::text from point_grants where wallet_id = $1::uuid', [user.id])
    expect(row).toEqual({ granted_by: admin.id })
  })

  it('is told again, with the same key and at both doors, when who got them has deleted the account', async () => {
    const user = await app.newUser()
    const headers = { 'Idempotency-Key': randomUUID() }
    const input = { userId: user.publicId, amount: '5', reason: 'A present' }
    const ask = async () => expectOk(await admin.graphql(grantMutation, { input }, { headers })).grantPoints.grant
    const { id } = await ask()
    expect((await user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
    expect(await ask()).toMatchObject({ id, user: { id: user.publicId }, amount: '5' })
    expect(expectOk(await give(user, {}, admin.rest, headers))).toMatchObject({ id, user_id: user.publicId })
    const node = '{ node(id: $id) { ... on PointGrant { user { id displayName email } } } }'
    expect(expectOk(await admin.graphql(`query ($id: ID!) ${node}`, { id })).node.user).toMatchObject({
      id: user.publicId,
      email: null,
    })
  })

  it.each(['publicId', 'email', 'username'] as const)('finds the user by %s, in any case', async (name) => {
    const user = await app.newUser()
    const named = name === 'publicId' ? user[name] : user[name].toUpperCase()
    expect((await give(user, { user_id: named })).body.user_id).toBe(user.publicId)
  })

  it.each<[string, object]>([
    ['no amount', { amount: '' }],
    ['an amount of nothing', { amount: '0' }],
    ['a negative amount', { amount: '-1' }],
    ['an amount that is no number', { amount: 'many' }],
    ['an amount beyond all measure', { amount: '1000000000000' }],
    ['more decimals than there are', { amount: '0.0000000000000000001' }],
    ['no reason', { reason: ' ' }],
    ['a reason that is too long', { reason: 'x'.repeat(501) }],
    ['a moment that is over', { expires_at: '2020-01-01T00:00:00Z' }],
    ['a moment that is none', { expires_at: 'tomorrow' }],
    ['a day that no calendar has', { expires_at: '2999-02-30T00:00:00Z' }],
    ['a moment of no time zone', { expires_at: '2999-11-21T09:30:00' }],
    ['nobody', { user_id: '' }],
  ])('is refused with %s, and nothing is given', async (_, fields) => {
    const user = await app.newUser()
    const { body } = expectError(await give(user, fields), 'VALIDATION_FAILED')
    expect(Object.keys(body.error.details)).toEqual(Object.keys(fields))
    expect(await app.wallet(user)).toEqual({ num: '0', points: '12' })
    expect(await eventsOf(user)).toEqual([])
  })

  it('is refused for a user who is not there', async () => {
    const user = await app.newUser()
    expectError(await give(user, { user_id: 'nobody@example.org' }), 'NOT_FOUND')
    expectError(await give(user, { user_id: admin.publicId.replace('user_', 'order_') }), 'NOT_FOUND')
  })

  it('happens once for an idempotency key, also when eight ask at once', async () => {
    const user = await app.newUser()
    const headers = { 'Idempotency-Key': randomUUID() }
    const answers = await Promise.all(Array.from({ length: 8 }, () => give(user, {}, admin.rest, headers)))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    const again = await give(user, {}, admin.rest, headers)
    expect([again.status, again.body, again.headers.get('Idempotency-Replayed')]).toEqual([
      201,
      answers[0]!.body,
      'true',
    ])
    expectError(await give(user, { amount: '6' }, admin.rest, headers), 'IDEMPOTENCY_KEY_REUSED')
    expect(await app.wallet(user)).toEqual({ num: '0', points: '17' })
  })

  it.each(['anonymous', 'user', 'admin'] as const)('by %s is the same at both doors', async (kind) => {
    const [one, other] = [await app.newUser(), await app.newUser()]
    const actor = { anonymous: app, user: await app.newUser(), admin }[kind]
    const shown = ({ amount, reason }: { amount: string; reason: string }) => ({ amount, reason })
    const rest: Answer = await give(one, {}, actor.rest)
    const graphql = await actor.graphql(grantMutation, {
      input: { userId: other.publicId, amount: '5', reason: 'A present' },
    })
    const code = { anonymous: 'NOT_AUTHENTICATED', user: 'PERMISSION_DENIED', admin: undefined }[kind]
    expect([codeOf(rest), codeOf(graphql)]).toEqual([code, code])
    if (kind === 'admin') expect(shown(graphql.body.data.grantPoints.grant)).toEqual(shown(rest.body))
    expect(await app.wallet(other)).toEqual(await app.wallet(one))
  })
})

describe('a grant whose time is over', () => {
  it('gives back all of it when nothing was spent', async () => {
    const user = await app.newUser()
    await give(user, { expires_at: later() })
    expect(await app.services.grants.sweep()).toBe(0)
    await letExpire(user)
    expect(await app.services.grants.sweep()).toBe(1)
    expect(await app.services.grants.sweep()).toBe(0)
    expect(await app.wallet(user)).toEqual({ num: '0', points: '12' })
    expect(await eventsOf(user)).toEqual(['points.granted', 'points.expired'])
    const [row] = await app.sql(
      'select expired_at >= expires_at as closed from point_grants where wallet_id = $1::uuid',
      [user.id],
    )
    expect(row).toEqual({ closed: true })
  })

  it('was spent before what never expires', async () => {
    const user = await app.newUser()
    await give(user, { expires_at: later(), amount: '1' })
    await user.register()
    await letExpire(user)
    await app.services.grants.sweep()
    expect(await app.wallet(user)).toEqual({ num: '0', points: '12' })
  })

  it('gives back nothing when all of it was spent', async () => {
    const user = await app.newUser()
    await give(user, { expires_at: later(), amount: '0.1' })
    await user.register()
    await letExpire(user)
    expect(await app.services.grants.sweep()).toBe(1)
    expect(await app.wallet(user)).toEqual({ num: '0', points: '11.921' })
    expect(await eventsOf(user)).not.toContain('points.expired')
  })

  it('does not pay for what is bought after that moment, however late the sweep comes', async () => {
    const user = await app.newUser()
    await give(user, { expires_at: later(), amount: '1' })
    await letExpire(user)
    await user.register()
    await app.services.grants.sweep()
    expect(await app.wallet(user)).toEqual({ num: '0', points: '11.821' })
  })

  it('is taken back once, by several processes, while the owner spends', async () => {
    const user = await app.newUser()
    await Promise.all(Array.from({ length: 5 }, () => give(user, { expires_at: later() })))
    await letExpire(user)
    const [swept] = await Promise.all([
      Promise.all(Array.from({ length: 4 }, () => app.services.grants.sweep())),
      ...Array.from({ length: 6 }, () => user.register()),
    ])
    await app.services.grants.sweep()
    expect(swept.reduce((sum, closed) => sum + closed, 0)).toBeLessThanOrEqual(5)
    expect(await app.wallet(user)).toEqual({ num: '0', points: '10.926' })
    expect((await eventsOf(user)).filter((type) => type === 'points.expired')).toHaveLength(5)
  })
})

it('is what the command line gives, too, by the system', async () => {
  const user = await app.newUser()
  const context = { key: randomUUID(), replayed: false }
  const grant = () =>
    app.services.grants.grant(
      { kind: 'system' },
      { userId: user.email, amount: '1', reason: 'By hand' },
      { ...context },
    )
  expect((await grant()).id).toBe((await grant()).id)
  expect(await app.wallet(user)).toEqual({ num: '0', points: '13' })
  expectOk(await user.rest('GET', 'auth/users/me/'))
})
