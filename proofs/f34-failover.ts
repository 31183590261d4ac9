/**
 * F34: the primary of a synchronous pair behind HAProxy fails again and again under load: killed, cut off from everyone, or cut off from
 * its standby. The standby is promoted, and HAProxy leads to it. No acknowledged write is lost or duplicated, and writes resume
 * within seconds.
 */
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createDatabase } from '../src/db/database.ts'
import { until } from '../test/support/eventually.ts'
import { following, type PostgresServer, startPostgresServer } from '../test/support/postgres-server.ts'
import { buyerNames, judgeBuyers, openBuyers } from './harness/buyers.ts'
import {
  type Account,
  type Acknowledged,
  nothingAcknowledged,
  openAccount,
  runCallers,
  updateCall,
} from './harness/callers.ts'
import { persist } from './harness/client.ts'
import { type DatabaseEndpoint, startDatabaseEndpoint } from './harness/database-endpoint.ts'
import { chooseReady, createGateway, type Gateway } from './harness/gateway.ts'
import { countDatabase } from './harness/judgement.ts'
import { inOwnNetwork, type Machine, type OwnNetwork, openNetwork } from './harness/own-network.ts'
import { type Parts, silent, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { startWork } from './harness/work.ts'

/** Maximum time from the promotion until each gateway has an acknowledged write, in milliseconds. */
const BACK = 10_000
/** Delay between the fault and the promotion, in milliseconds. It is sometimes longer than the statement timeout. */
const SHORT = 500
const LONG = 11_000
const LONG_EVERY = 8
const PORT = 5432

const faults = ['killed', 'cut off from all', 'killed', 'cut off from its standby'] as const
type Fault = (typeof faults)[number]

/** The two database servers, which swap roles at each failover. */
interface Pair {
  network: OwnNetwork
  primary: PostgresServer
  standby: PostgresServer
}

const machineOf = ({ network }: Pair, { place }: PostgresServer): Machine =>
  network.machines.find(({ hosts }) => hosts[0] === place.hosts[0])!

const isProtected = `
  select count(*)::int as n from pg_stat_replication
  where sync_state = 'sync' and state = 'streaming' and flush_lsn >= pg_current_wal_lsn()`

/** Waits until every acknowledged write is on the standby. */
async function protect({ primary }: Pair): Promise<void> {
  await primary.configure({ synchronous_standby_names: '*' })
  await primary.settleStandbys()
  await until(
    'the standby has everything',
    async () => (await primary.sql<{ n: number }>(isProtected))[0]!.n === 1,
    60_000,
  )
}

async function openPair(context: ProofContext): Promise<Pair> {
  // PostgreSQL runs as another user, and needs access to the folder.
  await chmod(context.dir, 0o711)
  const network = await openNetwork(context)
  const [one, two] = network.machines.map(({ hosts, inside }, at) => ({
    ...{ dir: join(context.dir, `server-${at + 1}`), hosts, inside, port: PORT },
  }))
  const primary = await startPostgresServer(one!)
  const pair = { network, primary, standby: primary }
  context.afterwards(async () => {
    await pair.primary.kill()
    await pair.standby.kill()
  })
  pair.standby = await primary.makeStandby(two!)
  await pair.standby.start(following(primary, 'standby'))
  return pair
}

/** Replaces the former primary by a new standby. */
async function replaceStandby(pair: Pair): Promise<void> {
  const { place } = pair.standby
  await pair.standby.kill()
  pair.standby = await pair.primary.makeStandby(place)
  await pair.standby.start(following(pair.primary, 'standby'))
}

async function inflict(fault: Fault, pair: Pair): Promise<void> {
  const { network, primary } = pair
  if (fault === 'killed') return void (await primary.kill())
  if (fault === 'cut off from all') await network.cutFromClients(machineOf(pair, primary))
  await network.cutFromEachOther()
}

/** Waits until each gateway has written to the new primary. */
const haveNoticed = (gateways: readonly Gateway[], witness: Account, trial: number, acknowledged: Acknowledged) =>
  Promise.all(
    gateways.map(async ({ url, name }) => {
      const message = `noticed ${trial + 1} ${name}`
      const { answer } = await persist(() => url, updateCall(witness, message))
      if (answer.status !== 200) throw new Error(`${message} was answered with ${JSON.stringify(answer)}`)
      acknowledged.commits.push(message)
      acknowledged.byAccount.get(witness.username)!.push(message)
    }),
  )

async function startGateways(context: ProofContext, parts: Parts, url: string, names: readonly string[]) {
  const gateways: Gateway[] = []
  // The prober sends its next request as soon as it gets a response.
  const env = { ...parts.env, DATABASE_URL: url }
  for (const name of names) gateways.push(await createGateway(context, name, env))
  // Start one after the other, because the first gateway writes data that both need.
  for (const gateway of gateways) await gateway.start()
  return gateways
}

/** Control: with asynchronous replication, acknowledged writes must be detected as lost. */
async function catchAsynchronous(
  context: ProofContext,
  parts: Parts,
  pair: Pair,
  endpoint: DatabaseEndpoint,
): Promise<string[]> {
  const { primary, standby, network } = pair
  const [gateway] = await startGateways(context, parts, endpoint.url, ['asynchronous'])
  const acknowledged = nothingAcknowledged()
  const account = await openAccount(gateway!.url, 'careless', acknowledged)
  await primary.configure({ synchronous_standby_names: '' })
  await primary.settleStandbys()
  await network.cutFromEachOther()
  const begin = performance.now()
  await runCallers(2, () => performance.now() - begin > 2_000, {
    ...{ accounts: [account], random: context.random.fork('control'), choose: () => gateway!.url },
    ...{ watchOf: () => ({}), acknowledged },
  })
  await primary.kill()
  await standby.promote()
  endpoint.leadTo(standby)
  await gateway!.stop()
  const database = createDatabase({ url: standby.url, pool: 1, log: silent })
  const { lost } = await countDatabase(database, acknowledged).finally(() => database.close())
  context.say(
    `control: ${acknowledged.commits.length} commits were acknowledged by an asynchronous pair, ${lost} are lost`,
  )
  return lost > 0 ? [] : ['The control was not caught: an asynchronous standby lost nothing.']
}

async function proveWithin(context: ProofContext): Promise<ProofResult> {
  const trials = context.setting('FAILOVERS', 20)
  const pair = await openPair(context)
  const endpoint = await startDatabaseEndpoint(context, pair.primary, [pair.standby])
  const { url } = endpoint
  const parts = await startParts(context, 1, async () => ({ url, stop: async () => {} }))
  const gateways = await startGateways(context, parts, url, ['gateway-0', 'gateway-1'])
  const pids = gateways.map((gateway) => gateway.pid())
  const choose = chooseReady(gateways, context.random.fork('buyers'))
  const work = await startWork(context, parts, gateways, { others: buyerNames })
  const { acknowledged } = work
  const base = gateways[0]!.url
  const witness = await openAccount(base, 'witness', acknowledged)
  const buyers = await openBuyers(parts, { base, choose, random: context.random.fork('buys'), acknowledged })
  let isOver = false
  const buying = buyers.run(() => isOver)
  context.afterwards(() => {
    isOver = true
    return Promise.allSettled([buying])
  })
  const count = () => acknowledged.commits.length + acknowledged.signUps.length + buyers.paid.length
  const random = context.random.fork('faults')
  const reasons: string[] = []
  const pauses: number[] = []

  for (let trial = 0; trial < trials; trial += 1) {
    const fault = faults[trial % faults.length]!
    await protect(pair)
    const before = count()
    await until('callers are at work', () => count() > before + 10, 60_000)
    await delay(random.below(1_000))
    await inflict(fault, pair)
    const cut = performance.now()
    // Wait until all pending requests hang and all earlier responses are counted. Some waits are so long that gateways time out on their
    // own.
    await delay((trial % LONG_EVERY === 1 ? LONG : SHORT) + random.below(3_000))
    await pair.standby.promote()
    endpoint.leadTo(pair.standby)
    const promoted = performance.now()
    const told = count()
    await until('a write is acknowledged', () => count() > told, 60_000)
    const first = performance.now() - promoted
    await haveNoticed(gateways, witness, trial, acknowledged)
    const back = performance.now() - promoted
    pauses.push(back)
    const past = pair.primary
    Object.assign(pair, { primary: pair.standby, standby: past })
    await pair.network.heal()
    await replaceStandby(pair)
    const away = ((promoted - cut) / 1_000).toFixed(1)
    context.say(
      `${trial + 1} of ${trials}: ${fault}; promoted after ${away} s, writes back ${first.toFixed(0)} ms later, by each gateway ${back.toFixed(0)} ms`,
    )
  }
  await protect(pair)
  isOver = true
  await buying
  if (gateways.some((gateway, index) => gateway.pid() !== pids[index])) reasons.push('A gateway was restarted.')
  const slowest = Math.max(...pauses)
  if (slowest > BACK) reasons.push(`It took ${slowest.toFixed(0)} ms until writes were back.`)
  // Connect directly to the server, not through HAProxy, which is under test.
  const database = createDatabase({ url: pair.primary.url, pool: 2, log: silent })
  context.afterwards(() => database.close())
  const bought = await judgeBuyers(database, buyers)
  const judged = await work.judge([200, 409, 503])
  reasons.push(...judged.reasons, ...bought.reasons)
  const direct = await countDatabase(database, acknowledged)
  if (direct.lost + direct.double > 0) reasons.push('The primary itself does not have what callers were told.')
  reasons.push(...(await catchAsynchronous(context, parts, pair, endpoint)))
  const sorted = [...pauses].sort((a, b) => a - b)
  return conclude({
    figure:
      `${judged.lost + bought.lost} lost, ${judged.double + bought.double} double of ${count()}; writes back ` +
      `${sorted[Math.floor(sorted.length / 2)]!.toFixed(0)} ms (p50) and ${slowest.toFixed(0)} ms (most) after the promotion by each gateway`,
    n: count(),
    faultsInjected: trials + 1,
    reasons,
  })
}

export const proveFailover = (context: ProofContext): Promise<ProofResult> => inOwnNetwork('F34', context, proveWithin)
