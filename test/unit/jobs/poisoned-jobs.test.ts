/** Jobs that always fail are dead-lettered and logged, and delay no other jobs. */
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { statement, text, uuid } from '../../../src/db/sql.ts'
import { subjectOf } from '../../../src/jobs/jobs.sql.ts'
import { type Jobs, type QueueName, startJobs } from '../../../src/jobs/jobs.ts'
import type { JobHandlers } from '../../../src/jobs/queues.ts'
import { textsOf } from '../../../src/modules/webhooks/delivery-payload.ts'
import { deliveryWork, MAX_ATTEMPTS } from '../../../src/modules/webhooks/webhook-schedule.ts'
import { fromId, toId } from '../../../src/shared/ids.ts'
import { eventually, until } from '../../support/eventually.ts'
import { expectOk } from '../../support/expect-error.ts'
import { answerWith, startReceiver } from '../../support/receiver.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp({ env: { ALLOW_INSECURE_WEBHOOKS: 'true' } })
const store = await createStore(app, { price: '2' })
let jobs: Jobs | undefined
afterAll(() => jobs?.stop())

const put = statement(
  'test_put',
  { parameters: { queue: text, data: text }, columns: { id: text } },
  'select enqueue($queue, $data::jsonb)::text as id',
)
const lastTry = statement(
  'test_last',
  { parameters: { job: uuid } },
  'update jobs.job set retry_limit = 0 where id = $job',
)

/** Enqueues a job. If `isLast`, the first attempt is the last. */
const enqueue = (queue: QueueName, data: object, isLast = false): Promise<string> =>
  app.installation.database.transaction(async (query) => {
    const [made] = await query(put, { queue, data: JSON.stringify(data) })
    if (isLast) await query(lastTry, { job: made!.id })
    return made!.id
  })

const stateOf = async (id: string) =>
  (await app.sql<{ state: string }>('select state::text from jobs.job where id = $1::uuid', [id]))[0]?.state
const ended = (id: string, state: string) => until(state, async () => (await stateOf(id)) === state)

async function work() {
  jobs ??= await startJobs(app.installation)
  const { 'webhook-delivery': deliver, ...handlers } = app.jobs
  const options = { concurrency: 1, pollEvery: 0.1 }
  for (const [name, handle] of Object.entries(handlers))
    await jobs.work(name as keyof JobHandlers, options, handle as () => Promise<void>)
  await jobs.work('webhook-delivery', { ...deliveryWork, ...options }, deliver)
}

/** Creates a paid order with a webhook to the receiver. Returns the UUID of the order. */
async function sell(buyer: SignedIn, url: string, actionArgs: object = {}): Promise<string> {
  const name = `app-${randomUUID().slice(0, 8)}`
  const json = { name, price_mode: 'fixed', price: '2', webhook_url: url, delivery_failure_policy: 'refund' }
  const { id: network_app } = expectOk(await store.owner.rest('POST', 'store/network-apps/', { json }))
  const order = await store.order(buyer, { network_app, action_args: actionArgs })
  expectOk(await store.confirm(buyer, order.id))
  return fromId(order.id)!.uuid
}
const deliveryOf = async (orderId: string) =>
  (
    await app.sql<{ id: string; status: string; attempt_count: number; seconds: number }>(
      `select id::text, status::text, attempt_count, extract(epoch from next_attempt_at - now())::int as seconds
       from webhook_deliveries where order_id = $1::uuid`,
      [orderId],
    )
  )[0]!
const statusOf = async (orderId: string) =>
  (await app.sql('select status::text from orders where id = $1::uuid', [orderId]))[0]!.status
const damage = (orderId: string) =>
  app.sql(
    `update orders set action_args = set_byte(action_args, octet_length(action_args) - 1,
      get_byte(action_args, octet_length(action_args) - 1) # 1) where id = $1::uuid`,
    [orderId],
  )

