/** The responses when a resource is locked or unavailable. Clients retry after 20 seconds, so the server responds earlier. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { statement, text, uuid } from '../../../src/db/sql.ts'
import { eventually } from '../../support/eventually.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp({ env: { DATABASE_POOL: '4' } })
const { database } = app.installation
const idle = statement('test_idle', {}, 'select')
const lockAsset = statement(
  'test_lock_asset',
  { parameters: { nid: text } },
  'select from assets where nid = $nid for update',
)
const lockUser = statement(
  'test_lock_user',
  { parameters: { user: uuid } },
  'select from users where id = $user for update',
)

function hold(begin: (query: typeof database.query) => Promise<unknown>) {
  const held = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const done = database.transaction(async (query) => {
    await begin(query)
    begun.resolve()
    // PostgreSQL ends transactions that are idle for too long.
    const isHeld = () => Promise.race([held.promise.then(() => false), delay(500, true)])
    while (await isHeld()) await query(idle)
  })
  return {
    begun: begun.promise,
    release: () => {
      held.resolve()
      return done
    },
  }
}

const waiting = async () =>
  (
    await app.sql<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  )[0]!.n

describe('requests for a locked asset', () => {
  it('an update waits for the row lock of an asset and makes the change once', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    const headers = { 'Idempotency-Key': randomUUID() }
    const holding = hold((query) => query(lockAsset, { nid: id }))
    await holding.begun
    const patch = () => user.rest('PATCH', `assets/${id}/`, { json: { caption: 'Patience' }, headers })
    const answers = [patch(), patch()]
    await eventually(waiting, (n) => n === 2)
    await holding.release()
    for (const answer of await Promise.all(answers)) expect(expectOk(answer).caption).toBe('Patience')
    expect(await app.commitCount(id)).toBe(2)
    expect(await app.wallet(user)).toEqual({ num: '0', points: '11.642' })
  })

  it('an update returns a retryable 409 without changes if the asset is locked for too long', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    const options = { json: { caption: 'Later' }, headers: { 'Idempotency-Key': randomUUID() } }
    const holding = hold((query) => query(lockAsset, { nid: id }))
    await holding.begun
    const answer = expectError(await user.rest('PATCH', `assets/${id}/`, options), 'IDEMPOTENCY_KEY_IN_USE')
    await holding.release()
    expect([answer.status, Number(answer.headers.get('retry-after'))]).toEqual([409, 1])
    expect([await app.commitCount(id), await app.wallet(user)]).toEqual([1, { num: '0', points: '11.821' }])
    expect(expectOk(await user.rest('PATCH', `assets/${id}/`, options)).caption).toBe('Later')
    expect(await app.commitCount(id)).toBe(2)
  })
})

it('returns 409 with Retry-After if any other row is locked for too long', async () => {
  const user = await app.newUser()
  const holding = hold((query) => query(lockUser, { user: user.id }))
  await holding.begun
  const answer = await user.rest('PATCH', 'auth/users/me/', { json: { default_tag: 'late' } })
  await holding.release()
  expect(Number(expectError(answer, 'CONFLICT').headers.get('retry-after'))).toBeGreaterThan(0)
})

it('returns 503 with Retry-After when the connection pool is exhausted, and recovers automatically', async () => {
  const user = await app.newUser()
  const holdings = Array.from({ length: 4 }, () => hold((query) => query(idle)))
  await Promise.all(holdings.map(({ begun }) => begun))
  const answers = await Promise.all([
    user.rest('GET', 'auth/users/me/'),
    user.graphql('{ me { id } }'),
    app.rest('GET', '/readyz'),
  ])
  await Promise.all(holdings.map(({ release }) => release()))
  for (const answer of answers.slice(0, 2)) {
    expectError(answer, 'UNAVAILABLE')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(answer.text).not.toMatch(/pool|timeout exceeded|pg/i)
  }
  expect([answers[0]!.status, answers[2]!.status, answers[2]!.body]).toEqual([
    503,
    503,
    { status: 'unavailable', missing: ['database'] },
  ])
  expectOk(await user.rest('GET', 'auth/users/me/'))
  expect((await app.rest('GET', '/readyz')).body).toEqual({ status: 'ok' })
})
