/**
 * F33: whatever is asked for, the answer is of a size that was said, and comes in time; readers who do not read cost the
 * gateway little memory and are cut off; and no load of strangers stops the others.
 */
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execute } from '@graphql-tools/executor'
import { type ExecutionResult, parse } from 'graphql'
import { statement, uuid } from '../src/domain/sql.ts'
import { schema } from '../src/graphql/schema.ts'
import { until } from '../test/support/eventually.ts'
import { type Answer, trySend } from '../test/support/http-client.ts'
import { startService } from './harness/authz-service.ts'
import { type Ask, dearest, withoutSizes } from './harness/dearest.ts'
import { everyList, type ListAsk, shortOf } from './harness/every-list.ts'
import { createGateway, type Gateway } from './harness/gateway.ts'
import { residentMemory, watchMemory } from './harness/memory.ts'
import { type Parts, startParts } from './harness/parts.ts'
import { signIn, signUp } from './harness/people.ts'
import { percentile } from './harness/percentile.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { enrich } from './harness/riches.ts'

const MOST_BYTES = 10_000_000
/** Milliseconds. */
const MOST_TIME = 2_000
const MOST_STALL = 30_000
const MOST_BENIGN = 1_000
/** MiB. */
const MOST_MEMORY = 128
/** Milliseconds from one reader to the next: large answers are made a few at a time, and the others are told to come back. */
const NEXT_READER = 250

const findOwner = statement('proof_owner', { columns: { id: uuid } }, "select id from users where username = 'rich'")
const promote = statement('proof_promote', {}, "update users set role = 'ADMIN' where username = 'overseer'")

async function seed(parts: Parts, gateway: Gateway, rows: number) {
  const owner = await signIn(gateway, await signUp(gateway, 'rich'))
  const administrator = await signIn(gateway, await signUp(gateway, 'overseer'))
  await parts.database.query(promote)
  const [rich] = await parts.database.query(findOwner)
  return { riches: await enrich(parts, rich!.id, rows), tokens: { owner, administrator } }
}

interface Tokens {
  owner: string
  administrator: string
}
const tokenOf = ({ as }: Ask, tokens: Tokens) => (as === 'anybody' ? undefined : tokens[as])

const send = ({ url }: Gateway, ask: Ask, tokens: Tokens): Promise<Answer> => {
  const { document, path } = ask
  const token = tokenOf(ask, tokens)
  const shared = token ? { token } : {}
  if (document === undefined) return trySend(`${url}/api/v3/${path}`, shared)
  return trySend(`${url}/graphql`, { json: { query: document }, ...shared })
}

/**
 * Sentences about answers that are too large, too slow, shorter than what was asked for or no answers. Pages of REST are streamed, so that
 * their size and time are not limited. Asks repeatedly, so that the process is warm afterwards.
 */
async function judgeAnswers({ say, setting }: ProofContext, gateway: Gateway, asks: (Ask | ListAsk)[], tokens: Tokens) {
  const times = setting('TIMES', 3)
  const reasons: string[] = []
  const seen: { name: string; bytes: number; milliseconds: number }[] = []
  for (const ask of asks) {
    for (let round = 0; round < times; round += 1) {
      const { status, text, milliseconds } = await send(gateway, ask, tokens)
      const bytes = Buffer.byteLength(text)
      seen.push({ name: ask.name, bytes, milliseconds })
      const refused = status !== 200 || text.startsWith('{"errors"')
      if (refused && !ask.mayRefuse) reasons.push(`${ask.name}: ${status} ${text.slice(0, 300)}`)
      // Such an answer says nothing about the largest one.
      const short = 'lines' in ask && !refused ? shortOf(ask, text) : undefined
      if (short) reasons.push(`${ask.name}: ${short}`)
      if (ask.document === undefined) continue
      if (bytes > MOST_BYTES) reasons.push(`${ask.name}: ${bytes} bytes.`)
      if (milliseconds > MOST_TIME) reasons.push(`${ask.name}: ${milliseconds.toFixed(0)} ms.`)
    }
    const took = seen.slice(-times).map(({ milliseconds }) => milliseconds.toFixed(0))
    say(`${ask.name}: ${seen.at(-1)!.bytes} bytes in ${took.join(', ')} ms`)
  }
  return { reasons, seen, n: asks.length * times }
}

