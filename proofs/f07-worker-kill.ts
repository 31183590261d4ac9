/**
 * F07: gateways are killed with SIGKILL while they deliver: with calls on their way, and between the receiver's 200 and our
 * note of it. Every event is delivered, doubles carry the same id and body, and what was under way is resumed in time.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { toId } from '../src/domain/ids.ts'
import { arrayOf, int, statement, text, timestamp, uuid } from '../src/domain/sql.ts'
import { until } from '../test/support/eventually.ts'
import { type Receiver, startReceiver } from '../test/support/receiver.ts'
import { type Delivery, readDeliveries } from './harness/deliveries.ts'
import { createGates, type Gates } from './harness/gates.ts'
import type { Gateway } from './harness/gateway.ts'
import { brokenInvariants, type Parts, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import type { Random } from './harness/random.ts'
import { type App, addApp, sell } from './harness/sales.ts'
import { closeStore, openStore, type Store } from './harness/store.ts'

/** Milliseconds from a kill to the next call with what it interrupted. */
const RESUME = 31_000
/** Enough that what a kill leaves locked holds up few of the sales after it. */
const APPS = 24
const BATCH = 6
const points = ['call held', 'random', 'answered, not noted: undone', 'answered, not noted: finished'] as const
type Point = (typeof points)[number]

/** A call that a kill cut off, or whose answer it lost. */
interface Interruption {
  eventId: string
  /** Milliseconds since the epoch; of the later kill, when that met who had taken the job over and not called yet. */
  at: number
}

interface Scene {
  context: ProofContext
  parts: Parts
  store: Store
  apps: App[]
  sink: Receiver
  /** While true, the sink lets callers wait. */
  hold(isHeld: boolean): void
  /** Calls that wait for an answer now. */
  open(): number
  gates: Gates
  random: Random
  orderIds: string[]
  interruptions: Interruption[]
}

export async function proveWorkerKill(context: ProofContext): Promise<ProofResult> {
  const kills = context.setting('KILLS', 200)
  const scene = await openScene(context)
  const { store, parts } = scene
  const each = Math.max(1, Math.floor(kills / 10))
  const rest = Array.from({ length: Math.max(0, kills - 3 * each) }, () => 'call held' as const)
  const named = points.slice(1).flatMap((point) => Array.from({ length: each }, () => point))
  const schedule = context.random.fork('schedule').shuffle<Point>([...rest, ...named])
  const counts = new Map<Point, number>(points.map((point) => [point, 0]))
  let misses = 0
  for (const [index, point] of schedule.entries()) {
    while (!(await killAt(scene, point))) {
      misses += 1
      if (misses > 20 + kills) throw new Error('The kills interrupt nothing.')
    }
    counts.set(point, counts.get(point)! + 1)
    if ((index + 1) % 10 === 0) context.say(`${index + 1} of ${schedule.length} kills`)
  }
  await restarted(store)
  const deliveries = await settled(parts, scene.orderIds)
  const interrupted = scene.interruptions.length
  const { reasons, resumes, doubles, lost } = judge(scene, deliveries)
  reasons.push(...(await brokenInvariants(parts.database)), ...(await killAllAtOnce(scene)))
  reasons.push(...(await closeStore(store)))
  context.say(`kills: ${[...counts].map(([point, count]) => `${count} ${point}`).join(', ')}; ${misses} met nothing`)
  if (resumes.length === 0) reasons.push('Nothing was interrupted: the run is invalid.')
  return conclude({
    figure: `${lost} of ${deliveries.length} lost; ${doubles} doubles; ${interrupted} calls interrupted, slowest resumed after ${(Math.max(0, ...resumes) / 1_000).toFixed(1)} s`,
    n: deliveries.length,
    faultsInjected: schedule.length,
    reasons,
  })
}

async function openScene(context: ProofContext): Promise<Scene> {
  const parts = await startParts(context)
  const insecure = { ALLOW_INSECURE_WEBHOOKS: 'true' }
  const store = await openStore(context, parts, { price: '1', gateways: [insecure, insecure, insecure] })
  const random = context.random.fork('sink')
  const waiting = new Set<() => void>()
  let isHeld = false
  const sink = await startReceiver(context.afterwards, (response) => {
    const answer = () => {
      if (waiting.delete(answer)) response.writeHead(200).end('taken')
    }
    waiting.add(answer)
    response.once('close', () => waiting.delete(answer))
    if (!isHeld) setTimeout(answer, random.below(200))
  })
  const apps: App[] = []
  for (let made = 0; made < APPS; made += 1) apps.push(await addApp(parts, store, sink.url))
  const gate = { name: 'note', trigger: 'before insert on webhook_attempts for each row' }
  return {
    context,
    parts,
    store,
    apps,
    sink,
    hold(held) {
      isHeld = held
      if (!held) for (const answer of waiting) answer()
    },
    open: () => waiting.size,
    gates: await createGates(context, parts.databaseUrl, [gate]),
    random: context.random.fork('assassin'),
    orderIds: [],
    interruptions: [],
  }
}

