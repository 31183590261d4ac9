/**
 * F31: soak test for half an hour over REST and GraphQL, with a fault every ten seconds. The invariants hold every minute, and no
 * acknowledged write is lost or duplicated. A gateway that is never killed does not leak memory or file descriptors.
 */
import { chmod, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { int, statement, text, uuid } from '../src/db/sql.ts'
import { type ChainProxy, startChainProxy } from '../test/support/chain-proxy.ts'
import { until } from '../test/support/eventually.ts'
import { findFreePort } from '../test/support/free-port.ts'
import { trySend } from '../test/support/http-client.ts'
import { startMailServer } from '../test/support/mail-server.ts'
import { type PostgresServer, startPostgresServer } from '../test/support/postgres-server.ts'
import { startReceiver } from '../test/support/receiver.ts'
import { type Backend, startBalancer } from './harness/balancer.ts'
import { nothingAcknowledged, openAccount } from './harness/callers.ts'
import { openCoins } from './harness/coins.ts'
import { createGateway, type Gateway, startWithRetries } from './harness/gateway.ts'
import { type Sample, slopeOf } from './harness/growth.ts'
import { describeOpen, idsOf, judgeChain, quiesce } from './harness/judgement.ts'
import { residentMemory } from './harness/memory.ts'
import { startMixedLoad } from './harness/mixed-load.ts'
import { brokenInvariants, startParts } from './harness/parts.ts'
import { mailsAway } from './harness/people.ts'
import { type PostgresProxy, startPostgresProxy } from './harness/postgres-proxy.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { randomBytes } from './harness/random-bytes.ts'
import { runSql } from './harness/run-sql.ts'
import { addApp } from './harness/sales.ts'
import { mountSmallDisk } from './harness/small-disk.ts'
import { soakDeeds } from './harness/soak-deeds.ts'
import { DISK, EVERY, type SoakFault, type SoakScene, soakFaults } from './harness/soak-faults.ts'
import { addService, readUserId } from './harness/store.ts'
import { tally } from './harness/tally.ts'

/** Interval between samples, in milliseconds. */
const SAMPLE_EVERY = 2_000
const CHECK_EVERY = 60_000
/** Interval between deposits, in milliseconds. */
const DEPOSIT_EVERY = 8_000
/** Maximum growth per minute of the gateway that is not killed: MiB of memory and number of descriptors. */
const MOST_SLOPE = { memory: 1, descriptors: 0.5 }

/** Samples the resources of a process that is never killed. */
function watchHoldings(gateway: Gateway) {
  const pid = gateway.pid()!
  const memory: Sample[] = []
  const descriptors: Sample[] = []
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      const at = performance.now()
      memory.push({ at, value: await residentMemory(pid) })
      descriptors.push({ at, value: (await readdir(`/proc/${pid}/fd`)).length })
      await delay(SAMPLE_EVERY)
    }
  })()
  watching.catch(() => undefined)
  return {
    memory,
    descriptors,
    async stop() {
      isOver = true
      await watching
    },
  }
}

/** Returns the growth per minute after the warm-up phase, in which a process fills its caches. */
const slopesOf = (
  { memory, descriptors }: Pick<ReturnType<typeof watchHoldings>, 'memory' | 'descriptors'>,
  warm: number,
) => {
  const late = (samples: Sample[]) =>
    samples.filter(({ at }) => at >= samples[0]!.at + warm * (samples.at(-1)!.at - samples[0]!.at))
  return { memory: slopeOf(late(memory)), descriptors: slopeOf(late(descriptors)) }
}

const messages = statement(
  'proof_soak_messages',
  { columns: { id: text } },
  `select message as id from commits where message <> ''`,
)
const usernames = statement('proof_soak_usernames', { columns: { id: text } }, 'select username as id from users')
const withdrawals = statement(
  'proof_soak_withdrawals',
  { parameters: { user: uuid }, columns: { count: int } },
  'select count(*)::int as count from withdrawals where wallet_id = $user',
)
const paidOrders = statement(
  'proof_soak_paid',
  { columns: { count: int } },
  'select count(*)::int as count from orders where paid_at is not null',
)

