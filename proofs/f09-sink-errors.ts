/**
 * F09: receivers fail in every way. Failed events are sent again as the schedule says, by a clock that is moved on from
 * attempt to attempt; a receiver that is gone is left alone; an answer without end costs neither time nor memory.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { arrayOf, boolean, float, int, statement, text, uuid } from '../src/domain/sql.ts'
import { until } from '../test/support/eventually.ts'
import { answerWith, type Receiver, type Respond, startReceiver } from '../test/support/receiver.ts'
import { passTime, readAttempts, readDeliveries } from './harness/deliveries.ts'
import { residentMemory, watchMemory } from './harness/memory.ts'
import { brokenInvariants, type Parts, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { type App, addApp, sell } from './harness/sales.ts'
import { closeStore, openStore, type Store } from './harness/store.ts'

/** Seconds from each failure to the next attempt: 0, 5 s, 5 m, 30 m, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h. */
const SCHEDULE = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
const JITTER = 0.2
/** Events of a receiver that fails to the end. */
const EACH = 10
const CUT = 15_000
const GRACE = 1_500
const MOST_READ = 64 * 1_024
const GIGABYTE = 2 ** 30
const MOST_MEMORY = 64
/** Bytes that may be on their way in sockets and buffers of both ends. */
const IN_FLIGHT = 32 * 2 ** 20

/** One wait between two attempts, in seconds. */
interface Wait {
  deliveryId: string
  attempt: number
  seconds: number
}

interface Scene {
  context: ProofContext
  parts: Parts
  store: Store
}

export async function proveSinkErrors(context: ProofContext): Promise<ProofResult> {
  const parts = await startParts(context)
  const store = await openStore(context, parts, { price: '1', gateways: [{ ALLOW_INSECURE_WEBHOOKS: 'true' }] })
  const scene: Scene = { context, parts, store }
  const reasons = [
    ...(
      await Promise.all([
        endless(scene, 'a byte a second', drip, 1, 20),
        endless(scene, 'a byte of the head a second', dripHead, 1, 20),
        failToTheEnd(scene, 'status 500', answerWith(500, {}, 'sorry')),
        failToTheEnd(scene, 'reset', (response) => response.socket?.resetAndDestroy()),
        putOff(scene),
        gone(scene),
      ])
    ).flat(),
    ...(await longAnswer(scene)),
    ...catchOtherSchedule(),
    ...(await catchGreedy(scene)),
  ]
  reasons.push(...(await closeStore(store)), ...(await brokenInvariants(parts.database)))
  const faults = (await parts.database.query(countAttempts))[0]!.count
  return conclude({
    figure: `${faults} bad answers; ${EACH * 2} deliveries on schedule through ${SCHEDULE.length + 1} attempts`,
    n: faults,
    faultsInjected: faults,
    reasons,
  })
}

const countAttempts = statement(
  'proof_count_attempts',
  { columns: { count: int } },
  'select count(*)::int as count from webhook_attempts',
)
const findWaits = statement(
  'proof_waits',
  { parameters: { deliveries: arrayOf(uuid) }, columns: { deliveryId: text, attempt: int, seconds: float } },
  `select d.id::text as "deliveryId", a.number as attempt,
     extract(epoch from d.next_attempt_at - a.started_at - make_interval(secs => a.duration / 1000.0))::float8 as seconds
   from webhook_deliveries d join webhook_attempts a on a.delivery_id = d.id and a.number = d.attempt_count
   where d.id = any($deliveries) and d.next_attempt_at is not null`,
)

async function open({ context, parts, store }: Scene, respond: Respond): Promise<{ receiver: Receiver; app: App }> {
  const receiver = await startReceiver(context.afterwards, respond)
  return { receiver, app: await addApp(parts, store, receiver.url) }
}

/** The deliveries of these orders, when each has had so many attempts. */
const attempted = ({ parts: { database } }: Scene, orderIds: readonly string[], attempts: number, seconds = 60) =>
  until(
    `${orderIds.length} events have had ${attempts} attempts`,
    async () => {
      const deliveries = await readDeliveries(database, orderIds)
      return deliveries.every((delivery) => delivery.attempts >= attempts) ? deliveries : undefined
    },
    seconds * 1_000,
    50,
  )

