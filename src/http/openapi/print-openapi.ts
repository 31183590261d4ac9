/** Script of `npm run generate` that writes the OpenAPI 3.1 document of the REST API. */
import { readFileSync, writeFileSync } from 'node:fs'
import { OperationTypeNode } from 'graphql'
import type { z } from 'zod'
import manifest from '../../../package.json' with { type: 'json' }
import { loadModules } from '../../app.ts'
import { hasOpenField } from '../../graphql/builder.ts'
import { operationOf } from '../../graphql/execute.ts'
import { MAX_JSON_VALUES } from '../../shared/input.ts'
import { allowsAnonymous } from '../../shared/policy.ts'
import { loadApi } from '../create-routes.ts'
import { statuses } from '../error-status.ts'
import { type Description, type DirectDescription, type DirectRoute, type Route, tags } from '../rest/define-route.ts'
import { directRouteTable } from '../rest/direct-routes.ts'
import {
  createSchemas,
  formBodyOf,
  header,
  headers,
  JSON_TYPE,
  jsonBodyOf,
  parameter,
  parameters,
  securitySchemes,
} from './components.ts'
import {
  createRefusals,
  type ErrorExamples,
  errorsOfDirectRoute,
  errorsOfRoute,
  inRest,
  meaningOf,
} from './error-responses.ts'
import { describeWebhooks } from './webhooks.ts'

type Json = Record<string, unknown>

const { schema, routes, createDirectRoutes } = await loadApi(await loadModules())

const examples: { operations: Record<string, { request?: unknown; answer?: unknown }>; errors: ErrorExamples } =
  JSON.parse(readFileSync(new URL('examples.json', import.meta.url), 'utf8'))
const exampleOf = (operationId: string, kind: 'request' | 'answer') => {
  const example = examples.operations[operationId]?.[kind]
  return example === undefined ? {} : { example }
}

function descriptionOf(coordinate: string): string {
  const [typeName = '', fieldName = ''] = coordinate.split('.')
  const type = schema.getType(typeName)
  const field = type && 'getFields' in type ? type.getFields()[fieldName] : undefined
  if (!field?.description) throw new Error(`The GraphQL schema has no description of ${coordinate}.`)
  return inRest(field.description)
}

const { components, schemaOf, add, bodyOf } = createSchemas(descriptionOf)
const refusals = createRefusals(schemaOf, examples.errors)

function parametersIn(place: 'path' | 'query' | 'header', fields: z.ZodObject | undefined): Json[] {
  if (!fields) return []
  const { properties = {}, required = [] } = schemaOf(fields)
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    ...{ name, in: place, description },
    ...((place === 'path' || required.includes(name)) && { required: true }),
    schema,
  }))
}

const parametersOf = ({ params, query, headers }: Pick<DirectDescription, 'params' | 'query' | 'headers'>) => [
  ...parametersIn('path', params),
  ...parametersIn('query', query),
  ...parametersIn('header', headers),
]

/** Generated methods have only one return type, so each operation has one successful response. */
function success({ operationId, method, etag, status = 200, answer }: Route, changes: boolean): Json {
  const common = {
    'X-Request-Id': header('RequestId'),
    ...(changes && { 'Idempotency-Replayed': header('IdempotencyReplayed') }),
  }
  if (status === 204) return { 204: { description: 'Done.', headers: common } }
  const versioned = { ...common, ETag: header('ETag') }
  return {
    [status]: {
      description: status === 201 ? 'Created.' : 'Success.',
      headers: etag ? versioned : common,
      content: { [JSON_TYPE]: { schema: schemaOf(answer), ...exampleOf(operationId, 'answer') } },
    },
    ...(etag && method === 'GET' && { 304: { description: 'The resource is unchanged.', headers: versioned } }),
  }
}

function securityOf({ action, apiKey }: Route, isOpenToStaleTokens: boolean) {
  if (!allowsAnonymous(action)) return [{ token: [], ...(apiKey === 'needed' && { apiKey: [] }) }]
  if (isOpenToStaleTokens) return apiKey ? [{}, { apiKey: [] }] : []
  return [{}, { token: [] }]
}

function head({ operationId, tag, summary, description, deprecated }: Description, more: string[] = []): Json {
  const text = [...more, description].filter((part) => part !== undefined).join(' ')
  return { operationId, tags: [tag], summary, ...(text && { description: text }), ...(deprecated && { deprecated }) }
}