async function openDatabase({ dir, afterwards }: ProofContext): Promise<PostgresServer> {
  // PostgreSQL runs as another user, and needs access to the folder.
  await chmod(dir, 0o711)
  const postgres = await startPostgresServer({
    dir: join(dir, 'primary'),
    hosts: ['127.0.0.1'],
    port: await findFreePort(),
  })
  afterwards(postgres.kill)
  return postgres
}

export async function proveSoak(context: ProofContext): Promise<ProofResult> {
  const minutes = context.setting('MINUTES', 30)
  const postgres = await openDatabase(context)
  const parts = await startParts(context, 1, async () => ({ url: postgres.url, stop: async () => {} }))
  const disk = await mountSmallDisk(context, join(context.dir, 'blocks'), DISK)
  const mailServer = await startMailServer(context.afterwards)
  const receiver = { mood: 204, failures: 0 }
  const sink = await startReceiver(context.afterwards, (response) => {
    if (receiver.mood !== 204) receiver.failures += 1
    // 0 means: no response until the caller times out.
    if (receiver.mood > 0) response.writeHead(receiver.mood).end()
  })

  const proxies: PostgresProxy[] = []
  const chains: ChainProxy[] = []
  const gateways: Gateway[] = []
  const backends: Backend[] = []
  for (const name of ['stayer', 'victim']) {
    const proxy = await startPostgresProxy(context, parts.databaseUrl)
    const chain = await startChainProxy(context.afterwards, parts.rpcUrl)
    const healthPort = await findFreePort()
    const gateway = await createGateway(context, name, {
      ...parts.env,
      ALLOW_INSECURE_WEBHOOKS: 'true',
      CHAIN_RPC_URL: chain.url,
      DATABASE_URL: proxy.urlFor(name),
      HEALTH_PORT: String(healthPort),
      LIMITS: `${parts.env.LIMITS},upload=1000000`,
      WITHDRAWALS_PER_DAY: '1000000',
      SMTP_URL: mailServer.url,
      TRUSTED_PROXIES: '127.0.0.1',
    })
    // Start one after the other, because the first gateway writes data that both need.
    await startWithRetries(gateway)
    proxies.push(proxy)
    chains.push(chain)
    gateways.push(gateway)
    backends.push({ name, url: gateway.url, healthPort })
  }
  const [stayer, victim] = gateways as [Gateway, Gateway]
  const balancer = await startBalancer(context, 'haproxy', backends)
  for (const backend of backends) await balancer.isUsed(backend)

  const open = (username: string) => openAccount(stayer.url, username, nothingAcknowledged())
  const [seller, buyer, saver] = [await open('seller'), await open('buyer'), await open('saver')]
  const saverId = await readUserId(parts.database, 'saver')
  const app = await addApp(parts, { seller: { id: await readUserId(parts.database, seller.username) } }, sink.url)
  const { deeds, bought } = soakDeeds({ buyer, saver, app: app.id, apiKey: await addService(parts) })
  const coins = await openCoins(parts, saverId)
  // An account can request only 60 withdrawals per hour, so wait until it has a balance.
  await coins.credited(await coins.send(), 60_000)
  const load = await startMixedLoad(context, balancer.url, {
    callers: context.setting('CALLERS', 8),
    rest: 400,
    deeds,
    openAt: stayer.url,
  })
  const watch = watchHoldings(stayer)
  const pid = stayer.pid()

  const files = context.random.fork('files')
  const sendLarge = async () => {
    // Use unique random blocks, because blocks that already exist need no disk space.
    const large = new File([new Uint8Array(randomBytes(files, 2_500_000))], 'large.bin')
    const message = { method: 'POST', path: '/api/v3/assets/', token: seller.token, multipart: { asset_file: large } }
    return (await trySend(balancer.url, message)).status
  }
  const scene: SoakScene = {
    ...{ context, parts, proxies, chains, victim, backend: backends[1]! },
    ...{ mailServer, sink: receiver, disk, postgres, sendLarge, balancer },
  }
  const faults = soakFaults(scene)
  const reasons: string[] = []
  const counts = new Map(faults.map(({ name }) => [name, 0]))
  const begin = performance.now()
  const isOver = () => performance.now() - begin > minutes * 60_000
  let checks = 0
  const checking = (async () => {
    while (!isOver()) {
      await delay(CHECK_EVERY)
      // Retry, because PostgreSQL may be down.
      const broken = await until(
        'the invariants can be asked',
        () => brokenInvariants(parts.database).catch(() => undefined),
        60_000,
        1_000,
      )
      checks += 1
      reasons.push(...broken.map((each) => `In minute ${checks}: ${each}`))
      const slopes = watch.memory.length > 60 ? slopesOf(watch, 0.34) : undefined
      context.say(
        `minute ${checks}: ${load.tries.length} requests, ${[...counts.values()].reduce((a, b) => a + b, 0)} faults felt, ` +
          `${watch.memory.at(-1)!.value.toFixed(0)} MiB, ${watch.descriptors.at(-1)!.value} descriptors` +
          `, commits that are not final: ${await describeOpen(parts).catch(() => 'cannot be asked')}` +
          (slopes ? `, ${slopes.memory.toFixed(2)} MiB and ${slopes.descriptors.toFixed(2)} descriptors a minute` : ''),
      )
    }
  })()
  const paying = (async () => {
    while (!isOver()) {
      // The node may reject a deposit while the chain is being changed.
      await coins.send().catch(() => undefined)
      await delay(DEPOSIT_EVERY)
    }
  })()
  const beside = Promise.all([checking, paying])
  beside.catch(() => undefined)

  // Runs each kind of fault once before any repeats. The seed determines the order.
  const order = context.random.fork('order')
  const struck: Promise<unknown>[] = []
  let planned = 0
  let carriedOut = 0
  for (let waiting: SoakFault[] = []; !isOver(); ) {
    if (waiting.length === 0) waiting = order.shuffle(faults)
    const fault = waiting.pop()!
    planned += 1
    const happened = fault.happen().then((times) => {
      if (times === 0) return
      counts.set(fault.name, counts.get(fault.name)! + 1)
      carriedOut += 1
    })
    happened.catch(() => undefined)
    struck.push(happened)
    // The next fault starts after its interval, when the previous fault has ended.
    await Promise.all([happened, delay(EVERY)])
  }
  await Promise.all(struck)
  await beside
  await load.stop()
  await watch.stop()
  context.say(
    `${carriedOut} of ${planned} faults were carried out: ${[...counts].map(([name, count]) => `${count} ${name}`).join(', ')}`,
  )
  for (const [name, count] of counts)
    if (count === 0) reasons.push(`"${name}" was never carried out: the run is invalid.`)
  if (stayer.pid() !== pid || !stayer.isReady()) reasons.push('The gateway that nobody kills ended.')

  await quiesce(parts)
  await mailsAway(parts.database, 180_000)
  reasons.push(...load.acknowledged.surprises.slice(0, 10), ...(await load.finishFeeds()))
  const { lost, double } = await judgeEffects()
  reasons.push(
    ...(await judgeChain(parts)),
    ...(await coins.judgeCredits()),
    ...(await brokenInvariants(parts.database)),
  )
  async function judgeEffects() {
    const commits = tally(load.acknowledged.commits, await idsOf(parts.database, messages))
    const people = tally(load.acknowledged.signUps, await idsOf(parts.database, usernames))
    const [taken] = await parts.database.query(withdrawals, { user: saverId })
    const [sold] = await parts.database.query(paidOrders)
    if (taken!.count === 0) reasons.push('Nothing was withdrawn: the run is invalid.')
    if (taken!.count !== bought.withdrawals.length)
      reasons.push(`${bought.withdrawals.length} withdrawals were acknowledged, ${taken!.count} are there.`)
    if (sold!.count !== bought.paid.length)
      reasons.push(`${bought.paid.length} orders were acknowledged as paid, ${sold!.count} are.`)
    const found = { lost: commits.lost.length + people.lost.length, double: commits.double.length }
    if (found.lost + found.double > 0)
      reasons.push(`${found.lost} lost, ${found.double} double, such as ${commits.lost[0] ?? commits.double[0]}.`)
    return found
  }
  const slopes = slopesOf(watch, 0.34)
  for (const [what, most] of Object.entries(MOST_SLOPE)) {
    const slope = slopes[what as keyof typeof slopes]
    if (slope > most) reasons.push(`The gateway that nobody kills holds ${slope.toFixed(2)} more ${what} each minute.`)
  }
  for (const gateway of gateways) {
    const code = await gateway.stop()
    if (code !== 0) reasons.push(`${gateway.name} ended with ${code} on SIGTERM.`)
  }
  reasons.push(...(await catchControls(scene)))
  const requests = load.tries.length
  return conclude({
    figure:
      `${lost} lost, ${double} double, invariants held at ${checks} checks in ${minutes} min; ${slopes.memory.toFixed(2)} MiB and ` +
      `${slopes.descriptors.toFixed(2)} descriptors more a minute; ${bought.paid.length} orders, ${bought.withdrawals.length} withdrawals, ${bought.left} left`,
    n: requests,
    faultsInjected: carriedOut,
    reasons: reasons.slice(0, 20),
  })
}

