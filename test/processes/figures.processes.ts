/** What administrators are told of the service day by day, of what is kept and of what is not kept yet. */
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { seedGrowth } from '../../bench/growth/seed.ts'
import { sizeOf } from '../../bench/growth/seed-statements.ts'
import { agedSweep } from '../../src/domain/retention/aged-rows.ts'
import { oldDeliveries } from '../../src/domain/retention/retention-statements.ts'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createStore } from '../support/store.ts'
import { createTestApp, type TestApp } from '../support/test-app.ts'
import { createTestDatabase } from '../support/test-database.ts'
import { PASSWORD } from '../support/user.ts'

/** Milliseconds: longer than all of this takes, of a day. */
const [LONG, DAY] = [90_000, 86_400_000]
// Days are told by their dates: what is compared here is of one date.
const left = DAY - (Date.now() % DAY)
if (left < LONG) await delay(left)

const sealed = { wrappedDataKey: new Uint8Array(60), sealedPrivateKey: new Uint8Array(60) }
const database = await createTestDatabase()
// Ninety days of history.
await seedGrowth(database.url, { size: sizeOf(10_000), key: { version: 2, vaultKeyId: 'seeded', ...sealed } })
const app = await createTestApp({ database })
const admin = await app.admin()
// As where nothing has told the planner yet that anything is kept: it goes on with the plan for an empty table.
await app.sql('alter table kept_figures set (autovacuum_enabled = false)')
// Somebody signed up at a process whose clock stood still long ago: their identifier comes before all others.
await app.newUser({ id: '00000000-0000-7000-8000-000000000001' })

const fields = `day revenueNum revenuePoints ordersMade ordersPaid refunds commits lagP50 lagP95 delivered pending givenUp signUps`
// biome-ignore lint/suspicious/noExplicitAny: as `Answer.body`.
const figures = async (days = 92): Promise<any[]> =>
  expectOk(await admin.graphql(`query ($days: Int!) { figures(days: $days) { days { ${fields} } } }`, { days })).figures
    .days

const keptSlots = async () => (await app.sql<{ n: number }>('select count(*)::int as n from kept_figures'))[0]!.n
const keptStarts = async () =>
  (await app.sql<{ at: string }>('select starts_at::text as at from kept_figures order by starts_at')).map(
    ({ at }) => at,
  )

/** As many runs as it takes. */
async function keepAll() {
  for (let kept = -1; kept !== (await keptSlots()); ) {
    kept = await keptSlots()
    await app.services.figures.keep()
  }
}

/** The same, counted from the tables as they are, row by row. */
const counted = (of: TestApp) =>
  of.sql<Record<string, number>>(
    `with days as (select generate_series(date_trunc('day', now(), 'UTC') - interval '91 days', now(), '1 day') as day),
     count_of as (
       select 'ordersMade' as name, created_at as at from orders union all select 'ordersPaid', paid_at from orders
       union all select 'refunds', created_at from refunds union all select 'commits', created_at from commits
       union all select 'delivered', created_at from webhook_deliveries where status = 'DELIVERED' and order_id is not null
       union all select 'signUps', created_at from users where id > '00000000-0000-7000-8000-000000000001'
     )
     select (day at time zone 'UTC')::date::text as day, to_jsonb(counts) as counts,
       trim_scale(coalesce((select sum(e.amount) from entries e join transfers t on t.id = e.transfer_id where e.book = 'REVENUE'
         and e.currency = 'NUM' and t.created_at >= day and t.created_at < day + interval '1 day'), 0))::text as "revenueNum"
     from days cross join lateral (
       select coalesce(jsonb_object_agg(name, n), '{}') as counts
       from (select name, count(*) as n from count_of where at >= day and at < day + interval '1 day' group by name) as each
     ) as counted order by 1`,
  ) as unknown as Promise<{ day: string; counts: { counts: Record<string, number> }; revenueNum: string }[]>

