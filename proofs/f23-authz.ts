/**
 * F23: everybody gets what is theirs and nothing else. Generated from the schema and the tables of routes: every field
 * and every route, asked for by four kinds of actors with what belongs to one of them.
 */
import type { ServerResponse } from 'node:http'
import { schema } from '../src/graphql/schema.ts'
import { createEmailVerificationPage } from '../src/pages/email-verification.ts'
import { createPasswordResetPage } from '../src/pages/password-reset.ts'
import { troublePage } from '../src/pages/trouble.ts'
import { createDirectRoutes } from '../src/rest/direct-routes.ts'
import { createPageRoutes } from '../src/rest/page-routes.ts'
import { routes } from '../src/rest/routes.ts'
import { missingKeys, missingTypeRules } from './harness/authz-answers.ts'
import { catchOpened } from './harness/authz-controls.ts'
import { type RootCall, rootCallsOf } from './harness/authz-documents.ts'
import { type Expectations, expectations } from './harness/authz-expectations.ts'
import { runMatrix, type ServedRoute, servedRoutes } from './harness/authz-matrix.ts'
import { openScene } from './harness/authz-scene.ts'
import { startService } from './harness/authz-service.ts'
import { takeState } from './harness/authz-state.ts'
import { triggers } from './harness/authz-streams.ts'
import { restCalls } from './harness/authz-values.ts'
import { brokenInvariants, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'

/** Objects below what was asked for. */
const DEPTH = 4

/** The routes that are no operations, told apart by their paths: nothing is asked of them here. */
const directRoutes = [
  ...createDirectRoutes({
    missing: async () => [],
    degraded: async () => [],
    version: '0',
    homePage: '',
    homeRefusal: () => ({}) as never,
    publicDocuments: new Set(),
    links: { verify: () => false },
    gateway: { send: async (_req, res: ServerResponse) => void res.end() },
  }),
  ...createPageRoutes({
    pages: {
      forms: [createPasswordResetPage({ passwordLength: { min: 8, max: 32 } }), createEmailVerificationPage()],
      trouble: troublePage,
    },
    readText: async () => '',
  }),
]

/** What nobody said who may have it, and what was said of things that are gone. */
function whatIsMissing(told: Expectations, calls: readonly RootCall[], served: readonly ServedRoute[]): string[] {
  const keys = [...new Set(served.map(({ key }) => key))]
  const fields = calls.map(({ key }) => key)
  const subscriptions = calls.filter(({ operation }) => operation === 'subscription').map(({ key }) => key)
  const known = new Set([...keys, ...fields])
  return [
    ...missingKeys(fields, Object.keys(told.fields)),
    ...missingKeys(keys, Object.keys(told.routes)),
    ...missingKeys([...new Set(served.map(({ callKey }) => callKey))], Object.keys(restCalls)),
    ...missingKeys(subscriptions, Object.keys(triggers)),
    ...told.administration.filter((key) => !known.has(key)).map((key) => `${key} is administration, and gone.`),
    ...missingTypeRules(schema, told),
  ]
}

/** The second control: each entry of the tables in turn is left out, and one too many put in. Both must be noticed. */
function countUnmissed(
  calls: readonly RootCall[],
  served: readonly ServedRoute[],
): { tried: number; unmissed: string[] } {
  const unmissed: string[] = []
  let tried = 0
  const attempt = (what: string, told: Expectations) => {
    tried += 1
    if (!whatIsMissing(told, calls, served).length) unmissed.push(what)
  }
  for (const part of ['fields', 'routes', 'types'] as const) {
    const entries = Object.entries(expectations[part])
    for (const [key, entry] of entries) {
      const others = Object.fromEntries(entries.filter(([other]) => other !== key))
      attempt(`without ${key}`, { ...expectations, [part]: others })
      attempt(`with ${key} twice`, { ...expectations, [part]: { ...expectations[part], [`${key}Gone`]: entry } })
    }
  }
  return { tried, unmissed }
}

export async function proveAuthorization(context: ProofContext): Promise<ProofResult> {
  const { calls, problems } = rootCallsOf(schema)
  const served = servedRoutes(routes, directRoutes)
  const reasons = [...problems, ...whatIsMissing(expectations, calls, served)]
  const { tried, unmissed } = countUnmissed(calls, served)
  reasons.push(...unmissed.map((key) => `The control was not caught: expectations ${key}.`))

  const parts = await startParts(context)
  const service = await startService(context, parts)
  const scene = await openScene(service)
  const state = await takeState(parts.database, context.dir)
  const matrix = { url: service.url, schema, scene, state, expectations, calls, routes: served }
  const { cells, requests, findings, judge } = await runMatrix(matrix, { depth: DEPTH })
  const allows = findings.filter(({ kind }) => kind !== 'other')
  reasons.push(...findings.map(({ kind, text }) => `${kind}: ${text}`))
  context.say(`${cells} cells in ${requests} requests; ${scene.canaries.length} words planted`)

  const fields = Object.entries(expectations.types).flatMap(([type, { fields, selfFields = '', adminFields = '' }]) =>
    `${fields} ${selfFields} ${adminFields}`
      .split(' ')
      .filter(Boolean)
      .map((field) => `${type}.${field}`),
  )
  const unreached = fields.filter((field) => !judge.reached.has(field))
  if (unreached.length) reasons.push(`Nobody was ever told: ${unreached.join(', ')}. The run is invalid.`)
  const unseen = judge.unseen()
  if (unseen.length) reasons.push(`Not even those who may see them found: ${unseen.join(', ')}. The run is invalid.`)

  const controls = await catchOpened(service, matrix)
  reasons.push(...controls.reasons, ...controls.uncaught.map((name) => `The control was not caught: ${name}.`))
  context.say(
    `controls: ${controls.tried - controls.uncaught.length} of ${controls.tried} opened doors caught, ${tried - unmissed.length} of ${tried} wrong tables noticed`,
  )
  reasons.push(...(await brokenInvariants(parts.database)))
  return conclude({
    figure: `${allows.length} unexpected allows in ${cells} cells, ${fields.length} fields of types`,
    n: cells,
    faultsInjected: controls.tried + tried,
    reasons,
  })
}