/** Faults that only count if a request is affected by them. */
const FELT_BY_SOMEBODY = /^(PostgreSQL hung|PostgreSQL away|chain hangs|chain away|mail server fails|receiver)/

/** Returns how many faults are counted without any requests. It must be zero. */
async function countWithNobody(scene: SoakScene): Promise<number> {
  const { context, parts } = scene
  const proxies = [await startPostgresProxy(context, parts.databaseUrl)]
  const chains = [await startChainProxy(context.afterwards, parts.rpcUrl)]
  const mailServer = await startMailServer(context.afterwards)
  const deserted = { ...scene, proxies, chains, mailServer, sink: { mood: 204, failures: 0 } }
  let counted = 0
  for (const { name, happen } of soakFaults(deserted))
    if (FELT_BY_SOMEBODY.test(name) && (await happen()) > 0) counted += 1
  return counted
}

/**
 * Controls: a gateway that leaks memory per request must be detected, and so must points that no transfer explains. Faults that affect no
 * request must not count.
 */
async function catchControls(scene: SoakScene): Promise<string[]> {
  const { context, parts } = scene
  const hoarder = await createGateway(context, 'hoarder', {
    ...parts.env,
    NODE_OPTIONS: `--import ${join(import.meta.dirname, 'harness/hoarding-gateway.ts')}`,
  })
  await hoarder.start()
  const watch = watchHoldings(hoarder)
  const begin = performance.now()
  // Slow enough not to run out of memory before the growth is detected.
  for (; performance.now() - begin < 40_000; await delay(20)) await trySend(`${hoarder.url}/version`)
  await watch.stop()
  await hoarder.stop()
  const slopes = slopesOf(watch, 0.34)
  context.say(`control: ${slopes.memory.toFixed(0)} MiB and ${slopes.descriptors.toFixed(0)} descriptors a minute`)
  const reasons: string[] = []
  if (slopes.memory <= MOST_SLOPE.memory || slopes.descriptors <= MOST_SLOPE.descriptors)
    reasons.push('The control was not caught: a gateway that keeps something of each request does not grow.')
  const counted = await countWithNobody(scene)
  if (counted > 0) reasons.push(`The control was not caught: ${counted} faults count that nobody met.`)
  await runSql(
    parts.database,
    `update wallets set points = points + 1 where user_id = (select min(user_id::text)::uuid from wallets)`,
  )
  if ((await brokenInvariants(parts.database)).length === 0)
    reasons.push('The control was not caught: a point that nobody booked breaks nothing.')
  return reasons
}