/** Ten attempts, each in its time; then it is given up. */
async function failToTheEnd(scene: Scene, name: string, respond: Respond): Promise<string[]> {
  const { database } = scene.parts
  const { receiver, app } = await open(scene, respond)
  const orderIds = await sell(scene.store, app, EACH)
  const waits: Wait[] = []
  for (let attempt = 1; attempt <= SCHEDULE.length; attempt += 1) {
    const ids = (await attempted(scene, orderIds, attempt)).map(({ id }) => id)
    waits.push(...(await database.query(findWaits, { deliveries: ids })))
    await passTime(database, ids)
  }
  const deliveries = await attempted(scene, orderIds, SCHEDULE.length + 1)
  const reasons = judgeWaits(name, waits, EACH)
  const alive = deliveries.filter(({ status, orderStatus }) => status !== 'GIVEN_UP' || orderStatus !== 'FAILURE')
  if (alive.length) reasons.push(`${name}: ${alive.length} were not given up, such as ${JSON.stringify(alive[0])}`)
  for (const { eventId } of deliveries) {
    const calls = receiver.calls.filter(({ id }) => id === eventId)
    const bodies = new Set(calls.map(({ body }) => body))
    if (calls.length !== SCHEDULE.length + 1 || bodies.size !== 1)
      reasons.push(`${name}: ${eventId} was told ${calls.length} times with ${bodies.size} bodies.`)
  }
  return reasons
}

/** Every wait is there, within its share of the plan, and they are not all alike. */
function judgeWaits(name: string, waits: readonly Wait[], each: number): string[] {
  const reasons: string[] = []
  for (const [index, planned] of SCHEDULE.entries()) {
    const seen = waits.filter(({ attempt }) => attempt === index + 1).map(({ seconds }) => seconds)
    if (seen.length !== each) reasons.push(`${name}: ${seen.length} waits after attempt ${index + 1}, not ${each}.`)
    // The database keeps microseconds.
    const off = seen.filter((seconds) => Math.abs(seconds / planned - 1) > JITTER + 1e-6)
    if (off.length) reasons.push(`${name}: a wait of ${off[0]} s after attempt ${index + 1}, planned are ${planned} s.`)
    if (seen.length > 1 && Math.max(...seen) - Math.min(...seen) < planned * 0.02)
      reasons.push(`${name}: all waits after attempt ${index + 1} are alike.`)
  }
  return reasons
}

/** 429 and 503 put us off for as long as they say, but never less than planned, nor more than a day. */
async function putOff(scene: Scene): Promise<string[]> {
  const plan = SCHEDULE[0]!
  const [least, most] = [plan * (1 - JITTER), plan * (1 + JITTER)]
  const inTwoMinutes = () => new Date(Date.now() + 120_000).toUTCString()
  const cases: [status: number, retryAfter: () => string, from: number, to: number][] = [
    [429, () => '120', 120, 120],
    [503, () => '120', 120, 120],
    [429, inTwoMinutes, 118, 121],
    [429, () => '1', least, most],
    [429, () => '999999999', 86_400, 86_400],
    [429, () => 'soon', least, most],
    [500, () => '120', least, most],
  ]
  const reasons: string[] = []
  for (const [status, retryAfter, from, to] of cases) {
    const { app } = await open(scene, (response) => response.writeHead(status, { 'retry-after': retryAfter() }).end())
    const [delivery] = await attempted(scene, await sell(scene.store, app, 1), 1)
    const [wait] = await scene.parts.database.query(findWaits, { deliveries: [delivery!.id] })
    if (!wait || wait.seconds < from - 0.001 || wait.seconds > to + 0.001)
      reasons.push(`Status ${status} with Retry-After ${retryAfter()} made it wait ${wait?.seconds} s.`)
  }
  return reasons
}

const findDisabled = statement(
  'proof_disabled',
  { parameters: { app: uuid }, columns: { disabled: boolean } },
  'select webhook_disabled_at is not null as disabled from network_apps where id = $app',
)

/** 410 ends it, for this event and all that follow. */
async function gone(scene: Scene): Promise<string[]> {
  const { receiver, app } = await open(scene, answerWith(410))
  const [delivery] = await attempted(scene, await sell(scene.store, app, 1), 1)
  const [row] = await scene.parts.database.query(findDisabled, { app: app.id })
  const reasons: string[] = []
  if (delivery?.status !== 'GIVEN_UP') reasons.push(`410: the event is ${delivery?.status}.`)
  if (!row?.disabled) reasons.push('410: the webhook is not disabled.')
  await sell(scene.store, app, 3)
  await delay(2_000)
  if (receiver.calls.length !== 1) reasons.push(`410: the receiver was called ${receiver.calls.length} times.`)
  return reasons
}

const drip: Respond = (response) => {
  response.writeHead(200)
  const timer = setInterval(() => response.write('.'), 1_000)
  response.once('close', () => clearInterval(timer))
}

const dripHead: Respond = (response) => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n'
  let at = 0
  const timer = setInterval(() => response.socket?.write(head[at++ % head.length]!), 1_000)
  response.once('close', () => clearInterval(timer))
}

