/**
 * `npm run bench -- growth [--sizes 100000,1000000] [--rounds 9] [--dir …]`: every operation of both doors and every page for administrators, and
 * the lists of somebody with a long history, at several sizes of the database, in turn. What counts is the processors' time, in the gateway and in
 * its sessions with PostgreSQL, so that it may be measured on a machine that does other things, too. Databases are kept for the next run
 * (336 MB for 100,000 commits).
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { adminShapes, goodAdminRequest } from '../../proofs/harness/fuzz-admin.ts'
import { goodGraphQLRequest, graphqlShapes } from '../../proofs/harness/fuzz-graphql.ts'
import { fuzzPeople } from '../../proofs/harness/fuzz-people.ts'
import type { FuzzRequest } from '../../proofs/harness/fuzz-requests.ts'
import { goodRestRequest, restShapes } from '../../proofs/harness/fuzz-rest.ts'
import { type FuzzScene, openFuzzScene } from '../../proofs/harness/fuzz-scene.ts'
import { createGateway, type Gateway } from '../../proofs/harness/gateway.ts'
import { createDatabase } from '../../src/db/database.ts'
import { checkInvariants } from '../../src/db/invariants/check-invariants.ts'
import { developmentKey, startEmbeddedAnvil } from '../../src/embedded/embedded-anvil.ts'
import { createClock, median, type Sample } from './clock.ts'
import { openPlace, type Place, silent } from './place.ts'
import { type Read, readsOf, sendRead } from './reads.ts'
import { measureWallets } from './wallet.ts'

const limits = Object.fromEntries(
  [
    'SIGN_UPS_PER_IP',
    'SIGN_INS_PER_IP',
    'RESETS_PER_IP',
    'OPEN_ORDERS_PER_USER',
    'REQUESTS_PER_TOKEN',
    'REQUESTS_PER_IP',
    'UPLOADS_PER_USER',
    'UNPAID_MEGABYTES_PER_USER',
  ].map((name) => [`LIMIT_${name}`, '100000000']),
)

/** A gateway on a database of one size, and who calls it. */
interface Stand {
  commits: number
  gateway: Gateway
  client: pg.Client
  scene: FuzzScene
  reads: Read[]
  clock: ReturnType<typeof createClock>
  samples: Map<string, Sample[]>
}

/** Milliseconds; told at once. */
const SLOW = 3_000

const say = (text: string) => void process.stderr.write(`${text}\n`)

async function openStand(
  place: Place,
  commits: number,
  rpcUrl: string,
  afterwards: (work: () => Promise<unknown>) => void,
): Promise<Stand> {
  const url = await place.databaseOf(commits)
  const client = new pg.Client({ connectionString: url, application_name: 'growth' })
  await client.connect()
  afterwards(() => client.end())
  const gateway = await createGateway({ dir: place.dir, afterwards }, `gateway-${commits}`, {
    ...place.env(url),
    ...limits,
    // Nothing else goes on in it.
    ROLES: 'http',
    CHAIN_RPC_URL: rpcUrl,
    CHAIN_RELAY_KEYS: developmentKey,
    CHAIN_DEPLOY_REGISTRY: 'true',
    LOG_LEVEL: 'warn',
    SIGN_UP_POINTS: '100000',
    WITHDRAWAL_COOLING_HOURS: '0',
    WITHDRAWALS_PER_DAY: '1000000',
    ALLOW_INSECURE_WEBHOOKS: 'true',
  })
  await gateway.start()
  const clock = createClock({ pid: gateway.pid()!, client })
  const samples = new Map<string, Sample[]>()
  const note = (target: string, sample: Sample) => {
    const found = samples.get(target) ?? []
    found.push(sample)
    samples.set(target, found)
  }
  const sql = async <Row>(text: string, values: unknown[]) => (await client.query(text, values)).rows as Row[]
  const scene = await openFuzzScene({
    url: gateway.url,
    newUser: fuzzPeople({ url: gateway.url, sql }),
    sql,
    hasChain: false,
    async watch(target, send) {
      const { answer, sample } = await clock.measure(send)
      if (sample.wall > SLOW) say(`${target} at ${commits}: ${Math.round(sample.wall)} ms`)
      if (answer.status < 400 && !/"errors":\[/.test(answer.text)) note(target, sample)
      return answer
    },
  })
  await client.query('vacuum (analyze)')
  const reads = await readsOf(gateway.url, client)
  return { commits, gateway, client, scene, reads, clock, samples }
}

/** Each operation once at each size, in turn, so that what else the machine does meets all alike. */
async function measureRound(stands: readonly Stand[], requests: readonly FuzzRequest[]) {
  for (const { clock } of stands) await clock.look()
  for (const request of requests) for (const { scene } of stands) await scene.send(request)
  for (const index of stands[0]!.reads.keys()) {
    for (const { reads, gateway, clock, samples } of stands) {
      const read = reads[index]
      if (!read) continue
      const { answer, sample } = await clock.measure(() => sendRead(gateway.url, read))
      if (!answer.isGood)
        throw new Error(`${read.name} was answered with ${answer.status}: ${answer.text.slice(0, 300)}`)
      samples.set(read.name, [...(samples.get(read.name) ?? []), sample])
    }
  }
}

const cpuOf = (samples: readonly Sample[]) => median(samples.map(({ gateway, database }) => gateway + database))
const databaseOf = (samples: readonly Sample[]) => median(samples.map(({ database }) => database))
const wallOf = (samples: readonly Sample[]) => median(samples.map(({ wall }) => wall))

const MOST = 1.3

function tableOf(stands: readonly Stand[]): string {
  const names = [...new Set(stands.flatMap(({ samples }) => [...samples.keys()]))]
  const rows = names.map((name) => {
    const figures = stands.map(({ samples }) => samples.get(name) ?? [])
    const first = figures[0]!
    const ratios = figures.slice(1).map((samples) => cpuOf(samples) / cpuOf(first))
    return { name, figures, worst: Math.max(...ratios), ratios }
  })
  const head = ['operation', ...stands.map(({ commits }) => commits.toLocaleString('en-US')), 'ratio']
  const lines = rows
    .toSorted((a, b) => b.worst - a.worst)
    .map(({ name, figures, ratios }) => [
      name,
      ...figures.map(
        (samples) => `${cpuOf(samples).toFixed(2)} (${databaseOf(samples).toFixed(2)}), ${wallOf(samples).toFixed(1)}`,
      ),
      ratios.map((ratio) => ratio.toFixed(2)).join(' '),
    ])
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...lines.map(line)].join('\n')
}

