/** F35: what tools send first is answered as each of them needs it, and the schema that they read is ours. */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { buildSchema, GraphQLError, lexicographicSortSchema, printSchema } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import { documentLimits } from '../src/graphql/document-limits.ts'
import { schema } from '../src/graphql/schema.ts'
import { launchChromium } from '../test/support/chromium.ts'
import { trySend } from '../test/support/http-client.ts'
import { listen } from '../test/support/listen.ts'
import { dialects, probe, readSchema, sinceJune2018, toldOf } from '../test/tools/dialects.ts'
import type { Endpoint } from '../test/tools/endpoint.ts'
import { generateCode } from '../test/tools/generate-code.ts'
import { visitGraphiQL } from '../test/tools/graphiql.ts'
import { followChanges, subscribers } from '../test/tools/subscriptions.ts'
import { uploaders } from '../test/tools/uploads.ts'
import { deepestOf } from './harness/careless-limits.ts'
import { createGateway } from './harness/gateway.ts'
import { brokenInvariants, startParts } from './harness/parts.ts'
import { signIn, signUp } from './harness/people.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'

const root = join(import.meta.dirname, '..')
const sorted = (sdl: string) => printSchema(lexicographicSortSchema(buildSchema(sdl)))

/** What one tool got: undefined when it is as it should be, else why not. */
type Outcome = Promise<string | undefined>
type Trial = [tool: string, run: () => Outcome]

const expectSame = async (found: unknown, expected: unknown): Outcome => {
  const [is, should] = [JSON.stringify(found), JSON.stringify(expected)]
  return is === should ? undefined : `got ${is.slice(0, 500)} instead of ${should.slice(0, 500)}`
}

const introspectionTrials = (url: string, committed: string): Trial[] =>
  dialects.map((dialect) => [
    `Introspection as ${dialect.name}`,
    async () => expectSame(await readSchema(url, dialect), toldOf(committed, dialect)),
  ])

async function tryProbe(url: string): Outcome {
  const { status, text } = await trySend(url, { json: { query: probe } })
  const names = JSON.parse(text).data?.type?.fields?.map(({ name }: { name: string }) => name)
  return names?.includes('specifiedByURL') ? undefined : `was answered with ${status} ${text.slice(0, 500)}`
}

async function tryGraphiQL({ url, token }: Endpoint, { afterwards }: ProofContext): Outcome {
  const page = await (await launchChromium(afterwards)).newPage()
  const { docs, proposals, prices, me, complaints } = await visitGraphiQL(page, url, token, async () => undefined)
  const told = {
    isDocumented: docs.query.includes('pricing') && docs.type.includes('assetUpdateFee'),
    isCompleted: proposals.join().includes('pricing'),
    prices,
    me,
    complaints,
  }
  return expectSame(told, {
    isDocumented: true,
    isCompleted: true,
    prices: { data: { pricing: { total: '0.179', currency: 'NUM' } } },
    me: { data: { me: { username: 'toolmaker' } } },
    complaints: [],
  })
}

/** A door whose limits count the description of the schema as they count data. */
async function startCarelessDoor({ afterwards }: ProofContext): Promise<string> {
  const useCarelessLimits: Plugin = {
    onValidate({ params: { documentAST }, setResult }) {
      if (deepestOf(documentAST as never) <= documentLimits.depth) return
      setResult([new GraphQLError(`The document has more than ${documentLimits.depth} levels of fields.`)])
    },
  }
  const yoga = createYoga({ schema, plugins: [useCarelessLimits], logging: false })
  const server = createServer((request, response) => void yoga(request, response))
  return `http://127.0.0.1:${await listen(server, afterwards)}/graphql`
}

/** Why each of the trials failed. */
async function failuresOf(trials: Trial[]): Promise<string[]> {
  const failures: string[] = []
  for (const [tool, run] of trials) {
    const failure = await run().catch((error: unknown) => String(error))
    if (failure) failures.push(`${tool}: ${failure}`)
  }
  return failures
}

export async function proveFirstRequests(context: ProofContext): Promise<ProofResult> {
  const parts = await startParts(context)
  // As it starts without a word of configuration, but for the parts and for enough to spend.
  const gateway = await createGateway(context, 'gateway', { ...parts.env, SIGN_UP_POINTS: '1000' })
  await gateway.start()
  const committed = await readFile(join(root, 'schema.graphql'), 'utf8')
  const url = `${gateway.url}/graphql`
  const endpoint = { url, token: await signIn(gateway, await signUp(gateway, 'toolmaker')) }
  const { token } = endpoint
  const rest = `${gateway.url}/api/v3/assets/`
  const nids: string[] = []

  const upload: Trial[] = uploaders.map(({ name, upload }) => [
    `An upload by ${name}`,
    async () => {
      const nid = await upload(endpoint, new File([`by ${name} ${context.seed}`], 'ä photo.png', { type: 'image/png' }))
      nids.push(nid)
      const { text } = await trySend(`${rest}${nid}/`, { token })
      return expectSame(JSON.parse(text).asset_file_name, 'ä photo.png')
    },
  ])
  const follow: Trial[] = subscribers.map(({ name, follow }, index) => [
    `A subscription by ${name}`,
    async () => {
      const nid = nids[index % nids.length]!
      const change = async (n: number) => {
        const caption = `Caption ${n} for ${name}`
        const { status, text } = await trySend(`${rest}${nid}/`, { method: 'PATCH', token, json: { caption } })
        if (status !== 200) throw new Error(`A change was answered with ${status} ${text}`)
      }
      const told = await followChanges({ follow, endpoint, nid, change })
      return expectSame(
        told,
        told.map((_, place) => told[0]! + place),
      )
    },
  ])
  const trials: Trial[] = [
    ...introspectionTrials(url, committed),
    ['A probe of the dialect', () => tryProbe(url)],
    [
      'graphql-codegen from the URL',
      async () =>
        expectSame(
          sorted((await generateCode(url, join(context.dir, 'codegen'))).sdl),
          sorted(committed).replace(sinceJune2018, ''),
        ),
    ],
    ['GraphiQL in Chromium', () => tryGraphiQL(endpoint, context)],
    ...upload,
    ...follow,
  ]
  const failures = await failuresOf(trials)
  const reasons = [...failures]

  const closed = await createGateway(context, 'closed', { ...parts.env, GRAPHQL_INTROSPECTION: 'false' })
  await closed.start()
  const refused = await failuresOf(introspectionTrials(`${closed.url}/graphql`, committed))
  if (refused.length < dialects.length) reasons.push('The schema is told where the operator says that it is not.')

  const caught = await failuresOf(introspectionTrials(await startCarelessDoor(context), committed))
  context.say(
    `control: limits that count introspection as fields refuse ${caught.length} of ${dialects.length} dialects`,
  )
  if (caught.length === 0) reasons.push('The control was not caught: every dialect reads its schema.')

  reasons.push(...(await brokenInvariants(parts.database)))
  return conclude({
    figure: `${trials.length - failures.length} of ${trials.length} tools served; the control refuses ${caught.length} of ${dialects.length} dialects`,
    n: trials.length,
    faultsInjected: 0,
    reasons,
  })
}
