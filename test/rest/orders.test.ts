import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { fromId } from '../../src/domain/ids.ts'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createStore } from '../support/store.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const store = await createStore(app)
const path = 'store/network-app-orders/'
const uuidOf = (id: string) => fromId(id, 'order')!.uuid

const transfersOf = (orderId: string) =>
  app.sql<{ account: string; currency: string; amount: string }>(
    `select case when e.book is null then e.wallet_id::text else e.book::text end as account, e.currency::text,
       trim_scale(e.amount)::text as amount
     from transfers t join entries e on e.transfer_id = t.id where t.reference = 'order:' || $1 order by e.position`,
    [uuidOf(orderId)],
  )

const makeOverdue = (orderId: string) =>
  app.sql(
    `update orders set created_at = now() - interval '15 minutes', expires_at = now() - interval '1 ms' where id = $1::uuid`,
    [uuidOf(orderId)],
  )

describe('ordering', () => {
  it('answers the whole record, with price, quote and deadline frozen, and charges nothing', async () => {
    const buyer = await app.newUser({ points: '1', num: '5' })
    const order = await store.order(buyer, { action_args: { nid: 'bafy', nested: { a: [1] } }, price: 0 })
    expect(order).toEqual({
      id: expect.stringMatching(/^order_[0-9a-z]{26}$/),
      status: 'created',
      network_app_id: store.appId,
      network_app_name: store.name,
      action: store.name,
      action_args: { nid: 'bafy', nested: { a: [1] } },
      price: '2.5',
      fee: '0',
      num_charged: '1.5',
      points_charged: '1',
      num_paid: '0',
      points_paid: '0',
      total_cost: '2.5',
      quantity: 1,
      fund_crypto_transaction_id: null,
      fund_tx_hash: '',
      payment_crypto_transaction_id: null,
      payment_tx_hash: '',
      workflow_id: null,
      owner: buyer.email,
      created_at: expect.any(String),
      expired_at: expect.any(String),
    })
    expect(Date.parse(order.expired_at) - Date.parse(order.created_at)).toBe(900_000)
    expect(await app.wallet(buyer)).toEqual({ num: '5', points: '1' })
  })

  it('takes the app by its name in any case, and a later price does not change the order', async () => {
    const mine = await createStore(app, { price: '1' })
    const buyer = await app.newUser()
    const order = await mine.order(buyer, { network_app: mine.name.toUpperCase() })
    await app.sql('update network_apps set price = 3 where name = $1', [mine.name])
    expect(order.action_args).toEqual({})
    expect(expectOk(await mine.confirm(buyer, order.id)).points_paid).toBe('1')
  })

  it('takes the app by its name however its accents are typed', async () => {
    const owner = await app.admin()
    const name = `Café ${owner.username}`
    const { id } = expectOk(
      await owner.rest('POST', 'store/network-apps/', { json: { name, price_mode: 'fixed', price: '1' } }),
    )
    const order = await store.order(await app.newUser(), { network_app: name.normalize('NFD') })
    expect(order.network_app_id).toBe(id)
  })

  it('keeps the arguments sealed in the database', async () => {
    const buyer = await app.newUser()
    const order = await store.order(buyer, { action_args: { token: 'live-token-of-somebody' } })
    const [row] = await app.sql<{ action_args: Uint8Array }>('select action_args from orders where id = $1::uuid', [
      uuidOf(order.id),
    ])
    expect(Buffer.from(row!.action_args).includes('live-token')).toBe(false)
  })

  it('refuses arguments over 64 KB or that are no object, and an app that is not there or not sold any more', async () => {
    const buyer = await app.newUser()
    const post = (json: object) => buyer.rest('POST', path, { json, headers: store.service })
    const tooMuch = expectError(
      await post({ network_app: store.appId, action_args: { a: 'x'.repeat(65_536) } }),
      'VALIDATION_FAILED',
    )
    expect(tooMuch.body.error.details).toEqual({ action_args: ['Ensure this object has no more than 64 KB.'] })
    expectError(await post({ network_app: store.appId, action_args: [1] }), 'VALIDATION_FAILED')
    expectError(await post({}), 'VALIDATION_FAILED')
    expectError(await post({ network_app: 'nobody sells this' }), 'INVALID_NETWORK_APP_NAME')
    const closed = await createStore(app)
    await app.sql('update network_apps set deactivated_at = now() where name = $1', [closed.name])
    expectError(await post({ network_app: closed.appId }), 'INVALID_NETWORK_APP_NAME')
  })

  it('needs a user and a trusted service', async () => {
    const buyer = await app.newUser()
    const json = { network_app: store.appId }
    expectError(await app.rest('POST', path, { json, headers: store.service }), 'NOT_AUTHENTICATED')
    expectError(await buyer.rest('POST', path, { json }), 'UNTRUSTED_CLIENT')
    expectError(await buyer.rest('POST', path, { json, headers: { 'x-api-key': 'wrong' } }), 'UNTRUSTED_CLIENT')
    const order = await store.order(buyer)
    expectError(await buyer.rest('POST', `${path}${order.id}/confirm/`), 'UNTRUSTED_CLIENT')
  })

  it('tells a poor wallet what is needed, and what costs more than was agreed to', async () => {
    const buyer = await app.newUser({ points: '0.5' })
    const poor = expectError(
      await buyer.rest('POST', path, { json: { network_app: store.appId }, headers: store.service }),
      'INSUFFICIENT_FUND',
    )
    expect(poor.body.error.details).toMatch(/: 2\.5$/)
    const json = { network_app: store.appId, max_cost: '2.4' }
    const rich = await app.newUser()
    expectError(await rich.rest('POST', path, { json, headers: store.service }), 'PRICE_EXCEEDS_MAX_COST')
  })

  it('makes one order for a key that is sent again', async () => {
    const buyer = await app.newUser()
    const send = () =>
      buyer.rest('POST', path, {
        json: { network_app: store.appId, action_args: { a: 1 } },
        headers: { ...store.service, 'Idempotency-Key': 'k' },
      })
    const answers = await Promise.all([send(), send(), send()])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await send()).headers.get('idempotency-replayed')).toBe('true')
    const { body } = await buyer.rest('GET', path)
    expect(body.count).toBe(1)
  })
})

