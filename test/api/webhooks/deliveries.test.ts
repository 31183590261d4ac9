import { Webhook } from 'standardwebhooks'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Jobs, startJobs } from '../../../src/jobs/jobs.ts'
import {
  deliveryWork,
  MAX_ATTEMPTS,
  RETRY_DELAYS_SECONDS,
  RETRY_JITTER,
} from '../../../src/modules/webhooks/webhook-schedule.ts'
import { fromId } from '../../../src/shared/ids.ts'
import { complaintOfCall } from '../../support/described.ts'
import { poll } from '../../support/eventually.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { waiting, whileHeld } from '../../support/held-rows.ts'
import { answerWith, type Receiver, type Respond, startReceiver } from '../../support/receiver.ts'
import { createStore, type TestStore } from '../../support/store.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp({ env: { ALLOW_INSECURE_WEBHOOKS: 'true' } })
let jobs: Jobs | undefined
afterAll(() => jobs?.stop())

async function deliver() {
  jobs ??= await startJobs(app.installation)
  await jobs.work('webhook-delivery', deliveryWork, app.jobs['webhook-delivery'])
}
await deliver()

interface Sale {
  store: TestStore
  buyer: SignedIn
  secret: string
  // biome-ignore lint/suspicious/noExplicitAny: as `Answer.body`.
  order: any
  receiver: Receiver
}

async function sell(respond: Respond, { policy = 'keep', actionArgs = {}, price = '2.5' } = {}): Promise<Sale> {
  const receiver = await startReceiver(onTestFinished, respond)
  const store = await createStore(app)
  const { id, webhook_secret: secret } = expectOk(
    await store.owner.rest('POST', 'store/network-apps/', {
      json: {
        name: `${store.name}-hooked`,
        price_mode: 'fixed',
        price,
        webhook_url: receiver.url,
        delivery_failure_policy: policy,
      },
    }),
  )
  const buyer = await app.newUser({ points: '1', num: '100' })
  const made = await store.order(buyer, { network_app: id, action_args: actionArgs })
  return { store, buyer, secret, order: expectOk(await store.confirm(buyer, made.id)), receiver }
}

const deliveriesOf = async ({ store, order }: Sale) =>
  expectOk(await store.owner.rest('GET', `store/webhook-deliveries/?order_id=${order.id}`)).results
const deliveryOf = async (sale: Sale) => (await deliveriesOf(sale)).at(-1)
const attempted = (sale: Sale, count: number) =>
  poll(() => deliveryOf(sale)).until((delivery) => delivery.attempt_count === count)
const statusOf = async ({ order }: Sale) => {
  const [row] = await app.sql('select status::text from orders where id = $1::uuid', [fromId(order.id)!.uuid])
  return row!.status
}

const feedOf = async (user: SignedIn) =>
  (
    await app.sql<{ type: string; sequence: number }>(
      'select type, sequence from events where owner_id = $1::uuid order by sequence',
      [user.id],
    )
  ).map(({ type, sequence }, index) => {
    expect(sequence).toBe(index + 1)
    return type
  })
const mailsOf = async ({ order }: Sale) =>
  (
    await app.sql<{ template: string }>(
      `select data->>'template' as template from jobs.job where name = 'mail' and data->>'orderId' = $1 order by 1`,
      [fromId(order.id)!.uuid],
    )
  ).map(({ template }) => template)

function expectWait({ next_attempt_at, attempts }: Awaited<ReturnType<typeof attempted>>, least: number, most: number) {
  const next = new Date(next_attempt_at).getTime() / 1_000
  expect(next - new Date(attempts[0].started_at).getTime() / 1_000).toBeGreaterThanOrEqual(least)
  expect(next - Date.now() / 1_000).toBeLessThanOrEqual(most)
}

