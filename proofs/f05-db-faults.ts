/**
 * F05: the way to the database is slow, is cut in the middle of writes, loses answers of writes that were carried out, and hangs.
 * Nothing is done in part or twice, every unknown outcome is right on retry, and nobody waits longer than 10 s.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { int, statement, uuid } from '../src/domain/sql.ts'
import { trySend } from '../test/support/http-client.ts'
import { nothingAcknowledged, openAccount } from './harness/callers.ts'
import { type Call, soonGivingUp } from './harness/client.ts'
import { type DatabaseScene, openDatabaseScene } from './harness/database-scene.ts'
import type { WriteFault } from './harness/postgres-proxy.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { addService } from './harness/store.ts'

const LATENCY = 500

const findUser = statement(
  'proof_careless_user',
  { columns: { id: uuid } },
  `select id from users where username = 'careless'`,
)
const insertApp = statement(
  'proof_careless_app',
  { parameters: { app: uuid, owner: uuid } },
  `insert into network_apps (id, owner_id, name, price) values ($app, $owner, 'careless', 1)`,
)
const countOrders = statement(
  'proof_careless_orders',
  { columns: { count: int } },
  'select count(*)::int as count from orders',
)

/** The control: who orders again without a key when an answer was lost must be seen to have ordered twice. */
async function catchCareless(context: ProofContext, { parts, proxy, gateways }: DatabaseScene): Promise<string[]> {
  const [gateway] = gateways
  await gateway!.start()
  const { token } = await openAccount(gateway!.url, 'careless', nothingAcknowledged())
  const [user] = await parts.database.query(findUser)
  await parts.database.query(insertApp, { app: randomUUID(), owner: user!.id })
  const order: Call = {
    method: 'POST',
    path: '/api/v3/store/network-app-orders/',
    token,
    apiKey: await addService(parts),
    json: { network_app: 'careless' },
  }
  const struck = proxy.strike('reply lost')
  let tries = 0
  for (let status = 0; status !== 201; tries += 1) status = (await trySend(gateway!.url, order, soonGivingUp)).status
  await struck
  const [orders] = await parts.database.query(countOrders)
  await gateway!.stop()
  context.say(`control: one wish without a key, ${tries} tries, ${orders!.count} orders`)
  return orders!.count > 1 ? [] : ['The control was not caught: a retry without a key did nothing twice.']
}

export async function proveDatabaseFaults(context: ProofContext): Promise<ProofResult> {
  const strikes = context.setting('FAULTS', 20)
  const hang = context.setting('SECONDS', 60)
  const scene = await openDatabaseScene(context)
  const { proxy, probes } = scene
  const random = context.random.fork('faults')
  const reasons: string[] = []

  await delay(2_000)
  proxy.latency = LATENCY
  await delay(15_000)
  proxy.latency = 0
  context.say(`${LATENCY} ms more for every answer: done`)

  const faults = random.shuffle<WriteFault>(
    (['reset', 'reply lost'] as const).flatMap((fault) => Array.from({ length: strikes }, () => fault)),
  )
  for (const fault of faults) {
    await proxy.strike(fault)
    await delay(random.below(300))
  }
  context.say(`${faults.length} writes were cut off, or lost their answer`)

  const before = performance.now()
  proxy.freeze()
  await delay(hang * 1_000)
  proxy.thaw()
  const thawed = performance.now()
  const during = probes.filter(({ at }) => at > before + 10_000 && at < thawed)
  if (during.length === 0) reasons.push('Nobody was answered while the database hung.')
  if (during.some(({ status }) => status === 200))
    reasons.push('A probe was answered with 200 while the database hung.')
  await delay(5_000)
  const back = probes.find(({ at, status }) => at > thawed && status === 200)
  if (!back) reasons.push('No probe succeeded within 5 s of the thaw.')
  context.say(`hung for ${hang} s: ${during.length} probes refused`)

  const judged = await scene.judge([200, 409, 503])
  reasons.push(...judged.reasons)
  reasons.push(...(await catchCareless(context, scene)))
  const longest = Math.max(...probes.map(({ took }) => took))
  return conclude({
    figure: `${judged.lost} lost, ${judged.double} double; longest answer ${(longest / 1_000).toFixed(1)} s, first success ${back ? (back.at - thawed).toFixed(0) : '-'} ms after the thaw`,
    n: scene.acknowledged.commits.length + scene.acknowledged.signUps.length,
    faultsInjected: faults.length + 2,
    reasons,
  })
}