const anyReady = ({ gateways }: Store) =>
  until('a gateway is up', () => gateways.find((gateway) => gateway.isReady()), 60_000)

/** Until all gateways are up again. */
const restarted = ({ gateways }: Store) =>
  until('all gateways are up', () => gateways.every((gateway) => gateway.isReady()), 60_000)

async function sellSome({ store, apps, random, orderIds }: Scene): Promise<void> {
  const gateway = await anyReady(store)
  for (const app of random.shuffle(apps).slice(0, BATCH))
    orderIds.push(...(await sell(store, app, 1, store.gateways.indexOf(gateway))))
}

/** Kills a gateway at the point, and has it start again. False when it had nothing under way. */
async function killAt(scene: Scene, point: Point): Promise<boolean> {
  const { store, random, gates, open, hold } = scene
  await restarted(store)
  const isGate = point.startsWith('answered')
  const isHeld = point !== 'random'
  hold(isHeld)
  await sellSome(scene)
  if (isHeld) await until('calls are held', () => open() >= BATCH - 2)
  // Sales come first: who waits at the gate has the buyer's wallet.
  if (isGate) {
    await gates.close('note')
    hold(false)
  }
  let victim: Gateway = random.pick(store.gateways)
  if (isGate) {
    const { gateway } = await until('a note waits', () => gates.findWaiting('note'))
    const found = store.gateways.find(({ name }) => name === gateway)
    if (!found) {
      await gates.open('note')
      return false
    }
    victim = found
  } else if (point === 'random') {
    await delay(random.below(500))
  }
  const at = Date.now()
  victim.kill()
  await moveTakenOver(scene, at)
  if (isGate) await leaveGate(scene, victim, point)
  hold(false)
  victim.start().catch((error: unknown) => scene.context.say(String(error)))
  // What the others were answered is noted by then, and what the dead one left is not given to anybody yet.
  await delay(1_000)
  const count = await noteInterruptions(scene, at)
  // The server may finish the note alone: then it was in time, and nothing is interrupted.
  return point === 'random' || point === 'answered, not noted: finished' || count > 0
}

/** The notes that wait are undone with the backends of the dead gateway, or finished by the server alone. */
async function leaveGate({ gates }: Scene, victim: Gateway, point: Point): Promise<void> {
  if (point.endsWith('undone')) {
    let waiting = await gates.findWaiting('note')
    while (waiting?.gateway === victim.name) {
      await gates.terminate(waiting.backend)
      waiting = await gates.findWaiting('note')
    }
  }
  await gates.open('note')
}

/** What was called before the kill, is called no more, and is not noted. */
async function noteInterruptions({ parts, orderIds, sink, interruptions }: Scene, at: number): Promise<number> {
  const before = interruptions.length
  const deliveries = await readDeliveries(parts.database, orderIds.slice(-BATCH * 40))
  const pending = new Set(deliveries.filter(({ status }) => status === 'PENDING').map(({ eventId }) => eventId))
  const last = new Map(sink.calls.map((call) => [call.id, call]))
  const known = new Map(interruptions.map((interruption) => [interruption.eventId, interruption.at]))
  for (const [eventId, { arrivedAt, closedAt }] of last) {
    if (!pending.has(eventId) || closedAt === undefined || arrivedAt > at) continue
    if (arrivedAt > (known.get(eventId) ?? 0)) interruptions.push({ eventId, at })
  }
  return interruptions.length - before
}

const findActive = statement(
  'proof_active_jobs',
  { columns: { eventId: uuid, since: timestamp } },
  `select d.event_id as "eventId", j.started_on as since from jobs.job j
   join webhook_deliveries d on d.id = (j.data->>'deliveryId')::uuid
   where j.name = 'webhook-delivery' and j.state = 'active'`,
)

/** Jobs that were taken over after an earlier kill, and whose call had not arrived at this one: their time begins anew. */
async function moveTakenOver({ parts, sink, interruptions }: Scene, at: number): Promise<void> {
  const active = await parts.database.query(findActive)
  const taken = new Map(active.map(({ eventId, since }) => [toId('event', eventId), since.getTime()]))
  for (const interruption of interruptions) {
    const { eventId, at: before } = interruption
    const isCalled = sink.calls.some(({ id, arrivedAt }) => id === eventId && arrivedAt > before)
    if (!isCalled && (taken.get(eventId) ?? 0) > before) interruption.at = at
  }
}

