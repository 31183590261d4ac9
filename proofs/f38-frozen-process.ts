/**
 * F38: whoever holds a role is frozen (SIGSTOP) for minutes and let go again. Work goes on elsewhere within 30 s, the one that
 * wakes writes nothing under a role that it lost, and nothing is done twice.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { until } from '../test/support/eventually.ts'
import { gates, points } from './f38-freeze-points.ts'
import { judgeStandings, readStandings } from './harness/confirms.ts'
import { readDeliveries } from './harness/deliveries.ts'
import { type FrozenScene, openFrozenScene } from './harness/frozen-scene.ts'
import { freezeProcess } from './harness/gateway.ts'
import { judgeChain, judgeDatabase, quiesce } from './harness/judgement.ts'
import { installWitness, readUnfenced } from './harness/lease-witness.ts'
import { brokenInvariants, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'

/** Until work goes on elsewhere. Milliseconds. */
const RESUMED = 30_000
/** What a run waits for before it is said not to come. */
const GIVEN_UP = 120_000

interface Measured {
  scene: string
  point: string
  /** Milliseconds from the freeze. */
  took: Record<'commit' | 'webhook' | 'deposit', number>
}

export async function proveFrozenProcess(context: ProofContext): Promise<ProofResult> {
  const seconds = context.setting('SECONDS', 300)
  const freezes = context.setting('FREEZES', 20)
  const sceneCount = Math.min(context.setting('SCENES', 5), freezes)
  const names = context.random.fork('schedule').shuffle(Object.keys(points))
  const schedule = Array.from({ length: freezes }, (_, index) => names[index % names.length]!)

  const scenes: FrozenScene[] = []
  for (let index = 0; index < sceneCount; index += 1) scenes.push(await openFrozenScene(context, index, gates))
  const controlling = catchConnectionLock(context)
  controlling.catch(() => undefined)

  const reasons: string[] = []
  const measured: Measured[] = []
  await Promise.all(
    scenes.map(async (scene, index) => {
      for (const point of schedule.filter((_, place) => place % sceneCount === index)) {
        try {
          measured.push(await freezeOnce(scene, point, seconds))
        } catch (error) {
          reasons.push(`${scene.name}, "${point}": ${error instanceof Error ? error.message : error}`)
          return
        }
        context.say(`${measured.length} of ${freezes}: ${describe(measured.at(-1)!)}`)
      }
    }),
  )
  reasons.push(...(await controlling))
  let done = 0
  for (const scene of scenes) {
    reasons.push(...(await judge(scene)).map((reason) => `${scene.name}: ${reason}`))
    done += scene.acknowledged.commits.length + scene.orderIds.length
  }

  const slowest = Math.max(0, ...measured.flatMap(({ took }) => Object.values(took)))
  if (measured.length < freezes)
    reasons.push(`Only ${measured.length} of ${freezes} freezes happened: the run is invalid.`)
  for (const each of measured)
    if (Object.values(each.took).some((took) => took > RESUMED)) reasons.push(`Too late: ${describe(each)}`)
  return conclude({
    figure: `work elsewhere after ${(slowest / 1_000).toFixed(1)} s at most; ${measured.length} freezes of ${seconds} s`,
    n: done,
    faultsInjected: measured.length,
    reasons,
  })
}

const describe = ({ scene, point, took }: Measured) =>
  `${scene}, "${point}": ${Object.entries(took)
    .map(([what, milliseconds]) => `${what} after ${(milliseconds / 1_000).toFixed(1)} s`)
    .join(', ')}`

/** Freezes somebody at the point, sees that all kinds of work go on without it, and lets it go when its time is over. */
async function freezeOnce(scene: FrozenScene, point: string, seconds: number): Promise<Measured> {
  // All three have been at work since the last one.
  await scene.useAll(GIVEN_UP)
  const frozen = await points[point]!(scene)
  const over = delay(seconds * 1_000)
  const [took] = await Promise.all([scene.useAll(GIVEN_UP), frozen.meanwhile?.()])
  await over
  await frozen.thaw()
  return { scene: scene.name, point, took }
}

/** Everything that was asked for is there once, in the books, on the chain and at the receiver. */
async function judge(scene: FrozenScene): Promise<string[]> {
  const { parts, acknowledged, orderIds, sink, coins, gateways } = scene
  const { database } = parts
  await scene.rest()
  await quiesce(parts)
  const deliveries = await until(
    'every webhook is delivered',
    async () => {
      const found = await readDeliveries(database, orderIds)
      return found.every(({ status }) => status === 'DELIVERED') ? found : undefined
    },
    GIVEN_UP,
    200,
  )
  const reasons = [...acknowledged.surprises.slice(0, 5), ...(await coins.judge())]
  const bodies = new Map<string, string>()
  for (const { id, body } of sink.calls) {
    if ((bodies.get(id) ?? String(body)) !== String(body)) reasons.push(`The calls of ${id} differ.`)
    bodies.set(id, String(body))
  }
  const unheard = deliveries.filter(({ eventId }) => !bodies.has(eventId))
  if (unheard.length > 0 || deliveries.length !== orderIds.length)
    reasons.push(`${orderIds.length} orders, ${deliveries.length} deliveries, ${unheard.length} of them never heard.`)
  reasons.push(...judgeStandings(await readStandings(database, orderIds), 1))
  reasons.push(...(await judgeDatabase(parts, acknowledged, ['buyer', 'seller', 'saver'])))
  reasons.push(...(await brokenInvariants(database)), ...(await judgeChain(parts)))
  const unfenced = await readUnfenced(database)
  if (unfenced.length > 0)
    reasons.push(`${unfenced.length} writes of a relay without its lease, such as ${unfenced[0]!.what.slice(0, 200)}`)
  for (const gateway of gateways) {
    if (!gateway.isReady()) reasons.push(`${gateway.name} ended by itself.`)
    const code = await gateway.stop()
    if (code !== 0) reasons.push(`${gateway.name} ended with ${code} on SIGTERM.`)
  }
  return reasons
}

/** The control: a lock that lives as long as its connection stays with a frozen holder, and what that one writes later is seen. */
async function catchConnectionLock(outer: ProofContext): Promise<string[]> {
  const context = { ...outer, dir: join(outer.dir, 'control') }
  await mkdir(context.dir)
  const { database, databaseUrl: url } = await startParts(context)
  await installWitness(database)
  const heir = new pg.Client({ connectionString: url, lock_timeout: RESUMED })
  await heir.connect()
  context.afterwards(() => heir.end())
  // A commit to write something about; nobody needs its asset.
  await heir.query('set session_replication_role = replica')
  await heir.query('insert into commit_relays (commit_id) values (gen_random_uuid())')
  const holder = spawn(process.execPath, [join(import.meta.dirname, 'harness/connection-lock.ts'), url])
  context.afterwards(async () => holder.kill('SIGKILL'))
  const lines = createInterface(holder.stdout)
  await once(lines, 'line')
  await freezeProcess(holder)
  const isTaken = await heir.query('select pg_advisory_lock(38)').then(
    () => true,
    () => false,
  )
  holder.kill('SIGCONT')
  holder.stdin.write('write\n')
  await once(lines, 'line')
  const written = await readUnfenced(database)
  holder.kill('SIGKILL')
  context.say(
    `control: after ${RESUMED / 1_000} s the lock was ${isTaken ? 'free' : 'still held'}; ${written.length} writes were seen when its holder woke`,
  )
  return [
    ...(isTaken ? ['The control was not caught: the lock of a frozen process was free.'] : []),
    ...(written.length === 0 ? ['The control was not caught: nobody saw what was written without a lease.'] : []),
  ]
}
