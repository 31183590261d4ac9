/**
 * F08: an endpoint never answers while hundreds of events wait for it. Another one is told of its events as if nothing was;
 * each attempt at the first is cut in time, and the gateway's memory does not grow with them.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { createWebhookSender } from '../src/delivery/webhook-sender.ts'
import { arrayOf, statement, uuid } from '../src/domain/sql.ts'
import { createActionArgs } from '../src/domain/store/action-args.ts'
import { createDeliveryService, deliveryWork } from '../src/domain/store/delivery-service.ts'
import { silentMeter } from '../src/domain/telemetry.ts'
import { startJobs } from '../src/platform/jobs/jobs.ts'
import { until } from '../test/support/eventually.ts'
import { type Receiver, startReceiver } from '../test/support/receiver.ts'
import { type Delivery, passTime, readAttempts, readDeliveries } from './harness/deliveries.ts'
import { watchMemory } from './harness/memory.ts'
import { brokenInvariants, type Parts, silent, startParts } from './harness/parts.ts'
import { percentile } from './harness/percentile.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { addApp, openSafe, sell } from './harness/sales.ts'
import { closeStore, openStore } from './harness/store.ts'

const GOOD = 50
/** Milliseconds from the event to the first attempt. */
const P99 = 2_000
/** Milliseconds after which an attempt is cut, and what a busy machine may add. */
const CUT = 15_000
const GRACE = 1_500
/** Attempts that must have been cut before the judgement: three turns of the lane. */
const LEAST_CUT = 3 * deliveryWork.groupConcurrency
const MOST_MEMORY = 64
const WARM_UP = 3

export async function proveSinkHang(context: ProofContext): Promise<ProofResult> {
  const events = context.setting('EVENTS', 500)
  const parts = await startParts(context)
  const insecure = { ALLOW_INSECURE_WEBHOOKS: 'true' }
  const gateways = [insecure, insecure]
  const store = await openStore(context, parts, { price: '1', gateways })
  const hanging = await startReceiver(context.afterwards, () => undefined)
  const good = await startReceiver(context.afterwards)
  const hangingApp = await addApp(parts, store, hanging.url)
  const goodApp = await addApp(parts, store, good.url)

  // One gateway sells, and ends then; the other one delivers, and sells a little. Its memory is taken over the same load,
  // first with nobody hanging, and three times: a process that is still getting warm would grow with any load.
  const [seller, deliverer] = [store.gateways[0]!, store.gateways[1]!]
  const pid = deliverer.pid()!
  const peace = watchMemory(pid)
  const told = WARM_UP * (events + GOOD)
  for (let round = 0; round < WARM_UP; round += 1) {
    await sell(store, goodApp, events)
    await sell(store, goodApp, GOOD, 1)
  }
  await until('the load in peace is delivered', () => good.calls.length >= told)
  const before = await peace.stop()
  const memory = watchMemory(pid)
  const hangingOrders = await sell(store, hangingApp, events)
  await seller.stop()
  // What it called itself ended with it, before its time.
  const alone = Date.now()
  const goodOrders = await sell(store, goodApp, GOOD, 1)
  await until('the good one was told', () => good.calls.length >= told + GOOD)

  const hangingDeliveries = await readDeliveries(parts.database, hangingOrders)
  const findCut = () =>
    readAttempts(
      parts.database,
      hangingDeliveries.map(({ id }) => id),
    )
  const cut = await until(
    'attempts are cut',
    async () => {
      const attempts = await findCut()
      return attempts.length >= LEAST_CUT && lengthsOf(hanging, alone).length >= LEAST_CUT ? attempts : undefined
    },
    120_000,
    100,
  )
  const growth = (await memory.stop()) - before

  const deliveries = await readDeliveries(parts.database, goodOrders)
  const waits = waitsOf(good, deliveries)
  const reasons = [...judgeWaits(waits, GOOD), ...judgeCuts(hanging, alone)]
  const late = cut.filter(({ duration }) => Math.abs(duration - CUT) > GRACE)
  if (late.length) reasons.push(`${late.length} attempts say they took another time, such as ${late[0]!.duration} ms.`)
  if (growth > MOST_MEMORY) reasons.push(`The gateway grew by ${Math.round(growth)} MiB, ${MOST_MEMORY} are allowed.`)
  if (hangingDeliveries.length !== events) reasons.push(`Only ${hangingDeliveries.length} of ${events} events wait.`)
  const pending = hangingDeliveries.filter(({ status }) => status === 'PENDING').length
  if (pending !== events) reasons.push(`${events - pending} events count as settled, though nobody answered.`)
  reasons.push(...(await closeStore(store)), ...(await brokenInvariants(parts.database)))

  const different = new Set(good.calls.map(({ id }) => id)).size
  if (different !== told + GOOD || good.calls.length !== different)
    reasons.push('The good one was not told of each event once.')
  const faultsInjected = hanging.calls.length
  reasons.push(...(await catchSharedPool(context, parts, { good, hanging }, hangingDeliveries, deliveries)))
  return conclude({
    figure: `p99 ${Math.round(percentile(waits, 0.99))} ms; ${cut.length} attempts cut at 15 s; ${Math.round(growth)} MiB more`,
    n: hangingOrders.length + goodOrders.length,
    faultsInjected,
    reasons,
  })
}

