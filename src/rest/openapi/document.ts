/** The description of the REST interface as an OpenAPI 3.1 document, made from the route table. */
import { type GraphQLSchema, OperationTypeNode } from 'graphql'
import type { z } from 'zod'
import type { ErrorCode } from '../../domain/errors.ts'
import { isForEverybody } from '../../domain/policy.ts'
import { POSITION_FORM } from '../../domain/read-position.ts'
import { mayLag } from '../../graphql/lagging.ts'
import { hasOpenField } from '../../graphql/stale-token.ts'
import type { Description, DirectDescription, DirectRoute, Route } from '../define-route.ts'
import { operationOf } from '../execute.ts'
import { statuses } from '../status.ts'
import { errorName, errorRecords, errorsOfDirectRoute, errorsOfRoute, inRest, meaningOf } from './errors.ts'
import { createGuide } from './guide.ts'
import { createSchemas, formBodyOf, type JsonSchema, jsonBodyOf } from './json-schema.ts'
import { linksOf } from './links.ts'
import { tags } from './tags.ts'
import { describeWebhooks } from './webhooks.ts'

type Json = Record<string, unknown>

/** A request and its answer, as they really were: by the operation's identifier. */
export type Examples = Record<string, { request?: unknown; answer?: unknown }>
/** Refusals as they really were, by code. */
export type ErrorExamples = Partial<Record<ErrorCode, unknown>>

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

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'
const MULTIPART_TYPE = 'multipart/form-data'

const header = (name: string) => ({ $ref: `#/components/headers/${name}` })
const parameter = (name: string) => ({ $ref: `#/components/parameters/${name}` })

const position = { type: 'string', pattern: POSITION_FORM.source }

const headers = {
  ReadAfter: {
    description:
      'The position of what was written, where reads may come from replicas. Sent with a read as `Annal-Read-After`, it shows this to anybody; who wrote is shown it anyhow.',
    schema: position,
  },
  ETag: { description: 'The version of what is answered.', schema: { type: 'string' } },
  IdempotencyReplayed: {
    description: '`true` when the answer is that of an earlier request with the same key.',
    schema: { type: 'string', const: 'true' },
  },
  RequestId: { description: 'What the request is called in the log.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds after which to ask again.', schema: { type: 'integer', minimum: 0 } },
  WwwAuthenticate: { description: 'How to sign in.', schema: { type: 'string', const: 'Token' } },
}

