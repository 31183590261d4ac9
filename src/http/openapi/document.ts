/** Creates the OpenAPI 3.1 document of the REST API from the route table. */
import { type GraphQLSchema, OperationTypeNode } from 'graphql'
import type { z } from 'zod'
import { hasOpenField } from '../../graphql/expired-token.ts'
import { allowsAnonymous } from '../../shared/policy.ts'
import { type Description, type DirectDescription, type DirectRoute, type Route, tags } from '../rest/define-route.ts'
import { operationOf } from '../rest/execute-route.ts'
import {
  createSchemas,
  formBodyOf,
  header,
  headers,
  JSON_TYPE,
  type JsonSchema,
  jsonBodyOf,
  parameter,
  parameters,
  securitySchemes,
} from './components.ts'
import { createRefusals, type ErrorExamples, errorsOfDirectRoute, errorsOfRoute, inRest } from './error-responses.ts'
import { createGuide } from './guide.ts'
import { describeWebhooks } from './webhooks.ts'

type Json = Record<string, unknown>

/** Recorded requests and responses, by operation ID. */
export type Examples = Record<string, { request?: unknown; answer?: unknown }>

export interface DocumentSources {
  schema: GraphQLSchema
  routes: Route[]
  directRoutes: DirectRoute[]
  /** Version of the package. */
  version: string
  examples: Examples
  errorExamples: ErrorExamples
}

/** Returns the OpenAPI form of a path: `/api/v3/assets/{nid}` for `/api/v3/assets/:nid`. */
const template = (path: string) => path.replaceAll(/:(\w+)/g, '{$1}')

/** Returns a description of the GraphQL schema by coordinate. */
const descriptionIn =
  (schema: GraphQLSchema) =>
  (coordinate: string): string => {
    const [typeName = '', fieldName = ''] = coordinate.split('.')
    const type = schema.getType(typeName)
    const field = type && 'getFields' in type ? type.getFields()[fieldName] : undefined
    if (!field?.description) throw new Error(`The GraphQL schema has no description of ${coordinate}.`)
    return inRest(field.description)
  }

/** Creates the document. Throws an Error for a route that cannot be described. */
export function createDocument({ schema, routes, directRoutes, version, examples, errorExamples }: DocumentSources) {
  const jsonSchemas = createSchemas(descriptionIn(schema))
  const { components, schemaOf } = jsonSchemas
  const refusals = createRefusals(schemaOf, errorExamples)

  /** Returns a parameter for each field of an object. */
  function parametersIn(place: 'path' | 'query' | 'header', fields: z.ZodObject | undefined): Json[] {
    if (!fields) return []
    const { properties = {}, required = [] } = schemaOf(fields)
    return Object.entries(properties).map(([name, { description, ...schema }]) => ({
      ...{ name, in: place, description },
      ...((place === 'path' || required.includes(name)) && { required: true }),
      schema,
    }))
  }

  /** Describes the successful response. Every operation has exactly one body: generators give a method one return type. */
  function success(route: Route, changes: boolean): Json {
    const { operationId, method, etag, status = 200 } = route
    const common = {
      'X-Request-Id': header('RequestId'),
      ...(changes && {
        'Idempotency-Replayed': header('IdempotencyReplayed'),
      }),
    }
    const notModified = { description: 'Not modified.', headers: { ...common, ETag: header('ETag') } }
    if (status === 204) return { 204: { description: 'Done.', headers: common } }
    const { answer: example } = examples[operationId] ?? {}
    const links = linksOf(route, routes)
    return {
      [status]: {
        description: status === 201 ? 'Created.' : 'Success.',
        headers: { ...common, ...(etag && { ETag: header('ETag') }) },
        content: { [JSON_TYPE]: { schema: schemaOf(route.answer), ...(example !== undefined && { example }) } },
        ...(links && { links }),
      },
      ...(etag && method === 'GET' && { 304: notModified }),
    }
  }

  const securityOf = ({ action, apiKey }: Route, isOpenToStaleTokens: boolean) => {
    if (!allowsAnonymous(action)) return [{ token: [], ...(apiKey === 'needed' && { apiKey: [] }) }]
    if (isOpenToStaleTokens) return apiKey ? [{}, { apiKey: [] }] : []
    return [{}, { token: [] }]
  }

  const head = ({ operationId, tag, summary, description, deprecated }: Description, more: string[] = []): Json => {
    const text = [...more, description].filter((part) => part !== undefined).join(' ')
    return { operationId, tags: [tag], summary, ...(text && { description: text }), ...(deprecated && { deprecated }) }
  }

  const webhookTools = { schemaOf, parametersIn, exampleOf: (id: string) => examples[id]?.request }

  function describeRoute(route: Route): Json {
    const operation = operationOf(route)
    const changes = operation.operation === OperationTypeNode.MUTATION
    const isOpenToStaleTokens = hasOpenField(schema, route.operation)
    const body = describeBody(route, jsonSchemas, examples[route.operationId]?.request)
    const found = [
      ...parametersIn('path', route.params),
      ...parametersIn('query', route.query),
      ...parametersIn('header', route.headers),
      ...(changes ? [parameter('IdempotencyKey')] : []),
      ...(route.etag && route.method === 'GET' ? [parameter('IfNoneMatch')] : []),
    ]
    return {
      ...head(route, route.action === 'store:administer' ? ['For administrators.'] : []),
      security: securityOf(route, isOpenToStaleTokens),
      ...(found.length > 0 && { parameters: found }),
      ...(body && { requestBody: body }),
      ...(route.operationId === 'createNetworkApp' && { callbacks: describeWebhooks(webhookTools) }),
      responses: {
        ...success(route, changes),
        ...refusals.responsesOf(errorsOfRoute(route, { isOpenToStaleTokens, changes })),
      },
    }
  }

  function directAnswers({ answers, operationId }: DirectDescription): Json {
    const { answer: example } = examples[operationId] ?? {}
    const described = Object.entries(answers).map(([status, { description, mediaType, schema, isVersioned }]) => {
      const content = {
        ...(schema && { schema: schemaOf(schema) }),
        ...(example !== undefined && status === '200' && { example }),
      }
      return [
        status,
        {
          description,
          headers: { 'X-Request-Id': header('RequestId'), ...(isVersioned && { ETag: header('ETag') }) },
          ...(mediaType && { content: { [mediaType]: content } }),
        },
      ]
    })
    return Object.fromEntries(described)
  }

  function describeDirect(
    description: DirectDescription,
    { ignoresCredentials = false, isOpenToStaleTokens = ignoresCredentials }: DirectRoute,
  ): Json {
    const { access, params, query, headers, answers } = description
    const found = [...parametersIn('path', params), ...parametersIn('query', query), ...parametersIn('header', headers)]
    const codes = errorsOfDirectRoute(description, { isOpenToStaleTokens })
    return {
      ...head(description),
      security: access === 'user' ? [{ token: [] }] : isOpenToStaleTokens ? [] : [{}, { token: [] }],
      ...(found.length > 0 && { parameters: found }),
      responses: { ...directAnswers(description), ...refusals.responsesOf(codes, Object.keys(answers)) },
    }
  }

  const paths: Record<string, Json> = {}
  const put = (path: string, method: string, operation: Json) => {
    const address = template(path)
    paths[address] = { ...paths[address], [method.toLowerCase()]: operation }
  }
  for (const route of routes) put(`/api/v3/${route.path}`, route.method, describeRoute(route))
  for (const route of directRoutes) {
    if (route.description) put(route.path, route.method, describeDirect(route.description, route))
  }

  const sorted = <Value>(record: Record<string, Value>) =>
    Object.fromEntries(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1)))

  return {
    openapi: '3.1.0',
    info: {
      title: 'Annal',
      version,
      summary: 'Registers assets, records every change of their metadata on a blockchain, and sells paid actions.',
      description: createGuide(refusals.used),
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: '/', description: 'The server of this document.' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: sorted(paths),
    components: {
      securitySchemes,
      parameters,
      headers,
      examples: sorted(refusals.examples),
      responses: sorted(refusals.responses),
      schemas: sorted(components),
    },
  }
}