describe('figures', () => {
  it('are for administrators, and of a bounded number of days', async () => {
    const ask = (actor: Pick<typeof admin, 'graphql'>, days: number) =>
      actor.graphql('query ($days: Int!) { figures(days: $days) { waitingCommits } }', { days })
    expectError(await ask(app, 1), 'NOT_AUTHENTICATED')
    expectError(await ask(await app.newUser(), 1), 'PERMISSION_DENIED')
    for (const days of [0, 93]) expectError(await ask(admin, days), 'VALIDATION_FAILED')
  })

  it('are what a count of all rows tells, before anything is kept and after', async () => {
    const before = await figures()
    expect(await keptSlots()).toBe(0)
    for (const { day, counts, revenueNum } of await counted(app)) {
      const told = before.find((each) => each.day === day)
      const names = ['ordersMade', 'ordersPaid', 'refunds', 'commits', 'delivered', 'signUps']
      expect(Object.fromEntries(names.map((name) => [name, told[name]])), day).toEqual(
        Object.fromEntries(names.map((name) => [name, counts.counts?.[name] ?? counts[name as 'counts'] ?? 0])),
      )
      expect(told.revenueNum, day).toBe(revenueNum)
    }
    await keepAll()
    expect(await keptSlots()).toBeGreaterThan(12_000)
    expect(await figures()).toEqual(before)
  })

  it('are the same when some of a day are kept and others are not, and whoever keeps them', async () => {
    const before = await figures()
    const all = await keptStarts()
    await app.sql(
      `delete from kept_figures where extract(minute from starts_at) = 20 and starts_at > now() - interval '20 days'`,
    )
    expect(await figures()).toEqual(before)
    const ending = new AbortController()
    ending.abort()
    const left = await keptSlots()
    await app.services.figures.keep(ending.signal)
    expect(await keptSlots()).toBe(left)
    await Promise.all([app.services.figures.keep(), app.services.figures.keep()])
    // Ten more minutes may be over by now.
    expect((await keptStarts()).slice(0, all.length)).toEqual(all)
    expect(await figures()).toEqual(before)
  })

  it('tell at once what happens now, which is not kept before it is over', async () => {
    const [before] = await figures(1)
    const person = { username: 'newcomer', email: 'newcomer@example.org', password: PASSWORD }
    expectOk(await app.rest('POST', 'auth/users/', { json: person }))
    const buyer = await app.newUser({ num: '50', points: '0' })
    const store = await createStore(app)
    const order = await store.order(buyer)
    expectOk(await store.confirm(buyer, order.id))
    await store.order(buyer)
    await buyer.register()
    await app.services.figures.keep()
    const [after] = await figures(1)
    const grown = Object.fromEntries(
      ['ordersMade', 'ordersPaid', 'commits', 'signUps'].map((name) => [name, after[name] - before[name]]),
    )
    expect(grown).toEqual({ ordersMade: 2, ordersPaid: 1, commits: 1, signUps: 3 })
    const [young] = await app.sql<{ n: number }>(
      `select count(*)::int as n from kept_figures where starts_at + interval '15 minutes' > now()`,
    )
    expect(young!.n).toBe(0)
  })

  it('count what lies at the very edge of ten minutes once, and an order as paid where it was paid', async () => {
    const [found] = await app.sql<{ edge: string }>(
      `select date_bin('10 minutes', now() - interval '3 hours', timestamptz '2000-01-01 00:00+00')::text as edge`,
    )
    const edge = `timestamptz '${found!.edge}'`
    const keptAt = (moment: string) =>
      app.sql<{ made: number; paid: number }>(
        `select orders_made as made, orders_paid as paid from kept_figures where starts_at = ${moment}`,
      )
    const totals = async () =>
      (await figures()).reduce((sum, day) => [sum[0] + day.ordersMade, sum[1] + day.ordersPaid], [0, 0])
    const before = await totals()
    const orders = await app.sql('select id::text from orders order by created_at limit 2')
    const move = (id: string, made: string, paid: string) =>
      app.sql(
        `update orders set created_at = ${made}, paid_at = ${paid}, expires_at = ${paid} + interval '1 min' where id = $1::uuid`,
        [id],
      )
    await move(orders[0]!.id!, edge, `${edge} + interval '1 s'`)
    await move(orders[1]!.id!, `${edge} - interval '5 min'`, edge)
    const around = `starts_at between ${edge} - interval '1 hour' and ${edge} + interval '1 hour'`
    await app.sql(`delete from kept_figures where ${around} or orders_made > 0`)
    expect(await totals()).toEqual(before)
    await keepAll()
    expect(await totals()).toEqual(before)
    const [of, after] = [await keptAt(`${edge} - interval '10 min'`), await keptAt(edge)]
    // Its neighbours are kept, and it is not.
    await app.sql(`delete from kept_figures where starts_at = ${edge} - interval '10 min'`)
    expect(await totals()).toEqual(before)
    await keepAll()
    expect([await keptAt(`${edge} - interval '10 min'`), await keptAt(edge)]).toEqual([of, after])
    expect([after[0]!.paid - after[0]!.made, of[0]!.made - of[0]!.paid]).toEqual([1, 1])
  })

  it('tell what became of webhook calls later, and go on telling it when the calls are forgotten', async () => {
    const sum = async () =>
      (await figures()).reduce(
        (all, { delivered, pending, givenUp }) => [all[0] + delivered, all[1] + pending, all[2] + givenUp],
        [0, 0, 0],
      )
    const [delivered] = await sum()
    // Old enough to be forgotten where feeds are kept for 30 days.
    const some = `select id from webhook_deliveries where created_at < now() - interval '40 days' order by id`
    const set = (status: string, settled: string) =>
      app.sql(
        `update webhook_deliveries set status = '${status}', settled_at = ${settled},
           next_attempt_at = case when '${status}' = 'PENDING' then now() + interval '1 day' end
         where id in (${some} limit 5)`,
      )
    await set('PENDING', 'null')
    expect(await sum()).toEqual([delivered - 5, 5, 0])
    await set('GIVEN_UP', `now() - interval '35 days'`)
    expect(await sum()).toEqual([delivered - 5, 0, 5])
    const { database: connected } = app.installation
    const ids = (await app.sql(`${some} limit 5`)).map(({ id }) => id!)
    const gone = await connected.transaction((query) => agedSweep(oldDeliveries, 30).carryOut(query, ids))
    expect(gone.items.toSorted()).toEqual(ids.toSorted())
    expect(await sum()).toEqual([delivered - 5, 0, 5])
  })
})
