import { afterAll, expect, it, onTestFinished } from 'vitest'
import { type Jobs, startJobs } from '../../../src/jobs/jobs.ts'
import { deliveryWork } from '../../../src/modules/webhooks/webhook-schedule.ts'
import { poll } from '../../support/eventually.ts'
import { expectOk } from '../../support/expect-error.ts'
import { startReceiver } from '../../support/receiver.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp({ env: { ALLOW_INSECURE_WEBHOOKS: 'true' } })
let jobs: Jobs | undefined
afterAll(() => jobs?.stop())

const HANGING = 100
const GOOD = 20

it('a hanging endpoint with a long queue does not delay webhooks to other endpoints', async () => {
  const store = await createStore(app)
  const buyer = await app.newUser({ num: '1000' })
  const hanging = await startReceiver(onTestFinished, () => undefined)
  const good = await startReceiver(onTestFinished, (res) => void res.writeHead(204).end())

  async function sell(url: string, count: number) {
    const { id } = expectOk(
      await store.owner.rest('POST', 'store/network-apps/', {
        json: { name: url, price_mode: 'fixed', price: '1', webhook_url: url },
      }),
    )
    for (let made = 0; made < count; made += 1) {
      expectOk(await store.confirm(buyer, (await store.order(buyer, { network_app: id })).id))
    }
  }
  await sell(hanging.url, HANGING)
  jobs = await startJobs(app.installation)
  await jobs.work('webhook-delivery', deliveryWork, app.jobs['webhook-delivery'])
  // The maximum number of concurrent deliveries.
  await poll(() => hanging.connections()).until((count) => count === deliveryWork.groupConcurrency)
  await sell(good.url, GOOD)
  await poll(() => new Set(good.calls.map(({ headers }) => headers['webhook-id'])).size).until((size) => size === GOOD)

  // None of the blocked deliveries has ended or restarted.
  expect(hanging.calls).toHaveLength(deliveryWork.groupConcurrency)
  expect(hanging.connections()).toBe(deliveryWork.groupConcurrency)
})
