/** The dashboard and the alerts, asked of a real Prometheus that watches a real service under mixed load. */
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startJobs } from '../../../src/jobs/jobs.ts'
import { deliveryWork } from '../../../src/modules/webhooks/webhook-schedule.ts'
import { atEnd } from '../../support/at-end.ts'
import { alerts, dashboardQueries, metricsIn } from '../../support/dashboard.ts'
import { expectOk } from '../../support/expect-error.ts'
import { send } from '../../support/http-client.ts'
import { startReceiver } from '../../support/receiver.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'
import { type Prometheus, startPrometheus } from './prometheus.ts'

const SECONDS = Number(process.env.SECONDS ?? 45)

const app = await createTestApp({
  withChain: true,
  env: { HEALTH_PORT: '0', ALLOW_INSECURE_WEBHOOKS: 'true', LIMITS: 'streams-per-user=1' },
})
const jobs = await startJobs(app.installation)
atEnd(() => jobs.stop(1_000))

let prometheus: Prometheus
let isOver = false
let load: Promise<unknown>

async function visit(path: Awaited<ReturnType<typeof createStore>>, networkApp: string) {
  const user = await app.newUser({ num: '1000' })
  while (!isOver) {
    const { id } = await user.register()
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'reported' } }))
    await user.rest('GET', `assets/${id}/`)
    await user.rest('GET', 'assets/nothing-of-this-name/')
    await user.graphql('{ me { id } }')
    await user.graphql('{ nonsense }')
    await app.rest('POST', 'auth/users/reset_password/', { json: { email: user.email } })
    const order = await path.order(user, { network_app: networkApp })
    expectOk(await path.confirm(user, order.id))
    const open = () => send(app.url, { path: '/api/v3/events/stream', token: user.token }, { streamFor: 100 })
    await Promise.all([open(), open()])
  }
}

beforeAll(async () => {
  const rules = fileURLToPath(new URL('../../../deploy/prometheus/alerts.yml', import.meta.url))
  prometheus = await startPrometheus(new URL(app.operatorsUrl).host, rules)
  await jobs.work('webhook-delivery', deliveryWork, app.jobs['webhook-delivery'])
  await jobs.work('account-mail', { concurrency: 1 }, app.jobs['account-mail'])
  await jobs.work('mail', { concurrency: 1 }, app.jobs.mail)
  await jobs.work('thumbnail', { concurrency: 1 }, app.jobs.thumbnail)
  const receiver = await startReceiver(atEnd)
  const store = await createStore(app)
  const sold = { name: `shown-${store.name}`, price: '1', price_mode: 'fixed', webhook_url: receiver.url }
  const { id } = expectOk(await store.owner.rest('POST', 'store/network-apps/', { json: sold }))
  load = Promise.all([visit(store, id), visit(store, id)])
  await Promise.race([load, new Promise((resolve) => setTimeout(resolve, SECONDS * 1_000))])
}, 600_000)

afterAll(async () => {
  isOver = true
  await load
})

const filled = (expr: string) =>
  expr.replaceAll('$__rate_interval', '20s').replaceAll('$job', '.*').replaceAll('$instance', '.*')

describe('dashboard', () => {
  it('the dashboard has data for every query of every panel', async () => {
    const answers = await Promise.all(
      dashboardQueries.map(async (query) => ({ ...query, samples: await prometheus.ask(filled(query.expr)) })),
    )
    const empty = answers.filter(({ samples }) => !samples.some(({ value }) => Number.isFinite(value)))
    expect(empty.map(({ panel, refId, expr }) => ({ panel, refId, expr }))).toEqual([])
  })
})

describe('alerts', () => {
  it('the alerts are valid Prometheus rules on existing metrics, and stay silent for a healthy service', async () => {
    const rules = await prometheus.alertingRules()
    expect(rules.map(({ name }) => name)).toEqual(alerts.map(({ name }) => name))
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([])
    expect(rules.filter(({ state }) => state === 'firing').map(({ name }) => name)).toEqual([])
    const isThere = async (name: string) => (await prometheus.ask(`count(${name})`)).length > 0
    const asked = [...new Set(alerts.flatMap(({ expr }) => metricsIn(expr)))]
    const missing = (await Promise.all(asked.map(async (name) => ((await isThere(name)) ? [] : [name])))).flat()
    // These metrics exist only while something is wrong.
    expect(missing.sort()).toEqual(['annal_read_fallbacks_total', 'annal_batch_failures'])
  })
})
