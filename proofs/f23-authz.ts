/**
 * F23: every caller can access their own data and nothing else. The requests are generated from the GraphQL schema and the route tables.
 * Every field and every route is requested by all kinds of callers for data of one owner.
 */
import { isObjectType, isRequiredArgument } from 'graphql'
import { schema } from '../test/support/full-api.ts'
import { catchOpened } from './harness/authz-controls.ts'
import { expectations } from './harness/authz-expectations.ts'
import { runMatrix } from './harness/authz-matrix.ts'
import { openScene } from './harness/authz-scene.ts'
import { startService } from './harness/authz-service.ts'
import { takeState } from './harness/authz-state.ts'
import { calls, missingFromTables, served, spoilTables } from './harness/authz-tables.ts'
import { brokenInvariants, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'

/** Depth of nested objects in a GraphQL query. */
const DEPTH = 4

export async function proveAuthorization(context: ProofContext): Promise<ProofResult> {
  const { tried, unnoticed } = spoilTables()
  const reasons = [...missingFromTables(), ...unnoticed.map((what) => `The control was not caught: tables ${what}.`)]

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
  const needsArguments = (field: string) => {
    const [typeName, fieldName] = field.split('.') as [string, string]
    const type = schema.getType(typeName)
    return isObjectType(type) && type.getFields()[fieldName]!.args.some(isRequiredArgument)
  }
  const unreached = fields.filter((field) => !judge.reached.has(field) && !needsArguments(field))
  if (unreached.length) reasons.push(`Nobody was ever told: ${unreached.join(', ')}. The run is invalid.`)
  const unseen = judge.unseen()
  if (unseen.length) reasons.push(`Not even those who may see them found: ${unseen.join(', ')}. The run is invalid.`)

  const controls = await catchOpened(service, matrix)
  reasons.push(...controls.reasons, ...controls.uncaught.map((name) => `The control was not caught: ${name}.`))
  context.say(
    `controls: ${controls.tried - controls.uncaught.length} of ${controls.tried} opened doors caught, ${tried - unnoticed.length} of ${tried} wrong tables noticed`,
  )
  reasons.push(...(await brokenInvariants(parts.database)))
  return conclude({
    figure: `${allows.length} unexpected allows in ${cells} cells, ${fields.length} fields of types`,
    n: cells,
    faultsInjected: controls.tried + tried,
    reasons,
  })
}
