/** Rows are kept for their retention period and then deleted, and docs/reference/retention.md lists every table. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { batchJobItems } from '../../../src/jobs/batch-jobs.ts'
import { firstIdSql, fromId } from '../../../src/shared/ids.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { fileRetentions, tableRetentions } from '../../support/retention-page.ts'
import { scrape } from '../../support/scrape.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp({
  withClock: true,
  env: { HEALTH_PORT: '0' },
  configure: (config) => ({
    ...config,
    retention: { eventDays: 40, idempotencyKeyDays: 2, sessionIdleDays: 100 },
    store: { ...config.store, orderWindowSeconds: 86_400 },
  }),
})
const store = await createStore(app)
const called = await createStore(app)
await app.sql(
  `update network_apps set webhook_url = 'https://receiver.example', webhook_secret = 'x' where id = $1::uuid`,
  [fromId(called.appId)!.uuid],
)

afterEach(() => app.stopClock(null))

const feedOf = async (user: SignedIn, query = '') =>
  expectOk(await user.rest('GET', `events/?limit=100${query}`)).results as {
    id: string
    sequence: number
    type: string
  }[]
const positions = async (user: SignedIn, query?: string) => (await feedOf(user, query)).map(({ sequence }) => sequence)

/** Returns a SQL expression for the time this number of days and one millisecond after `moment`. */
const daysAfter = (days: number, moment: string) => `(${moment}) + interval '${days} days 1 millisecond'`
const momentOf = (event: { id: string }) => `select created_at from events where id = '${fromId(event.id)!.uuid}'`

/** Creates orders. Waits before each, so that no two orders are created in the same millisecond. */
async function orders(buyer: SignedIn, count: number, of = store) {
  const made: string[] = []
  for (let index = 0; index < count; index += 1) {
    await delay(2)
    made.push((await of.order(buyer)).id)
  }
  return made
}

const tell = (user: SignedIn) =>
  app.sql(
    `with fed as (
       update wallets set event_sequence = event_sequence + 1 where user_id = $1::uuid returning user_id, event_sequence
     )
     insert into events (owner_id, sequence, type) select user_id, event_sequence, 'points.granted' from fed`,
    [user.id],
  )

describe('retention page', () => {
  it('the retention page lists exactly the tables of the database', async () => {
    const rows = await app.sql<{ name: string }>(
      `select case nspname when 'public' then '' else nspname || '.' end || relname as name
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where relkind in ('r', 'p') and not relispartition and nspname not like 'pg\\_%' and nspname not in ('information_schema', 'clock')`,
    )
    expect([...tableRetentions.keys()].sort()).toEqual(rows.map(({ name }) => name).sort())
  })

  it('the retention page names every job that deletes rows', () => {
    const reasons = [...tableRetentions.values(), ...fileRetentions.values()].map(({ reason }) => reason).join()
    const jobs = Object.keys(batchJobItems).filter((name) => name.startsWith('delete-'))
    expect(jobs.filter((name) => !reasons.includes(`\`${name}\``))).toEqual([])
  })
})

it('supports a retention of a hundred years without underflow of UUIDv7 times', async () => {
  const first = async (moment: string) =>
    (await app.sql<{ id: string }>(`select ${firstIdSql(`'${moment}'::timestamptz`)}::text as id`))[0]!.id
  expect(await first('1926-11-27Z')).toBe('00000000-0000-0000-0000-000000000000')
  expect(await first('1970-01-01T00:00:00.001Z')).toBe('00000000-0001-0000-0000-000000000000')
})