describe('jobs that always fail', () => {
  it('retries a failing job with growing delays and a limit in every queue', async () => {
    const endless = await app.sql(
      `select name from jobs.queue where name not like '\\_\\_%' and name <> 'dead-letter'
         and (not retry_backoff or retry_limit > 300 or retry_delay < 1)`,
    )
    expect(endless).toEqual([])
  })

  it('dead-letters and logs a job that always fails, and runs the other jobs', async () => {
    await work()
    const now = new Date().toISOString()
    const nobody = { userId: randomUUID() }
    const poisons: Partial<Record<QueueName, { bad: object; good: object; isKept?: boolean }>> = {
      mail: {
        bad: { template: 'receipt', orderId: 'none' },
        good: { template: 'receipt', orderId: randomUUID() },
        isKept: true,
      },
      'account-mail': {
        bad: { template: 'no-such-mail' },
        good: { template: 'password-changed', ...nobody, requestId: randomUUID(), at: now },
        isKept: true,
      },
      'forget-key': { bad: { userId: '../nobody' }, good: nobody, isKept: true },
      manifest: { bad: { assetId: 'none' }, good: { assetId: randomUUID() }, isKept: true },
      thumbnail: { bad: { assetId: 'none' }, good: { assetId: randomUUID() }, isKept: true },
      'webhook-delivery': { bad: { deliveryId: 'none' }, good: { deliveryId: randomUUID() } },
    }
    for (const [queue, { bad, good, isKept = false }] of Object.entries(poisons)) {
      const poison = await enqueue(queue as QueueName, bad, true)
      const other = await enqueue(queue as QueueName, good)
      await ended(poison, 'failed')
      await ended(other, 'completed')
      const reported = app.log.lines.filter(({ fields }) => 'job' in fields && fields.job === toId('job', poison))
      expect(reported, queue).toMatchObject([
        { level: 'error', fields: { queue, attempt: 1, subject: subjectOf(bad) } },
      ])
      const dead = await app.sql(`select data from jobs.job where name = 'dead-letter' and source_id = $1::uuid`, [
        poison,
      ])
      expect(dead, queue).toEqual(isKept ? [{ data: bad }] : [])
    }
  })
})

const beforeAttempt = 'before insert on webhook_attempts for each row'
async function rejectAttempts(body: string) {
  await app.sql(`create function test_refuse() returns trigger language plpgsql as $$ begin ${body} end $$`)
  await app.sql(`create trigger test_refuse ${beforeAttempt} execute function test_refuse()`)
}
const acceptAttempts = () => app.sql('drop function test_refuse cascade')