/** Describes one media type, although the service accepts more: openapi-python-client sends a body once in each of them. */
function describeBody({ body, listAs, files = [], operationId }: Route): Json {
  if (!body) return {}
  const { name, body: whole } = bodyOf(body)
  const required = whole.required?.length ? { required: true } : {}
  const requestBody = (content: Json) => ({ requestBody: { ...required, content } })
  if (files.length > 0) return requestBody({ 'multipart/form-data': { schema: add(name, formBodyOf(whole)) } })
  const json = jsonBodyOf(whole)
  // Some generators produce code that does not compile for a body that is "a list or an object".
  const list = listAs === undefined ? undefined : json.properties?.[listAs]
  return requestBody({ [JSON_TYPE]: { schema: list ?? add(name, json), ...exampleOf(operationId, 'request') } })
}

const webhookTools = { schemaOf, parametersIn, exampleOf: (id: string) => exampleOf(id, 'request') }

function describeRoute(route: Route): Json {
  const changes = operationOf(route).operation === OperationTypeNode.MUTATION
  const isOpenToStaleTokens = hasOpenField(schema, route.operation)
  const body = describeBody(route)
  const found = [
    ...parametersOf(route),
    ...(changes ? [parameter('IdempotencyKey')] : []),
    ...(route.etag && route.method === 'GET' ? [parameter('IfNoneMatch')] : []),
  ]
  return {
    ...head(route, route.action === 'store:administer' ? ['For administrators.'] : []),
    security: securityOf(route, isOpenToStaleTokens),
    ...(found.length > 0 && { parameters: found }),
    ...body,
    ...(route.operationId === 'createNetworkApp' && { callbacks: describeWebhooks(webhookTools) }),
    responses: {
      ...success(route, changes),
      ...refusals.responsesOf(errorsOfRoute(route, isOpenToStaleTokens, changes)),
    },
  }
}

const directAnswers = ({ answers, operationId }: DirectDescription): Json =>
  Object.fromEntries(
    Object.entries(answers).map(([status, { description, mediaType, schema, isVersioned }]) => {
      const headers = { 'X-Request-Id': header('RequestId'), ...(isVersioned && { ETag: header('ETag') }) }
      const example = status === '200' ? exampleOf(operationId, 'answer') : {}
      const content = { ...(schema && { schema: schemaOf(schema) }), ...example }
      return [status, { description, headers, ...(mediaType && { content: { [mediaType]: content } }) }]
    }),
  )

function describeDirect(
  description: DirectDescription,
  { ignoresCredentials = false, isOpenToStaleTokens = ignoresCredentials }: DirectRoute,
): Json {
  const found = parametersOf(description)
  const needsUser = description.access === 'user'
  const codes = errorsOfDirectRoute(description, { isOpenToStaleTokens, needsUser })
  return {
    ...head(description),
    security: needsUser ? [{ token: [] }] : isOpenToStaleTokens ? [] : [{}, { token: [] }],
    ...(found.length > 0 && { parameters: found }),
    responses: { ...directAnswers(description), ...refusals.responsesOf(codes, Object.keys(description.answers)) },
  }
}

/** Returns the introduction of the document: rules that apply to every route. */
function describeApi(): string {
  const errors = [...refusals.used]
    .map((code) => ({ ...statuses[code], meaning: meaningOf(code) }))
    .sort((one, other) => one.status - other.status || (one.type < other.type ? -1 : 1))
    .map(({ status, type, meaning }) => `| ${status} | \`${type}\` | ${meaning} |`)
  const guide = readFileSync(new URL('guide.md', import.meta.url), 'utf8')
  const rules = guide.replace('{{maxJsonValues}}', MAX_JSON_VALUES.toLocaleString('en'))
  return [rules, '| status | `error.type` | meaning |', '|---|---|---|', ...errors, ''].join('\n')
}

const paths: Record<string, Json> = {}
function put(path: string, method: string, operation: Json) {
  const address = path.replaceAll(/:(\w+)/g, '{$1}')
  paths[address] = { ...paths[address], [method.toLowerCase()]: operation }
}
for (const route of routes) put(`/api/v3/${route.path}`, route.method, describeRoute(route))
for (const route of directRouteTable(createDirectRoutes)) {
  if (route.description) put(route.path, route.method, describeDirect(route.description, route))
}

const sorted = <Value>(record: Record<string, Value>) =>
  Object.fromEntries(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1)))

const document = {
  openapi: '3.1.0',
  info: {
    title: 'Annal',
    version: manifest.version,
    summary: 'Registers assets, records every change of their metadata on a blockchain, and sells paid actions.',
    description: describeApi(),
    license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
  },
  servers: [{ url: '/', description: 'The server of this document.' }],
  tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
  paths: sorted(paths),
  components: {
    ...{ securitySchemes, parameters, headers, examples: sorted(refusals.examples) },
    ...{ responses: sorted(refusals.responses), schemas: sorted(components) },
  },
}
writeFileSync(new URL('../rest/generated/openapi.json', import.meta.url), `${JSON.stringify(document, undefined, 2)}\n`)
