import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { fromId, toId } from '../../../src/shared/ids.ts'
import { bothApis, type Caller, type Input } from '../../support/api.ts'
import { codeOf, expectError, expectOk } from '../../support/expect-error.ts'
import { waiting, whileHeld } from '../../support/held-rows.ts'
import { createStore, type TestStore } from '../../support/store.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()
const admin = await app.admin()
const store = await createStore(app, { price: '2.5' })

async function buy(from: TestStore = store, buyer?: SignedIn): Promise<{ buyer: SignedIn; id: string }> {
  const payer = buyer ?? (await app.newUser({ points: '1', num: '10' }))
  const { id } = await from.order(payer, { action_args: { token: 'live' } })
  expectOk(await from.confirm(payer, id))
  return { buyer: payer, id }
}
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

describe.each(bothApis)('refunds over $name', (api) => {
  const refund = (orderId: string, fields: Input = {}, headers = {}, caller: Caller = admin) =>
    api.refundOrder(caller, { orderId, reason: 'Broken', ...fields }, { headers })

  it('a refund returns the whole payment to the buyer from the shares of seller and platform', async () => {
    const seller = await app.admin()
    const sale = await buy(await createStore(app, { owner: seller }))
    expect(await app.wallet(seller)).toEqual({ num: '1.32', points: '0.88' })
    const made = (await refund(sale.id)).ok()
    expect(made).toMatchObject({
      id: expect.stringMatching(/^refund_[0-9a-z]{26}$/),
      num: '1.5',
      points: '1',
      total: '2.5',
      reason: 'Broken',
      transferId: expect.stringMatching(/^transfer_/),
      createdAt: expect.any(String),
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
      refunds: [{ id: made.id, total: '2.5', reason: 'Broken', createdAt: made.createdAt }],
    })
    expect(await feedOf(sale.buyer)).toEqual(['order.created', 'order.paid', 'order.refunded'])
    expect(await feedOf(seller)).toEqual(['order.paid', 'order.refunded'])
  })

  it('partial refunds return currency units before points, and lose nothing to rounding', async () => {
    const seller = await app.admin()
    const sale = await buy(await createStore(app, { owner: seller }))
    const parts = ['0.333333333333333333', '1', '0.7', '0.466666666666666666']
    const reported = []
    for (const amount of parts) reported.push((await refund(sale.id, { amount })).ok())
    expect(reported.map(({ num, points }) => [num, points])).toEqual([
      ['0.333333333333333333', '0'],
      ['1', '0'],
      ['0.166666666666666667', '0.533333333333333333'],
      ['0', '0.466666666666666666'],
    ])
    const order = await orderOf(sale)
    expect(order).toMatchObject({ status: 'SUCCESS', actionArgs: { token: 'live' }, numRefunded: '1.5' })
    expect(order.refunds.map(({ total }: { total: string }) => total)).toEqual(parts)
    expect((await refund(sale.id)).ok().total).toBe('0.000000000000000001')
    expect(await orderOf(sale)).toMatchObject({ status: 'REFUNDED', totalRefunded: '2.5' })
    expect(await app.wallet(sale.buyer)).toEqual({ num: '10', points: '1' })
    expect(await app.wallet(seller)).toEqual({ num: '0', points: '0' })
  })

  it('a refund makes its funds available to a payment that waits for the same wallet', async () => {
    const sale = await buy()
    const next = await store.order(sale.buyer)
    const wallet = `select from wallets where user_id = '${sale.buyer.id}' for update`
    const answers = await whileHeld(app, wallet, async () => {
      const refunding = refund(sale.id)
      await waiting(app, 1)
      const payment = store.confirm(sale.buyer, next.id)
      await waiting(app, 2)
      return { refunding, payment }
    })
    ;(await answers.refunding).ok()
    expect(expectOk(await answers.payment)).toMatchObject({ points_paid: '1', num_paid: '1.5' })
    expect(await app.wallet(sale.buyer)).toEqual({ num: '8.5', points: '0' })
  })

  it('concurrent refund requests never return more than was paid', async () => {
    const sale = await buy()
    const answers = await Promise.all(Array.from({ length: 12 }, () => refund(sale.id, { amount: '0.4' })))
    const made = answers.filter((answer) => codeOf(answer) === undefined)
    expect(made).toHaveLength(6)
    for (const answer of answers) if (!made.includes(answer)) expectError(answer, 'VALIDATION_FAILED')
    expect(await orderOf(sale)).toMatchObject({ totalRefunded: '2.4', status: 'SUCCESS' })
    const rest = await Promise.all(Array.from({ length: 4 }, () => refund(sale.id)))
    expect(rest.map(codeOf).filter((code) => code === undefined)).toHaveLength(1)
    expect(await app.wallet(sale.buyer)).toEqual({ num: '10', points: '1' })
    expectError(await refund(sale.id), 'UNABLE_TO_REFUND_ORDER')
  })

  it('rejects a refund that exceeds the amount left by concurrent refunds', async () => {
    const sale = await buy()
    const order = `select from orders where id = '${fromId(sale.id)!.uuid}' for update`
    const asked = await whileHeld(app, order, async () => {
      const all = Array.from({ length: 3 }, () => refund(sale.id, { amount: '1' }))
      await waiting(app, all.length)
      return all
    })
    expect((await Promise.all(asked)).map(codeOf).sort()).toEqual(['VALIDATION_FAILED', undefined, undefined])
    expect(await orderOf(sale)).toMatchObject({ totalRefunded: '2', status: 'SUCCESS' })
  })

  it('a refund takes the amount that the seller already spent from the platform', async () => {
    const seller = await app.newUser({ role: 'ADMIN', num: '0', points: '0' })
    const sale = await buy(
      await createStore(app, { owner: seller, price: '10' }),
      await app.newUser({ num: '10', points: '0' }),
    )
    await buy(await createStore(app, { price: '8' }), seller)
    ;(await refund(sale.id, { amount: '5' })).ok()
    expect(await app.wallet(seller)).toEqual({ num: '0', points: '0' })
    expect(await app.wallet(sale.buyer)).toEqual({ num: '5', points: '0' })
  })

  it('a refund takes effect once for one idempotency key, and writes an audit entry', async () => {
    const sale = await buy()
    const headers = { 'Idempotency-Key': randomUUID() }
    const answers = await Promise.all(Array.from({ length: 6 }, () => refund(sale.id, { amount: '1' }, headers)))
    expect(new Set(answers.map((answer) => answer.ok().id)).size).toBe(1)
    expect(await orderOf(sale)).toMatchObject({ totalRefunded: '1' })
    expectError(await refund(sale.id, { amount: '0.5' }, headers), 'IDEMPOTENCY_KEY_REUSED')
    const trail = await app.sql(
      `select user_id::text from audit_entries where action = 'order.refunded' and subject = $1`,
      [sale.id],
    )
    expect(trail).toEqual([{ user_id: admin.id }])
  })

  it.each<[string, Input]>([
    ['more than was paid', { amount: '2.6' }],
    ['an amount of zero', { amount: '0' }],
    ['a negative amount', { amount: '-1' }],
    ['an empty amount', { amount: '' }],
    ['a blank reason', { reason: ' ' }],
    ['a reason of more than 500 characters', { reason: 'x'.repeat(501) }],
  ])('a refund rejects %s', async (_, fields) => {
    const sale = await buy()
    const result = await refund(sale.id, fields)
    const details = result.fails('VALIDATION_FAILED')
    // A scalar of GraphQL rejects some amounts before the field is validated.
    if (details) expect(Object.keys(details)).toEqual(Object.keys(fields))
    else expect(result.text).toContain('input.amount')
    expect(await orderOf(sale)).toMatchObject({ totalRefunded: '0', refunds: [] })
  })

  it('rejects the refund of an order that is unpaid, free or missing, or whose buyer deleted the account', async () => {
    const buyer = await app.newUser()
    const open = await store.order(buyer)
    expectError(await refund(open.id), 'UNABLE_TO_REFUND_ORDER')
    expectError(await refund(toId('order', randomUUID())), 'NOT_FOUND')
    expectError(await refund(admin.publicId), 'NOT_FOUND')
    const free = await buy(await createStore(app, { price: '0' }))
    expectError(await refund(free.id), 'UNABLE_TO_REFUND_ORDER')
    const left = await buy()
    ;(await refund(left.id, { amount: '1', reason: `For ${left.buyer.username}` })).ok()
    expectOk(await left.buyer.rest('DELETE', 'auth/users/me/'))
    expectError(await refund(left.id), 'UNABLE_TO_REFUND_ORDER')
    const [row] = await app.sql('select reason from refunds where order_id = $1::uuid', [fromId(left.id)!.uuid])
    expect(row).toEqual({ reason: '' })
  })

  it('a refund returns the share of the platform to a seller who bought from themselves', async () => {
    const seller = await app.newUser({ role: 'ADMIN', num: '10', points: '0' })
    const sale = await buy(await createStore(app, { owner: seller }), seller)
    expect(await app.wallet(seller)).toEqual({ num: '9.7', points: '0' })
    ;(await refund(sale.id, { amount: '1.25' })).ok()
    expect(await app.wallet(seller)).toEqual({ num: '9.85', points: '0' })
    expect(await feedOf(seller)).toEqual(['order.created', 'order.paid', 'order.refunded'])
  })

  it('refunds are available only to administrators', async () => {
    const { buyer, id } = await buy()
    ;(await refund(id, {}, {}, app)).fails('NOT_AUTHENTICATED')
    ;(await refund(id, {}, {}, buyer)).fails('PERMISSION_DENIED')
    expect(await app.wallet(buyer)).toEqual({ num: '8.5', points: '0' })
  })
})

it('REST rejects an empty refund amount in a form instead of refunding the whole payment', async () => {
  const { buyer, id } = await buy()
  const urlencoded = { amount: '', reason: 'Broken' }
  const answer = await admin.rest('POST', `store/network-app-orders/${id}/refunds/`, { urlencoded })
  expect(expectError(answer, 'VALIDATION_FAILED').body.error.details).toHaveProperty('amount')
  expect(await app.wallet(buyer)).toEqual({ num: '8.5', points: '0' })
})

it('the buyer and administrators can list the refunds of an order page by page', async () => {
  const sale = await buy()
  const path = `store/network-app-orders/${sale.id}/refunds/`
  const post = (json: object) => admin.rest('POST', path, { json })
  const made = []
  for (const amount of ['0.1', '0.2', '0.3']) made.push(expectOk(await post({ amount, reason: 'Broken' })))
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
  expectError(await admin.rest('GET', `store/network-app-orders/${toId('order', randomUUID())}/refunds/`), 'NOT_FOUND')
})
