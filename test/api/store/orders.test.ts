import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expireOrders } from '../../../src/modules/store/expire-orders.ts'
import { fromId } from '../../../src/shared/ids.ts'
import { type Api, bothApis, type Caller, type Input } from '../../support/api.ts'
import { codeOf, expectOk } from '../../support/expect-error.ts'
import { createStore, type TestStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const store = await createStore(app)
const uuidOf = (id: string) => fromId(id, 'order')!.uuid

const transfersOf = (orderId: string) =>
  app.sql<{ account: string; currency: string; amount: string }>(
    `select case when e.book is null then e.wallet_id::text else e.book::text end as account, e.currency::text,
       trim_scale(e.amount)::text as amount
     from transfers t join entries e on e.transfer_id = t.id where t.reference = 'order:' || $1 order by e.position`,
    [uuidOf(orderId)],
  )

const callsOf = (api: Api) => ({
  create: (buyer: Caller, fields: Input = {}, from: TestStore = store) =>
    api.createOrder(buyer, { networkApp: from.appId, ...fields }, { headers: from.service }),
  order: async (buyer: Caller, fields?: Input, from: TestStore = store) =>
    (await api.createOrder(buyer, { networkApp: from.appId, ...fields }, { headers: from.service })).ok(),
  confirm: (buyer: Caller, id: string) => api.confirmOrder(buyer, { id }, { headers: store.service }),
})

describe.each(bothApis)('creation of orders over $name', (api) => {
  const { create, order } = callsOf(api)

  it('the creation of an order fixes the price and the quote, and charges nothing', async () => {
    const buyer = await app.newUser({ points: '1', num: '5' })
    const actionArgs = { nid: 'bafy', nested: { a: [1] } }
    expect(await order(buyer, { actionArgs })).toMatchObject({
      ...{ id: expect.stringMatching(/^order_[0-9a-z]{26}$/), status: 'CREATED', actionArgs, price: '2.5' },
      ...{ numCharged: '1.5', pointsCharged: '1', numPaid: '0', pointsPaid: '0' },
    })
    expect(await app.wallet(buyer)).toEqual({ num: '5', points: '1' })
  })

  it('an order finds the app by its name in any case, and keeps the original price', async () => {
    const mine = await createStore(app, { price: '1' })
    const buyer = await app.newUser()
    const { id } = await order(buyer, { networkApp: mine.name.toUpperCase() })
    await app.sql('update network_apps set price = 3 where name = $1', [mine.name])
    expect((await callsOf(api).confirm(buyer, id)).ok().pointsPaid).toBe('1')
  })

  it('an order finds the app by its name in any Unicode composition', async () => {
    const owner = await app.admin()
    const name = `Café ${owner.username}`
    const { id } = (await api.createNetworkApp(owner, { name, price: '1' })).ok()
    const made = await order(await app.newUser(), { networkApp: name.normalize('NFD') })
    const sold = 'select from orders where id = $1::uuid and network_app_id = $2::uuid'
    expect(await app.sql(sold, [uuidOf(made.id), fromId(id)!.uuid])).toHaveLength(1)
  })

  it('the arguments of an order are encrypted in the database', async () => {
    const { id } = await order(await app.newUser(), { actionArgs: { token: 'live-token-of-somebody' } })
    const [row] = await app.sql<{ action_args: Uint8Array }>('select action_args from orders where id = $1::uuid', [
      uuidOf(id),
    ])
    expect(Buffer.from(row!.action_args).includes('live-token')).toBe(false)
  })

  it('an order rejects arguments that exceed 64 KB or are not an object', async () => {
    const buyer = await app.newUser()
    const details = (await create(buyer, { actionArgs: { a: 'x'.repeat(65_536) } })).fails('VALIDATION_FAILED')
    expect(details).toEqual({ actionArgs: ['Ensure this object has no more than 64 KB.'] })
    ;(await create(buyer, { actionArgs: [1] })).fails('VALIDATION_FAILED')
    ;(await create(buyer, { networkApp: undefined })).fails('VALIDATION_FAILED')
  })

  it('an order rejects an app that does not exist or is deactivated', async () => {
    const buyer = await app.newUser()
    ;(await create(buyer, { networkApp: 'nobody sells this' })).fails('INVALID_NETWORK_APP_NAME')
    const closed = await createStore(app)
    await app.sql('update network_apps set deactivated_at = now() where name = $1', [closed.name])
    ;(await create(buyer, {}, closed)).fails('INVALID_NETWORK_APP_NAME')
  })

  it('an order and its confirmation require a signed-in user and a valid API key', async () => {
    const buyer = await app.newUser()
    const input = { networkApp: store.appId }
    ;(await create(app)).fails('NOT_AUTHENTICATED')
    ;(await api.createOrder(buyer, input)).fails('UNTRUSTED_CLIENT')
    ;(await api.createOrder(buyer, input, { headers: { 'x-api-key': 'wrong' } })).fails('UNTRUSTED_CLIENT')
    const { id } = await order(buyer)
    ;(await api.confirmOrder(buyer, { id })).fails('UNTRUSTED_CLIENT')
  })

  it('an order rejects a wallet with too little balance, and a price above maxCost', async () => {
    const poor = await create(await app.newUser({ points: '0.5' }))
    poor.fails('INSUFFICIENT_FUND')
    expect(poor.text).toContain('2.5')
    ;(await create(await app.newUser(), { maxCost: '2.4' })).fails('PRICE_EXCEEDS_MAX_COST')
  })

  it('one idempotency key creates one order', async () => {
    const buyer = await app.newUser()
    const send = () =>
      api.createOrder(
        buyer,
        { networkApp: store.appId, actionArgs: { a: 1 } },
        { headers: { ...store.service, 'Idempotency-Key': 'k' } },
      )
    expect(new Set((await Promise.all([send(), send(), send()])).map(({ text }) => text)).size).toBe(1)
    expect((await send()).headers.get('idempotency-replayed')).toBe('true')
    expect((await api.listOrders(buyer)).ok().totalCount).toBe(1)
  })
})

describe.each(bothApis)('confirmation of orders over $name', (api) => {
  const { order, confirm } = callsOf(api)

  it('a confirmed order charges points first, and pays the app owner and the platform in one transfer', async () => {
    const own = await createStore(app, { price: '2' })
    const buyer = await app.newUser({ points: '0.5', num: '3' })
    const { id } = await order(buyer, {}, own)
    expect((await confirm(buyer, id)).ok()).toMatchObject({ status: 'SUCCESS', pointsPaid: '0.5', numPaid: '1.5' })
    expect(await transfersOf(id)).toEqual([
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

  it('40 concurrent confirmations and later retries charge once and return the same order', async () => {
    const buyer = await app.newUser()
    const { id } = await order(buyer)
    const results = await Promise.all(Array.from({ length: 40 }, () => confirm(buyer, id)))
    results.push(await confirm(buyer, id))
    expect(new Set(results.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    results[0]!.ok()
    expect(await app.wallet(buyer)).toEqual({ num: '0', points: '9.5' })
    const events = await app.sql(
      `select count(*)::int as n from events where order_id = $1::uuid and type = 'order.paid' group by owner_id`,
      [uuidOf(id)],
    )
    expect(events).toEqual([{ n: 1 }, { n: 1 }])
  })

  it('pays exactly as many concurrent orders as the balance covers', async () => {
    const buyer = await app.newUser({ points: '5', num: '2.5' })
    const orders = await Promise.all(Array.from({ length: 8 }, () => order(buyer)))
    const rejected = (await Promise.all(orders.map(({ id }) => confirm(buyer, id)))).filter(codeOf)
    expect(rejected).toHaveLength(5)
    for (const result of rejected) result.fails('INSUFFICIENT_FUND')
    expect(await app.wallet(buyer)).toEqual({ num: '0', points: '0' })
  })

  it('pays concurrent orders of two users who buy from each other or from themselves', async () => {
    const newSeller = () => app.newUser({ role: 'ADMIN', num: '50' })
    const [one, other] = await Promise.all([newSeller(), newSeller()])
    const [ofOne, ofOther] = [await createStore(app, { owner: one }), await createStore(app, { owner: other })]
    expect((await confirm(one, (await order(one, {}, ofOne)).id)).ok().status).toBe('SUCCESS')
    expect(await app.wallet(one)).toEqual({ num: '49.7', points: '0' })
    const pairs = await Promise.all(
      Array.from({ length: 10 }, async () => [await order(one, {}, ofOther), await order(other, {}, ofOne)] as const),
    )
    const results = await Promise.all(pairs.flatMap(([a, b]) => [confirm(one, a.id), confirm(other, b.id)]))
    for (const result of results) result.ok()
    expect(await app.wallet(one)).toEqual({ num: '46.7', points: '0' })
    expect(await app.wallet(other)).toEqual({ num: '47', points: '0' })
  })

  it('pays an order of a free app without a transfer', async () => {
    const buyer = await app.newUser({ points: '0' })
    const { id } = await order(buyer, {}, await createStore(app, { price: '0' }))
    expect((await confirm(buyer, id)).ok()).toMatchObject({ status: 'SUCCESS', price: '0' })
    expect(await transfersOf(id)).toEqual([])
  })

  it('the confirmation rejects an order after its deadline, and charges nothing', async () => {
    const buyer = await app.newUser()
    const { id } = await order(buyer)
    await app.sql(
      `update orders set created_at = now() - interval '15 minutes', expires_at = now() - interval '1 ms' where id = $1::uuid`,
      [uuidOf(id)],
    )
    ;(await confirm(buyer, id)).fails('ORDER_EXPIRED')
    await expireOrders(app.context)
    ;(await confirm(buyer, id)).fails('ORDER_EXPIRED')
    expect((await api.readOrder(buyer, { id })).ok().status).toBe(api.name === 'REST' ? 'FAILURE' : 'EXPIRED')
    expect(await app.wallet(buyer)).toEqual({ num: '0', points: '12' })
  })

  it('the confirmation rejects a cancelled order, and a paid order cannot be cancelled', async () => {
    const buyer = await app.newUser()
    const [cancelled, paid] = [await order(buyer), await order(buyer)]
    for (let times = 0; times < 2; times += 1) (await api.cancelOrder(buyer, { id: cancelled.id })).ok()
    ;(await confirm(buyer, cancelled.id)).fails('UNABLE_TO_CONFIRM_ORDER')
    ;(await confirm(buyer, paid.id)).ok()
    ;(await api.cancelOrder(buyer, { id: paid.id })).fails('UNABLE_TO_CANCEL_ORDER')
  })

  it('the confirmation returns the same error for the order of another user and for a missing order', async () => {
    const [buyer, other] = [await app.newUser(), await app.newUser()]
    const { id } = await order(buyer)
    const results = await Promise.all([id, `order_${'0'.repeat(26)}`, randomUUID()].map((name) => confirm(other, name)))
    for (const result of results) result.fails('NOT_FOUND')
    expect(new Set(results.map(({ text }) => text)).size).toBe(1)
  })

  it('a payment enqueues mails and the webhook delivery in the same transaction', async () => {
    const called = await createStore(app)
    await app.sql(
      `update network_apps set webhook_url = 'https://example.org/hook', webhook_secret = '\\x00' where name = $1`,
      [called.name],
    )
    const buyer = await app.newUser()
    const { id } = await order(buyer, {}, called)
    expect((await confirm(buyer, id)).ok().status).toBe('PENDING')
    const jobs = await app.sql<{ name: string; template: string | null }>(
      `select j.name, j.data->>'template' as template from jobs.job j
         left join webhook_deliveries d on d.id::text = j.data->>'deliveryId'
       where coalesce(d.order_id::text, j.data->>'orderId') = $1 order by 1, 2`,
      [uuidOf(id)],
    )
    expect(jobs).toEqual([
      { name: 'mail', template: 'receipt' },
      { name: 'mail', template: 'sale' },
      { name: 'webhook-delivery', template: null },
    ])
  })

  it('lists only the orders of the caller, newest first', async () => {
    const [buyer, other] = [await app.newUser(), await app.newUser()]
    const [first, second] = [await order(buyer), await order(buyer)]
    await order(other)
    const { totalCount, nodes } = (await api.listOrders(buyer)).ok()
    expect([totalCount, nodes.map(({ id }: { id: string }) => id)]).toEqual([2, [second.id, first.id]])
    ;(await api.readOrder(other, { id: first.id })).fails('NOT_FOUND')
    ;(await api.readOrder(await app.admin(), { id: first.id })).fails('NOT_FOUND')
    ;(await api.listOrders(app)).fails('NOT_AUTHENTICATED')
  })
})

it('REST returns the order record of the contract, and ignores the price that callers send', async () => {
  const buyer = await app.newUser({ points: '1', num: '5' })
  const record = await store.order(buyer, { price: 0 })
  expect(record).toEqual({
    ...{ id: expect.stringMatching(/^order_/), status: 'created', network_app_id: store.appId },
    ...{ network_app_name: store.name, action: store.name, action_args: {}, price: '2.5', fee: '0' },
    ...{ num_charged: '1.5', points_charged: '1', num_paid: '0', points_paid: '0', total_cost: '2.5', quantity: 1 },
    ...{ fund_crypto_transaction_id: null, fund_tx_hash: '', payment_crypto_transaction_id: null },
    ...{ payment_tx_hash: '', workflow_id: null, owner: buyer.email },
    ...{ created_at: expect.any(String), expired_at: expect.any(String) },
  })
  expect(Date.parse(record.expired_at) - Date.parse(record.created_at)).toBe(900_000)
  const paid = expectOk(await store.confirm(buyer, record.id))
  expect(paid.payment_tx_hash).toMatch(/^transfer_/)
  expect(paid.payment_crypto_transaction_id).toBe(paid.payment_tx_hash)
})

it("GraphQL returns the buyer's wallet balance after the payment", async () => {
  const buyer = await app.newUser({ points: '1', num: '5' })
  const { id } = await store.order(buyer)
  const fields = 'id email displayName address role lockedAt wallet { points num }'
  const document = `mutation ($id: ID!) { confirmOrder(input: { id: $id }) { order { buyer { ${fields} } } } }`
  const { confirmOrder } = expectOk(await buyer.graphql(document, { id }, { headers: store.service }))
  const { me } = expectOk(await buyer.graphql(`{ me { ${fields} } }`))
  expect(me.wallet).toEqual({ points: '0', num: '3.5' })
  expect(confirmOrder.order.buyer).toEqual(me)
})
