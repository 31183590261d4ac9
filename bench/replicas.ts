/**
 * `node bench/replicas.ts [requests]`: what a read replica takes off the primary. The same requests go to two gateways on one primary, one
 * without and one with its standby: reads alone, and reads among which every twentieth request writes. Neither does work in the background. Told is the processor time of
 * primary, standby and gateway for a thousand requests, which other work on the machine changes little, and from where reads came.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareDatabase } from '../src/platform/database/prepare-database.ts'
import { findFreePort } from '../src/platform/embedded/child-process.ts'
import { readPostmaster } from '../src/platform/embedded/postgres-cluster.ts'
import { until } from '../test/support/eventually.ts'
import { startPostgresServer } from '../test/support/postgres-server.ts'
import { startStandby } from '../test/support/standby.ts'

const REQUESTS = Number(process.argv[2] ?? 4_000)
const AT_ONCE = 16
const USERS = 10
const ASSETS = 4
const COMMITS = 10
const WRITE_EVERY = 20
/** Of the kernel's clock, in which it counts. */
const TICKS_A_SECOND = 100
const TOKEN = 'a-token-for-the-metrics'

const dir = await mkdtemp(join(tmpdir(), 'annal-bench-replicas-'))
// PostgreSQL does not run as whoever made it.
await chmod(dir, 0o755)
const primary = await startPostgresServer({
  dir: join(dir, 'primary'),
  hosts: ['127.0.0.1'],
  port: await findFreePort(),
})
await prepareDatabase(primary.url)
const standby = await startStandby(primary, join(dir, 'standby'))
const { pid: primaryPid } = (await readPostmaster(join(dir, 'primary', 'postgres')))!
const gateways: ChildProcess[] = []

async function startGateway(env: Record<string, string>) {
  const url = `http://127.0.0.1:${await findFreePort()}`
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'src/main.ts'], {
    env: {
      ...{ PATH: process.env.PATH, ANNAL_DIR: join(dir, 'annal'), DATABASE_URL: primary.url, LOG_LEVEL: 'error' },
      ...{ PORT: new URL(url).port, METRICS_TOKEN: TOKEN, LIMIT_SIGN_UPS_PER_IP: '1000000', ROLES: 'http' },
      ...{ LIMIT_REQUESTS_PER_IP: '100000000', LIMIT_REQUESTS_PER_TOKEN: '100000000', ...env },
    } as NodeJS.ProcessEnv,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  gateways.push(child)
  const ready = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('a gateway', ready, 120_000, 100)
  return { url, pid: child.pid! }
}
type Gateway = Awaited<ReturnType<typeof startGateway>>

