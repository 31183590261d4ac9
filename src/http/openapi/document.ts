/** The description of the REST interface as an OpenAPI 3.1 document, made from the route table. */
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

/** A request and its answer, as they really were: by the operation's identifier. */
export type Examples = Record<string, { request?: unknown; answer?: unknown }>

/** What the document is made from. */
export interface DocumentSources {
  schema: GraphQLSchema
  routes: Route[]
  directRoutes: DirectRoute[]
  /** Of the package. */
  version: string
  examples: Examples
  errorExamples: ErrorExamples
}

/** `/api/v3/assets/{nid}` of `/api/v3/assets/:nid`. */
const template = (path: string) => path.replaceAll(/:(\w+)/g, '{$1}')

/** Descriptions of the GraphQL schema, by coordinate. */
const descriptionIn =
  (schema: GraphQLSchema) =>
  (coordinate: string): string => {
    const [typeName = '', fieldName = ''] = coordinate.split('.')
    const type = schema.getType(typeName)
    const field = type && 'getFields' in type ? type.getFields()[fieldName] : undefined
    if (!field?.description) throw new Error(`The GraphQL schema has no description of ${coordinate}.`)
    return inRest(field.description)
  }

/** Raises an Error for a route whose description cannot be made. */
export function createDocument({ schema, routes, directRoutes, version, examples, errorExamples }: DocumentSources) {
  const jsonSchemas = createSchemas(descriptionIn(schema))
  const { components, schemaOf } = jsonSchemas
  const refusals = createRefusals(schemaOf, errorExamples)

  /** Parameters, one for each field of an object. */
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
    const notModified = { description: 'It is as you have it.', headers: { ...common, ETag: header('ETag') } }
    if (status === 204) return { 204: { description: 'It is done.', headers: common } }
    const { answer: example } = examples[operationId] ?? {}
    const links = linksOf(route, routes)
    return {
      [status]: {
        description: status === 201 ? 'It was made.' : 'The answer.',
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
      description: createGuide(refusals.told),
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: '/', description: 'Where this document comes from.' }],
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

/** Where the answer of a route names a thing of its list, as a runtime expression of OpenAPI; undefined where it names none. */
function nameIn({ method, answer, status = 200 }: Route): string | undefined {
  if (method === 'POST' && status === 201 && has(answer, 'id')) return MADE
  return method === 'GET' && has(answer, 'results') ? LISTED : undefined
}

/** The parameter by which a route asks for a thing of the list at `path`. */
const parameterBelow = (path: string, route: Route) =>
  route.path.startsWith(`${path}/:`) ? /^:(\w+)/.exec(route.path.slice(path.length + 1))?.[1] : undefined

/** The `links` of a route's answer; undefined when it leads nowhere. */
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
