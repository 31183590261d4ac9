import { describe, expect, it } from 'vitest'
import { createHttpServer } from '../../../src/http/http-server.ts'
import { startJobs } from '../../../src/jobs/jobs.ts'
import { deliveryWork } from '../../../src/modules/webhooks/webhook-schedule.ts'
import { type MetricName, type MetricRow, metricSources, metricTable } from '../../../src/telemetry/metric-table.ts'
import { withTimeout } from '../../../src/telemetry/metrics.ts'
import { addMetrics, type MetricsAccess } from '../../../src/telemetry/telemetry.ts'
import { noopWatch } from '../../../src/telemetry/telemetry-types.ts'
import { atEnd } from '../../support/at-end.ts'
import { eventually } from '../../support/eventually.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { send } from '../../support/http-client.ts'
import { answerWith, startReceiver } from '../../support/receiver.ts'
import { type Scrape, scrape } from '../../support/scrape.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'
import { createTestLog } from '../../support/test-log.ts'

const app = await createTestApp({
  withChain: true,
  env: { HEALTH_PORT: '0', ALLOW_INSECURE_WEBHOOKS: 'true', LIMITS: 'streams-per-user=1' },
})
const now = () => scrape(app.operatorsUrl)

async function rises(
  work: () => Promise<unknown>,
  samples: [name: MetricName | string, labels?: Record<string, string>][],
) {
  const read = (seen: Scrape) => samples.map(([name, labels]) => seen.value(name, labels) ?? 0)
  const before = read(await now())
  await work()
  return read(await now()).map((value, index) => value - before[index]!)
}

