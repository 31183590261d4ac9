/** The trace of a request, from the API to the chain and to webhook receivers. */
import { randomBytes } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { startJobs } from '../../../src/jobs/jobs.ts'
import { deliveryWork } from '../../../src/modules/webhooks/webhook-schedule.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { atEnd } from '../../support/at-end.ts'
import { poll } from '../../support/eventually.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { type ReceivedSpan, startOtlpReceiver } from '../../support/otlp-receiver.ts'
import { startReceiver } from '../../support/receiver.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'

const collector = await startOtlpReceiver(atEnd)
vi.stubEnv('OTEL_SERVICE_NAME', 'annal-here')
const app = await createTestApp({
  withChain: true,
  env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ALLOW_INSECURE_WEBHOOKS: 'true' },
  configure: (config) => ({ ...config, tracing: { ...config.tracing!, exportEvery: 50 } }),
})
const jobs = await startJobs(app.installation)
await jobs.work('webhook-delivery', deliveryWork, app.jobs['webhook-delivery'])
atEnd(() => jobs.stop(1_000))

function newCaller() {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')]
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-01` } }
}
const spansOf = (traceId: string) => collector.spans.filter((span) => span.traceId === traceId)
const traced = (traceId: string, ...names: string[]) =>
  poll(() => spansOf(traceId)).until((spans) => names.every((name) => spans.some((span) => span.name === name)))
const named = (spans: ReceivedSpan[], name: string) => spans.find((span) => span.name === name)!
function wayUp(spans: ReceivedSpan[], name: string): string[] {
  const way: string[] = []
  const above = ({ parentSpanId }: ReceivedSpan) => spans.find(({ spanId }) => spanId === parentSpanId)
  for (let span: ReceivedSpan | undefined = named(spans, name); span; span = above(span)) way.push(span.name)
  return way
}

describe('traces', () => {
  it('a trace connects a request to its mined transaction, and a sale to its webhook delivery', async () => {
    const receiver = await startReceiver(atEnd)
    const store = await createStore(app)
    const sold = { name: `followed-${store.name}`, price: '1', price_mode: 'fixed', webhook_url: receiver.url }
    const { id: network_app } = expectOk(await store.owner.rest('POST', 'store/network-apps/', { json: sold }))
    const user = await app.newUser({ num: '10' })
    const { id } = await user.register()
    const { id: order } = await store.order(user, { network_app, action_args: { token: 'argument-of-the-order' } })
    // Otherwise, another commit in the same batch would have the chain call in its trace.
    await poll(() => app.sql("select 1 from commit_relays where status <> 'FINAL'")).until(
      (unfinished) => unfinished.length === 0,
    )
    const { traceId, spanId, headers } = newCaller()
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'a-private-caption' }, headers }))
    expectOk(await store.confirm(user, order, headers))
    const [call] = await poll(() => receiver.calls).until((calls) => calls.length === 1)
    const spans = await traced(traceId, 'relay include', 'POST', 'process webhook-delivery')
    const patch = 'PATCH /api/v3/assets/:nid'
    expect(named(spans, patch)).toMatchObject({
      parentSpanId: spanId,
      kind: 2,
      attributes: {
        'http.request.method': 'PATCH',
        'http.route': '/api/v3/assets/:nid',
        'http.response.status_code': 200,
      },
    })
    expect(wayUp(spans, 'asset_update')).toEqual(['asset_update', 'mutation', patch])
    // The commit stores the trace of the statement that created it.
    for (const step of ['relay prepare', 'relay sign', 'relay send', 'relay include']) {
      expect(wayUp(spans, step), step).toEqual([step, 'asset_update', 'mutation', patch])
    }
    expect(wayUp(spans, 'eth_sendRawTransaction').slice(0, 2)).toEqual(['eth_sendRawTransaction', 'relay send'])
    const [commit] = await app.sql('select transaction_hash from commit_relays where trace like $1', [`%${traceId}%`])
    expect(named(spans, 'relay include').attributes['annal.chain.transaction']).toBe(commit!.transaction_hash)
    expect(wayUp(spans, 'POST').slice(0, 2)).toEqual(['POST', 'process webhook-delivery'])
    expect(wayUp(spans, 'POST').at(-1)).toBe('POST /api/v3/store/network-app-orders/:id/confirm')
    expect(call!.headers.traceparent).toBe(`00-${traceId}-${named(spans, 'POST').spanId}-01`)
    expect(collector.resources[0]).toMatchObject({ 'service.name': 'annal-here' })
  })

  it('a trace contains the error code of a failure, but no data of the request', async () => {
    const user = await app.newUser()
    const { traceId, headers } = newCaller()
    expectError(await user.rest('GET', 'assets/bafkrei-secret-name/?secret=1', { headers }), 'NOT_FOUND')
    const document = 'query SecretName($nid: CID!) { asset(nid: $nid) { caption } }'
    await user.graphql(document, { nid: 'secret-variable' }, { headers })
    await user.graphql(
      'mutation SecretMutation { signIn(input: { email: "secret@example.org", password: "secret-password" }) { token } }',
      {},
      { headers },
    )
    const spans = await traced(traceId, 'GET /api/v3/assets/:nid', 'POST /graphql')
    expect(named(spans, 'GET /api/v3/assets/:nid').attributes['annal.code']).toBe('NOT_FOUND')
    const text = collector.text()
    for (const secret of ['secret', 'Secret', user.token, user.email, 'a-private-caption', 'argument-of-the-order']) {
      expect(text, secret).not.toContain(secret)
    }
  })

  it('Annal starts a trace if the caller sends no trace context, except for health probes', async () => {
    const before = collector.spans.length
    await app.rest('GET', '/healthz')
    await app.rest('GET', '/version')
    const begun = await poll(() => collector.spans.slice(before).find((span) => span.name === 'GET /version')).until(
      Boolean,
    )
    expect(begun!.parentSpanId || undefined).toBeUndefined()
    expect(collector.spans.map(({ name }) => name)).not.toContain('GET /healthz')
  })

  it('the log lines of an operation contain the ID of its trace', async () => {
    const lines: Record<string, unknown>[] = []
    const { tracer } = app.installation.telemetry
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
    const log = createLog('info', { tracer, destination }).child({ requestId: 'one' })
    const { traceId, headers } = newCaller()
    await tracer.resume([headers.traceparent], 'logged step', {}, async () => log.info({}, 'on the way'))
    log.info({}, 'beside it')
    const { spanId } = named(await traced(traceId, 'logged step'), 'logged step')
    expect(lines).toMatchObject([{ requestId: 'one', trace_id: traceId, span_id: spanId, trace_flags: '01' }, {}])
    expect(lines[1]).not.toHaveProperty('trace_id')
  })

  it('a trace that the caller does not sample is propagated, but not exported', async () => {
    const user = await app.newUser()
    const { traceId, spanId } = newCaller()
    const { id } = await user.register()
    const headers = { traceparent: `00-${traceId}-${spanId}-00` }
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'unsampled' }, headers }))
    const [commit] = await app.sql('select trace from commit_relays where trace like $1', [`%${traceId}%`])
    expect(commit!.trace).toMatch(/-00$/)
    expect(spansOf(traceId)).toEqual([])
  })
})