const settled = ({ database }: Parts, orderIds: readonly string[]) =>
  until(
    'every event is delivered',
    async () => {
      const deliveries = await readDeliveries(database, orderIds)
      return deliveries.every(({ status }) => status !== 'PENDING') ? deliveries : undefined
    },
    120_000,
    200,
  )

/** Milliseconds until each interruption was resumed; undefined when it was not. */
const resumesOf = ({ sink }: Scene, interruptions: readonly Interruption[]) =>
  interruptions.map(({ eventId, at }) => {
    const next = sink.calls.find(({ id, arrivedAt }) => id === eventId && arrivedAt > at)
    return next && next.arrivedAt - at
  })

function judgeResumes(resumes: readonly (number | undefined)[]): string[] {
  const late = resumes.filter((milliseconds) => milliseconds === undefined || milliseconds > RESUME)
  return late.length ? [`${late.length} calls were not resumed within 31 s, such as after ${late[0]} ms.`] : []
}

function judge(scene: Scene, deliveries: readonly Delivery[]) {
  const { sink, orderIds, interruptions } = scene
  const reasons: string[] = []
  if (deliveries.length !== orderIds.length)
    reasons.push(`${deliveries.length} deliveries of ${orderIds.length} sales.`)
  const wrong = deliveries.filter(({ status, orderStatus }) => status !== 'DELIVERED' || orderStatus !== 'SUCCESS')
  if (wrong.length) reasons.push(`${wrong.length} are not delivered, such as ${JSON.stringify(wrong[0])}`)
  const bodies = new Map<string, Set<string>>()
  for (const { id, body } of sink.calls) bodies.set(id, (bodies.get(id) ?? new Set()).add(body))
  const lost = deliveries.filter(({ eventId }) => !bodies.has(eventId))
  if (lost.length) reasons.push(`${lost.length} events were never heard.`)
  const known = new Set(deliveries.map(({ eventId }) => eventId))
  const strange = [...bodies.keys()].filter((id) => !known.has(id))
  if (strange.length) reasons.push(`${strange.length} ids are of no event.`)
  const differing = [...bodies.values()].filter((all) => all.size !== 1)
  if (differing.length) reasons.push(`${differing.length} events were told with different bodies.`)
  const resumes = resumesOf(scene, interruptions)
  reasons.push(...judgeResumes(resumes))
  return {
    reasons,
    resumes: resumes.filter((milliseconds) => milliseconds !== undefined),
    doubles: sink.calls.length - bodies.size,
    lost: lost.length,
  }
}

const lockForHours = statement(
  'proof_lock_for_hours',
  { parameters: { deliveries: arrayOf(text), limit: int }, columns: { deliveryId: text } },
  `update jobs.job set expire_seconds = 14400, heartbeat_seconds = null where id in (
     select id from jobs.job where name = 'webhook-delivery' and state = 'active' and data->>'deliveryId' = any($deliveries) limit $limit)
   returning data->>'deliveryId' as "deliveryId"`,
)

/**
 * All gateways die at once, with calls on their way. The control: half of the jobs are locked for four hours, and must be
 * seen not to be resumed; the others must be.
 */
async function killAllAtOnce(scene: Scene): Promise<string[]> {
  const { store, parts, open, hold, context, orderIds } = scene
  await restarted(store)
  hold(true)
  await sellSome(scene)
  await until('calls are held', () => open() === BATCH)
  const deliveries = await readDeliveries(parts.database, orderIds.slice(-BATCH))
  const ids = deliveries.map(({ id }) => id)
  const locked = new Set(
    (await parts.database.query(lockForHours, { deliveries: ids, limit: BATCH / 2 })).map(
      ({ deliveryId }) => deliveryId,
    ),
  )
  const at = Date.now()
  for (const gateway of store.gateways) gateway.kill()
  await delay(500)
  hold(false)
  await Promise.all(store.gateways.map((gateway) => gateway.start()))
  await delay(RESUME - (Date.now() - at))
  const resumesWhere = (isLocked: boolean) =>
    resumesOf(
      scene,
      deliveries.filter(({ id }) => locked.has(id) === isLocked).map(({ eventId }) => ({ eventId, at })),
    )
  const [caught, free] = [resumesWhere(true), resumesWhere(false)]
  context.say(
    `all killed at once: resumed after ${free.join(', ')} ms; control: ${caught.filter(Boolean).length} of ${caught.length} resumed`,
  )
  const reasons = judgeResumes(free)
  if (free.length === 0 || caught.length === 0)
    reasons.push('Not half of the jobs could be locked: the run is invalid.')
  if (judgeResumes(caught).length === 0) reasons.push('The control was not caught: a lock for four hours.')
  return reasons
}
