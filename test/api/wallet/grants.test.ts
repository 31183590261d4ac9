/** Grants of points by administrators: identical in both APIs, and once per idempotency key. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { asSystem } from '../../../src/context.ts'
import { grantPoints } from '../../../src/modules/wallet/grant-points.ts'
import { fromId } from '../../../src/shared/ids.ts'
import { codeOf, expectError, expectOk } from '../../support/expect-error.ts'
import type { Answer } from '../../support/http-client.ts'
import type { Rest } from '../../support/rest-client.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()
const admin = await app.admin()

const grantMutation = `mutation ($input: GrantPointsInput!) {
  grantPoints(input: $input) { grant { id user { id } amount reason createdAt } }
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

describe('grants of points', () => {
  it('a grant adds points in one transfer with the reason, and appends an event', async () => {
    const user = await app.newUser()
    const answer = await give(user)
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^grant_/),
      user_id: user.publicId,
      amount: '5',
      reason: 'A present',
      created_at: expect.any(String),
    })
    expect(await app.wallet(user)).toEqual({ num: '0', points: '17' })
    expect(await eventsOf(user)).toEqual(['points.granted'])
    expect(
      await app.sql(
        `select t.reason, e.book::text, e.amount::int from entries e join transfers t on t.id = e.transfer_id
         where t.reference = 'grant:' || $1 order by e.position`,
        [fromId(answer.body.id)!.uuid],
      ),
    ).toEqual([
      { reason: 'A present', book: null, amount: 5 },
      { reason: 'A present', book: 'PROMOTION', amount: -5 },
    ])
    const [trail] = await app.sql('select user_id::text from audit_entries where subject = $1', [answer.body.id])
    expect(trail).toEqual({ user_id: admin.id })
  })

  it('one idempotency key returns the same grant in both APIs, even after the account is deleted', async () => {
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

  it.each(['publicId', 'email', 'username'] as const)('a grant finds the user by %s, in any case', async (name) => {
    const user = await app.newUser()
    const named = name === 'publicId' ? user[name] : user[name].toUpperCase()
    expect((await give(user, { user_id: named })).body.user_id).toBe(user.publicId)
  })

  it.each<[string, object]>([
    ['no amount', { amount: '' }],
    ['an amount of zero', { amount: '0' }],
    ['a negative amount', { amount: '-1' }],
    ['an amount that is not a number', { amount: 'many' }],
    ['an amount above the maximum', { amount: '1000000000000' }],
    ['more than 18 decimals', { amount: '0.0000000000000000001' }],
    ['no reason', { reason: ' ' }],
    ['a reason that is too long', { reason: 'x'.repeat(501) }],
    ['no user', { user_id: '' }],
  ])('a grant with %s is rejected, and adds no points', async (_, fields) => {
    const user = await app.newUser()
    const { body } = expectError(await give(user, fields), 'VALIDATION_FAILED')
    expect(Object.keys(body.error.details)).toEqual(Object.keys(fields))
    expect(await app.wallet(user)).toEqual({ num: '0', points: '12' })
    expect(await eventsOf(user)).toEqual([])
  })

  it('a grant of points to an unknown user returns 404', async () => {
    const user = await app.newUser()
    expectError(await give(user, { user_id: 'nobody@example.org' }), 'NOT_FOUND')
    expectError(await give(user, { user_id: admin.publicId.replace('user_', 'order_') }), 'NOT_FOUND')
  })

  it('one idempotency key makes one grant, even for eight concurrent requests', async () => {
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

  it.each(['anonymous', 'user', 'admin'] as const)(
    'a grant by the caller "%s" has the same result in both APIs',
    async (kind) => {
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
    },
  )
})

it('the command line grants points as the system, once for one idempotency key', async () => {
  const user = await app.newUser()
  const idempotency = { key: randomUUID(), replayed: false }
  const grant = () =>
    grantPoints(
      { ...asSystem(app.context), idempotency: { ...idempotency } },
      { userId: user.email, amount: '1', reason: 'By hand' },
    )
  expect((await grant()).id).toBe((await grant()).id)
  expect(await app.wallet(user)).toEqual({ num: '0', points: '13' })
  expectOk(await user.rest('GET', 'auth/users/me/'))
})