const parameters = {
  ReadAfter: {
    name: 'Annal-Read-After',
    in: 'header',
    description: 'What the answer to a write said under this name: what was written then is shown.',
    schema: position,
  },
  DryRun: {
    name: 'dry_run',
    in: 'query',
    description: 'Answers what the request would cost and what it would be refused for, and does nothing else.',
    schema: { type: 'boolean', default: false },
  },
  MaxCost: {
    name: 'max_cost',
    in: 'query',
    description: 'The same as the field of the body: where both are given, they are to be the same.',
    schema: { type: 'string' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'A name of this request, best a UUID: a repetition with the same name is carried out once.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of the answer one has: when it is the same, the answer is 304.',
    schema: { type: 'string' },
  },
}

const securitySchemes = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of a session, from `POST /api/v3/auth/token/login`. `Authorization: token …` is read, too.',
  },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'The key of a trusted service, which an administrator issues.',
  },
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
  const { components, add, bodyOf, schemaOf } = createSchemas(descriptionIn(schema))
  const errorResponses: Record<string, Json> = {}
  const told = new Set<ErrorCode>(['METHOD_NOT_ALLOWED'])

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

  const refusals: Record<string, Json> = {}
  function exampleOf(code: ErrorCode): Json {
    refusals[errorName(code)] = { summary: statuses[code].type, value: errorExamples[code] }
    return { $ref: `#/components/examples/${errorName(code)}` }
  }

  function errorContent(codes: ErrorCode[]): Json {
    for (const code of codes) told.add(code)
    const refs = codes.map((code) => schemaOf(errorRecords.get(code)!))
    const known = codes.filter((code) => errorExamples[code])
    return {
      [JSON_TYPE]: {
        schema: refs.length === 1 ? refs[0] : { anyOf: refs },
        ...(known.length > 0 && {
          examples: Object.fromEntries(known.map((code) => [statuses[code].type, exampleOf(code)])),
        }),
      },
    }
  }

  const describeCodes = (codes: ErrorCode[]) =>
    codes.length === 1
      ? meaningOf(codes[0]!)
      : codes.map((code) => `- \`${statuses[code].type}\`: ${meaningOf(code)}`).join('\n')

  function errorResponse(status: number, codes: ErrorCode[]): Json {
    const response = {
      description: describeCodes(codes),
      headers: {
        'X-Request-Id': header('RequestId'),
        ...(status === 401 && { 'WWW-Authenticate': header('WwwAuthenticate') }),
        ...([409, 429, 503, 507].includes(status) && { 'Retry-After': header('RetryAfter') }),
      },
      content: errorContent(codes),
    }
    if (codes.length > 1) return response
    errorResponses[errorName(codes[0]!)] = response
    return { $ref: `#/components/responses/${errorName(codes[0]!)}` }
  }

  function errorResponsesOf(codes: ErrorCode[], others: string[] = []): Json {
    const byStatus = Map.groupBy(codes, (code) => statuses[code].status)
    const described = [...byStatus].filter(([status]) => !others.includes(String(status)))
    return Object.fromEntries(described.map(([status, each]) => [status, errorResponse(status, each)]))
  }

  /** A body in every encoding in which it may come; each that differs from those before it is a component of its own. */
  function requestBody({ body, listAs, operationId, files = [] }: Route): Json | undefined {
    if (!body) return undefined
    const { name: id, body: whole } = bodyOf(body)
    const json = jsonBodyOf(whole)
    const multipart = formBodyOf(whole, { mayHaveFiles: true })
    const form = formBodyOf(whole, { mayHaveFiles: false })
    const names = new Map<string, string>()
    const refTo = (name: string, made: JsonSchema) => {
      const text = JSON.stringify(made)
      if (!names.has(text)) names.set(text, names.size === 0 ? id : name)
      return add(names.get(text)!, made)
    }
    const contents: [type: string, schema: JsonSchema | undefined][] = [
      [JSON_TYPE, json && listOrObject(refTo(id, json), json, listAs)],
      [FORM_TYPE, form && refTo(`${id}Form`, form)],
      [MULTIPART_TYPE, multipart && refTo(`${id}${files.length ? 'Multipart' : 'Form'}`, multipart)],
    ]
    const { request } = examples[operationId] ?? {}
    const content = contents
      .filter(([, schema]) => schema !== undefined)
      .map(([type, schema]) => [
        type,
        { schema, ...(request !== undefined && type === JSON_TYPE && { example: request }) },
      ])
    return { ...(whole.required?.length && { required: true }), content: Object.fromEntries(content) }
  }

  const listOrObject = (ref: JsonSchema, { properties }: JsonSchema, listAs: string | undefined): JsonSchema => {
    const list = listAs === undefined ? undefined : properties?.[listAs]?.anyOf?.find(({ type }) => type === 'array')
    return list ? { anyOf: [list, ref] } : ref
  }

  function success(route: Route): Json {
    const { operationId, method, etag, dryRunAnswer } = route
    const status = route.status ?? 200
    const common = {
      'X-Request-Id': header('RequestId'),
      ...(method !== 'GET' && {
        'Annal-Read-After': header('ReadAfter'),
        'Idempotency-Replayed': header('IdempotencyReplayed'),
      }),
    }
    const answer = (schemas: JsonSchema[], description: string, isVersioned: boolean, example?: unknown): Json => ({
      description,
      headers: { ...common, ...(isVersioned && { ETag: header('ETag') }) },
      content: {
        [JSON_TYPE]: {
          schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas },
          ...(example !== undefined && { example }),
        },
      },
    })
    const notModified = { description: 'It is as you have it.', headers: { ...common, ETag: header('ETag') } }
    if (status === 204) return { 204: { description: 'It is done.', headers: common } }
    const schemas = [schemaOf(route.answer)]
    const { answer: example } = examples[operationId] ?? {}
    const quote = dryRunAnswer && schemaOf(dryRunAnswer)
    if (quote && status === 200) schemas.push(quote)
    const links = linksOf(route, routes)
    const words =
      status === 201 ? 'It was made.' : quote ? 'It is done; or, on a dry run, what it would cost.' : 'The answer.'
    return {
      ...(quote && status !== 200 && { 200: answer([quote], 'A dry run: what it would cost.', false) }),
      [status]: { ...answer(schemas, words, etag !== undefined, example), ...(links && { links }) },
      ...(etag && method === 'GET' && { 304: notModified }),
    }
  }

  const securityOf = ({ action, apiKey }: Route, isOpenToStaleTokens: boolean) => {
    if (!isForEverybody(action)) return [{ token: [], ...(apiKey === 'needed' && { apiKey: [] }) }]
    if (isOpenToStaleTokens) return apiKey ? [{}, { apiKey: [] }] : []
    return [{}, { token: [] }]
  }

  const head = ({ operationId, tag, summary, description, deprecated }: Description, more: string[] = []): Json => {
    const text = [...more, description].filter((part) => part !== undefined).join(' ')
    return { operationId, tags: [tag], summary, ...(text && { description: text }), ...(deprecated && { deprecated }) }
  }

  function describeRoute(route: Route): Json {
    const operation = operationOf(route)
    const changes = operation.operation === OperationTypeNode.MUTATION
    const isOpenToStaleTokens = hasOpenField(schema, route.operation)
    const body = requestBody(route)
    const found = [
      ...parametersIn('path', route.params),
      ...parametersIn('query', route.query),
      ...(route.presentDryRun ? [parameter('DryRun')] : []),
      ...(route.body && 'max_cost' in route.body.shape ? [parameter('MaxCost')] : []),
      ...parametersIn('header', route.headers),
      ...(changes ? [parameter('IdempotencyKey')] : []),
      ...(mayLag(route.operation, operation) ? [parameter('ReadAfter')] : []),
      ...(route.etag && route.method === 'GET' ? [parameter('IfNoneMatch')] : []),
    ]
    return {
      ...head(route, route.action === 'store:administer' ? ['For administrators.'] : []),
      security: securityOf(route, isOpenToStaleTokens),
      ...(found.length > 0 && { parameters: found }),
      ...(body && { requestBody: body }),
      responses: { ...success(route), ...errorResponsesOf(errorsOfRoute(route, { isOpenToStaleTokens, changes })) },
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
    { ignoresCredentials = false, isOpenToStaleTokens = ignoresCredentials, mayLag: isLagging = false }: DirectRoute,
  ): Json {
    const { access, params, query, headers, answers } = description
    const found = [
      ...parametersIn('path', params),
      ...parametersIn('query', query),
      ...parametersIn('header', headers),
      ...(isLagging ? [parameter('ReadAfter')] : []),
    ]
    const codes = errorsOfDirectRoute(description, { isOpenToStaleTokens })
    return {
      ...head(description),
      security: access === 'user' ? [{ token: [] }] : isOpenToStaleTokens ? [] : [{}, { token: [] }],
      ...(found.length > 0 && { parameters: found }),
      responses: { ...directAnswers(description), ...errorResponsesOf(codes, Object.keys(answers)) },
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
      description: createGuide(told),
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: '/', description: 'Where this document comes from.' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: sorted(paths),
    webhooks: describeWebhooks({ schemaOf, parametersIn, exampleOf: (id) => examples[id]?.request }),
    components: {
      securitySchemes,
      parameters,
      headers,
      examples: sorted(refusals),
      responses: sorted(errorResponses),
      schemas: sorted(components),
    },
  }
}
