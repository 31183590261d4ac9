/**
 * F42: a gateway's connections to the database end in the middle of any request, wherever it first needs any table. The caller is answered, the
 * process lives on, and nothing is done by halves.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { trySend } from '../test/support/http-client.ts'
import { directRoutes } from '../test/support/route-tables.ts'
import { createCutter } from './harness/cutter.ts'
import { complaintOf, type FuzzAnswer } from './harness/fuzz-judge.ts'
import type { FuzzRequest } from './harness/fuzz-requests.ts'
import { neverLetIn } from './harness/fuzz-rest.ts'
import { fuzzEnv, goodRequests, loggedErrors, openHand } from './harness/fuzz-run.ts'
import { createGateway } from './harness/gateway.ts'
import { brokenInvariants, type Parts, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'

const SHOWN = 20

/** Their answers have begun when the database goes, so that all they can do is to break off. */
const streams: ReadonlySet<string> = new Set([
  'GET /api/v3/auth/users/me/export',
  'GET /auth/users/me/export',
  'GET /api/v3/events/stream',
])

/** Jobs of requests before may replace the token of a link. */
const TRIES = 5

/** By target: how often it was cut. */
type Cuts = Map<string, number>

export async function proveCutRequests(context: ProofContext): Promise<ProofResult> {
  const parts = await startParts(context)
  const env = { ...fuzzEnv(parts), DATABASE_URL: await parts.urlAs('gateway') }
  const gateway = await createGateway(context, 'cut', env)
  await gateway.start()
  const pid = gateway.pid()
  const cutter = await createCutter(context, parts.databaseUrl, 'gateway')
  const cuts: Cuts = new Map()
  const away = { answers: 0 }
  let table: string | undefined
  const watch = async (target: string, send: () => Promise<FuzzAnswer>) => {
    if (table === undefined) return send()
    const cut = await cutter.cutAt(table, send)
    cuts.set(target, (cuts.get(target) ?? 0) + cut.cuts)
    if (/"UNAVAILABLE"|"unavailable"/.test(cut.answer.text) || cut.answer.status === 503) away.answers += 1
    return cut.answer
  }
  const scene = await openHand(parts, gateway, watch)

  const good = goodRequests()
  const pairs = good.flatMap((request) => cutter.tables.map((at) => ({ request, at })))
  const complaints = new Map<string, string[]>()
  let done = 0
  const all = context.random.shuffle(pairs).slice(0, context.setting('REQUESTS', pairs.length))
  for (const { request, at } of all) {
    table = at
    // Who is refused for want of the database is not let in, and nothing is used up by that.
    const { isGood: _, ...asked } = request
    const answer = await scene.send(asked)
    table = undefined
    const isBrokenOff = answer.status === 0 && answer.text === 'aborted' && streams.has(request.target)
    const complaint = isBrokenOff ? undefined : complaintOf(request, answer, { mayBeAway: true })
    if (complaint) complain(context, complaints, complaint, request, at, answer)
    done += 1
    if (done % 2_000 === 0)
      context.say(`${done} of ${all.length}, ${sum(cuts)} cuts, ${complaints.size} kinds of complaint`)
  }

  const reasons = [...complaints]
    .map(([complaint, examples]) => `${examples.length} times ${complaint}, as by ${examples[0]}`)
    .slice(0, SHOWN)
  reasons.push(...(await judgeAfterwards(scene, good)))
  if (gateway.pid() !== pid || (await trySend(`${gateway.url}/healthz`)).status !== 200)
    reasons.push('The gateway did not live on.')
  const code = await gateway.stop()
  if (code !== 0) reasons.push(`The gateway ended with ${code} on SIGTERM.`)
  reasons.push(
    ...(await loggedErrors(context.dir, 'cut', { warnings: true })),
    ...judgeCompleteness(good, cuts),
    ...(await brokenInvariants(parts.database)),
    ...(await catchCareless(context, parts)),
  )
  const failed = [...complaints.values()].reduce((total, examples) => total + examples.length, 0)
  return conclude({
    figure: `${failed} bad answers to ${all.length} requests, ${sum(cuts)} connections cut in the middle of them, ${away.answers} told that it is unavailable; 0 exits`,
    n: all.length,
    faultsInjected: sum(cuts),
    reasons,
  })
}

const sum = (cuts: Cuts) => [...cuts.values()].reduce((total, count) => total + count, 0)

function complain(
  { say }: ProofContext,
  complaints: Map<string, string[]>,
  complaint: string,
  request: FuzzRequest,
  at: string,
  answer: FuzzAnswer,
) {
  const example = `${JSON.stringify(request)} cut at ${at} → ${answer.status} ${answer.text.slice(0, 300)}`
  const examples = complaints.get(complaint) ?? []
  if (examples.length === 0) say(`${complaint}: ${example}`)
  complaints.set(complaint, [...examples, example])
}

/** When nobody cuts any more everything is as it was. */
async function judgeAfterwards(
  scene: Awaited<ReturnType<typeof openHand>>,
  good: readonly FuzzRequest[],
): Promise<string[]> {
  scene.letIn.clear()
  const bad: string[] = []
  for (const request of good) {
    let answer = await scene.send(request)
    const isShut = () => !neverLetIn.has(request.target) && !scene.letIn.has(request.target)
    for (let tries = 1; isShut() && tries < TRIES; tries += 1) answer = await scene.send(request)
    const complaint = complaintOf(request, answer)
    if (complaint) bad.push(`Afterwards ${request.target}: ${complaint}`)
    if (isShut())
      bad.push(`Afterwards ${request.target} lets nothing in: ${answer.status} ${answer.text.slice(0, 300)}`)
  }
  return bad.slice(0, SHOWN)
}

/** What was never cut was not tried. */
const judgeCompleteness = (good: readonly FuzzRequest[], cuts: Cuts): string[] =>
  good.flatMap(({ target }) =>
    cuts.get(target) || needNothing.has(target) ? [] : [`${target} was never cut: the run is invalid.`],
  )

/** They look at no credentials, so that they may ask the database nothing. */
const needNothing: ReadonlySet<string> = new Set(
  directRoutes.filter(({ ignoresCredentials }) => ignoresCredentials).map(({ method, path }) => `${method} ${path}`),
)

/** The control: a process that forgets a question must be seen to end. */
async function catchCareless(context: ProofContext, parts: Parts): Promise<string[]> {
  const program = fileURLToPath(new URL('harness/careless-siblings.ts', import.meta.url))
  const child = spawn(process.execPath, [program, await parts.urlAs('careless')], {
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'exit')
  context.afterwards(async () => child.kill('SIGKILL'))
  const [port] = await once(child.stdout!, 'data')
  const cutter = await createCutter(context, parts.databaseUrl, 'careless')
  const { cuts } = await cutter.cutAt('assets', () => trySend(`http://127.0.0.1:${String(port).trim()}/`))
  const lives = await trySend(`http://127.0.0.1:${String(port).trim()}/`)
  context.say(`control: ${cuts} connections cut, then the status ${lives.status}`)
  if (lives.status !== 0) return ['The control was not caught: it lives on.']
  const [code] = await ended
  return code === 0 ? ['The control was not caught: it ended with 0.'] : []
}
