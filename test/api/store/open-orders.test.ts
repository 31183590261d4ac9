/** The limit of unconfirmed orders, and the retention of order arguments. */

import { describe, expect, it, onTestFinished } from 'vitest'
import { eraseOrderArguments, expireOrders } from '../../../src/modules/store/expire-orders.ts'
import { fromId } from '../../../src/shared/ids.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { answerWith, startReceiver } from '../../support/receiver.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'

const LIMIT = 3
const app = await createTestApp({
  env: { LIMITS: `open-orders=${LIMIT}`, ALLOW_INSECURE_WEBHOOKS: 'true' },
})
const store = await createStore(app, { price: '1' })
const actionArgs = { nid: 'bafkrei', token: 'a live token' }

const create = (user: SignedIn, path = 'store/network-app-orders/') =>
  user.rest('POST', path, { json: { network_app: store.appId, action_args: actionArgs }, headers: store.service })
const createByGraphql = (user: SignedIn) =>
  user.graphql(
    'mutation ($app: String!) { createOrder(input: { networkApp: $app }) { order { id } } }',
    { app: store.appId },
    { headers: store.service },
  )
const expireAll = async (user: SignedIn) => {
  await app.sql(
    `update orders set expires_at = now() - interval '1 ms' where buyer_id = $1::uuid and status = 'CREATED'`,
    [user.id],
  )
  await expireOrders(app.context)
}
const keptOf = async (id: string) =>
  (
    await app.sql<{ kept: boolean; erased: boolean }>(
      'select action_args is not null as kept, action_args_erased_at is not null as erased from orders where id = $1::uuid',
      [fromId(id)!.uuid],
    )
  )[0]
const kept = { kept: true, erased: false }
const erased = { kept: false, erased: true }

describe('unpaid orders', () => {
  it('both APIs limit unpaid orders per buyer, also for concurrent requests', async () => {
    const user = await app.newUser()
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(user)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(LIMIT)
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      const { headers } = expectError(answer, 'TOO_MANY_OPEN_ORDERS')
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(900)
    }
    expectError(await createByGraphql(user), 'TOO_MANY_OPEN_ORDERS')
    expect(await app.sql('select 1 from orders where buyer_id = $1::uuid', [user.id])).toHaveLength(LIMIT)
    expect((await create(await app.newUser())).status).toBe(201)
  })

  it('a quote reports unpaid orders over the limit', async () => {
    const user = await app.newUser()
    for (let made = 0; made < LIMIT; made += 1) expectOk(await create(user))
    const dry = expectOk(await create(user, 'store/network-app-orders/?dry_run=true'))
    expect(JSON.stringify(dry)).toContain('too_many_open_orders')
  })

  it('orders stop counting towards the limit when they are paid, cancelled or expired', async () => {
    const user = await app.newUser()
    const ids: string[] = []
    for (let made = 0; made < LIMIT; made += 1) ids.push(expectOk(await create(user)).id)
    expectError(await create(user), 'TOO_MANY_OPEN_ORDERS')
    expectOk(await store.confirm(user, ids[0]!))
    expectOk(await create(user))
    expectError(await create(user), 'TOO_MANY_OPEN_ORDERS')
    expectOk(
      await user.graphql(`mutation ($id: ID!) { cancelOrder(input: { id: $id }) { order { status } } }`, {
        id: ids[1],
      }),
    )
    expectOk(await create(user))
    expectError(await create(user), 'TOO_MANY_OPEN_ORDERS')
    await expireAll(user)
    for (let made = 0; made < LIMIT; made += 1) expectOk(await create(user))
    expectError(await create(user), 'TOO_MANY_OPEN_ORDERS')
  })
})

it("an order that fails to expire does not block the expiry of other buyers' orders", async () => {
  const [bad, good] = [await app.newUser(), await app.newUser()]
  for (const user of [bad, good]) {
    expectOk(await create(user))
    await app.sql(`update orders set expires_at = now() - interval '1 ms' where buyer_id = $1::uuid`, [user.id])
  }
  await app.sql(`create function test_refuse() returns trigger language plpgsql as
    $$ begin if new.user_id = tg_argv[0]::uuid then raise exception 'for a test'; end if; return new; end $$`)
  await app.sql(
    `create trigger test_refuse before update on wallets for each row execute function test_refuse('${bad.id}')`,
  )
  await expireOrders(app.context)
  await expireOrders(app.context)
  const statusOf = async ({ id }: SignedIn) =>
    (await app.sql('select status::text from orders where buyer_id = $1::uuid', [id]))[0]?.status
  expect([await statusOf(bad), await statusOf(good)]).toEqual(['CREATED', 'EXPIRED'])
  const reported = app.log.lines.filter(({ message }) => message.startsWith('Batch job failed for some items'))
  expect(reported).toMatchObject([{ level: 'error', fields: { job: 'expire-orders', count: 1 } }])
  await app.sql('drop trigger test_refuse on wallets')
})