describe('webhook deliveries that fail', () => {
  it("applies the app's failure policy to a webhook delivery whose result can never be stored", async () => {
    await work()
    const receiver = await startReceiver(onTestFinished, answerWith(500))
    await rejectAttempts(`if new.status_code = 500 then raise exception 'for a test'; end if; return new;`)
    const buyer = await app.newUser({ num: '2', points: '0' })
    const order = await sell(buyer, receiver.url)
    const { id: deliveryId } = await deliveryOf(order)
    await eventually(
      async () => {
        // The delivery period ends, so the next attempt is the last.
        await app.sql(
          `update jobs.job set start_after = now(), retry_limit = retry_count
           where name = 'webhook-delivery' and data->>'deliveryId' = $1 and state in ('created', 'retry', 'active')`,
          [deliveryId],
        )
        return deliveryOf(order)
      },
      ({ status }) => status === 'GIVEN_UP',
    )
    expect(await statusOf(order)).toBe('REFUNDED')
    expect(await app.wallet(buyer)).toEqual({ num: '2', points: '0' })
    await acceptAttempts()
  })

  it('calls a webhook once on a full disk, and stores the result later', async () => {
    await work()
    const receiver = await startReceiver(onTestFinished, answerWith(204))
    await rejectAttempts(`raise exception 'could not extend file' using errcode = 'disk_full';`)
    const buyer = await app.newUser({ num: '2', points: '0' })
    const order = await sell(buyer, receiver.url)
    const { id: deliveryId } = await deliveryOf(order)
    const jobOf = async () =>
      (
        await app.sql<{ retry_count: number; state: string }>(
          `select retry_count, state::text from jobs.job where name = 'webhook-delivery' and data->>'deliveryId' = $1`,
          [deliveryId],
        )
      )[0]!
    for (let tries = 1; tries <= 3; tries += 1) {
      // The delivery period ends, so the next attempt would be the last.
      await eventually(jobOf, ({ retry_count, state }) => state === 'retry' && retry_count >= tries - 1)
      await app.sql(
        `update jobs.job set start_after = now(), retry_limit = retry_count + 1
         where name = 'webhook-delivery' and data->>'deliveryId' = $1`,
        [deliveryId],
      )
    }
    await eventually(jobOf, ({ retry_count, state }) => state === 'retry' && retry_count >= 3)
    expect(receiver.calls).toHaveLength(1)
    expect(await deliveryOf(order)).toMatchObject({ status: 'PENDING', attempt_count: 0 })

    await acceptAttempts()
    const served = await eventually(
      async () => {
        await app.sql(`update jobs.job set start_after = now() where name = 'webhook-delivery' and state = 'retry'`)
        return deliveryOf(order)
      },
      ({ status }) => status !== 'PENDING',
    )
    expect(served).toMatchObject({ status: 'DELIVERED', attempt_count: 1 })
    expect(await statusOf(order)).toBe('SUCCESS')
    expect(receiver.calls).toHaveLength(1)
  })

  it('dead-letters a webhook delivery whose arguments cannot be decrypted, and still lists its order', async () => {
    const receiver = await startReceiver(onTestFinished, answerWith(204))
    const buyer = await app.newUser({ num: '100' })
    const damaged = await sell(buyer, 'http://127.0.0.1:9/unused', { token: 'secret' })
    await damage(damaged)
    const whole = await sell(buyer, receiver.url, { token: 'other' })

    const { id: deliveryId } = await deliveryOf(damaged)
    await app.jobs['webhook-delivery']({ deliveryId })
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const { attempt_count, status, seconds } = await deliveryOf(damaged)
      expect(attempt_count).toBe(attempt)
      if (status === 'GIVEN_UP') break
      expect(seconds).toBeGreaterThan(0)
      await app.sql(`update webhook_deliveries set next_attempt_at = now() - interval '1 ms' where id = $1::uuid`, [
        deliveryId,
      ])
      await app.jobs['webhook-delivery']({ deliveryId })
    }
    expect(await deliveryOf(damaged)).toMatchObject({ status: 'GIVEN_UP', attempt_count: MAX_ATTEMPTS })
    expect(await statusOf(damaged)).toBe('REFUNDED')

    // The same for an unpaid order, which has no webhook delivery.
    const kept = fromId((await store.order(buyer, { action_args: { token: 'kept' } })).id)!.uuid
    await damage(kept)
    const argsOf = (orders: { id: string; action_args: object }[]) =>
      Object.fromEntries(orders.map(({ id, action_args }) => [fromId(id)!.uuid, action_args]))
    const list = () => buyer.rest('GET', 'store/network-app-orders/')
    expect(argsOf(expectOk(await list()).results)).toEqual({ [damaged]: {}, [whole]: { token: 'other' }, [kept]: {} })
    expect(argsOf(expectOk(await list()).results)[kept]).toEqual({})
    const { orders } = expectOk(await buyer.rest('GET', 'auth/users/me/export/'))
    expect(orders).toHaveLength(3)
    expect(expectOk(await buyer.graphql('{ orders(first: 5) { nodes { actionArgs } } }')).orders.nodes).toHaveLength(3)
    const reported = app.log.lines.filter(({ message }) => message.includes('Failed to decrypt the arguments'))
    expect(reported).toHaveLength(1)
  })

  it('finds nested text arguments for redaction', () => {
    let deep: unknown = 'secret'
    for (let depth = 0; depth < 20_000; depth += 1) deep = [deep]
    expect(textsOf({ deep, long: Array(200_000).fill('x') })).toContain('secret')
  })

  it('finds numeric arguments for redaction', () => {
    expect(textsOf({ phone: 15_551_234_567, size: [1.5], is: true, none: null })).toEqual(['1.5', '15551234567'])
  })
})