describe('metrics', () => {
  it('a process creates at most two large responses at once', async () => {
    expect((await now()).value('annal_queue_capacity', { queue: 'large_answers' })).toBe(2)
  })

  it('the metrics match the metric table in names, types and labels', async () => {
    const user = await app.newUser()
    await user.register()
    const { types, all } = await now()
    expect(Object.fromEntries([...types].filter(([name]) => name.startsWith('annal_')))).toEqual(
      Object.fromEntries(Object.entries(metricTable).map(([name, { type }]) => [name, type])),
    )
    for (const [name, { labels, type }] of Object.entries(metricTable) as [string, MetricRow][]) {
      for (const sample of all(type === 'histogram' ? `${name}_count` : name)) {
        expect(Object.keys(sample.labels).sort(), name).toEqual([...labels].sort())
      }
    }
    for (const source of metricSources) expect((await now()).value('annal_scrape_source_up', { source })).toBe(1)
  })

  it('the metrics count the live processes per role, including roles without a process', async () => {
    await app.sql('delete from processes')
    await app.sql(
      `insert into processes (id, name, roles, seen_at) values
         (gen_random_uuid(), 'a:1', '{http,jobs}', now()), (gen_random_uuid(), 'b:1', '{http}', now()),
         (gen_random_uuid(), 'c:1', '{http,relay}', now() - interval '21 seconds')`,
    )
    const { all } = await now()
    const reported = Object.fromEntries(all('annal_processes').map(({ labels, value }) => [labels.role, value]))
    expect(reported).toEqual({ http: 2, jobs: 1, relay: 0, deliveries: 0 })
    await app.sql('delete from processes')
  })

  it('the metrics count requests of both APIs by operation, without user data in the labels', async () => {
    const user = await app.newUser()
    const { id } = await user.register()
    const asked = async () => {
      expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'secret caption' } }))
      expectError(await user.rest('GET', 'assets/nothing-of-this-name/'), 'NOT_FOUND')
      await fetch(`${app.url}/wp-login.php?secret`)
      await user.graphql('query ChosenByMe { chosenToo: me { username } }')
      await user.graphql('{ a: me { id } b: me { id } }')
      await user.graphql('{ nonsense }')
    }
    const rest = { api: 'rest' }
    const graphql = { api: 'graphql', status: '200' }
    const route = '/api/v3/assets/:nid'
    const found = [...new Set((await now()).all('annal_requests_total').map(({ labels }) => labels.operation!))]
    expect(found.filter((name) => name.startsWith('POST /api/v3/assets'))).toHaveLength(1)
    expect(
      await rises(asked, [
        ['annal_requests_total', { ...rest, operation: `PATCH ${route}`, status: '200', code: 'OK' }],
        ['annal_requests_total', { ...rest, operation: `GET ${route}`, status: '404', code: 'NOT_FOUND' }],
        ['annal_requests_total', { ...rest, operation: 'other', status: '404', code: 'NOT_FOUND' }],
        ['annal_requests_total', { ...graphql, operation: 'query me', code: 'OK' }],
        ['annal_requests_total', { ...graphql, operation: 'query other', code: 'OK' }],
        ['annal_requests_total', { ...graphql, operation: 'other', code: 'VALIDATION_FAILED' }],
        ['annal_request_duration_seconds_count', { ...rest, operation: `PATCH ${route}` }],
      ]),
    ).toEqual([1, 1, 1, 1, 1, 1, 1])
    const text = await (await fetch(`${app.operatorsUrl}/metrics`)).text()
    const sent = ['secret', 'ChosenByMe', 'chosenToo', 'nonsense', 'wp-login']
    for (const word of [user.token, user.email, user.username, id, ...sent]) expect(text).not.toContain(word)
  })

  it('the metrics report moved money by kind from the ledger, also after a restart', async () => {
    const buyer = await app.newUser({ num: '10', points: '0' })
    const store = await createStore(app, { price: '2.5' })
    const paid = async () => expectOk(await store.confirm(buyer, (await store.order(buyer)).id))
    expect(
      await rises(paid, [
        ['annal_transfers_total', { kind: 'order' }],
        ['annal_money_moved_units_total', { kind: 'order', currency: 'NUM' }],
        ['annal_ledger_balance_units', { book: 'REVENUE', currency: 'NUM' }],
      ]),
    ).toEqual([1, 2.5, 0.3])
    const [books] = await app.sql<{ moved: string }>(
      `select trim_scale(sum(amount))::text as moved from entries e join transfers t on t.id = e.transfer_id
       where amount > 0 and currency = 'NUM' and reference like 'order:%'`,
    )
    expect((await now()).value('annal_money_moved_units_total', { kind: 'order', currency: 'NUM' })).toBe(
      Number(books!.moved),
    )
  })

  it('the metrics report the progress and fees of commits on the chain', async () => {
    const user = await app.newUser()
    const before = await now()
    await user.register()
    const paid = (scraped: Scrape) => scraped.value('annal_relay_fees_paid_coins_total')!
    const isThere = (scraped: Scrape) => paid(scraped) > paid(before) && scraped.value('annal_relay_lag_seconds') === 0
    const seen = await eventually(now, isThere)
    expect(seen.value('annal_relay_state', { state: 'working' })).toBe(1)
    const [account] = app.chain.relay.status().lanes
    expect(seen.value('annal_relay_balance_coins', { account: account!.address })).toBeGreaterThan(0)
    expect(seen.value('annal_relay_lane_held', { account: account!.address })).toBe(1)
    expect(seen.value('annal_relay_base_fee_wei')).toBeGreaterThan(0)
    expect(seen.value('annal_relay_max_fee_wei')).toBe(500e9)
  })

  it('the metrics report uploads, limit rejections, streams and webhook responses', async () => {
    const receiver = await startReceiver(atEnd, answerWith(410))
    const store = await createStore(app)
    const sold = { name: `reported-${store.name}`, price: '1', price_mode: 'fixed', webhook_url: receiver.url }
    const { id } = expectOk(await store.owner.rest('POST', 'store/network-apps/', { json: sold }))
    const user = await app.newUser({ num: '10' })
    const open = () => send(app.url, { path: '/api/v3/events/stream', token: user.token }, { streamFor: 200 })
    expect(await rises(() => user.register(), [['annal_uploads_total', { outcome: 'accepted' }]])).toEqual([1])
    expect(
      await rises(() => Promise.all([open(), open()]), [['annal_limit_rejections_total', { limit: 'streams' }]]),
    ).toEqual([1])
    await eventually(now, (scraped) => scraped.value('annal_streams') === 0)
    expectOk(await store.confirm(user, (await store.order(user, { network_app: id })).id))
    const waiting = await now()
    expect(waiting.value('annal_jobs', { queue: 'webhook-delivery', state: 'created' })).toBeGreaterThanOrEqual(1)
    expect(waiting.value('annal_jobs_overdue_seconds', { queue: 'webhook-delivery' })).toBeGreaterThan(0)
    const jobs = await startJobs(app.installation)
    await jobs.work('webhook-delivery', deliveryWork, app.jobs['webhook-delivery'])
    atEnd(() => jobs.stop(1_000))
    const givenUp = (seen: Scrape) =>
      seen.value('annal_webhook_attempts_total', { outcome: 'abandoned', status: '4xx' }) === 1
    const done = await eventually(now, (seen) => givenUp(seen) && seen.value('annal_webhooks_disabled') === 1)
    expect(done.value('annal_webhook_attempt_duration_seconds_count')).toBe(1)
    expect(done.value('annal_jobs', { queue: 'webhook-delivery', state: 'created' })).toBe(0)
  })

  it('the metrics omit only the samples of a source that is unavailable', async () => {
    await app.sql('alter table commit_relays rename to commit_relays_away')
    try {
      const seen = await now()
      expect(seen.value('annal_scrape_source_up', { source: 'database' })).toBe(0)
      expect(seen.value('annal_scrape_source_up', { source: 'ledger' })).toBe(1)
      expect([seen.value('annal_relay_lag_seconds'), seen.all('annal_jobs')]).toEqual([undefined, []])
      expect(seen.value('annal_pool_size')).toBe(10)
    } finally {
      await app.sql('alter table commit_relays_away rename to commit_relays')
    }
    await expect(withTimeout(1, () => new Promise(() => undefined))).rejects.toThrow(/not available/)
  })
})

describe('endpoint /metrics', () => {
  const host = '127.0.0.1'
  async function statusAt(access: MetricsAccess, headers: Record<string, string> = {}) {
    const text = async () => 'annal_up 1\n'
    const server = createHttpServer({ log: createTestLog() })
    const port = await server.listen(0, host)
    await server.serve((app) => addMetrics(app, { access, watch: noopWatch, scrape: text }))
    if (access.port === 0) access.port = port
    const { status } = await fetch(`http://${host}:${port}/metrics`, { headers })
    await server.drain(1_000)
    return status
  }
  const token = 'a-token-of-operators'
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` })

  it("the endpoint /metrics is available only on the operators' port", async () => {
    expect((await fetch(`${app.url}/metrics`)).status).toBe(404)
    expect(await statusAt({ token: undefined, port: undefined })).toBe(404)
    expect(await statusAt({ token: undefined, port: 0 })).toBe(200)
    expect(await statusAt({ token: undefined, port: 1 }, bearer(token))).toBe(404)
  })

  it('the endpoint /metrics requires the token on every port if a token is configured', async () => {
    for (const port of [undefined, 0]) {
      expect(await statusAt({ token, port })).toBe(401)
      expect(await statusAt({ token, port }, bearer(`${token}x`))).toBe(401)
      expect(await statusAt({ token, port }, bearer(token))).toBe(200)
    }
  })
})