async function ask(
  url: string,
  method: string,
  path: string,
  { token, json, form }: { token?: string; json?: unknown; form?: FormData } = {},
) {
  const answer = await fetch(url + path, {
    method,
    headers: {
      ...(token && { Authorization: `token ${token}` }),
      ...(json !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
    ...(form && { body: form }),
  })
  // A busy machine: somebody else had the connections for longer than anybody waits.
  if (answer.status === 503) return ask(url, method, path, { token, json, form })
  const body = (await answer.json()) as Record<string, never> & { id?: string }
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(body)}`)
  return body
}

async function newUser(url: string, n: number) {
  const [email, password] = [`reader${n}@example.org`, 'correct horse battery']
  await ask(url, 'POST', '/api/v3/auth/users/', { json: { username: `reader${n}`, email, password } })
  const { auth_token: token } = await ask(url, 'POST', '/api/v3/auth/token/login/', { json: { email, password } })
  const nids: string[] = []
  for (let at = 0; at < ASSETS; at += 1) {
    const form = new FormData()
    form.set('asset_file', new File([`file ${n} ${at}`], 'a.txt', { type: 'text/plain' }))
    form.set('public_access', 'true')
    const { id } = await ask(url, 'POST', '/api/v3/assets/', { token: token!, form })
    nids.push(id!)
    for (let commit = 1; commit < COMMITS; commit += 1) {
      await ask(url, 'PATCH', `/api/v3/assets/${id}/`, { token: token!, json: { caption: `${commit}` } })
    }
  }
  return { token: token! as string, nids }
}
type User = Awaited<ReturnType<typeof newUser>>

const withCommits = `query ($id: ID!) { asset(id: $id) { caption owner { username } commits(first: 20) { nodes { id message createdAt status } } } }`
const ownAssets = `{ me { username assets(first: 10) { nodes { id caption commits(first: 3) { nodes { id message } } } } } }`

/** The same requests in the same order each time. */
function requestAt(n: number, url: string, users: readonly User[], writes: boolean) {
  const isWrite = writes && n % WRITE_EVERY === 0
  const { token, nids } = users[(isWrite ? n / WRITE_EVERY : n) % users.length]!
  const nid = nids[Math.floor(n / users.length) % nids.length]!
  if (isWrite) {
    return ask(url, 'PATCH', `/api/v3/assets/${nid}/`, { token, json: { caption: `${n} ${performance.now()}` } })
  }
  const graphql = (query: string, as?: string) =>
    ask(url, 'POST', '/graphql', { ...(as && { token: as }), json: { query, variables: { id: nid } } })
  const kinds = [
    () => ask(url, 'GET', `/api/v3/assets/${nid}/`),
    () => graphql(withCommits),
    () => ask(url, 'GET', `/api/v3/assets/${nid}/tree/`, { token }),
    () => graphql(ownAssets, token),
    () => ask(url, 'GET', `/api/v3/lookup/?cid=${nid}`),
    () => graphql(withCommits, token),
  ]
  return kinds[n % kinds.length]!()
}

/** Ticks that a process has used, with its children that have ended. */
async function ticksOf(pid: number): Promise<{ parent: number; ticks: number }> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The second field, the name, may hold anything; from the third on they are numbers, but for the state.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  return { parent: fields[1] ?? 0, ticks: fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) }
}

async function treeTicks(root: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const all = await Promise.all(pids.map(async (pid) => ({ pid, ...(await ticksOf(pid)) })))
  return all.filter(({ pid, parent }) => pid === root || parent === root).reduce((sum, { ticks }) => sum + ticks, 0)
}

async function outcomesOf({ url }: Gateway) {
  const text = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${TOKEN}` } }).then((answer) =>
    answer.text(),
  )
  const found = text.matchAll(/^annal_replica_reads_total\{outcome="(\w+)"\} (\d+)$/gm)
  return new Map([...found].map(([, outcome, count]) => [outcome!, Number(count)]))
}

async function drive(gateway: Gateway, users: readonly User[], requests: number, writes: boolean) {
  let next = 0
  const work = async () => {
    for (let n = next++; n < requests; n = next++) await requestAt(n, gateway.url, users, writes)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

async function measure(name: string, gateway: Gateway, users: readonly User[], writes: boolean) {
  const roots = { primary: primaryPid, standby: standby.pid, gateway: gateway.pid }
  const look = async () =>
    Object.fromEntries(
      await Promise.all(Object.entries(roots).map(async ([part, pid]) => [part, await treeTicks(pid)] as const)),
    )
  const [before, were] = [await look(), await outcomesOf(gateway)]
  await drive(gateway, users, REQUESTS, writes)
  const [after, are] = [await look(), await outcomesOf(gateway)]
  const perThousand = (part: string) => (((after[part]! - before[part]!) / TICKS_A_SECOND) * 1e6) / REQUESTS
  const reads = [...are].map(([outcome, count]) => [outcome, count - (were.get(outcome) ?? 0)] as const)
  const all = reads.reduce((sum, [, count]) => sum + count, 0)
  const told = reads.map(([outcome, count]) => `${outcome} ${((100 * count) / all).toFixed(1)} %`).join(', ')
  const parts = Object.keys(roots).map((part) => `${part} ${perThousand(part).toFixed(0)} ms`)
  process.stdout.write(`${name.padEnd(34)} ${parts.join(', ')}${told && `; reads: ${told}`}\n`)
}

try {
  const plain = await startGateway({})
  const replicated = await startGateway({ DATABASE_REPLICA_URL: standby.url })
  const users = await Promise.all(Array.from({ length: USERS }, (_, n) => newUser(plain.url, n)))
  await standby.catchUp()
  for (const gateway of [plain, replicated]) await drive(gateway, users, 1_000, false)
  process.stdout.write(`Processor time for 1,000 requests (${REQUESTS} each, ${AT_ONCE} at once):\n`)
  for (const writes of [false, true]) {
    const what = writes ? `one in ${WRITE_EVERY} writes` : 'reads'
    await measure(`${what}, primary alone`, plain, users, writes)
    await measure(`${what}, with a replica`, replicated, users, writes)
  }
} finally {
  // They stop the embedded chain, which would outlive them.
  const ended = gateways.map((gateway) => once(gateway, 'exit'))
  for (const gateway of gateways) gateway.kill()
  await Promise.all(ended)
  await standby.kill()
  await primary.kill()
  await rm(dir, { recursive: true, force: true })
}