/** An answer without end is cut. One whose status came counts by it; one whose head never ended is a failure. */
async function endless(
  scene: Scene,
  name: string,
  respond: Respond,
  count: number,
  seconds: number,
): Promise<string[]> {
  const { receiver, app } = await open(scene, respond)
  const [delivery] = await attempted(scene, await sell(scene.store, app, count), 1, seconds)
  const [attempt] = await readAttempts(scene.parts.database, [delivery!.id])
  const reasons: string[] = []
  if (!attempt || Math.abs(attempt.duration - CUT) > GRACE) reasons.push(`${name}: cut after ${attempt?.duration} ms.`)
  const expected = respond === drip ? 'DELIVERED' : 'PENDING'
  if (delivery!.status !== expected) reasons.push(`${name}: the event is ${delivery!.status}, not ${expected}.`)
  const [call] = receiver.calls
  await until(`${name}: the connection is closed`, () => call?.closedAt, 2_000)
  return reasons
}

/** Sends a gigabyte in pieces, one as soon as the socket takes it, or every so many milliseconds. */
function flood(pieces: { size: number; every?: number }, sent: { bytes: number }): Respond {
  return async (response) => {
    response.writeHead(200, { 'content-length': String(GIGABYTE) })
    const piece = Buffer.alloc(pieces.size, 'x')
    while (!response.destroyed && sent.bytes < GIGABYTE) {
      sent.bytes += piece.length
      const isTaken = response.write(piece)
      if (pieces.every) await delay(pieces.every)
      else if (!isTaken) await Promise.race([new Promise((resolve) => response.once('drain', resolve)), delay(1_000)])
    }
  }
}

/** Small enough, and slow enough, that what was sent is what was read, but for the last pieces. */
const METERED = { size: 8 * 1_024, every: 50 }
const MOST_METERED = MOST_READ + 4 * METERED.size

async function longAnswer(scene: Scene): Promise<string[]> {
  const pid = scene.store.gateways[0]!.pid()!
  const before = await residentMemory(pid)
  const memory = watchMemory(pid)
  const reasons: string[] = []
  for (const [name, pieces, most] of [
    ['a gigabyte at once', { size: MOST_READ }, IN_FLIGHT],
    ['a gigabyte by the piece', METERED, MOST_METERED],
  ] as const) {
    const sent = { bytes: 0 }
    const { app } = await open(scene, flood(pieces, sent))
    const [delivery] = await attempted(scene, await sell(scene.store, app, 1), 1)
    const [attempt] = await readAttempts(scene.parts.database, [delivery!.id])
    await delay(500)
    scene.context.say(`${name}: ${Math.round(sent.bytes / 1_024)} KiB were sent, cut after ${attempt?.duration} ms`)
    if (delivery!.status !== 'DELIVERED') reasons.push(`${name}: the event is ${delivery!.status}.`)
    if (attempt?.response.length !== 1_000) reasons.push(`${name}: ${attempt?.response.length} characters were kept.`)
    if (sent.bytes > most || sent.bytes < MOST_READ) reasons.push(`${name}: ${sent.bytes} bytes were taken.`)
  }
  const growth = (await memory.stop()) - before
  if (growth > MOST_MEMORY) reasons.push(`The gateway grew by ${Math.round(growth)} MiB, ${MOST_MEMORY} are allowed.`)
  return reasons
}

/** The controls: delays that double, and delays without chance, must be seen. */
function catchOtherSchedule(): string[] {
  const waitsBy = (seconds: (attempt: number) => number): Wait[] =>
    SCHEDULE.flatMap((_, index) =>
      Array.from({ length: EACH }, (_, nth) => ({
        deliveryId: String(nth),
        attempt: index + 1,
        seconds: seconds(index),
      })),
    )
  const variants = {
    'delays that double': waitsBy((index) => 5 * 2 ** index),
    'delays without chance': waitsBy((index) => SCHEDULE[index]!),
  }
  return Object.entries(variants).flatMap(([name, waits]) =>
    judgeWaits(name, waits, EACH).length > 0 ? [] : [`The control was not caught: ${name}.`],
  )
}

/** The control: a caller who reads answers to their end must be seen by the meter. */
async function catchGreedy({ context }: Scene): Promise<string[]> {
  const sent = { bytes: 0 }
  const receiver = await startReceiver(context.afterwards, flood(METERED, sent))
  const signal = AbortSignal.timeout(2_000)
  await fetch(receiver.url, { method: 'POST', body: '{}', signal })
    .then(
      (answer) => answer.text(),
      () => undefined,
    )
    .catch(() => undefined)
  return sent.bytes > MOST_METERED ? [] : ['The control was not caught: a caller who reads on.']
}
