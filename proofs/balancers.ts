/**
 * balancers: two and four gateways behind HAProxy and behind nginx, as `deploy/` configures them, and below a supervisor. One is killed under
 * load, and then all are exchanged one after the other: no request fails but those that were under way at the killed one.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { arrayOf, int, statement, text } from '../src/domain/sql.ts'
import { findFreePort } from '../src/platform/embedded/child-process.ts'
import { until } from '../test/support/eventually.ts'
import { trySend } from '../test/support/http-client.ts'
import { type Backend, type Balancer, type BalancerKind, startBalancer } from './harness/balancer.ts'
import { judgeRules } from './harness/balancer-rules.ts'
import { createGateway, type Gateway, startAsSupervisor } from './harness/gateway.ts'
import { countDatabase, judgeChain, judgeDatabase, quiesce } from './harness/judgement.ts'
import { type MixedLoad, startMixedLoad, type Try } from './harness/mixed-load.ts'
import { brokenInvariants, type Parts, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'

/** Seconds: HAProxy has noticed after two looks at most a second apart. */
const SHUTDOWN_DELAY = '4'
/** Requests that are answered between two steps. */
const BETWEEN = 40
/** Of the balancer that looks at nobody. */
const LOOKS = 20

/** What failed, from one moment to another, by `performance.now()`. */
interface Phase {
  /** Tries that were sent in it. */
  sent: number
  failed: Try[]
}

interface SceneResult {
  reasons: string[]
  requests: number
  /** Failed because they were under way at the one that was killed. */
  underWay: number
  resumes: number
  faults: number
  lost: number
  double: number
}

/** Whoever can be killed and exchanged below the load. */
interface Crew {
  /** Where callers come. */
  url: string
  /** SIGKILL for one of them, now. Returns its process. */
  kill(): number
  /** Has the killed one come back. */
  revive(): Promise<void>
  /** Stops each by SIGTERM in turn, and has another take its place. Returns how many. */
  exchange(): Promise<number>
  /** A sentence for each that does not end as it should. */
  stop(): Promise<string[]>
}

const answers = (load: MixedLoad) => {
  const before = load.tries.length
  return until('callers are answered', () => load.tries.length >= before + BETWEEN, 120_000, 20)
}

const failedIn = ({ tries }: MixedLoad, from: number, to: number): Phase => {
  const sent = tries.filter(({ endedAt, sentAt }) => endedAt >= from && sentAt <= to)
  return { sent: sent.length, failed: sent.filter(({ verdict }) => verdict !== 'done') }
}

const describe = (failed: readonly Try[], since: number) =>
  failed
    .slice(0, 4)
    .map(
      ({ what, verdict, sentAt, endedAt }) =>
        `${what} ${verdict} (${(sentAt - since).toFixed(0)} to ${(endedAt - since).toFixed(0)} ms)`,
    )
    .join(', ')

async function judgeUnderLoad(
  context: ProofContext,
  parts: Parts,
  crew: Crew,
  whileKilled: () => Promise<string[]>,
): Promise<SceneResult> {
  const load = await startMixedLoad(context, crew.url, { callers: context.setting('CALLERS', 8) })
  const reasons: string[] = []
  await answers(load)
  const peace = failedIn(load, 0, performance.now())
  if (peace.failed.length > 0)
    reasons.push(`${peace.failed.length} requests failed in peace: ${describe(peace.failed, 0)}.`)

  await until('requests are under way', () => load.underWay() >= 3, 30_000, 1)
  const killedAt = performance.now()
  const killed = crew.kill()
  // Until then its sockets take what is sent: the system gives its memory back first.
  await until('the killed one is gone', async () => !isAlive(killed), 10_000, 1)
  const goneAt = performance.now()
  await answers(load)
  reasons.push(...(await whileKilled()))
  await crew.revive()
  await answers(load)
  const rollingAt = performance.now()
  const afterKill = failedIn(load, killedAt, rollingAt)
  const underWay = afterKill.failed.filter(({ sentAt }) => sentAt <= goneAt)
  const late = afterKill.failed.filter(({ sentAt }) => sentAt > goneAt)
  if (late.length > 0)
    reasons.push(`${late.length} of ${afterKill.sent} requests after the kill failed: ${describe(late, goneAt)}.`)

  const exchanged = await crew.exchange()
  await answers(load)
  await load.stop()
  const rolling = failedIn(load, rollingAt, performance.now())
  if (rolling.failed.length > 0) {
    const what = describe(rolling.failed, rollingAt)
    reasons.push(`${rolling.failed.length} of ${rolling.sent} requests failed in the exchange: ${what}.`)
  }
  reasons.push(...load.acknowledged.surprises.slice(0, 5), ...(await load.finishFeeds()))
  const resumes = load.feeds.reduce((sum, feed) => sum + feed.resumes, 0)
  if (resumes === 0) reasons.push('No stream was resumed: the run is invalid.')
  if (load.told() === 0) reasons.push('No subscription was told anything: the run is invalid.')
  await quiesce(parts)
  reasons.push(...(await judgeDatabase(parts, load.acknowledged)), ...(await brokenInvariants(parts.database)))
  reasons.push(...(await judgeChain(parts)), ...(await crew.stop()))
  const counts = await countDatabase(parts.database, load.acknowledged)
  return { reasons, requests: load.tries.length, underWay: underWay.length, resumes, faults: 1 + exchanged, ...counts }
}

