/** F21: hostile documents cost next to nothing, and the 12 checks of graphql-cop find nothing. */
import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { serverAudits } from 'graphql-http'
import { createYoga } from 'graphql-yoga'
import { schema } from '../src/graphql/schema.ts'
import { send } from '../test/support/http-client.ts'
import { listen } from '../test/support/listen.ts'
import { copChecks } from './graphql-cop.ts'
import { cpuTime } from './harness/cpu.ts'
import { createGateway, type Gateway } from './harness/gateway.ts'
import { brokenInvariants, startParts } from './harness/parts.ts'
import { percentile } from './harness/percentile.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { type Hostile, hostileDocuments } from './hostile-documents.ts'

/** Milliseconds. */
const MOST_CPU = 50
const MOST_P99 = 200

/** A GET as a program sends it that is no browser and no fetch. */
async function plainGet(url: string): Promise<{ data?: { __typename?: string } }> {
  const { headers, body } = await send(url, { headers: { 'User-Agent': 'graphql-cop/1.15', Accept: '*/*' } })
  return headers.get('content-type')?.includes('json') ? body : {}
}

async function weaknessesAt(url: string): Promise<{ found: string[]; n: number }> {
  const checks = copChecks(plainGet)
  const found: string[] = []
  for (const { name, isWeak } of checks) if (await isWeak(url)) found.push(name)
  return { found, n: checks.length }
}

/** The same schema behind the library as it comes. */
async function startDefaults({ afterwards }: ProofContext): Promise<string> {
  const yoga = createYoga({ schema, logging: false })
  const server = createServer((request, response) => void yoga(request, response))
  return `http://127.0.0.1:${await listen(server, afterwards)}/graphql`
}

interface Client {
  /** Raises unless the answer is one that a server in good health gives. */
  send(body: object): Promise<{ status: number; errors: unknown[] | undefined }>
}

async function signUp(url: string): Promise<Client> {
  const post = async (path: string, body: object, token?: string) => {
    const { status, text, body: answer } = await send(url, { path, json: body, token })
    if (status >= 500 || text.includes('"INTERNAL"')) throw new Error(`${status} ${text.slice(0, 500)}`)
    return { status, answer }
  }
  const email = 'attacker@example.org'
  const password = 'correct horse battery'
  await post('/api/v3/auth/users/', { username: 'attacker', email, password })
  const { answer } = await post('/api/v3/auth/token/login/', { email, password })
  return {
    async send(body) {
      const got = await post('/graphql', body, answer.auth_token)
      return { status: got.status, errors: got.answer.errors }
    },
  }
}

let serial = 0

/** Milliseconds of CPU that one such document takes the gateway, on average. The clock has steps of 10 ms. */
async function costOf(gateway: Gateway, client: Client, hostile: Hostile, times: number): Promise<number> {
  const before = cpuTime(gateway.pid()!)
  for (let i = 0; i < times; i++) await client.send(hostile.body(serial++))
  return (cpuTime(gateway.pid()!) - before) / times
}

/** A benign user asks 50 times a second while `work` goes on. */
async function benignMeanwhile(client: Client, work: () => Promise<void>): Promise<{ milliseconds: number }[]> {
  let isOver = false
  const times: { milliseconds: number }[] = []
  const asked: Promise<void>[] = []
  const ask = async () => {
    const start = performance.now()
    const { errors } = await client.send({ query: '{ me { id username wallet { num points } } }' })
    if (errors) throw new Error('A benign request was refused.')
    times.push({ milliseconds: performance.now() - start })
  }
  const working = work().finally(() => {
    isOver = true
  })
  while (!isOver) {
    asked.push(ask())
    await delay(20)
  }
  await Promise.all([working, ...asked])
  return times
}

export async function proveHostileDocuments(context: ProofContext): Promise<ProofResult> {
  const parts = await startParts(context)
  const closed = { GRAPHQL_INTROSPECTION: 'false', GRAPHQL_PLAYGROUND: 'false', LIMIT_REQUESTS_PER_TOKEN: '1000000' }
  const gateway = await createGateway(context, 'gateway', { ...parts.env, ...closed })
  await gateway.start()
  const url = `${gateway.url}/graphql`
  const reasons: string[] = []

  const { found, n } = await weaknessesAt(url)
  for (const name of found) reasons.push(`graphql-cop finds: ${name}.`)
  for (const audit of serverAudits({ url })) {
    const result = await audit.fn()
    if (result.status !== 'ok') reasons.push(`${audit.id} ${audit.name}: ${result.reason}`)
  }

  const client = await signUp(gateway.url)
  for (const hostile of hostileDocuments) await client.send(hostile.body(serial++))
  const times = context.setting('TIMES', 20)
  const costs: { name: string; cpu: number }[] = []
  for (const hostile of hostileDocuments) {
    costs.push({ name: hostile.name, cpu: await costOf(gateway, client, hostile, times) })
  }
  costs.sort((a, b) => b.cpu - a.cpu)
  for (const { name, cpu } of costs) if (cpu > MOST_CPU) reasons.push(`${name}: ${cpu} ms of CPU.`)
  const dearest = costs[0]!
  const told = costs.slice(0, 5).map(({ name, cpu }) => `${name} ${cpu} ms`)
  context.say(`dearest of ${costs.length} documents: ${told.join(', ')}`)

  const benign = await benignMeanwhile(client, async () => {
    for (const end = performance.now() + 1_000 * context.setting('SECONDS', 10); performance.now() < end; ) {
      for (const hostile of hostileDocuments) await client.send(hostile.body(serial++))
    }
  })
  const p99 = percentile(benign, 0.99)
  if (p99 > MOST_P99) reasons.push(`The benign user's p99 was ${p99.toFixed(0)} ms.`)

  const control = await weaknessesAt(await startDefaults(context))
  if (control.found.length === 0)
    reasons.push('The control was not caught: the library as it comes passes every check.')
  context.say(`control: the library as it comes has ${control.found.join(', ')}`)

  reasons.push(...(await brokenInvariants(parts.database)))
  return conclude({
    figure: `${n - found.length}/${n} checks, at most ${dearest.cpu} ms CPU, benign p99 ${p99.toFixed(0)} ms; the library as it comes ${control.n - control.found.length}/${control.n}`,
    n: n + hostileDocuments.length,
    faultsInjected: serial,
    reasons,
  })
}
