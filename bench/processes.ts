/**
 * `npm run bench -- processes [seconds] [rounds]`: what a read costs in processor time when one, two and four gateways serve at once, on one PostgreSQL.
 * Each gateway that takes part has the same callers, and the gateways that do not take part stand idle; all numbers of gateways take turns in each
 * round, and of each number every gateway has its turn, so that none is better warmed than another. What a gateway takes that stands idle is measured, too,
 * and told beside it and taken off: the fewer requests a machine leaves time for, the more of that would fall on each.
 * Read the ratios: on a machine with fewer processors than gateways, requests a second say nothing of what more processors would give. Processor time
 * of PostgreSQL stands beside it: where that grows with the gateways, the database pays for them.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { nothingAcknowledged, openAccount } from '../proofs/harness/callers.ts'
import { cpuTime } from '../proofs/harness/cpu.ts'
import { createGateway, type Gateway, startWithRetries } from '../proofs/harness/gateway.ts'
import { startParts } from '../proofs/harness/parts.ts'
import { createRandom } from '../proofs/harness/random.ts'
import { graphqlMessage } from '../test/support/graphql-client.ts'
import { type Message, send } from '../test/support/http-client.ts'

const SECONDS = Number(process.argv[3] ?? 8)
const ROUNDS = Number(process.argv[4] ?? 3)
const COUNTS = [1, 2, 4]
const CALLERS_OF_EACH = 12
const WARM_UP_REQUESTS = 5_000

/** What so many gateways took in a round: milliseconds of processor time a request, without what they take that stand idle. */
interface Turn {
  gateways: number
  postgres: number
  perSecond: number
}

/** Milliseconds of processor time, of time that passed, and requests. */
interface Spent {
  gateways: number
  postgres: number
  passed: number
  requests: number
}

/** Of the server and all that it has forked, those that are gone included. Milliseconds. */
async function postgresTime(dir: string): Promise<number> {
  const postmaster = Number((await readFile(join(dir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
  let sum = 0
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    if (Number(name) === postmaster || parent === postmaster) sum += cpuTime(Number(name))
  }
  return sum
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1]!

const endings: (() => Promise<unknown>)[] = []
const dir = await mkdtemp(join(tmpdir(), 'annal-bench-processes-'))
endings.unshift(() => rm(dir, { recursive: true, force: true }))
const context = {
  ...{ dir, seed: 'bench', random: createRandom('bench') },
  say: (text: string) => void process.stderr.write(`${text}\n`),
  setting: (_name: string, fallback: number) => fallback,
  afterwards: (work: () => Promise<unknown>) => void endings.unshift(work),
}

async function measure() {
  const parts = await startParts(context)
  const gateways: Gateway[] = []
  for (let index = 0; index < Math.max(...COUNTS); index += 1) {
    const gateway = await createGateway(context, `gateway-${index}`, {
      ...parts.env,
      // What goes on by itself would be another process's, as where there are several; it is not needed to read.
      ROLES: 'http',
      LIMITS: 'requests-per-user=100000000,requests-per-address=100000000',
    })
    await startWithRetries(gateway)
    gateways.push(gateway)
  }
  const { token, nid } = await openAccount(gateways[0]!.url, 'reader', nothingAcknowledged())
  const query =
    'query ($id: ID!) { me { username } asset(id: $id) { caption commits(first: 5) { nodes { message } } } }'
  const reads: Message[] = [
    { method: 'GET', path: '/api/v3/auth/users/me/', token },
    { method: 'GET', path: `/api/v3/assets/${nid}/`, token },
    { method: 'POST', path: '/graphql', token, ...graphqlMessage(query, { id: nid }) },
  ]
  const agent = new Agent({ keepAlive: true })
  endings.unshift(async () => agent.destroy())

  /** Reads from these until `isOver`; returns how many answers there were. */
  const readFrom = async (some: readonly Gateway[], isOver: (done: number) => boolean) => {
    let done = 0
    const caller = async (index: number) => {
      const { url } = some[index % some.length]!
      for (let turn = index; !isOver(done); turn += 1) {
        const { status, text } = await send(url, reads[turn % reads.length]!, { agent })
        if (status !== 200) throw new Error(`A read was answered with ${status}: ${text}`)
        done += 1
      }
    }
    await Promise.all(Array.from({ length: some.length * CALLERS_OF_EACH }, (_, index) => caller(index)))
    return done
  }
  const spent = async (some: readonly Gateway[], work: () => Promise<number>): Promise<Spent> => {
    const times = async () => ({
      gateways: some.reduce((sum, gateway) => sum + cpuTime(gateway.pid()!), 0),
      postgres: await postgresTime(dir),
    })
    const before = await times()
    const begin = performance.now()
    const requests = await work()
    const passed = performance.now() - begin
    const after = await times()
    return { gateways: after.gateways - before.gateways, postgres: after.postgres - before.postgres, passed, requests }
  }
  const add = (a: Spent, b: Spent): Spent => ({
    gateways: a.gateways + b.gateways,
    postgres: a.postgres + b.postgres,
    passed: a.passed + b.passed,
    requests: a.requests + b.requests,
  })
  /** Each gateway once, `count` at a time; they share the seconds of a round. */
  const turnOf = async (count: number): Promise<Turn> => {
    let sum: Spent = { gateways: 0, postgres: 0, passed: 0, requests: 0 }
    const milliseconds = (SECONDS * 1_000 * count) / gateways.length
    for (let first = 0; first < gateways.length; first += count) {
      const some = gateways.slice(first, first + count)
      const begin = performance.now()
      const read = () => readFrom(some, () => performance.now() - begin > milliseconds)
      sum = add(sum, await spent(some, read))
    }
    return {
      gateways: (sum.gateways - idle.gateways * count * sum.passed) / sum.requests,
      postgres: (sum.postgres - idle.postgres * sum.passed) / sum.requests,
      perSecond: (sum.requests * 1_000) / sum.passed,
    }
  }

  await readFrom(gateways, (done) => done >= WARM_UP_REQUESTS * gateways.length)
  const still = await spent(gateways, async () => {
    await delay(SECONDS * 1_000)
    return 0
  })
  /** Of one gateway, and of PostgreSQL below all of them, for each millisecond that passes. */
  const idle = { gateways: still.gateways / still.passed / gateways.length, postgres: still.postgres / still.passed }
  const turns = new Map<number, Turn[]>(COUNTS.map((count) => [count, []]))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const count of round % 2 ? [...COUNTS].reverse() : COUNTS) turns.get(count)!.push(await turnOf(count))
    context.say(`round ${round + 1} of ${ROUNDS}, load ${loadavg()[0]!.toFixed(1)}`)
  }
  const of = (count: number, what: keyof Turn) => median(turns.get(count)!.map((turn) => turn[what]))
  const rows = COUNTS.map((count) => ({
    processes: count,
    'gateway ms/request': of(count, 'gateways').toFixed(3),
    '× one': (of(count, 'gateways') / of(1, 'gateways')).toFixed(3),
    'PostgreSQL ms/request': of(count, 'postgres').toFixed(3),
    'requests/s': of(count, 'perSecond').toFixed(0),
  }))
  process.stdout.write(`${availableParallelism()} processors, load ${loadavg()[0]!.toFixed(1)}\n`)
  const idleOf = (what: keyof typeof idle) => `${(idle[what] * 1_000).toFixed(1)} ms/s`
  process.stdout.write(`idle: a gateway ${idleOf('gateways')}, PostgreSQL ${idleOf('postgres')}\n`)
  for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`)
}

try {
  await measure()
} finally {
  for (const end of endings) await end()
}