const common = {
  TRUSTED_PROXIES: '127.0.0.1',
  LIMIT_REQUESTS_PER_IP: '100000000',
  LIMIT_REQUESTS_PER_TOKEN: '100000000',
  LIMIT_UPLOADS_PER_USER: '1000000',
}

/** The control: a balancer that looks at nobody and asks nobody else. */
const blind = (file: string) =>
  file
    .replace(/ check port \d+$/gm, '')
    .replace('default-server check port 4001', 'default-server')
    .replace(/^ {4}(option redispatch|retry-on) .*$/gm, '')
    .replace(/^ {4}retries 3$/m, '    retries 0')

async function openBalanced(context: ProofContext, parts: Parts, kind: BalancerKind, count: number) {
  const gateways: Gateway[] = []
  const backends: Backend[] = []
  for (let index = 0; index < count; index += 1) {
    const name = `gateway-${index}`
    const healthPort = await findFreePort()
    const own = { HEALTH_PORT: String(healthPort), SHUTDOWN_DELAY_SECONDS: SHUTDOWN_DELAY }
    const gateway = await createGateway(context, name, { ...parts.env, ...common, ...own })
    // One after the other: the first one writes what all need.
    await startAsSupervisor(gateway)
    gateways.push(gateway)
    backends.push({ name, url: gateway.url, healthPort })
  }
  const balancer: Balancer = await startBalancer(context, kind, backends)
  for (const backend of backends) await balancer.isUsed(backend)
  const codes: string[] = []
  const stop = async (gateway: Gateway) => {
    const code = await gateway.stop()
    if (code !== 0) codes.push(`${gateway.name} ended with ${code} on SIGTERM.`)
  }
  const crew: Crew = {
    url: balancer.url,
    kill() {
      const pid = gateways[0]!.pid()!
      gateways[0]!.kill()
      return pid
    },
    async revive() {
      await startAsSupervisor(gateways[0]!)
      await balancer.isUsed(backends[0]!)
    },
    async exchange() {
      for (const [index, gateway] of gateways.entries()) {
        await balancer.takeOut(backends[index]!)
        await stop(gateway)
        await startAsSupervisor(gateway)
        await balancer.takeIn(backends[index]!)
        await balancer.isUsed(backends[index]!)
      }
      return count
    },
    async stop() {
      await Promise.all(gateways.map(stop))
      return codes
    },
  }
  const whileKilled = async () => {
    if (kind !== 'haproxy') return []
    const control = await startBalancer(context, kind, backends, blind)
    let failed = 0
    for (let look = 0; look < LOOKS; look += 1)
      if ((await trySend(`${control.url}/version`)).status !== 200) failed += 1
    context.say(`control: a balancer that looks at nobody fails ${failed} of ${LOOKS}`)
    return failed > 0 ? [] : ['The control was not caught: a balancer that looks at nobody fails nobody.']
  }
  return { crew, whileKilled }
}

const findWorkers = statement(
  'proof_workers',
  { columns: { names: arrayOf(text), count: int } },
  `select coalesce(array_agg(name order by name), '{}') as names, count(*)::int as count from processes where name like '% http-%'`,
)

