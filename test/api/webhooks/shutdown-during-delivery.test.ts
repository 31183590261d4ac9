/** A service that was paused for long, or restored from an old backup, completes its pending work. */
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { installJobs, type Jobs, startJobs } from '../../../src/jobs/jobs.ts'
import { deliveryWork } from '../../../src/modules/webhooks/webhook-schedule.ts'
import { poll } from '../../support/eventually.ts'
import { expectOk } from '../../support/expect-error.ts'
import { answerWith, startReceiver } from '../../support/receiver.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp({ env: { ALLOW_INSECURE_WEBHOOKS: 'true' } })
const store = await createStore(app)
let jobs: Jobs | undefined
afterAll(() => jobs?.stop())

const passTime = (time: string) =>
  app.sql(
    `update jobs.job set created_on = created_on - $1::text::interval, start_after = start_after - $1::text::interval,
       keep_until = keep_until - $1::text::interval where state < 'active'`,
    [time],
  )
const waiting = (queue: string) =>
  app.sql(`select id::text from jobs.job where name = $1 and state < 'active'`, [queue])

async function start() {
  await installJobs(app.installation.databaseUrl)
  await app.sql('update jobs.queue set maintain_on = null')
  jobs = await startJobs(app.installation)
  await poll(() => app.sql('select name from jobs.queue where maintain_on is null')).until((left) => left.length === 0)
  await poll(() => waiting('mail')).until((left) => left.length === 0)
}

it("after a year of downtime, delivers webhooks of paid orders and destroys deleted accounts' keys", async () => {
  const receiver = await startReceiver(onTestFinished, answerWith(200))
  const json = { name: 'Hooked', price_mode: 'fixed', price: '2.5', webhook_url: receiver.url }
  const { id: network_app } = expectOk(await store.owner.rest('POST', 'store/network-apps/', { json }))
  const [buyer, leaver] = await Promise.all([app.newUser({ num: '100' }), app.newUser()])
  const orders = [await store.order(buyer, { network_app }), await store.order(buyer, { network_app })]
  for (const { id } of orders) expectOk(await store.confirm(buyer, id))
  expectOk(await leaver.rest('DELETE', 'auth/users/me/'))
  // The first job is from a version that kept jobs for two weeks.
  await app.sql(
    `update jobs.job set keep_until = start_after + interval '14 days'
     where id in (select id from jobs.job where name = 'webhook-delivery' order by id limit 1)`,
  )
  await passTime('1 year')

  await start()
  await jobs!.work('webhook-delivery', deliveryWork, app.jobs['webhook-delivery'])
  await jobs!.work('forget-key', { concurrency: 1 }, app.jobs['forget-key'])
  for (const { id } of orders) {
    await poll(() => buyer.rest('GET', `store/network-app-orders/${id}/`)).until(
      ({ body }) => body.status === 'success',
    )
  }
  await poll(() => waiting('forget-key')).until((left) => left.length === 0)
  const forgotten: string[] = []
  for await (const owner of app.installation.vault.deletedOwners()) forgotten.push(owner)
  expect(forgotten).toContain(leaver.id)
})