describe('retention of events', () => {
  it('keeps events for their retention time, and deletes the oldest events without gaps', async () => {
    const buyer = await app.newUser()
    const [, , third] = await orders(buyer, 5)
    const before = await feedOf(buyer)
    expect(before.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5])
    await app.stopClock(`(${momentOf(before[0]!)}) + interval '40 days' - interval '1 millisecond'`)
    await app.maintenance.run()
    expect(await positions(buyer)).toEqual([1, 2, 3, 4, 5])
    await app.stopClock(daysAfter(40, momentOf(before[2]!)))
    await app.maintenance.run()

    expect(await positions(buyer)).toEqual([4, 5])
    expect(await positions(buyer, '&after=1')).toEqual([4, 5])
    expectError(await buyer.rest('GET', `events/?after=${before[0]!.id}`), 'VALIDATION_FAILED')
    expectError(
      await buyer.rest('GET', 'events/stream', { headers: { 'Last-Event-ID': before[2]!.id } }),
      'VALIDATION_FAILED',
    )
    expect(expectOk(await buyer.rest('GET', `store/network-app-orders/${third}/`)).id).toBe(third)

    await app.stopClock(null)
    await orders(buyer, 1)
    expect(await positions(buyer)).toEqual([4, 5, 6])
  })

  it('the event feed continues with ten-digit sequence numbers', async () => {
    const buyer = await app.newUser()
    await app.sql('update wallets set event_sequence = 1999999999 where user_id = $1::uuid', [buyer.id])
    await tell(buyer)
    await tell(buyer)
    expect(await positions(buyer, '&after=2000000000')).toEqual([2_000_000_001])
    expectError(await buyer.rest('GET', 'events/?after=2147483648'), 'VALIDATION_FAILED')
  })

  it("keeps the events after a pending webhook call, and deletes the events after the call's retention time", async () => {
    const [buyer, stranger] = [await app.newUser(), await app.newUser()]
    const { owner } = called
    await tell(owner)
    const [sold] = await orders(buyer, 1, called)
    expectOk(await called.confirm(buyer, sold!))
    await tell(owner)
    await orders(stranger, 2)
    const last = (await feedOf(owner)).at(-1)!
    await app.stopClock(daysAfter(41, momentOf(last)))
    await app.maintenance.run()
    // Events before the sale are deleted. The sale, whose webhook is pending, and later events are kept.
    expect(await positions(owner)).toEqual([2, 3])
    expect(await positions(stranger)).toEqual([])

    await app.stopClock(null)
    await app.sql(
      `with given_up as (
         update webhook_deliveries set status = 'GIVEN_UP', settled_at = now(), next_attempt_at = null
         where order_id = $1::uuid returning order_id
       )
       update orders set status = 'FAILURE', settled_at = now() from given_up where orders.id = given_up.order_id`,
      [fromId(sold!)!.uuid],
    )
    const list = `store/webhook-deliveries/?network_app_id=${called.appId}`
    const [call] = expectOk(await owner.rest('GET', list)).results
    expect(call.status).toBe('given_up')
    await app.sql(
      `insert into webhook_attempts (delivery_id, number, duration, response) values ($1::uuid, 1, 1, 'An answer')`,
      [fromId(call.id)!.uuid],
    )
    const settled = `select settled_at from webhook_deliveries where id = '${fromId(call.id)!.uuid}'`
    await app.stopClock(daysAfter(40, settled))
    await app.maintenance.run()
    expect(expectOk(await owner.rest('GET', list)).results).toEqual([])
    expectError(await owner.rest('GET', `store/webhook-deliveries/${call.id}/`), 'NOT_FOUND')
    expect(await positions(owner)).toEqual([])
    expect(expectOk(await buyer.rest('GET', `store/network-app-orders/${sold}/`)).status).toBe('failure')
  })

  it('two processes can delete old events concurrently', async () => {
    const buyer = await app.newUser()
    await orders(buyer, 3)
    await app.stopClock(daysAfter(40, momentOf((await feedOf(buyer)).at(-1)!)))
    await Promise.all([app.maintenance.run(), app.maintenance.run(), app.maintenance.run()])
    expect(await positions(buyer)).toEqual([])
  })

  it('the database rejects the deletion of recent events', async () => {
    const buyer = await app.newUser()
    await orders(buyer, 1)
    await expect(app.sql('delete from events where owner_id = $1::uuid', [buyer.id])).rejects.toThrow(
      /kept for at least 30 days/,
    )
    await expect(
      app.sql(`update events set type = 'order.paid' where owner_id = $1::uuid`, [buyer.id]),
    ).rejects.toThrow(/cannot be changed/)
    expect(await positions(buyer)).toEqual([1])
  })
})

describe('retention of sessions', () => {
  const isOpen = async ({ rest }: SignedIn) => (await rest('GET', 'auth/users/me/')).status === 200
  const sweepAfter = async (days: number, user: SignedIn) => {
    await app.stopClock(
      daysAfter(days, `select greatest(created_at, last_used_at) from access_tokens where user_id = '${user.id}'`),
    )
    await app.maintenance.run()
    await app.stopClock(null)
  }

  it('a session ends only after the configured idle time', async () => {
    const user = await app.newUser()
    expect(await isOpen(user)).toBe(true)
    await app.context.credentials.recordTokenUse()
    await sweepAfter(99, user)
    expect(await isOpen(user)).toBe(true)
    await app.context.credentials.recordTokenUse()
    await sweepAfter(100, user)
    expect(await isOpen(user)).toBe(false)
  })

  it('a session stays valid while it is used', async () => {
    const user = await app.newUser()
    await app.sql(
      `update access_tokens set id = uuidv7(interval '-1000 days'), created_at = now() - interval '1000 days', last_used_at = now()
       where user_id = $1::uuid`,
      [user.id],
    )
    await app.maintenance.run()
    expect(await isOpen(user)).toBe(true)
  })
})

describe('retention of idempotency keys', () => {
  it('stores an idempotency key for the configured days, and then treats a request as new', async () => {
    const buyer = await app.newUser()
    const headers = { ...store.service, 'Idempotency-Key': 'the same' }
    const buy = async () =>
      expectOk(await buyer.rest('POST', 'store/network-app-orders/', { json: { network_app: store.appId }, headers }))
        .id
    const first = await buy()
    const made = `select max(created_at) from idempotency_keys where result = '${fromId(first)!.uuid}'`
    await app.stopClock(`(${made}) + interval '2 days'`)
    await app.maintenance.run()
    await app.stopClock(null)
    expect(await buy()).toBe(first)
    await app.stopClock(daysAfter(2, made))
    await app.maintenance.run()
    await app.stopClock(null)
    expect(await buy()).not.toBe(first)
  })
})

describe('operator views', () => {
  it('operators see overdue deletions and the results of cleanup jobs', async () => {
    const buyer = await app.newUser()
    await orders(buyer, 2)
    const [first] = await feedOf(buyer)
    const now = () => scrape(app.operatorsUrl)
    const late = async () => (await now()).value('annal_retention_overdue_seconds', { batch_job: 'delete-events' })!
    const done = async () => (await now()).value('annal_batch_items_total', { batch_job: 'delete-events' }) ?? 0
    await app.maintenance.run()
    expect(await late()).toBe(0)
    await app.stopClock(`(${momentOf(first!)}) + interval '40 days 2 hours'`)
    expect(Math.floor((await late()) / 3_600)).toBeGreaterThanOrEqual(2)
    const before = await done()
    await app.maintenance.run()
    expect(await late()).toBe(0)
    expect((await done()) - before).toBeGreaterThanOrEqual(2)
  })
})