async function openSupervised(context: ProofContext, parts: Parts, count: number) {
  const healthPort = String(await findFreePort())
  const gateway = await createGateway(context, 'supervisor', {
    ...{ ...parts.env, ...common, HEALTH_PORT: healthPort },
    WEB_CONCURRENCY: String(count),
  })
  await gateway.start()
  const isWhole = async () => {
    const { text: said } = await trySend(`http://127.0.0.1:${healthPort}/readyz`)
    return said === '{"status":"ok"}'
  }
  const whole = () => until('all workers serve', isWhole, 120_000, 50)
  await whole()
  /** Process identifiers by the names of workers. Those that died are named for a while. */
  const pids = async () => {
    const [found] = await parts.database.query(findWorkers)
    return new Map(
      found!.names.flatMap((name) => {
        const [place, worker] = name.split(' ')
        const pid = Number(place!.split(':')[1])
        return isAlive(pid) ? [[worker!, pid] as const] : []
      }),
    )
  }
  let victim: number | undefined
  const known = await pids()
  const replaced = async (worker: string, pid: number) => {
    await until(
      `${worker} is replaced`,
      async () => ((await pids()).get(worker) ?? pid) !== pid && isWhole(),
      600_000,
      100,
    )
  }
  const crew: Crew = {
    url: gateway.url,
    kill() {
      victim = known.get('http-1')!
      process.kill(victim, 'SIGKILL')
      return victim
    },
    revive: () => replaced('http-1', victim!),
    async exchange() {
      for (const [worker, pid] of await pids()) {
        process.kill(pid, 'SIGTERM')
        await replaced(worker, pid)
      }
      return count
    },
    async stop() {
      const code = await gateway.stop()
      return code === 0 ? [] : [`The supervisor ended with ${code} on SIGTERM.`]
    },
  }
  return { crew, whileKilled: async () => [] }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** One scene with parts of its own, which end with it. */
async function inScene(context: ProofContext, name: string, work: (scene: ProofContext) => Promise<SceneResult>) {
  const dir = join(context.dir, name.replaceAll(' ', '-'))
  await mkdir(dir)
  const endings: (() => Promise<unknown>)[] = []
  let isOver = false
  const end = async () => {
    if (isOver) return
    isOver = true
    for (const each of endings) await each()
  }
  context.afterwards(end)
  const scene = { ...context, dir, afterwards: (each: () => Promise<unknown>) => void endings.unshift(each) }
  const result = await work(scene)
  context.say(
    `${name}: ${result.requests} requests, ${result.underWay} under way at the killed one, ${result.resumes} streams resumed, ` +
      `${result.lost} lost, ${result.double} double${result.reasons.length > 0 ? `; ${result.reasons.length} reasons` : ''}`,
  )
  for (const reason of result.reasons) context.say(`${name}: ${reason}`)
  await end()
  return { ...result, reasons: result.reasons.map((reason) => `${name}: ${reason}`) }
}

export async function proveBalancers(context: ProofContext): Promise<ProofResult> {
  const most = context.setting('GATEWAYS', 4)
  const reasons: string[] = []
  for (const kind of ['haproxy', 'nginx'] as const) {
    reasons.push(...(await judgeRules(context, kind)))
    const careless = (file: string) =>
      file
        .replace(/^.*disable-l7-retry.*$/m, '')
        .replace('proxy_next_upstream error timeout;', 'proxy_next_upstream error timeout non_idempotent;')
    const caught = await judgeRules(context, kind, careless)
    context.say(`control: a ${kind} that repeats everything: ${caught.join(' ')}`)
    if (!caught.some((reason) => reason.includes('times')))
      reasons.push(`The control was not caught: a ${kind} that repeats everything repeats nothing.`)
  }
  const results: SceneResult[] = []
  for (const count of [2, 4].filter((each) => each <= most)) {
    for (const kind of ['haproxy', 'nginx', 'supervisor'] as const) {
      const result = await inScene(context, `${count} behind ${kind}`, async (scene) => {
        const parts = await startParts(scene)
        const opened =
          kind === 'supervisor'
            ? await openSupervised(scene, parts, count)
            : await openBalanced(scene, parts, kind, count)
        return judgeUnderLoad(scene, parts, opened.crew, opened.whileKilled)
      })
      results.push(result)
    }
  }
  reasons.push(...results.flatMap((result) => result.reasons))
  const sum = (key: 'requests' | 'underWay' | 'resumes' | 'faults' | 'lost' | 'double') =>
    results.reduce((all, result) => all + result[key], 0)
  return conclude({
    figure: `${sum('underWay')} of ${sum('requests')} requests failed, all under way at a killed gateway; ${sum('lost')} lost, ${sum('double')} double; ${sum('resumes')} streams resumed without a gap`,
    n: sum('requests'),
    faultsInjected: sum('faults'),
    reasons: reasons.slice(0, 30),
  })
}
