/**
 * F03: gateways are killed with SIGKILL at random times and at every named crash point, while clients send and retry requests. No
 * acknowledged write is lost or duplicated in the database, the ledger, or on the chain.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createDatabase } from '../src/db/database.ts'
import { statement, text } from '../src/db/sql.ts'
import { startChainProxy } from '../test/support/chain-proxy.ts'
import { until } from '../test/support/eventually.ts'
import { gates, killAt, namedPoints, type Scene } from './f03-crash-points.ts'
import { nothingAcknowledged, openAccount, runCallers } from './harness/callers.ts'
import { createGates } from './harness/gates.ts'
import { chooseReady, createGateway, type Gateway } from './harness/gateway.ts'
import { countDatabase, idsOf, judgeChain, judgeDatabase, quiesce } from './harness/judgement.ts'
import { brokenInvariants, type Parts, silent, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { tally } from './harness/tally.ts'

const callers = 6
const accountNames = ['alice', 'bob', 'carol']

export async function proveKillGateway(context: ProofContext): Promise<ProofResult> {
  const kills = context.setting('KILLS', 100)
  const each = Math.max(1, Math.floor(kills / 20))
  const parts = await startParts(context)
  const control = await catchTwoSteps(context, parts)

  const proxies = [
    await startChainProxy(context.afterwards, parts.rpcUrl),
    await startChainProxy(context.afterwards, parts.rpcUrl),
  ]
  const gateways: Gateway[] = []
  for (const [index, { url }] of proxies.entries()) {
    const name = `gateway-${index}`
    const own = { CHAIN_RPC_URL: url, DATABASE_URL: await parts.urlAs(name) }
    gateways.push(await createGateway(context, name, { ...parts.env, ...own }))
  }
  // Start one after the other, because the first gateway writes data that both need.
  for (const gateway of gateways) await gateway.start()

  const acknowledged = nothingAcknowledged()
  const accounts = []
  for (const name of accountNames) accounts.push(await openAccount(gateways[0]!.url, name, acknowledged))

  const scene: Scene = {
    gateways,
    proxies,
    gates: await createGates(context, parts.databaseUrl, gates),
    random: context.random.fork('assassin'),
    ambush: undefined,
  }
  const choose = chooseReady(gateways, context.random.fork('choice'))

  let isOver = false
  const working = runCallers(callers, () => isOver, {
    accounts,
    random: context.random.fork('callers'),
    choose,
    watchOf: (base) => ({
      onSent: () => scene.ambush?.moment === 'onSent' && scene.ambush.spring(base),
      onFirstByte: () => scene.ambush?.moment === 'onFirstByte' && scene.ambush.spring(base),
    }),
    acknowledged,
  })

  const counts = await killAll(context, scene, kills, each)
  isOver = true
  await working
  const reasons = [...control, ...acknowledged.surprises.slice(0, 5)]
  await quiesce(parts)
  for (const [point, count] of counts) {
    if (point !== 'random' && count < each)
      reasons.push(`Only ${count} kills at "${point}", ${each} are needed: the run is invalid.`)
  }
  reasons.push(...(await judgeDatabase(parts, acknowledged)), ...(await brokenInvariants(parts.database)))
  reasons.push(...(await judgeChain(parts)))
  for (const gateway of gateways) {
    const code = await gateway.stop()
    if (code !== 0) reasons.push(`${gateway.name} ended with ${code} on SIGTERM.`)
  }

  const done = [...counts.values()].reduce((sum, count) => sum + count, 0)
  context.say(`kills: ${[...counts].map(([point, count]) => `${count} ${point}`).join(', ')}`)
  context.say(
    `${acknowledged.signUps.length} sign-ups, ${acknowledged.commits.length} commits acknowledged; ` +
      `${acknowledged.retries} retries, ${acknowledged.replays} answered by a replay`,
  )
  const { lost, double } = await countDatabase(parts.database, acknowledged)
  return conclude({
    figure: `${lost} lost, ${double} double, ${done} kills`,
    n: acknowledged.commits.length + acknowledged.signUps.length,
    faultsInjected: done,
    reasons,
  })
}

/** Runs the kills: every named crash point `each` times, the rest at random times. The seed determines the order. */
async function killAll(
  { random, say }: ProofContext,
  scene: Scene,
  kills: number,
  each: number,
): Promise<Map<string, number>> {
  const named = namedPoints.flatMap((point) => Array.from({ length: each }, () => point))
  const rest = Array.from({ length: Math.max(kills - named.length, 0) }, () => 'random')
  const schedule = random.fork('schedule').shuffle([...named, ...rest])
  const counts = new Map([...namedPoints, 'random'].map((point) => [point, 0]))
  const restarts = new Map<string, Promise<void>>()
  for (const [index, point] of schedule.entries()) {
    const victim = await killAt(point, scene)
    counts.set(point, counts.get(point)! + 1)
    const restart = victim.start()
    restart.catch(() => undefined)
    restarts.set(victim.name, restart)
    // At least one gateway must be running to reach the next crash point.
    await Promise.any(scene.gateways.map((gateway) => restarts.get(gateway.name) ?? Promise.resolve()))
    if ((index + 1) % 20 === 0) say(`${index + 1} of ${schedule.length} kills`)
  }
  await Promise.all(restarts.values())
  return counts
}

const makeEffects = statement('control_effects', {}, 'create table control_effects (wish text)')
const makeKeys = statement('control_keys', {}, 'create table control_keys (key text primary key)')
const wishes = statement('control_wishes', { columns: { id: text } }, 'select wish as id from control_effects')

/** Control: a writer that stores effect and key in two transactions is killed between them. Its duplicate effect must be detected. */
async function catchTwoSteps(context: ProofContext, parts: Parts): Promise<string[]> {
  const url = await parts.copyDatabase('two_steps')
  const database = createDatabase({ url, pool: 2, log: silent })
  context.afterwards(() => database.close())
  await database.query(makeEffects)
  await database.query(makeKeys)
  const between = { name: 'between the two', trigger: 'before insert on control_keys for each row' }
  const control = await createGates(context, url, [between])

  const write = () => spawn(process.execPath, [join(import.meta.dirname, 'harness/two-step-writer.ts'), url, 'wish'])
  await control.close(between.name)
  const first = write()
  const waiting = await until('the two-step writer is between its steps', () => control.findWaiting(between.name))
  first.kill('SIGKILL')
  await once(first, 'exit')
  await control.terminate(waiting.backend)
  await control.open(between.name)
  await once(write(), 'exit')

  const effects = await idsOf(database, wishes)
  const { double } = tally(['wish'], effects)
  context.say(`control: effect and key in two transactions gave ${effects.length} effects for one wish`)
  return double.length === 1 ? [] : ['The control was not caught: effect and key in two transactions did no double.']
}