async function measureCheck(place: Place, commits: number) {
  const connections = 4
  const database = createDatabase({ url: await place.databaseOf(commits), pool: connections, log: silent })
  const started = performance.now()
  const findings = await checkInvariants(database, { connections })
  const seconds = (performance.now() - started) / 1_000
  await database.close()
  const broken = findings.filter(({ rows }) => rows.length > 0).map(({ invariant }) => invariant.id)
  return { seconds, broken }
}

/** Measures and prints; exits with 1 when something takes longer in a larger database. */
export async function measureGrowth(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      sizes: { type: 'string', default: '100000,1000000,10000000' },
      rounds: { type: 'string', default: '9' },
      dir: { type: 'string', default: '/tmp/annal-growth' },
      only: { type: 'string' },
      check: { type: 'boolean', default: false },
      wallets: { type: 'boolean', default: false },
    },
  })
  const ends: (() => Promise<unknown>)[] = []
  const afterwards = (work: () => Promise<unknown>) => void ends.unshift(work)
  const place = await openPlace(values.dir, say)
  afterwards(() => place.stop())
  try {
    const sizes = values.sizes.split(',').map(Number)
    if (values.check) {
      for (const commits of sizes) {
        const { seconds, broken } = await measureCheck(place, commits)
        say(`${commits} commits: checked in ${seconds.toFixed(1)} s; broken: ${broken.join(', ') || 'nothing'}`)
      }
      return
    }
    if (values.wallets) {
      for (const commits of sizes) {
        for (const sentence of await measureWallets(place, commits, afterwards)) say(sentence)
      }
      return
    }
    const chain = await startEmbeddedAnvil({ dir: join(values.dir, 'chain'), log: silent })
    afterwards(() => chain.stop())
    const stands: Stand[] = []
    for (const commits of sizes) {
      stands.push(await openStand(place, commits, chain.rpcUrl, afterwards))
      say(`${commits} commits: ready`)
    }
    const all = [
      ...graphqlShapes.map(goodGraphQLRequest),
      ...restShapes.map(goodRestRequest),
      ...adminShapes.map(goodAdminRequest),
    ]
    const requests = values.only ? all.filter(({ target }) => new RegExp(values.only!).test(target)) : all
    for (let round = 0; round <= Number(values.rounds); round += 1) {
      await measureRound(stands, requests)
      // The first one warms everything up.
      if (round === 0) for (const { samples } of stands) samples.clear()
      say(`round ${round}`)
      writeFileSync(join(values.dir, 'table.md'), `${tableOf(stands)}\n`)
    }
    process.stdout.write(`${tableOf(stands)}\n`)
    const never = requests
      .filter(({ target }) => stands.some(({ samples }) => !samples.has(target)))
      .map(({ target }) => target)
    say(`let in at no size or not at each: ${[...new Set(never)].join(', ') || 'nothing'}`)
    const slower = stands.slice(1).flatMap(({ commits, samples }) =>
      [...samples]
        .filter(([name, found]) => {
          const first = stands[0]!.samples.get(name)
          const tenfolds = Math.log10(commits / stands[0]!.commits)
          return first && cpuOf(found) > cpuOf(first) * MOST ** tenfolds
        })
        .map(([name]) => `${name} at ${commits}`),
    )
    say(`slower: ${slower.join(', ') || 'nothing'}`)
    if (slower.length) process.exitCode = 1
  } finally {
    for (const end of ends) await end().catch(() => undefined)
  }
}
