/**
 * F26: a gateway is told to stop with slow requests, webhooks and idle connections in hand. Whatever it began to read is answered,
 * it says at once that it takes no more, and it is gone in time; what it could not finish is done by another one.
 */
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../test/support/eventually.ts'
import { startReceiver } from '../test/support/receiver.ts'
import { readDeliveries } from './harness/deliveries.ts'
import { createGateway, type Gateway } from './harness/gateway.ts'
import { brokenInvariants, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { addApp, sell } from './harness/sales.ts'
import { closeStore, openStore } from './harness/store.ts'

/** Milliseconds. */
const NOT_READY = 1_000
const GONE = 15_000
/** How long a caller takes to send the rest of its body. */
const SLOWNESS = 4_000

const BODY = JSON.stringify({ email: 'nobody@example.org', password: 'not the right one' })
const HEAD = (host: string) =>
  `POST /api/v3/auth/token/login/ HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\nExpect: 100-continue\r\n\r\n`

interface SlowCaller {
  /** Sends the rest, byte by byte, and tells the status; 0 when the connection was lost. */
  finish(): Promise<number>
  close(): void
}

/** A caller of whose request the gateway has the head and half of the body. */
async function beginSlowly(url: string): Promise<SlowCaller> {
  const { hostname, port, host } = new URL(url)
  const socket: Socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  let heard = ''
  socket.on('data', (chunk) => {
    heard += chunk
  })
  await once(socket, 'connect')
  socket.write(HEAD(host))
  await until('the gateway reads', () => heard.includes('100 Continue'), 20_000, 10)
  const half = Math.floor(BODY.length / 2)
  socket.write(BODY.slice(0, half))
  return {
    async finish() {
      const rest = BODY.slice(half)
      for (const letter of rest) {
        if (socket.destroyed) break
        socket.write(letter)
        await delay(SLOWNESS / rest.length)
      }
      const status = () => /HTTP\/1\.1 (?!100)(\d{3})/.exec(heard)?.[1]
      await until('an answer or the end', () => status() ?? socket.destroyed, 20_000, 10).catch(() => {})
      return Number(status() ?? 0)
    },
    close: () => socket.destroy(),
  }
}

/** Milliseconds until the gateway says that it is not ready, or nobody listens any more. */
async function untilNotReady(url: string, agent: Agent): Promise<number> {
  const begin = performance.now()
  const ask = () =>
    new Promise<number>((resolve) => {
      get(`${url}/readyz`, { agent, timeout: 2_000 }, (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      }).on('error', () => resolve(0))
    })
  while ((await ask()) === 200) if (performance.now() - begin > GONE) return GONE
  return performance.now() - begin
}

async function stopWith(
  gateway: Gateway,
  callers: SlowCaller[],
  agent: Agent,
  end: (gateway: Gateway) => Promise<unknown>,
) {
  const begin = performance.now()
  const ended = end(gateway).then((code) => ({ code, took: performance.now() - begin }))
  const notReady = untilNotReady(gateway.url, agent)
  const statuses = await Promise.all(callers.map((caller) => caller.finish()))
  return {
    ...(await ended),
    notReady: await notReady,
    lost: statuses.filter((status) => status === 0).length,
    statuses,
  }
}

export async function proveSigterm(context: ProofContext): Promise<ProofResult> {
  const requests = context.setting('REQUESTS', 200)
  const jobs = context.setting('JOBS', 50)
  const parts = await startParts(context)
  const env = { ALLOW_INSECURE_WEBHOOKS: 'true', LIMIT_SIGN_INS_PER_IP: '1000000' }
  const store = await openStore(context, parts, { price: '1', gateways: [env] })
  const [gateway] = store.gateways
  let held = 0
  let isHeld = true
  const receiver = await startReceiver(context.afterwards, (response) => {
    held += 1
    const answer = () => response.writeHead(200).end()
    // Half of the receivers answer in time, the others never.
    if (!isHeld || held % 2 === 0) setTimeout(answer, isHeld ? 3_000 : 0)
  })
  // At most four calls of one app are made at once.
  const apps = await Promise.all(Array.from({ length: Math.ceil(jobs / 4) }, () => addApp(parts, store, receiver.url)))
  const orderIds: string[] = []
  for (const app of apps) orderIds.push(...(await sell(store, app, 4)))
  await until('calls are under way', () => held >= Math.min(jobs, orderIds.length), 30_000)

  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const begin = (url: string) => Promise.all(Array.from({ length: requests }, () => beginSlowly(url)))
  const idle = await beginSlowly(gateway!.url)
  const told = await stopWith(gateway!, await begin(gateway!.url), agent, (each) => each.stop())
  idle.close()
  const reasons: string[] = []
  if (told.lost > 0) reasons.push(`${told.lost} of ${requests} requests that were being read got no answer.`)
  if (told.statuses.some((status) => status >= 500)) reasons.push('A request was answered with a 5xx.')
  if (told.notReady > NOT_READY) reasons.push(`It was ready for ${told.notReady.toFixed(0)} ms more.`)
  if (told.code !== 0) reasons.push(`It exited with ${told.code}.`)
  if (told.took > GONE) reasons.push(`It took ${told.took.toFixed(0)} ms.`)
  if (held < jobs / 2) reasons.push('Too few webhooks were under way: the run is invalid.')

  isHeld = false
  await gateway!.start()
  const deliveries = await until(
    'every delivery is made',
    async () => {
      const all = await readDeliveries(parts.database, orderIds)
      return all.every(({ status }) => status === 'DELIVERED') ? all : undefined
    },
    90_000,
  )
  const control = await createGateway(context, 'control', { ...parts.env, ...env })
  await control.start()
  const killed = await stopWith(control, await begin(control.url), agent, async (each) => each.kill())
  if (killed.lost === 0) reasons.push('The control was not caught: a killed gateway lost no request.')
  agent.destroy()
  context.say(`control: a gateway without a handler loses ${killed.lost} of ${requests}`)
  reasons.push(...(await brokenInvariants(parts.database)), ...(await closeStore(store)))
  return conclude({
    figure: `0 of ${requests} lost, not ready after ${told.notReady.toFixed(0)} ms, gone after ${(told.took / 1_000).toFixed(1)} s, ${deliveries.length} deliveries made`,
    n: requests + deliveries.length,
    faultsInjected: 1,
    reasons,
  })
}
