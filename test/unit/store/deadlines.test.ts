/** A deadline has passed exactly at its time. The database clock is stopped here, so nothing races with it. */

import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { expireOrders } from '../../../src/modules/store/expire-orders.ts'
import { fromId } from '../../../src/shared/ids.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { startReceiver } from '../../support/receiver.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const env = { ACCESS_TOKEN_DAYS: '1', LIMITS: 'sign-in=2', ALLOW_INSECURE_WEBHOOKS: 'true' }
const app = await createTestApp({ withClock: true, env })
const store = await createStore(app)
const buyer = await app.newUser()

afterEach(() => app.stopClock(null))

const endOf = (table: string, id: string, column = 'expires_at') =>
  `(select ${column} from ${table} where id = '${fromId(id)?.uuid ?? id}')`
const justBefore = (moment: string) => `${moment} - interval '1 millisecond'`

describe('order deadlines', () => {
  it('an order can be paid a millisecond before its deadline, but not at the deadline', async () => {
    const [inTime, late] = [await store.order(buyer), await store.order(buyer)]
    await app.stopClock(justBefore(endOf('orders', inTime.id)))
    expect(expectOk(await store.confirm(buyer, inTime.id)).status).toBe('success')

    await app.stopClock(endOf('orders', late.id))
    const before = await app.wallet(buyer)
    expectError(await store.confirm(buyer, late.id), 'ORDER_EXPIRED')
    expect(await app.wallet(buyer)).toEqual(before)
  })

  it('an order can be cancelled only before its deadline', async () => {
    const cancel = (id: string) =>
      buyer.graphql(`mutation ($id: ID!) { cancelOrder(input: { id: $id }) { order { status } } }`, { id })
    const [inTime, late] = [await store.order(buyer), await store.order(buyer)]
    await app.stopClock(justBefore(endOf('orders', inTime.id)))
    expectOk(await cancel(inTime.id))
    await app.stopClock(endOf('orders', late.id))
    expectError(await cancel(late.id), 'ORDER_EXPIRED')
  })

  it('an order is expired for every caller from its deadline on', async () => {
    const order = await store.order(buyer)
    const statusOf = async () =>
      (await app.sql('select status::text from orders where id = $1::uuid', [fromId(order.id)!.uuid]))[0]!.status
    await app.stopClock(justBefore(endOf('orders', order.id)))
    await expireOrders(app.context)
    expect(await statusOf()).toBe('CREATED')
    await app.stopClock(endOf('orders', order.id))
    await expireOrders(app.context)
    expect(await statusOf()).toBe('EXPIRED')
  })
})

describe('session deadlines', () => {
  it('a session expires exactly at its deadline', async () => {
    const user = await app.newUser()
    const login = await app.rest('POST', 'auth/token/login/', { json: { email: user.email, password: PASSWORD } })
    const actor = { token: expectOk(login).auth_token }
    const [session] = await app.sql<{ id: string }>(
      'select id::text from access_tokens where user_id = $1::uuid and expires_at is not null',
      [user.id],
    )
    await app.stopClock(justBefore(endOf('access_tokens', session!.id)))
    expectOk(await app.rest('GET', 'auth/users/me/', { actor }))
    await app.stopClock(endOf('access_tokens', session!.id))
    expectError(await app.rest('GET', 'auth/users/me/', { actor }), 'AUTHENTICATION_FAILED')
  })
})

describe('rate limit windows', () => {
  it('a rate limit accepts requests again at the end of its window', async () => {
    const user = await app.newUser()
    const signIn = () =>
      app.rest('POST', 'auth/token/login/', { json: { email: user.email, password: 'wrong-password' } })
    // Another test may have started the window, so this test starts a new one.
    await app.sql('delete from limits')
    expectError(await signIn(), 'INCORRECT_LOGIN_CREDENTIALS')
    expectError(await signIn(), 'INCORRECT_LOGIN_CREDENTIALS')
    const end = `(select window_end from limits where key like 'sign-in%' limit 1)`
    await app.stopClock(justBefore(end))
    expectError(await signIn(), 'THROTTLED')
    await app.stopClock(end)
    expectError(await signIn(), 'INCORRECT_LOGIN_CREDENTIALS')
  })
})

it("a webhook's timestamp uses the database clock", async () => {
  const receiver = await startReceiver(onTestFinished)
  const json = { name: 'timed', price_mode: 'fixed', price: '0', webhook_url: receiver.url }
  const { id } = expectOk(await store.owner.rest('POST', 'store/network-apps/', { json }))
  const order = await store.order(buyer, { network_app: id })
  expectOk(await store.confirm(buyer, order.id))
  const [delivery] = await app.sql('select id from webhook_deliveries where order_id = $1::uuid', [
    fromId(order.id)!.uuid,
  ])
  await app.stopClock(`'2030-01-01T00:00:00Z'`)
  await app.jobs['webhook-delivery']({ deliveryId: delivery!.id! })
  expect(receiver.calls[0]!.headers['webhook-timestamp']).toBe(String(Date.UTC(2030, 0, 1) / 1000))
})