/** From each event to its first attempt. */
function waitsOf({ calls }: Receiver, deliveries: readonly Delivery[], since?: number): { milliseconds: number }[] {
  const first = new Map<string, number>()
  for (const { id, arrivedAt } of calls) {
    if (arrivedAt >= (since ?? 0) && !first.has(id)) first.set(id, arrivedAt)
  }
  return deliveries.flatMap(({ eventId, createdAt }) => {
    const arrivedAt = first.get(eventId)
    return arrivedAt === undefined ? [] : [{ milliseconds: arrivedAt - (since ?? createdAt.getTime()) }]
  })
}

function judgeWaits(waits: readonly { milliseconds: number }[], count: number): string[] {
  if (waits.length !== count) return [`Only ${waits.length} of ${count} events reached the good one.`]
  const p99 = percentile(waits, 0.99)
  return p99 > P99 ? [`The good one's slowest hundredth waited ${Math.round(p99)} ms, ${P99} are allowed.`] : []
}

/** How long the connections lasted that came since then and ended. Milliseconds. */
const lengthsOf = ({ calls }: Receiver, since: number) =>
  calls.flatMap(({ arrivedAt, closedAt }) =>
    arrivedAt < since || closedAt === undefined ? [] : [closedAt - arrivedAt],
  )

/** As the endpoint itself sees it: each connection ended in time, and never more than the lane holds were there at once. */
function judgeCuts(receiver: Receiver, since: number): string[] {
  const { calls } = receiver
  const reasons: string[] = []
  const lengths = lengthsOf(receiver, since)
  const wrong = lengths.filter((length) => Math.abs(length - CUT) > GRACE)
  if (lengths.length < LEAST_CUT) reasons.push(`Only ${lengths.length} connections ended.`)
  if (wrong.length) reasons.push(`${wrong.length} connections ended at another time, such as after ${wrong[0]} ms.`)
  const most = Math.max(
    ...calls.map(
      ({ arrivedAt: now }) =>
        calls.filter(({ arrivedAt, closedAt }) => arrivedAt <= now && (closedAt ?? Number.POSITIVE_INFINITY) > now)
          .length,
    ),
  )
  if (most > deliveryWork.groupConcurrency) reasons.push(`${most} calls hung at once.`)
  return reasons
}

const sendAgain = statement(
  'proof_send_again',
  { parameters: { deliveries: arrayOf(uuid) }, columns: { enqueue: uuid } },
  `with due as (
     update webhook_deliveries set status = 'PENDING', settled_at = null, next_attempt_at = now()
     where id = any($deliveries) returning id, network_app_id
   )
   select enqueue('webhook-delivery', jsonb_build_object('deliveryId', id), network_app_id::text) from due`,
)

/** The control: the same hands without lanes must be seen to let the good one wait. */
async function catchSharedPool(
  { say }: ProofContext,
  parts: Parts,
  { good, hanging }: { good: Receiver; hanging: Receiver },
  hangingDeliveries: readonly Delivery[],
  goodDeliveries: readonly Delivery[],
): Promise<string[]> {
  const { database, databaseUrl } = parts
  const envelopeCipher = openSafe(parts)
  const service = createDeliveryService({
    database,
    envelopeCipher,
    actionArgs: createActionArgs({ envelopeCipher, log: silent }),
    sender: createWebhookSender({ allowInsecure: true }),
    idempotency: { once: () => Promise.reject(new Error('not asked for')) } as never,
    notifications: { notify() {} },
    log: silent,
    meter: silentMeter,
  })
  await passTime(
    database,
    hangingDeliveries.map(({ id }) => id),
  )
  const since = Date.now()
  await database.query(sendAgain, { deliveries: goodDeliveries.map(({ id }) => id) })
  const jobs = await startJobs({ databaseUrl, log: silent })
  const { concurrency, pollEvery } = deliveryWork
  await jobs.work('webhook-delivery', { concurrency, pollEvery }, service.handle)
  await delay(2 * P99)
  const waits = waitsOf(good, goodDeliveries, since)
  hanging.close()
  await jobs.stop()
  say(`control: without lanes ${waits.length} of ${GOOD} events reached the good one within ${(2 * P99) / 1_000} s`)
  return judgeWaits(waits, GOOD).length > 0 ? [] : ['The control was not caught: one pool for all.']
}
