/**
 * F04: PostgreSQL is repeatedly killed with SIGKILL under load, and is stopped for half a minute. No acknowledged write is lost. Callers
 * get 503 with Retry-After, and gateways recover without a restart.
 */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { until } from '../test/support/eventually.ts'
import { type DatabaseScene, openDatabaseScene } from './harness/database-scene.ts'
import { killPostmaster } from './harness/kill-postgres.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'

/** Maximum time from PostgreSQL accepting connections to the first successful request, in milliseconds. */
const BACK = 5_000
/** Time between a recovery and the next stop, in milliseconds. */
const BETWEEN_STOPS = 5_000

/** Returns the time from now to the first success of a probe that was sent later, in milliseconds. */
async function untilSuccess({ probes }: DatabaseScene): Promise<number> {
  const begin = performance.now()
  const found = await until(
    'a probe succeeds again',
    () => probes.find(({ at, took, status }) => at - took > begin && status === 200),
    30_000,
  )
  return found.at - begin
}

export async function proveKillPostgres(context: ProofContext): Promise<ProofResult> {
  const kills = context.setting('KILLS', 20)
  const stops = context.setting('STOPS', 5)
  const seconds = context.setting('SECONDS', 30)
  const scene = await openDatabaseScene(context)
  const { proxy, parts, probes } = scene
  const random = context.random.fork('kills')
  const pauses: number[] = []
  const pids = scene.gateways.map((gateway) => gateway.pid())
  const reasons: string[] = []

  for (let kill = 0; kill < kills; kill += 1) {
    await delay(200 + random.below(1_000))
    await killPostmaster(context.dir, parts.databaseUrl)
    pauses.push(await untilSuccess(scene))
    if ((kill + 1) % 5 === 0) context.say(`${kill + 1} of ${kills} kills`)
  }
  let refused = 0
  for (let stop = 0; stop < stops; stop += 1) {
    const begin = performance.now()
    await proxy.close()
    await delay(seconds * 1_000)
    refused += probes.filter(({ at, status }) => at > begin && status === 503).length
    await proxy.open()
    pauses.push(await untilSuccess(scene))
    // Callers time out after two minutes without a response. Each must get one before PostgreSQL stops again.
    await delay(BETWEEN_STOPS)
  }
  context.say(`${stops} stops of ${seconds} s: ${refused} probes were told 503`)
  if (stops > 0 && refused === 0) reasons.push('Nobody was told 503 while PostgreSQL was away: the run is invalid.')
  if (scene.gateways.some((gateway, index) => gateway.pid() !== pids[index])) reasons.push('A gateway was restarted.')
  const slowest = Math.max(...pauses)
  if (slowest > BACK) reasons.push(`It took ${slowest.toFixed(0)} ms to the first success.`)

  // Control: a connection that was opened before a kill must be detected as unusable.
  const held = new pg.Client({ connectionString: parts.databaseUrl })
  held.on('error', () => undefined)
  await held.connect()
  await killPostmaster(context.dir, parts.databaseUrl)
  const works = await held.query('select 1').then(
    () => true,
    () => false,
  )
  await held.end().catch(() => undefined)
  if (works) reasons.push('The control was not caught: a connection outlived the server.')
  await untilSuccess(scene)

  const judged = await scene.judge([200, 409, 503])
  reasons.push(...judged.reasons)
  return conclude({
    figure: `${judged.lost} lost, ${judged.double} double; first success at most ${slowest.toFixed(0)} ms after PostgreSQL was back`,
    n: scene.acknowledged.commits.length + scene.acknowledged.signUps.length,
    faultsInjected: kills + stops + 1,
    reasons,
  })
}