async function passTime(sale: Sale, attempts?: number) {
  await app.sql(
    `with due as (
       update webhook_deliveries set next_attempt_at = now() - interval '1 ms', attempt_count = coalesce($2::int, attempt_count)
       where id = $1::uuid returning id::text
     )
     update jobs.job set start_after = now() from due
     where name = 'webhook-delivery' and data->>'deliveryId' = due.id and state < 'active'`,
    [fromId((await deliveryOf(sale)).id)!.uuid, attempts ?? null],
  )
}

describe('webhook deliveries of paid orders', () => {
  it('the webhook delivery sends the order with its arguments, and marks the order successful', async () => {
    const sale = await sell(answerWith(200, {}, 'thanks'), { actionArgs: { nid: 'bafy', depth: { n: 1 } } })
    expect(sale.order.status).toBe('pending')
    const delivery = await attempted(sale, 1)
    expect(delivery).toMatchObject({ status: 'delivered', next_attempt_at: null, order_id: sale.order.id })
    expect(delivery.attempts).toMatchObject([{ number: 1, status_code: 200, failure: null, response: 'thanks' }])

    expect(sale.receiver.calls).toHaveLength(1)
    const { headers, body } = sale.receiver.calls[0]!
    expect(complaintOfCall({ headers, body })).toBeUndefined()
    expect(headers['webhook-id']).toBe(delivery.event_id)
    const [row] = await app.sql<{ paid_at: Date; created_at: Date }>(
      'select paid_at, created_at from orders where id = $1::uuid',
      [fromId(sale.order.id)!.uuid],
    )
    expect(new Webhook(sale.secret).verify(body, headers as Record<string, string>)).toEqual({
      type: 'order.paid',
      timestamp: row!.paid_at.toISOString(),
      data: {
        order: {
          id: sale.order.id,
          status: 'pending',
          network_app_id: sale.order.network_app_id,
          network_app_name: sale.order.network_app_name,
          price: '2.5',
          num_paid: '1.5',
          points_paid: '1',
          total_cost: '2.5',
          created_at: row!.created_at.toISOString(),
          paid_at: row!.paid_at.toISOString(),
          buyer: sale.buyer.publicId,
        },
        action_args: { nid: 'bafy', depth: { n: 1 } },
      },
    })
    expect(body).not.toContain(sale.buyer.email)
    expect(await statusOf(sale)).toBe('SUCCESS')
    expect(await feedOf(sale.buyer)).toEqual(['order.created', 'order.paid', 'order.succeeded'])
    expect(await feedOf(sale.store.owner)).toEqual(['order.paid', 'delivery.delivered'])
  })

  it('the webhook delivery stores the response of the receiver without any argument of the order', async () => {
    const token = 'live-token-0123456789abcdef'
    const sale = await sell((res, { body }) => void res.end(body), { actionArgs: { auth: [{ token }] } })
    expect((await attempted(sale, 1)).attempts[0].response).toContain('order.paid')
    expect(JSON.stringify(await app.sql('select * from webhook_attempts'))).not.toContain(token)
  })

  it('a webhook delivery is retried with the same event ID and body until the receiver accepts it', async () => {
    let failures = 2
    const sale = await sell((res) => {
      failures -= 1
      res.writeHead(failures >= 0 ? 500 : 200).end()
    })
    const first = await attempted(sale, 1)
    const [delay] = RETRY_DELAYS_SECONDS
    expectWait(first, delay * (1 - RETRY_JITTER), delay * (1 + RETRY_JITTER))
    expect(await statusOf(sale)).toBe('PENDING')
    await passTime(sale)
    await attempted(sale, 2)
    await passTime(sale)
    expect(await attempted(sale, 3)).toMatchObject({ status: 'delivered' })
    const { calls } = sale.receiver
    expect(calls).toHaveLength(3)
    expect(new Set(calls.map(({ body }) => body)).size).toBe(1)
    expect(new Set(calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })

  it('the webhook delivery waits for the Retry-After time of a busy receiver', async () => {
    const sale = await sell(answerWith(503, { 'retry-after': '3600' }))
    expectWait(await attempted(sale, 1), 3_600, 3_600)
  })

  it('the webhook delivery is signed with both secrets during a secret rotation', async () => {
    const sale = await sell(answerWith(500))
    await attempted(sale, 1)
    const { webhook_secret: next } = expectOk(
      await sale.store.owner.rest('POST', `store/network-apps/${sale.order.network_app_id}/rotate-secret/`),
    )
    await passTime(sale)
    await attempted(sale, 2)
    const { headers, body } = sale.receiver.calls[1]!
    expect(String(headers['webhook-signature']).split(' ')).toHaveLength(2)
    for (const secret of [sale.secret, next]) new Webhook(secret).verify(body, headers as Record<string, string>)

    await app.sql(
      `update network_apps set previous_secret_expires_at = now() - interval '1 ms' where previous_secret is not null`,
    )
    await passTime(sale)
    await attempted(sale, 3)
    const last = sale.receiver.calls[2]!
    expect(String(last.headers['webhook-signature']).split(' ')).toHaveLength(1)
    new Webhook(next).verify(last.body, last.headers as Record<string, string>)
  })
})

describe('receivers that always fail', () => {
  it('an order with a failed webhook stays paid and failed if the app keeps payments', async () => {
    const sale = await sell(answerWith(500))
    await attempted(sale, 1)
    const wallet = await app.wallet(sale.buyer)
    await passTime(sale, MAX_ATTEMPTS - 1)
    expect(await attempted(sale, MAX_ATTEMPTS)).toMatchObject({ status: 'given_up', next_attempt_at: null })
    expect(await statusOf(sale)).toBe('FAILURE')
    expect(await app.wallet(sale.buyer)).toEqual(wallet)
    expect(await feedOf(sale.buyer)).toEqual(['order.created', 'order.paid', 'order.failed'])
    expect(await feedOf(sale.store.owner)).toEqual(['order.paid', 'delivery.given-up'])
    expect(await mailsOf(sale)).toEqual(['order-failed', 'receipt', 'sale'])
  })

  it('a failed webhook causes a refund to the buyer if the app refunds failures', async () => {
    const sale = await sell(answerWith(500), { policy: 'refund' })
    await attempted(sale, 1)
    expect(await app.wallet(sale.buyer)).toEqual({ num: '98.5', points: '0' })
    await passTime(sale, MAX_ATTEMPTS - 1)
    await attempted(sale, MAX_ATTEMPTS)
    expect(await statusOf(sale)).toBe('REFUNDED')
    expect(await app.wallet(sale.buyer)).toEqual({ num: '100', points: '1' })
    expect(await app.wallet(sale.store.owner)).toEqual({ num: '0', points: '0' })
    expect(await feedOf(sale.buyer)).toEqual(['order.created', 'order.paid', 'order.refunded'])
    expect(await feedOf(sale.store.owner)).toEqual(['order.paid', 'delivery.given-up', 'order.refunded'])
    expect(await mailsOf(sale)).toEqual(['automatic-refund', 'receipt', 'sale'])
    const books = await app.sql(
      `select e.book::text, trim_scale(sum(e.amount))::text as amount from entries e join transfers t on t.id = e.transfer_id
       where t.reference like '%' || $1 and e.book is not null group by e.book`,
      [fromId(sale.order.id)!.uuid],
    )
    expect(books).toEqual([{ book: 'REVENUE', amount: '0' }])
  })

  it('a failed webhook causes a full refund even if the app owner has spent the earnings', async () => {
    const sale = await sell(answerWith(500), { policy: 'refund', price: '10' })
    await attempted(sale, 1)
    // The owner spends all points and nearly all NUM that they earned.
    const elsewhere = await createStore(app, { price: '8.5' })
    expectOk(await elsewhere.confirm(sale.store.owner, (await elsewhere.order(sale.store.owner)).id))
    expect(await app.wallet(sale.store.owner)).toEqual({ num: '0.3', points: '0' })
    await passTime(sale, MAX_ATTEMPTS - 1)
    await attempted(sale, MAX_ATTEMPTS)
    expect(await app.wallet(sale.buyer)).toEqual({ num: '100', points: '1' })
    expect(await app.wallet(sale.store.owner)).toEqual({ num: '0', points: '0' })
    expect(await statusOf(sale)).toBe('REFUNDED')
  })

  it('a receiver that returned 410 is not called again until the app sets a new URL', async () => {
    const sale = await sell(answerWith(410))
    expect(await attempted(sale, 1)).toMatchObject({ status: 'given_up' })
    expect(await statusOf(sale)).toBe('FAILURE')
    const { owner } = sale.store
    const found = await owner.rest('GET', `store/network-apps/${sale.order.network_app_id}/`)
    expect(expectOk(found).webhook_disabled_at).not.toBeNull()
    const { id } = await deliveryOf(sale)
    const logged = app.log.lines.filter(({ fields }) => 'delivery' in fields && fields.delivery === id)
    const fields = { networkApp: sale.order.network_app_id, attempt: 1, statusCode: 410 }
    expect(logged).toMatchObject([{ level: 'warn', message: 'Webhook delivery failed permanently', fields }])
    expectError(await owner.rest('POST', `store/webhook-deliveries/${id}/replay/`), 'VALIDATION_FAILED')
    const made = await sale.store.order(sale.buyer, { network_app: sale.order.network_app_id })
    const second = { ...sale, order: expectOk(await sale.store.confirm(sale.buyer, made.id)) }
    const given = await attempted(second, 1)
    expect(given).toMatchObject({ status: 'given_up', attempts: [{ status_code: null }] })
    expect(await statusOf(second)).toBe('FAILURE')
    expect(await mailsOf(second)).toEqual(['order-failed', 'receipt', 'sale'])
    expect(sale.receiver.calls).toHaveLength(1)
    // After the receiver recovers, the pending deliveries can be sent.
    const back = await startReceiver(onTestFinished)
    const path = `store/network-apps/${sale.order.network_app_id}/`
    expectOk(await owner.rest('PATCH', path, { json: { webhook_url: back.url } }))
    expectOk(await owner.rest('POST', `store/webhook-deliveries/${given.id}/replay/`))
    await attempted(second, 2)
    expect([await statusOf(second), back.calls.length]).toEqual(['SUCCESS', 1])
  })

  it('a webhook that returned 410 causes an immediate refund of later payments if the app refunds failures', async () => {
    const sale = await sell(answerWith(410), { policy: 'refund' })
    await attempted(sale, 1)
    const wallet = await app.wallet(sale.buyer)
    const made = await sale.store.order(sale.buyer, { network_app: sale.order.network_app_id })
    const second = { ...sale, order: expectOk(await sale.store.confirm(sale.buyer, made.id)) }
    await attempted(second, 1)
    expect(await statusOf(second)).toBe('REFUNDED')
    expect(await app.wallet(sale.buyer)).toEqual(wallet)
    expect(sale.receiver.calls).toHaveLength(1)
  })
})

describe('log of webhook deliveries', () => {
  it('the log of webhook deliveries is available only to administrators', async () => {
    const sale = await sell(answerWith(200))
    const { id } = await attempted(sale, 1)
    for (const [method, path] of [
      ['GET', 'store/webhook-deliveries/'],
      ['GET', `store/webhook-deliveries/${id}/`],
      ['POST', `store/webhook-deliveries/${id}/replay/`],
    ] as const) {
      expectError(await sale.buyer.rest(method, path), 'PERMISSION_DENIED')
      expectError(await app.rest(method, path), 'NOT_AUTHENTICATED')
    }
    expect(expectOk(await sale.buyer.graphql('query ($id: ID!) { node(id: $id) { id } }', { id })).node).toBeNull()
  })

  it('both APIs return the same webhook deliveries, and support filters', async () => {
    const sale = await sell(answerWith(200))
    const delivery = await attempted(sale, 1)
    const { owner } = sale.store
    const { webhookDeliveries } = expectOk(
      await owner.graphql(
        `query ($filter: WebhookDeliveryFilter) { webhookDeliveries(filter: $filter) { totalCount
           nodes { id eventId networkApp { id } attempts { number statusCode } } } }`,
        { filter: { networkAppId: delivery.network_app_id, orderId: sale.order.id, status: 'DELIVERED' } },
      ),
    )
    expect(webhookDeliveries).toEqual({
      totalCount: 1,
      nodes: [
        {
          id: delivery.id,
          eventId: delivery.event_id,
          networkApp: { id: delivery.network_app_id },
          attempts: [{ number: 1, statusCode: 200 }],
        },
      ],
    })
    const none = await owner.rest('GET', `store/webhook-deliveries/?order_id=${sale.order.id}&status=given_up`)
    expect(expectOk(none)).toMatchObject({ count: 0, results: [] })
    expect(expectOk(await owner.rest('GET', `store/webhook-deliveries/${delivery.id}/`))).toMatchObject(delivery)
    for (const query of ['order_id=nobody', 'network_app_id=order_x', 'status=lost']) {
      expectError(await owner.rest('GET', `store/webhook-deliveries/?${query}`), 'VALIDATION_FAILED')
    }
    expectError(await owner.rest('GET', 'store/webhook-deliveries/delivery_none/'), 'NOT_FOUND')
  })

  it('an administrator can replay a failed webhook delivery, and the order then succeeds', async () => {
    let status = 500
    const sale = await sell((res) => void res.writeHead(status).end())
    await attempted(sale, 1)
    await passTime(sale, MAX_ATTEMPTS - 1)
    const { id } = await attempted(sale, MAX_ATTEMPTS)
    expect(await statusOf(sale)).toBe('FAILURE')
    status = 200
    const headers = { 'Idempotency-Key': 'replay once' }
    const replayed = () => sale.store.owner.rest('POST', `store/webhook-deliveries/${id}/replay/`, { headers })
    expectOk(await replayed())
    expect(await attempted(sale, MAX_ATTEMPTS + 1)).toMatchObject({ status: 'delivered' })
    expectOk(await replayed())
    expect(await statusOf(sale)).toBe('SUCCESS')
    expect(await feedOf(sale.buyer)).toEqual(['order.created', 'order.paid', 'order.failed', 'order.succeeded'])
    expect(sale.receiver.calls).toHaveLength(3)
    expect(new Set(sale.receiver.calls.map(({ body }) => body)).size).toBe(1)
  })

  it('rejects the replay of a webhook delivery for a refunded order', async () => {
    const sale = await sell(answerWith(500), { policy: 'refund' })
    await attempted(sale, 1)
    await passTime(sale, MAX_ATTEMPTS - 1)
    const { id } = await attempted(sale, MAX_ATTEMPTS)
    const refused = await sale.store.owner.rest('POST', `store/webhook-deliveries/${id}/replay/`)
    expect(expectError(refused, 'VALIDATION_FAILED').body.error.details).toEqual({
      id: ['The order was refunded, so its webhook is not called again.'],
    })
    expect(sale.receiver.calls).toHaveLength(2)
  })
})

describe('webhook test events', () => {
  const hook = async (url?: string) => {
    const store = await createStore(app)
    const json = { name: `${store.name}-tried`, price: '1', price_mode: 'fixed', webhook_url: url }
    const made = expectOk(await store.owner.rest('POST', 'store/network-apps/', { json }))
    return { store, owner: store.owner, appId: made.id as string, secret: made.webhook_secret as string }
  }
  const settled = (owner: SignedIn, id: string, attempts = 1) =>
    poll(async () => expectOk(await owner.rest('GET', `store/webhook-deliveries/${id}/`))).until(
      ({ status, attempt_count }) => status !== 'pending' && attempt_count === attempts,
    )

  it('a webhook test event is signed, has its own type, charges nobody, and is sent once per idempotency key', async () => {
    const receiver = await startReceiver(onTestFinished, answerWith(200, {}, 'thanks'))
    const { owner, appId, secret } = await hook(receiver.url)
    const before = await app.sql('select count(*)::int as n from transfers')
    const headers = { 'Idempotency-Key': 'try once' }
    const test = () => owner.rest('POST', `store/network-apps/${appId}/test-events/`, { headers })
    const sent = expectOk(await test())
    expect(sent).toMatchObject({ event_type: 'webhook.test', order_id: null, status: 'pending', network_app_id: appId })
    expect(expectOk(await test()).id).toBe(sent.id)
    const delivery = await settled(owner, sent.id)
    expect(delivery).toMatchObject({ status: 'delivered', attempts: [{ status_code: 200, response: 'thanks' }] })
    const [call, ...more] = receiver.calls
    expect(more).toEqual([])
    const body = new Webhook(secret).verify(call!.body, call!.headers as Record<string, string>)
    expect(body).toEqual({ type: 'webhook.test', timestamp: expect.any(String), data: { network_app_id: appId } })
    expect(delivery.payload).toEqual(body)
    expect(call!.headers['webhook-id']).toBe(delivery.event_id)
    const { results } = expectOk(await owner.rest('GET', 'events/?limit=10'))
    expect(results.map(({ type }: { type: string }) => type)).toEqual(['webhook.test', 'delivery.delivered'])
    expect(results[0]).toMatchObject({ id: delivery.event_id, order_id: null, data: body })
    expect(await app.sql('select count(*)::int as n from transfers')).toEqual(before)
    const { figures } = expectOk(await owner.graphql('{ figures(days: 1) { days { delivered pending givenUp } } }'))
    const [orders] = await app.sql(
      'select count(*)::int as n from webhook_deliveries where order_id is not null and created_at >= date_trunc($1, now(), $2)',
      ['day', 'UTC'],
    )
    const [{ delivered, pending, givenUp }] = figures.days
    expect(delivered + pending + givenUp).toBe(orders!.n)
  })

  it('a failed webhook test event is not retried and does not disable the webhook, but can be replayed', async () => {
    let status = 410
    const receiver = await startReceiver(onTestFinished, (res) => void res.writeHead(status).end())
    const { owner, appId } = await hook(receiver.url)
    const mutation =
      'mutation ($id: ID!) { sendTestEvent(input: { networkAppId: $id }) { webhookDelivery { id eventType orderId } } }'
    const { webhookDelivery: sent } = expectOk(await owner.graphql(mutation, { id: appId })).sendTestEvent
    expect(sent).toMatchObject({ eventType: 'webhook.test', orderId: null })
    expect(await settled(owner, sent.id)).toMatchObject({ status: 'given_up', attempts: [{ status_code: 410 }] })
    const [{ gone }] = (await app.sql<{ gone: boolean }>(
      'select webhook_disabled_at is not null as gone from network_apps where id = $1::uuid',
      [fromId(appId)!.uuid],
    )) as [{ gone: boolean }]
    expect(gone).toBe(false)
    status = 200
    expectOk(await owner.rest('POST', `store/webhook-deliveries/${sent.id}/replay/`))
    expect(await settled(owner, sent.id, 2)).toMatchObject({ status: 'delivered' })
    expect(new Set(receiver.calls.map(({ body, headers }) => `${headers['webhook-id']} ${body}`)).size).toBe(1)
  })

  it('a webhook test event requires an app with a webhook, and an administrator', async () => {
    const { store, owner, appId } = await hook()
    const test = (user: SignedIn, id: string) => user.rest('POST', `store/network-apps/${id}/test-events/`)
    const refused = expectError(await test(owner, appId), 'VALIDATION_FAILED')
    expect(refused.body.error.details.network_app_id[0]).toContain("Set the app's webhook URL first")
    expectError(await test(owner, 'app_none'), 'NOT_FOUND')
    expectError(await test(await app.newUser(), store.appId), 'PERMISSION_DENIED')
  })

  it('the delivery log shows the payload of a payment without the order arguments', async () => {
    const sale = await sell(answerWith(200), { actionArgs: { token: 'live-token' } })
    const { payload, event_type: type } = expectOk(
      await sale.store.owner.rest('GET', `store/webhook-deliveries/${(await attempted(sale, 1)).id}/`),
    )
    const sent = JSON.parse(sale.receiver.calls[0]!.body)
    expect(type).toBe('order.paid')
    expect(payload).toEqual({ ...sent, data: { ...sent.data, action_args: '[withheld]' } })
  })
})

describe('concurrent workers', () => {
  it('two workers with the same delivery record one attempt, although the receiver gets two requests', async () => {
    let waiting: (() => void)[] = []
    const sale = await sell(answerWith(500))
    await attempted(sale, 1)
    const { uuid } = fromId((await deliveryOf(sale)).id)!
    const both = await startReceiver(onTestFinished, (res) => {
      waiting.push(() => res.end())
      if (waiting.length === 2) {
        for (const answer of waiting) answer()
        waiting = []
      }
    })
    await app.sql('update network_apps set webhook_url = $2 where id = $1::uuid', [
      fromId(sale.order.network_app_id)!.uuid,
      both.url,
    ])
    // A due delivery without a job. The two workers below find it.
    await app.sql(`update webhook_deliveries set next_attempt_at = now() - interval '1 ms' where id = $1::uuid`, [uuid])
    const handle = app.jobs['webhook-delivery']
    await Promise.all([handle({ deliveryId: uuid }), handle({ deliveryId: uuid })])
    expect(await deliveryOf(sale)).toMatchObject({ status: 'delivered', attempt_count: 2 })
    expect(new Set(both.calls.map(({ body, headers }) => `${headers['webhook-id']} ${body}`)).size).toBe(1)
    expect(both.calls).toHaveLength(2)
    expect(await feedOf(sale.buyer)).toEqual(['order.created', 'order.paid', 'order.succeeded'])
    // A late job finds nothing to do.
    await handle({ deliveryId: uuid })
    expect(both.calls).toHaveLength(2)
  })
})

describe('replays of deliveries', () => {
  it('the replay of a delivery does not deadlock with the recording of an attempt', async () => {
    let answer = () => {}
    const sale = await sell((response) => {
      answer = () => void response.end()
    })
    await poll(() => sale.receiver.calls).until(({ length }) => length === 1)
    const { id } = await deliveryOf(sale)
    const order = `select from orders where id = '${fromId(sale.order.id)!.uuid}' for update`
    const asked = await whileHeld(app, order, async () => {
      const replay = sale.store.owner.rest('POST', `store/webhook-deliveries/${id}/replay/`)
      await waiting(app, 1)
      answer()
      await waiting(app, 2)
      return { replay }
    })
    expectOk(await asked.replay)
    expect(await attempted(sale, 1)).toMatchObject({ status: 'delivered' })
    expect(await statusOf(sale)).toBe('SUCCESS')
    expect(sale.receiver.calls).toHaveLength(1)
  })
})

describe('orders refunded by administrators', () => {
  const giveBack = async ({ store, order }: Sale, json: object = {}) =>
    expectOk(
      await store.owner.rest('POST', `store/network-app-orders/${order.id}/refunds/`, {
        json: { reason: 'For ada@example.org', ...json },
      }),
    )
  const refuseToServe: Respond = (response, { body }) =>
    void response.writeHead(body.includes('"order.paid"') ? 500 : 200).end()
  const refundsDelivered = (sale: Sale, count: number) =>
    poll(async () =>
      (await deliveriesOf(sale)).filter(({ status }: { status: string }) => status === 'delivered'),
    ).until(({ length }) => length === count)

  it("the webhook reports each partial refund without its reason, like the seller's event feed", async () => {
    const sale = await sell(refuseToServe)
    await attempted(sale, 1)
    const parts = [await giveBack(sale, { amount: '2' }), await giveBack(sale)]
    await refundsDelivered(sale, 2)
    const shares = [
      { status: 'partially_refunded', num_refunded: '1.5', points_refunded: '0.5', total_refunded: '2' },
      { status: 'refunded', num_refunded: '1.5', points_refunded: '1', total_refunded: '2.5' },
    ]
    const calls = sale.receiver.calls.filter(({ body }) => body.includes('"order.refunded"'))
    expect(calls.map(complaintOfCall)).toEqual(calls.map(() => undefined))
    const reported = calls.map(({ body, headers }) => {
      expect(body).not.toContain('ada@example.org')
      return new Webhook(sale.secret).verify(body, headers as Record<string, string>)
    })
    const { id, network_app_id, network_app_name } = sale.order
    for (const [index, { reason, order_id, transfer_id, created_at, ...refund }] of parts.entries()) {
      const paid = { id, network_app_id, network_app_name, price: '2.5', num_paid: '1.5', points_paid: '1' }
      const order = { ...paid, total_cost: '2.5', buyer: sale.buyer.publicId, ...shares[index] }
      expect(reported).toContainEqual({
        type: 'order.refunded',
        timestamp: created_at,
        data: {
          order: { ...order, created_at: sale.order.created_at, paid_at: expect.any(String) },
          refund: { ...refund, created_at },
        },
      })
    }
    const { results } = expectOk(await sale.store.owner.rest('GET', 'events/'))
    const refunded = results.filter(({ type }: { type: string }) => type === 'order.refunded')
    expect(refunded.map(({ data }: { data: object }) => data)).toEqual(expect.arrayContaining(reported))
    expect(await mailsOf(sale)).toEqual(['administrator-refund', 'administrator-refund', 'receipt', 'sale'])
  })

  it('an order keeps its status after a refund webhook, and a fully refunded order sends no payment webhook', async () => {
    const sale = await sell(refuseToServe, { policy: 'refund' })
    await attempted(sale, 1)
    await giveBack(sale, { amount: '1' })
    await refundsDelivered(sale, 1)
    expect(await statusOf(sale)).toBe('PENDING')
    await giveBack(sale)
    await refundsDelivered(sale, 2)
    await passTime(sale)
    expect(await attempted(sale, 2)).toMatchObject({ attempts: [{ status_code: 500 }, { status_code: null }] })
    expect(sale.receiver.calls).toHaveLength(3)
    expect(await statusOf(sale)).toBe('REFUNDED')
    expect(await app.wallet(sale.buyer)).toEqual({ num: '100', points: '1' })
    const { id } = await deliveryOf(sale)
    expectError(await sale.store.owner.rest('POST', `store/webhook-deliveries/${id}/replay/`), 'VALIDATION_FAILED')
    const [{ id: last }] = await deliveriesOf(sale)
    expectOk(await sale.store.owner.rest('POST', `store/webhook-deliveries/${last}/replay/`))
    await refundsDelivered(sale, 2)
  })

  it("refunds exactly the remaining amount if the webhook delivery fails during an administrator's refund", async () => {
    const sale = await sell(refuseToServe, { policy: 'refund' })
    await attempted(sale, 1)
    await giveBack(sale, { amount: '1' })
    const path = `store/network-app-orders/${sale.order.id}/refunds/`
    const more = () => sale.store.owner.rest('POST', path, { json: { reason: 'x', amount: '0.5' } })
    const [answers] = await Promise.all([Promise.all([more(), more(), more()]), passTime(sale, MAX_ATTEMPTS - 1)])
    await poll(() => statusOf(sale)).until((status) => status === 'REFUNDED')
    for (const { status } of answers) expect([201, 400]).toContain(status)
    expect(await app.wallet(sale.buyer)).toEqual({ num: '100', points: '1' })
    expect(await app.wallet(sale.store.owner)).toEqual({ num: '0', points: '0' })
    expectError(await more(), 'UNABLE_TO_REFUND_ORDER')
  })
})
