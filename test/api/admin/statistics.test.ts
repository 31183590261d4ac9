import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp()
const admin = await app.admin()
const store = await createStore(app)

const fields =
  'day revenueNum revenuePoints ordersMade ordersPaid refunds commits lagP50 lagP95 delivered pending givenUp signUps'

async function readDays(days: number) {
  const answer = await admin.graphql(`query ($days: Int!) { figures(days: $days) { days { ${fields} } } }`, { days })
  // biome-ignore lint/suspicious/noExplicitAny: the test reads arbitrary fields.
  return new Map<string, any>(expectOk(answer).figures.days.map((day: { day: string }) => [day.day, day]))
}

describe('statistics of the service', () => {
  it('the statistics are available only to administrators, for at most 31 days', async () => {
    const ask = (actor: Pick<typeof admin, 'graphql'>, days: number) =>
      actor.graphql('query ($days: Int!) { figures(days: $days) { waitingCommits } }', { days })
    expectError(await ask(app, 1), 'NOT_AUTHENTICATED')
    expectError(await ask(await app.newUser(), 1), 'PERMISSION_DENIED')
    for (const days of [0, 32]) expectError(await ask(admin, days), 'VALIDATION_FAILED')
    expect((await readDays(31)).size).toBe(31)
  })

  it('the statistics count sign-ups, commits, orders, payments and revenue', async () => {
    const buyer = await app.newUser({ num: '50', points: '0' })
    // Two days, so that the test also passes at midnight.
    const total = async (field: string) =>
      [...(await readDays(2)).values()].reduce((sum, day) => sum + Number(day[field]), 0)
    const names = ['ordersMade', 'ordersPaid', 'commits', 'signUps', 'revenueNum']
    const before = await Promise.all(names.map(total))
    expectOk(await store.confirm(buyer, (await store.order(buyer)).id))
    await store.order(buyer)
    await buyer.register()
    const person = { username: 'newcomer', email: 'newcomer@example.org', password: PASSWORD }
    expectOk(await app.rest('POST', 'auth/users/', { json: person }))
    const after = await Promise.all(names.map(total))
    const [made, paid, commits, signUps, revenue] = after.map((value, index) => value - before[index]!)
    expect([made, paid, commits, signUps]).toEqual([2, 1, 1, 1])
    expect(revenue).toBeGreaterThan(0)
  })

  it('the statistics count an order on the day of its creation, and its payment on the day of payment, in UTC', async () => {
    const buyer = await app.newUser({ num: '50', points: '0' })
    const order = await store.order(buyer)
    expectOk(await store.confirm(buyer, order.id))
    const [moved] = await app.sql<{ created: string; paid: string }>(
      `with midnight as (select date_trunc('day', now(), 'UTC') - interval '3 days' as at)
       update orders set created_at = at - interval '1 s', paid_at = at, expires_at = at + interval '10 min' from midnight
       where buyer_id = $1::uuid
       returning (created_at at time zone 'UTC')::date::text as created, (paid_at at time zone 'UTC')::date::text as paid`,
      [buyer.id],
    )
    const days = await readDays(31)
    expect(days.get(moved!.created)).toMatchObject({ ordersMade: 1, ordersPaid: 0 })
    expect(days.get(moved!.paid)).toMatchObject({ ordersMade: 0, ordersPaid: 1 })
  })
})