describe('arguments of orders', () => {
  it('the arguments of an order are erased when the order expires or is cancelled', async () => {
    const user = await app.newUser()
    const [expired, cancelled] = [expectOk(await create(user)), expectOk(await create(user))]
    expect(await keptOf(expired.id)).toEqual(kept)
    const document = `mutation ($id: ID!) { cancelOrder(input: { id: $id }) { order { actionArgs actionArgsErasedAt } } }`
    const gone = expectOk(await user.graphql(document, { id: cancelled.id })).cancelOrder.order
    expect(gone).toEqual({ actionArgs: {}, actionArgsErasedAt: expect.any(String) })
    await expireAll(user)
    for (const { id } of [expired, cancelled]) {
      expect(await keptOf(id)).toEqual(erased)
      expect(expectOk(await user.rest('GET', `store/network-app-orders/${id}/`)).action_args).toEqual({})
    }
  })

  it('the arguments of an order are kept for the configured days after the payment', async () => {
    const user = await app.newUser()
    const ids = [expectOk(await create(user)).id, expectOk(await create(user)).id]
    for (const id of ids) expectOk(await store.confirm(user, id))
    const age = (id: string, days: number) =>
      app.sql(`update orders set settled_at = now() - make_interval(days => $2::int) where id = $1::uuid`, [
        fromId(id)!.uuid,
        days,
      ])
    await age(ids[0]!, 29)
    await age(ids[1]!, 31)
    await eraseOrderArguments(app.context)
    expect([await keptOf(ids[0]!), await keptOf(ids[1]!)]).toEqual([kept, erased])
    const shown = await Promise.all(ids.map((id) => user.rest('GET', `store/network-app-orders/${id}/`)))
    expect(shown.map(({ body }) => body.action_args)).toEqual([actionArgs, {}])
  })

  it('the arguments of an order are kept during a webhook replay, and no replay is possible after the erasure', async () => {
    const receiver = await startReceiver(onTestFinished, answerWith(204))
    const { owner } = store
    const json = { name: 'Kept', price_mode: 'fixed', price: '1', webhook_url: receiver.url }
    const { id: network_app } = expectOk(await owner.rest('POST', 'store/network-apps/', { json }))
    const user = await app.newUser()
    const order = await store.order(user, { network_app, action_args: actionArgs })
    expectOk(await store.confirm(user, order.id))
    const [delivery] = expectOk(await owner.rest('GET', `store/webhook-deliveries/?order_id=${order.id}`)).results
    const deliver = () => app.jobs['webhook-delivery']({ deliveryId: fromId(delivery.id)!.uuid })
    const replay = () => owner.rest('POST', `store/webhook-deliveries/${delivery.id}/replay/`)
    await deliver()
    expectOk(await replay())
    await app.sql(`update orders set settled_at = now() - interval '31 days' where id = $1::uuid`, [
      fromId(order.id)!.uuid,
    ])
    await eraseOrderArguments(app.context)
    expect(await keptOf(order.id)).toEqual(kept)
    await deliver()
    expect(receiver.calls.map(({ body }) => JSON.parse(body).data.action_args)).toEqual([actionArgs, actionArgs])
    await eraseOrderArguments(app.context)
    expect(await keptOf(order.id)).toEqual(erased)
    expect(expectError(await replay(), 'VALIDATION_FAILED').body.error.details.id).toEqual([
      expect.stringMatching(/arguments of the order are erased/),
    ])
  })

  it('the arguments of an order are erased when the order is refunded', async () => {
    const json = {
      name: 'Refunding',
      price_mode: 'fixed',
      price: '1',
      webhook_url: (await startReceiver(onTestFinished, answerWith(410))).url,
      delivery_failure_policy: 'refund',
    }
    const { id: network_app } = expectOk(await store.owner.rest('POST', 'store/network-apps/', { json }))
    const user = await app.newUser()
    const order = await store.order(user, { network_app, action_args: actionArgs })
    expectOk(await store.confirm(user, order.id))
    const [row] = await app.sql('select id::text from webhook_deliveries where order_id = $1::uuid', [
      fromId(order.id)!.uuid,
    ])
    await app.jobs['webhook-delivery']({ deliveryId: row!.id! })
    expect(await app.wallet(user)).toEqual({ num: '0', points: '12' })
    expect(await keptOf(order.id)).toEqual(erased)
  })

  it('the arguments of an order may have at most 64 KB', async () => {
    const user = await app.newUser()
    const send = (length: number) =>
      user.rest('POST', 'store/network-app-orders/', {
        json: { network_app: store.appId, action_args: { text: 'x'.repeat(length) } },
        headers: store.service,
      })
    const frame = '{"text":""}'.length
    expect((await send(65_536 - frame)).status).toBe(201)
    expectError(await send(65_537 - frame), 'VALIDATION_FAILED')
  })
})