const MULTIPART_TYPE = 'multipart/form-data'

/**
 * Describes a request body in one media type: multipart for routes that take files, JSON for all others. The service also reads other
 * encodings, but openapi-python-client sends a body in all of its media types at once. `example`: a recorded JSON body. Returns
 * undefined for a route without a body.
 */
function describeBody(
  { body, listAs, files = [] }: Route,
  { add, bodyOf }: Pick<ReturnType<typeof createSchemas>, 'add' | 'bodyOf'>,
  example: unknown,
): Record<string, unknown> | undefined {
  if (!body) return undefined
  const { name, body: whole } = bodyOf(body)
  const required = whole.required?.length ? { required: true } : {}
  if (files.length > 0) return { ...required, content: { [MULTIPART_TYPE]: { schema: add(name, formBodyOf(whole)) } } }
  const json = jsonBodyOf(whole)
  // Some generators write code that does not compile for "a list or an object".
  const list = listAs === undefined ? undefined : json.properties?.[listAs]
  const schema: JsonSchema = list ?? add(name, json)
  return { ...required, content: { [JSON_TYPE]: { schema, ...(example !== undefined && { example }) } } }
}

const MADE = '$response.body#/id'
const LISTED = '$response.body#/results/0/id'

const has = (answer: z.ZodType, field: string) => 'shape' in answer && field in (answer.shape as object)

/** Returns the runtime expression for the ID in the response of a route, or undefined. */
function nameIn({ method, answer, status = 200 }: Route): string | undefined {
  if (method === 'POST' && status === 201 && has(answer, 'id')) return MADE
  return method === 'GET' && has(answer, 'results') ? LISTED : undefined
}

/** Returns the path parameter of a route below the list at `path`. */
const parameterBelow = (path: string, route: Route) =>
  route.path.startsWith(`${path}/:`) ? /^:(\w+)/.exec(route.path.slice(path.length + 1))?.[1] : undefined

/** Returns the `links` of a response: from the response that contains an ID to the routes with that ID. Undefined without one. */
function linksOf(route: Route, routes: readonly Route[]): Record<string, object> | undefined {
  const name = nameIn(route)
  const links = routes.flatMap((other) => {
    const parameter = name && parameterBelow(route.path, other)
    const { operationId, summary } = other
    return parameter
      ? [[operationId, { operationId, parameters: { [parameter]: name }, description: `${summary}.` }]]
      : []
  })
  return links.length > 0 ? Object.fromEntries(links) : undefined
}