describe('confirming', () => {
  it('charges points first, pays the owner, keeps the platform’s share, in one transfer', async () => {
    const own = await createStore(app, { price: '2' })
    const buyer = await app.newUser({ points: '0.5', num: '3' })
    const order = await own.order(buyer)
    const paid = expectOk(await own.confirm(buyer, order.id))
    expect(paid).toMatchObject({ status: 'success', points_paid: '0.5', num_paid: '1.5' })
    expect(paid.payment_tx_hash).toMatch(/^transfer_/)
    expect(paid.payment_crypto_transaction_id).toBe(paid.payment_tx_hash)
    expect(await transfersOf(order.id)).toEqual([
      { account: buyer.id, currency: 'POINTS', amount: '-0.5' },
      { account: buyer.id, currency: 'NUM', amount: '-1.5' },
      { account: own.owner.id, currency: 'POINTS', amount: '0.44' },
      { account: own.owner.id, currency: 'NUM', amount: '1.32' },
      { account: 'REVENUE', currency: 'POINTS', amount: '0.06' },
      { account: 'REVENUE', currency: 'NUM', amount: '0.18' },
    ])
    expect(await app.wallet(buyer)).toEqual({ num: '1.5', points: '0' })
    expect(await app.wallet(own.owner)).toEqual({ num: '1.32', points: '0.44' })
  })

  it('twice charges once and answers the same order', async () => {
    const buyer = await app.newUser()
    const order = await store.order(buyer)
    const first = await store.confirm(buyer, order.id)
    const second = await store.confirm(buyer, order.id)
    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.text).toBe(first.text)
    expect(await app.wallet(buyer)).toEqual({ num: '0', points: '9.5' })
  })

  it('forty at once charge once, and tell of it once in each feed', async () => {
    const buyer = await app.newUser()
    const order = await store.order(buyer)
    const answers = await Promise.all(Array.from({ length: 40 }, () => store.confirm(buyer, order.id)))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(await app.wallet(buyer)).toEqual({ num: '0', points: '9.5' })
    const events = await app.sql(
      `select count(*)::int as n from events where order_id = $1::uuid and type = 'order.paid' group by owner_id`,
      [uuidOf(order.id)],
    )
    expect(events).toEqual([{ n: 1 }, { n: 1 }])
  })

  it('pays no more orders than the wallet can', async () => {
    const buyer = await app.newUser({ points: '5', num: '2.5' })
    const orders = await Promise.all(Array.from({ length: 8 }, () => store.order(buyer)))
    const answers = await Promise.all(orders.map(({ id }) => store.confirm(buyer, id)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    for (const answer of answers.filter(({ status }) => status !== 200)) expectError(answer, 'INSUFFICIENT_FUND')
    expect(await app.wallet(buyer)).toEqual({ num: '0', points: '0' })
  })

  it('of one’s own app, and two people buying of each other at once, all end well', async () => {
    const [one, other] = await Promise.all([
      app.newUser({ role: 'ADMIN', num: '50' }),
      app.newUser({ role: 'ADMIN', num: '50' }),
    ])
    const [ofOne, ofOther] = [await createStore(app, { owner: one }), await createStore(app, { owner: other })]
    const self = await ofOne.order(one)
    expect(expectOk(await ofOne.confirm(one, self.id)).status).toBe('success')
    expect(await app.wallet(one)).toEqual({ num: '49.7', points: '0' })
    const pairs = await Promise.all(
      Array.from({ length: 10 }, async () => [await ofOther.order(one), await ofOne.order(other)] as const),
    )
    const answers = await Promise.all(
      pairs.flatMap(([a, b]) => [ofOther.confirm(one, a.id), ofOne.confirm(other, b.id)]),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await app.wallet(one)).toEqual({ num: '46.7', points: '0' })
    expect(await app.wallet(other)).toEqual({ num: '47', points: '0' })
  })

  it('a free app costs nothing and is paid all the same', async () => {
    const free = await createStore(app, { price: '0' })
    const buyer = await app.newUser({ points: '0' })
    const order = await free.order(buyer)
    expect(expectOk(await free.confirm(buyer, order.id))).toMatchObject({ status: 'success', total_cost: '0' })
    expect(await transfersOf(order.id)).toEqual([])
  })

  it('after the deadline is refused, charges nothing, and the sweeper ends the order', async () => {
    const buyer = await app.newUser()
    const order = await store.order(buyer)
    await makeOverdue(order.id)
    expectError(await store.confirm(buyer, order.id), 'ORDER_EXPIRED')
    await app.services.orders.expire()
    expectError(await store.confirm(buyer, order.id), 'ORDER_EXPIRED')
    expect((await buyer.rest('GET', `${path}${order.id}/`)).body.status).toBe('failure')
    expect(await app.wallet(buyer)).toEqual({ num: '0', points: '12' })
  })

  it('of a cancelled order is refused, and a paid order cannot be cancelled', async () => {
    const buyer = await app.newUser()
    const [gone, kept] = [await store.order(buyer), await store.order(buyer)]
    expectOk(await buyer.rest('POST', `${path}${gone.id}/cancel/`))
    expectOk(await buyer.rest('POST', `${path}${gone.id}/cancel/`))
    expectError(await store.confirm(buyer, gone.id), 'UNABLE_TO_CONFIRM_ORDER')
    expectOk(await store.confirm(buyer, kept.id))
    expectError(await buyer.rest('POST', `${path}${kept.id}/cancel/`), 'UNABLE_TO_CANCEL_ORDER')
  })

  it('of somebody else’s order, or of none, is answered alike', async () => {
    const [buyer, other] = [await app.newUser(), await app.newUser()]
    const order = await store.order(buyer)
    const foreign = expectError(await store.confirm(other, order.id), 'NOT_FOUND')
    const missing = expectError(await store.confirm(other, `order_${'0'.repeat(26)}`), 'NOT_FOUND')
    expectError(await store.confirm(other, randomUUID()), 'NOT_FOUND')
    expect(foreign.text).toBe(missing.text)
  })

  it('queues the mails and, with a webhook, its delivery, in the payment’s own transaction', async () => {
    const called = await createStore(app)
    await app.sql(
      `update network_apps set webhook_url = 'https://example.org/hook', webhook_secret = '\\x00' where name = $1`,
      [called.name],
    )
    const buyer = await app.newUser()
    const order = await called.order(buyer)
    expect(expectOk(await called.confirm(buyer, order.id)).status).toBe('pending')
    const jobs = await app.sql<{ name: string; template: string | null }>(
      `select j.name, j.data->>'template' as template from jobs.job j
         left join webhook_deliveries d on d.id::text = j.data->>'deliveryId'
       where coalesce(d.order_id::text, j.data->>'orderId') = $1 order by 1, 2`,
      [uuidOf(order.id)],
    )
    expect(jobs).toEqual([
      { name: 'mail', template: 'receipt' },
      { name: 'mail', template: 'sale' },
      { name: 'webhook-delivery', template: null },
    ])
  })
})

describe('reading', () => {
  it('lists one’s own orders, newest first, and nobody else’s', async () => {
    const [buyer, other] = [await app.newUser(), await app.newUser()]
    const first = await store.order(buyer)
    const second = await store.order(buyer)
    await store.order(other)
    const { body } = await buyer.rest('GET', path)
    expect(body).toMatchObject({ count: 2, next: null, previous: null })
    expect(body.results.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id])
    expectError(await other.rest('GET', `${path}${first.id}/`), 'NOT_FOUND')
    expectError(await app.rest('GET', path), 'NOT_AUTHENTICATED')
  })
})
