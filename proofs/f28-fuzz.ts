/**
 * F28: fuzz test of REST, GraphQL and the admin pages, and of bytes that are not HTTP. Every response has the documented format, and the
 * process stays alive. Requests are generated from the schema and the route table.
 */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { trySend } from '../test/support/http-client.ts'
import { listen } from '../test/support/listen.ts'
import { adminRequests, adminShapes, eachAdminRequest } from './harness/fuzz-admin.ts'
import { eachGraphQLRequest, graphqlRequests, graphqlShapes } from './harness/fuzz-graphql.ts'
import { complaintOf } from './harness/fuzz-judge.ts'
import { rawRequests, sendRaw } from './harness/fuzz-raw.ts'
import type { FuzzRequest } from './harness/fuzz-requests.ts'
import { eachRestRequest, neverLetIn, restRequests, restShapes } from './harness/fuzz-rest.ts'
import { fuzzEnv, goodRequests, loggedErrors, openHand } from './harness/fuzz-run.ts'
import type { FuzzScene } from './harness/fuzz-scene.ts'
import { sendFuzz } from './harness/fuzz-sender.ts'
import { createGateway } from './harness/gateway.ts'
import { brokenInvariants, type Parts, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { runSql } from './harness/run-sql.ts'

const AT_ONCE = 6
/** Number of concurrent raw connections. They mostly wait for more bytes. */
const RAW_AT_ONCE = 24
const SHOWN = 20

/** Processes a list with several concurrent workers. */
async function byHands<Work>(list: readonly Work[], hands: number, work: (each: Work, hand: number) => Promise<void>) {
  let next = 0
  await Promise.all(
    Array.from({ length: hands }, async (_, hand) => {
      while (next < list.length) await work(list[next++]!, hand)
    }),
  )
}

export async function proveFuzz(context: ProofContext): Promise<ProofResult> {
  const requests = requestsOf(context)
  const parts = await startParts(context)
  const gateway = await createGateway(context, 'fuzzed', fuzzEnv(parts))
  await gateway.start()
  const pid = gateway.pid()
  const scenes: FuzzScene[] = []
  for (let hand = 0; hand < AT_ONCE; hand += 1) scenes.push(await openHand(parts, gateway))

  const complaints = new Map<string, string[]>()
  const complain = (complaint: string, example: string) => {
    if (!complaints.has(complaint)) context.say(`${complaint}, as by ${example}`)
    complaints.set(complaint, [...(complaints.get(complaint) ?? []), example])
  }
  let done = 0
  await byHands(requests, AT_ONCE, async (request, hand) => {
    const answer = await scenes[hand]!.send(request)
    const complaint = complaintOf(request, answer)
    if (complaint) complain(complaint, `${JSON.stringify(request)} → ${answer.status} ${answer.text.slice(0, 300)}`)
    done += 1
    if (done % 5_000 === 0) context.say(`${done} of ${requests.length}, ${complaints.size} kinds of complaint`)
  })
  const raw = rawRequests(context.setting('RAW', 4_000), context.random.fork('raw'))
  let silent = 0
  await byHands(raw, RAW_AT_ONCE, async (bytes) => {
    const answer = await sendRaw(gateway.url, bytes)
    if (!answer) silent += 1
    // Responses in GraphQL format are checked as such. All others are checked by their status.
    const isGraphQL = bytes.includes(' /graphql')
    const complaint =
      answer &&
      complaintOf({ path: isGraphQL ? '/graphql' : '/', method: bytes.includes('HEAD') ? 'HEAD' : 'GET' }, answer)
    if (complaint)
      complain(
        complaint,
        `${JSON.stringify(bytes.toString('latin1').slice(0, 300))} → ${answer.status} ${answer.text.slice(0, 300)}`,
      )
  })
  context.say(`${raw.length} times bytes, of which ${silent} were not answered`)

  const reasons = [...complaints]
    .flatMap(([complaint, examples]) => `${examples.length} times ${complaint}, as by ${examples[0]}`)
    .slice(0, SHOWN)
  if (gateway.pid() !== pid || (await trySend(`${gateway.url}/healthz`)).status !== 200)
    reasons.push('The gateway did not live on.')
  const code = await gateway.stop()
  if (code !== 0) reasons.push(`The gateway ended with ${code} on SIGTERM.`)
  reasons.push(
    ...(await loggedErrors(context.dir, 'fuzzed')),
    ...judgeCompleteness(scenes),
    ...(await brokenInvariants(parts.database)),
  )
  reasons.push(...(await catchCareless(context, parts, requests)))
  const failed = [...complaints.values()].reduce((sum, examples) => sum + examples.length, 0)
  const letIn = scenes.reduce((sum, scene) => sum + [...scene.letIn.values()].reduce((a, b) => a + b, 0), 0)
  return conclude({
    figure: `${failed} bad answers to ${requests.length} requests, of which ${letIn} were let in, and ${raw.length} times bytes; 0 exits`,
    n: requests.length + raw.length,
    faultsInjected: requests.length + raw.length - letIn,
    reasons,
  })
}

/** Yields requests with each known hostile value at each place. */
function* everywhere(): Generator<FuzzRequest> {
  for (const shape of graphqlShapes) yield* eachGraphQLRequest(shape)
  for (const shape of restShapes) yield* eachRestRequest(shape)
  for (const shape of adminShapes) yield* eachAdminRequest(shape)
}

/** Returns a random selection of requests per target. With the setting `EACH`, also each known hostile value at each place. */
function requestsOf({ seed, random, setting }: ProofContext): FuzzRequest[] {
  const arbitraries = [
    ...graphqlShapes.map(graphqlRequests),
    ...restShapes.map(restRequests),
    ...adminShapes.map(adminRequests),
  ]
  const numRuns = Math.ceil(setting('REQUESTS', 50_000) / arbitraries.length)
  const number = Number.parseInt(seed.replaceAll(/[^0-9a-f]/g, '').slice(0, 7) || '1', 16)
  const each = setting('EACH', 0) > 0 ? [...everywhere()] : []
  const drawn = arbitraries.flatMap((arbitrary, index) => fc.sample(arbitrary, { seed: number + index, numRuns }))
  const all = random.shuffle([...drawn, ...each])
  // Each target must accept a valid request before it is fuzzed.
  return [...goodRequests(), ...all]
}

/** Reports targets that accepted no request, because these were not really tested. */
function judgeCompleteness(scenes: readonly FuzzScene[]): string[] {
  const targets = [...graphqlShapes, ...restShapes, ...adminShapes].map(({ target }) => target)
  return targets.flatMap((target) => {
    if (!scenes.some(({ sent }) => sent.has(target))) return [`Nothing was sent to ${target}: the run is invalid.`]
    return neverLetIn.has(target) || scenes.some(({ letIn }) => letIn.has(target))
      ? []
      : [`${target} let nothing in: the run is invalid.`]
  })
}

/** Control: a service that passes any input to the database and returns any error must be detected. */
async function catchCareless(
  { afterwards, say }: ProofContext,
  { database }: Parts,
  requests: readonly FuzzRequest[],
): Promise<string[]> {
  const server = createServer(async (req, res) => {
    try {
      const body = JSON.parse((await text(req)) || '{}') as unknown
      const values = [decodeURIComponent(req.url ?? ''), JSON.stringify(body)]
      await runSql(database, 'select $1::text as url, $2::jsonb as body', values)
      res.writeHead(200, { 'Content-Type': 'application/json' }).end('{"data":null}')
    } catch (error) {
      res
        .writeHead(error instanceof SyntaxError ? 400 : 500, { 'Content-Type': 'text/plain' })
        .end((error as Error).stack)
    }
  })
  const url = `http://127.0.0.1:${await listen(server, afterwards)}`
  const caught = new Set<string>()
  for (const { method, path, headers, body } of requests.slice(0, 1_500)) {
    const raw = body === undefined ? undefined : Buffer.from(body, 'latin1')
    const message = { method, path, headers: Object.fromEntries(headers), raw }
    const complaint = complaintOf({ path, method }, await sendFuzz(url, message))
    if (complaint) caught.add(complaint)
  }
  say(`control: ${[...caught].join('; ')}`)
  const missing = ['the status is 500', 'the answer tells of our insides'].filter(
    (kind) => ![...caught].some((told) => told.startsWith(kind)),
  )
  return missing.map((kind) => `The control was not caught: ${kind}.`)
}
