/** What administrators give back of paid orders: both doors alike, never more than was paid, and told to everybody it concerns. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { fromId, toId } from '../../src/domain/ids.ts'
import { codeOf, expectError, expectOk } from '../support/expect-error.ts'
import { waiting, whileHeld } from '../support/held-rows.ts'
import { createStore, type TestStore } from '../support/store.ts'
import { createTestApp, type SignedIn } from '../support/test-app.ts'

const app = await createTestApp()
const admin = await app.admin()
const store = await createStore(app, { price: '2.5' })

async function buy(from: TestStore = store, buyer?: SignedIn): Promise<{ buyer: SignedIn; id: string }> {
  const payer = buyer ?? (await app.newUser({ points: '1', num: '10' }))
  const { id } = await from.order(payer, { action_args: { token: 'live' } })
  expectOk(await from.confirm(payer, id))
  return { buyer: payer, id }
}
const giveBack = (id: string, json: object = {}, headers = {}, actor: Pick<SignedIn, 'rest'> = admin) =>
  actor.rest('POST', `store/network-app-orders/${id}/refunds/`, { json: { reason: 'Broken', ...json }, headers })
const orderOf = async ({ buyer, id }: { buyer: SignedIn; id: string }) => {
  const query = `query ($id: ID!) { order(id: $id) { status settledAt actionArgs numRefunded pointsRefunded totalRefunded
    refunds { id num points total reason createdAt transferId } } }`
  return expectOk(await buyer.graphql(query, { id })).order
}
const feedOf = async (user: SignedIn) =>
  (await app.sql('select type from events where owner_id = $1::uuid order by sequence', [user.id])).map(
    ({ type }) => type,
  )
const booksOf = (id: string) =>
  app.sql(
    `select e.book::text, e.currency::text, trim_scale(sum(e.amount))::text as amount from entries e join transfers t on t.id = e.transfer_id
     where t.reference like 'order%' || $1 || '%' and e.book is not null group by 1, 2 order by 2`,
    [fromId(id)!.uuid],
  )

describe('a refund', () => {
  it('gives all of it back to where it was taken from, with everybody’s share', async () => {
    const seller = await app.admin()
    const sale = await buy(await createStore(app, { owner: seller }))
    expect(await app.wallet(seller)).toEqual({ num: '1.32', points: '0.88' })
    const refund = expectOk(await giveBack(sale.id))
    expect(refund).toEqual({
      id: expect.stringMatching(/^refund_[0-9a-z]{26}$/),
      order_id: sale.id,
      num: '1.5',
      points: '1',
      total: '2.5',
      reason: 'Broken',
      transfer_id: expect.stringMatching(/^transfer_/),
      created_at: expect.any(String),
    })
    expect(await app.wallet(sale.buyer)).toEqual({ num: '10', points: '1' })
    expect(await app.wallet(seller)).toEqual({ num: '0', points: '0' })
    expect(await booksOf(sale.id)).toEqual([
      { book: 'REVENUE', currency: 'NUM', amount: '0' },
      { book: 'REVENUE', currency: 'POINTS', amount: '0' },
    ])
    expect(await orderOf(sale)).toMatchObject({
      status: 'REFUNDED',
      actionArgs: {},
      totalRefunded: '2.5',
      refunds: [{ id: refund.id, total: '2.5', reason: 'Broken', createdAt: refund.created_at }],
    })
    expect(await feedOf(sale.buyer)).toEqual(['order.created', 'order.paid', 'order.refunded'])
    expect(await feedOf(seller)).toEqual(['order.paid', 'order.refunded'])
  })

  it('in parts brings currency units first, then points, and no share is lost to rounding', async () => {
    const seller = await app.admin()
    const sale = await buy(await createStore(app, { owner: seller }))
    const parts = ['0.333333333333333333', '1', '0.7', '0.466666666666666666']
    const told = []
    for (const amount of parts) told.push(expectOk(await giveBack(sale.id, { amount })))
    expect(told.map(({ num, points }) => [num, points])).toEqual([
      ['0.333333333333333333', '0'],
      ['1', '0'],
      ['0.166666666666666667', '0.533333333333333333'],
      ['0', '0.466666666666666666'],
    ])
    const order = await orderOf(sale)
    expect(order).toMatchObject({ status: 'SUCCESS', actionArgs: { token: 'live' }, numRefunded: '1.5' })
    expect(order.refunds.map(({ total }: { total: string }) => total)).toEqual(parts)
    expect(expectOk(await giveBack(sale.id)).total).toBe('0.000000000000000001')
    expect(await orderOf(sale)).toMatchObject({ status: 'REFUNDED', totalRefunded: '2.5' })
    expect(await app.wallet(sale.buyer)).toEqual({ num: '10', points: '1' })
    expect(await app.wallet(seller)).toEqual({ num: '0', points: '0' })
  })

  it('is listed for the buyer and for administrators, page by page, and for nobody else', async () => {
    const sale = await buy()
    const made = []
    for (const amount of ['0.1', '0.2', '0.3']) made.push(expectOk(await giveBack(sale.id, { amount })))
    const path = `store/network-app-orders/${sale.id}/refunds/`
    for (const actor of [sale.buyer, admin])
      expect(expectOk(await actor.rest('GET', path))).toMatchObject({ count: 3, results: made, next: null })
    const { results, next } = expectOk(await sale.buyer.rest('GET', `${path}?limit=1&offset=1`))
    expect([results, next]).toEqual([[made[1]], expect.stringContaining(`${path}?limit=1&offset=2`)])
    const query = 'query ($id: ID!) { refunds(orderId: $id, last: 2) { totalCount nodes { id } } }'
    const { refunds } = expectOk(await sale.buyer.graphql(query, { id: sale.id }))
    expect(refunds).toEqual({ totalCount: 3, nodes: made.slice(1).map(({ id }) => ({ id })) })
    const stranger = await app.newUser()
    expectError(await stranger.rest('GET', path), 'NOT_FOUND')
    expectError(await stranger.graphql(query, { id: sale.id }), 'NOT_FOUND')
    expectError(await app.graphql(query, { id: sale.id }), 'NOT_AUTHENTICATED')
    expectError(
      await admin.rest('GET', `store/network-app-orders/${toId('order', randomUUID())}/refunds/`),
      'NOT_FOUND',
    )
  })

  it('can be spent by a payment that waited until it was there', async () => {
    const sale = await buy()
    const next = await store.order(sale.buyer)
    const wallet = `select from wallets where user_id = '${sale.buyer.id}' for update`
    const answers = await whileHeld(app, wallet, async () => {
      const refund = giveBack(sale.id)
      await waiting(app, 1)
      const payment = store.confirm(sale.buyer, next.id)
      await waiting(app, 2)
      return { refund, payment }
    })
    expectOk(await answers.refund)
    expect(expectOk(await answers.payment)).toMatchObject({ points_paid: '1', num_paid: '1.5' })
    expect(await app.wallet(sale.buyer)).toEqual({ num: '8.5', points: '0' })
  })

  it('is never more than was paid, also when many ask at once', async () => {
    const sale = await buy()
    const answers = await Promise.all(Array.from({ length: 12 }, () => giveBack(sale.id, { amount: '0.4' })))
    const made = answers.filter(({ status }) => status === 201)
    expect(made).toHaveLength(6)
    for (const answer of answers) if (!made.includes(answer)) expectError(answer, 'VALIDATION_FAILED')
    expect(await orderOf(sale)).toMatchObject({ totalRefunded: '2.4', status: 'SUCCESS' })
    const rest = await Promise.all(Array.from({ length: 4 }, () => giveBack(sale.id)))
    expect(rest.map(codeOf).filter((code) => code === undefined)).toHaveLength(1)
    expect(await app.wallet(sale.buyer)).toEqual({ num: '10', points: '1' })
    expectError(await giveBack(sale.id), 'UNABLE_TO_REFUND_ORDER')
  })

  it('of an amount that is empty is refused, and not one of all that is left', async () => {
    const { buyer, id } = await buy()
    const wallet = await app.wallet(buyer)
    const fields = { amount: '', reason: 'Broken' }
    for (const body of [{ json: fields }, { urlencoded: fields }]) {
      const refused = await admin.rest('POST', `store/network-app-orders/${id}/refunds/`, body)
      expect(expectError(refused, 'VALIDATION_FAILED').body.error.details).toHaveProperty('amount')
    }
    expect(await app.wallet(buyer)).toEqual(wallet)
  })

  it('is refused when those that were ahead of it have left too little', async () => {
    const sale = await buy()
    const order = `select from orders where id = '${fromId(sale.id)!.uuid}' for update`
    const asked = await whileHeld(app, order, async () => {
      const all = Array.from({ length: 3 }, () => giveBack(sale.id, { amount: '1' }))
      await waiting(app, all.length)
      return all
    })
    const answers = await Promise.all(asked)
    expect(answers.map(codeOf).sort()).toEqual(['VALIDATION_FAILED', undefined, undefined])
    expect(await orderOf(sale)).toMatchObject({ totalRefunded: '2', status: 'SUCCESS' })
  })

  it('comes from the platform where the seller has spent their share', async () => {
    const seller = await app.newUser({ role: 'ADMIN', num: '0', points: '0' })
    const sale = await buy(
      await createStore(app, { owner: seller, price: '10' }),
      await app.newUser({ num: '10', points: '0' }),
    )
    await buy(await createStore(app, { price: '8' }), seller)
    expectOk(await giveBack(sale.id, { amount: '5' }))
    expect(await app.wallet(seller)).toEqual({ num: '0', points: '0' })
    expect(await app.wallet(sale.buyer)).toEqual({ num: '5', points: '0' })
  })

  it('is carried out once for an idempotency key, and told in the audit trail', async () => {
    const sale = await buy()
    const headers = { 'Idempotency-Key': randomUUID() }
    const answers = await Promise.all(Array.from({ length: 6 }, () => giveBack(sale.id, { amount: '1' }, headers)))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(await orderOf(sale)).toMatchObject({ totalRefunded: '1' })
    expectError(await giveBack(sale.id, { amount: '0.5' }, headers), 'IDEMPOTENCY_KEY_REUSED')
    const trail = await app.sql(
      `select user_id::text from audit_entries where action = 'order.refunded' and subject = $1`,
      [sale.id],
    )
    expect(trail).toEqual([{ user_id: admin.id }])
  })

  it.each<[string, object]>([
    ['more than was paid', { amount: '2.6' }],
    ['nothing', { amount: '0' }],
    ['less than nothing', { amount: '-1' }],
    ['no reason', { reason: ' ' }],
    ['a reason that is too long', { reason: 'x'.repeat(501) }],
  ])('of %s is refused, and a dry run says so', async (_, fields) => {
    const sale = await buy()
    const { body } = expectError(await giveBack(sale.id, fields), 'VALIDATION_FAILED')
    expect(Object.keys(body.error.details)).toEqual(Object.keys(fields))
    const json = { reason: 'Broken', ...fields }
    const tried = expectOk(
      await admin.rest('POST', `store/network-app-orders/${sale.id}/refunds/?dry_run=true`, { json }),
    )
    expect(tried.errors.map(({ field }: { field: string }) => field)).toEqual(Object.keys(fields))
    expect(await orderOf(sale)).toMatchObject({ totalRefunded: '0', refunds: [] })
  })

  it('of an order that is not paid, that is free, that is not there, or whose buyer is gone is refused', async () => {
    const buyer = await app.newUser()
    const open = await store.order(buyer)
    expectError(await giveBack(open.id), 'UNABLE_TO_REFUND_ORDER')
    expectError(await giveBack(toId('order', randomUUID())), 'NOT_FOUND')
    expectError(await giveBack(admin.publicId), 'NOT_FOUND')
    const free = await buy(await createStore(app, { price: '0' }))
    expectError(await giveBack(free.id), 'UNABLE_TO_REFUND_ORDER')
    const left = await buy()
    expectOk(await giveBack(left.id, { amount: '1', reason: `For ${left.buyer.username}` }))
    expectOk(await left.buyer.rest('DELETE', 'auth/users/me/'))
    expectError(await giveBack(left.id), 'UNABLE_TO_REFUND_ORDER')
    const [row] = await app.sql('select reason from refunds where order_id = $1::uuid', [fromId(left.id)!.uuid])
    expect(row).toEqual({ reason: '' })
  })

  it.each(['anonymous', 'buyer', 'admin'] as const)('by %s is the same at both doors', async (kind) => {
    const [one, other] = [await buy(), await buy()]
    const actorOf = ({ buyer }: { buyer: SignedIn }) => ({ anonymous: app, buyer, admin })[kind]
    const rest = await giveBack(one.id, {}, {}, actorOf(one) as SignedIn)
    const graphql = await actorOf(other).graphql(
      `mutation ($input: RefundOrderInput!) { refundOrder(input: $input) { refund { num points total reason } } }`,
      { input: { orderId: other.id, reason: 'Broken' } },
    )
    const code = { anonymous: 'NOT_AUTHENTICATED', buyer: 'PERMISSION_DENIED', admin: undefined }[kind]
    expect([codeOf(rest), codeOf(graphql)]).toEqual([code, code])
    if (kind === 'admin') expect(rest.body).toMatchObject(graphql.body.data.refundOrder.refund)
    expect(await app.wallet(other.buyer)).toEqual(await app.wallet(one.buyer))
  })

  it('to a seller who bought of themselves gives back the platform’s share', async () => {
    const seller = await app.newUser({ role: 'ADMIN', num: '10', points: '0' })
    const sale = await buy(await createStore(app, { owner: seller }), seller)
    expect(await app.wallet(seller)).toEqual({ num: '9.7', points: '0' })
    expectOk(await giveBack(sale.id, { amount: '1.25' }))
    expect(await app.wallet(seller)).toEqual({ num: '9.85', points: '0' })
    expect(await feedOf(seller)).toEqual(['order.created', 'order.paid', 'order.refunded'])
  })
})