const isRefusedTo = ({ status, text }: Answer) => status === 403 || text.includes('"PERMISSION_DENIED"')

/** Who asks for each list: its owner, or an administrator where it is theirs alone. */
async function assignLists(gateway: Gateway, lists: ListAsk[], tokens: Tokens): Promise<ListAsk[]> {
  for (const list of lists) if (isRefusedTo(await send(gateway, list, tokens))) list.as = 'administrator'
  return lists
}

/** Asks by a connection of its own and reads nothing, until `read` tells how much came after all. */
function askOnly(gateway: Gateway, ask: Ask, tokens: Tokens) {
  const { document, path } = ask
  const token = tokenOf(ask, tokens)
  const body = document === undefined ? '' : JSON.stringify({ query: document })
  const target = document === undefined ? `GET /api/v3/${path}` : 'POST /graphql'
  const lines = [`${target} HTTP/1.1`, 'Host: annal.test', 'Connection: close']
  if (body) lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
  if (token) lines.push(`Authorization: token ${token}`)
  const { hostname, port } = new URL(gateway.url)
  const socket: Socket = connect(Number(port), hostname, () => socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`))
  socket.on('error', () => undefined).pause()
  return socket
}

const CUT = 'Closed the connection of a slow reader'

/** How long each reader was borne, in milliseconds. */
async function readCuts({ dir }: ProofContext): Promise<number[]> {
  const lines = (await readFile(join(dir, 'gateway.log'), 'utf8')).split('\n').filter((line) => line.includes(CUT))
  return lines.map((line) => Number(JSON.parse(line).stalledMs))
}

async function judgeSlowReaders(context: ProofContext, gateway: Gateway, asks: Ask[], tokens: Tokens) {
  const readers = context.setting('READERS', 100)
  const before = await residentMemory(gateway.pid()!)
  const memory = watchMemory(gateway.pid()!)
  const sockets: Socket[] = []
  for (let i = 0; i < readers; i += 1) {
    sockets.push(askOnly(gateway, asks[i % asks.length]!, tokens))
    await delay(NEXT_READER)
  }
  // The others were told to come back, or the system took the whole answer for them.
  const cuts = await until(
    'readers are cut off',
    async () => {
      const found = await readCuts(context)
      return found.length >= readers / 10 ? found : undefined
    },
    60_000,
    250,
  )
  await delay(MOST_STALL)
  const all = await readCuts(context)
  const health = await trySend(`${gateway.url}/healthz`)
  const rise = (await memory.stop()) - before
  const reasons: string[] = []
  if (rise > MOST_MEMORY) reasons.push(`${readers} readers who do not read took ${rise.toFixed(0)} MiB.`)
  const longest = Math.max(...all)
  if (longest > MOST_STALL) reasons.push(`A reader was borne for ${longest} ms.`)
  if (health.status !== 200) reasons.push('The gateway did not live through its readers.')
  for (const socket of sockets) socket.destroy()
  context.say(
    `${readers} readers: ${cuts.length} cut soon, ${all.length} in all, the longest borne ${longest} ms, memory ${before.toFixed(0)} + ${rise.toFixed(0)} MiB`,
  )
  return { reasons, rise, longest, cut: all.length }
}

/** Strangers ask for the dearest as often as they can; a benign user asks who they are. */
async function judgeLoad(context: ProofContext, gateway: Gateway, asks: Ask[], tokens: Tokens) {
  const strangers = context.setting('STRANGERS', 20)
  const end = performance.now() + 1_000 * context.setting('SECONDS', 10)
  const answers: Answer[] = []
  let asked = 0
  const load = Array.from({ length: strangers }, async (_, i) => {
    for (let turn = i; performance.now() < end; turn += 1) {
      const { status } = await send(gateway, asks[turn % asks.length]!, tokens)
      asked += 1
      if (status !== 200) await delay(100)
    }
  })
  const asking: Promise<unknown>[] = []
  while (performance.now() < end) {
    asking.push(
      trySend(`${gateway.url}/api/v3/auth/users/me/`, { token: tokens.owner }).then((answer) => answers.push(answer)),
    )
    await delay(50)
  }
  await Promise.all([...load, ...asking])
  const bad = answers.filter(({ status }) => status !== 200)
  const p99 = percentile(answers, 0.99)
  const reasons: string[] = []
  if (bad.length)
    reasons.push(
      `${bad.length} of ${answers.length} benign requests were refused, as with ${bad[0]!.status} ${bad[0]!.text.slice(0, 200)}`,
    )
  if (p99 > MOST_BENIGN) reasons.push(`The benign user's p99 was ${p99.toFixed(0)} ms.`)
  context.say(`${strangers} strangers asked ${asked} times; benign p99 ${p99.toFixed(0)} ms of ${answers.length}`)
  return { reasons, p99, asked }
}

/** What the cost without sizes lets in, carried out. */
async function sizeWithoutSizes(context: ProofContext, parts: Parts): Promise<number> {
  const { app, installation } = await startService(context, parts)
  const result = (await execute({
    schema,
    document: parse(withoutSizes(schema)),
    contextValue: {
      actor: { kind: 'anonymous' },
      services: app.services,
      database: installation.database,
      baseUrl: app.linkConfig.publicUrl,
      linkConfig: app.linkConfig,
      context: { replayed: false },
    },
  })) as ExecutionResult
  if (result.errors) throw new Error(`The control was refused: ${result.errors[0]!.message}`)
  return Buffer.byteLength(JSON.stringify(result))
}

export async function proveBoundedAnswers(context: ProofContext): Promise<ProofResult> {
  const rows = context.setting('ROWS', 100_000)
  if (rows < 12_000) throw new Error('ROWS must be 12000 at least: strangers come so far.')
  const parts = await startParts(context)
  const most = '100000000'
  const env = { ...parts.env, LOG_LEVEL: 'info', LIMIT_REQUESTS_PER_IP: most, LIMIT_REQUESTS_PER_TOKEN: most }
  const gateway = await createGateway(context, 'gateway', env)
  await gateway.start()
  context.say(`writing ${rows} of everything`)
  const { riches, tokens } = await seed(parts, gateway, rows)
  const lists = everyList(riches, rows)
  const asks = [...dearest(rows, riches.longHistory), ...(await assignLists(gateway, lists, tokens))]

  const { reasons, seen, n } = await judgeAnswers(context, gateway, asks, tokens)
  const largest = seen.toSorted((a, b) => b.bytes - a.bytes)[0]!
  const slowest = seen.toSorted((a, b) => b.milliseconds - a.milliseconds)[0]!
  context.say(
    `largest: ${largest.name} ${largest.bytes} bytes; slowest: ${slowest.name} ${slowest.milliseconds.toFixed(0)} ms`,
  )

  const large = new Set(seen.filter(({ bytes }) => bytes > MOST_BYTES / 4).map(({ name }) => name))
  const crowd = await judgeSlowReaders(
    context,
    gateway,
    asks.filter(({ name }) => large.has(name)),
    tokens,
  )
  const load = await judgeLoad(
    context,
    gateway,
    asks.filter(({ as }) => as === 'anybody'),
    tokens,
  )
  reasons.push(...crowd.reasons, ...load.reasons)

  const control = await sizeWithoutSizes(context, parts)
  if (control <= MOST_BYTES) reasons.push(`The control was not caught: without sizes an answer had ${control} bytes.`)
  context.say(`control: the cost without sizes lets an answer of ${control} bytes in`)

  const code = await gateway.stop()
  if (code !== 0) reasons.push(`The gateway ended with ${code} on SIGTERM.`)
  return conclude({
    figure:
      `${asks.length} dearest requests on ${rows} rows of each kind: at most ${largest.bytes} bytes, ${slowest.milliseconds.toFixed(0)} ms; readers who do not ` +
      `read: +${crowd.rise.toFixed(0)} MiB, ${crowd.cut} cut, the last after ${crowd.longest} ms; benign p99 ${load.p99.toFixed(0)} ms under ${load.asked} requests of strangers; ` +
      `without sizes ${control} bytes`,
    n,
    faultsInjected: crowd.cut + load.asked,
    reasons,
  })
}
