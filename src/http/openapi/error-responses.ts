/** Error responses in the OpenAPI document: a schema for each error code, and the error codes of each route. */
import { z } from 'zod'
import { type ErrorCode, errorCodes, errorMeanings } from '../../shared/errors.ts'
import { allowsAnonymous } from '../../shared/policy.ts'
import { statuses } from '../error-status.ts'
import type { Description, Route } from '../rest/define-route.ts'
import { header, JSON_TYPE, type JsonSchema } from './components.ts'

const fieldErrors = z
  .record(z.string(), z.array(z.string()))
  .describe('Problems by field. `non_field_errors` lists problems that belong to no single field.')
const neededAmount = z.string().describe('A sentence about the balance that ends with `: ` and the required amount.')
const knownAsset = z.object({
  id: z.string().describe('The nid of the asset.'),
  cid: z.string().describe('The same as `id`.'),
})

const details: Partial<Record<ErrorCode, z.ZodType>> = {
  ASSET_COMMIT_INSUFFICIENT_FUND: neededAmount,
  CONFLICT: z.string().optional().describe('Current version of the resource. For an asset: its newest commit.'),
  DUPLICATE_ASSET: z.array(knownAsset).describe('The asset already registered with this file.'),
  DUPLICATE_EMAIL: fieldErrors.optional(),
  DUPLICATE_USERNAME: fieldErrors.optional(),
  INSUFFICIENT_FUND: neededAmount,
  VALIDATION_FAILED: fieldErrors.optional(),
}

/** Converts a sentence about the GraphQL API to REST. */
export const inRest = (sentence: string) =>
  sentence
    .replaceAll(/\b[A-Z]+(_[A-Z]+)+\b/g, (code) =>
      code in statuses ? `\`${statuses[code as ErrorCode].type}\`` : code,
    )
    .replace(
      'See `extensions.required`, `available` and `missing` for the amounts.',
      '`error.details` ends with the required amount.',
    )
    .replace('`extensions.details`', '`error.details`')
    .replace('`extensions.retryAfter` seconds', 'the time in `Retry-After`')

export const meaningOf = (code: ErrorCode) => inRest(errorMeanings[code])

const errorName = (code: ErrorCode) =>
  code.toLowerCase().replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())

const errorRecord = (code: ErrorCode) => {
  const { status, type } = statuses[code]
  const detailsSchema = details[code]
  return z
    .object({
      error: z.object({
        type: z.literal(type).describe('Type of the error, for programs. It does not change.'),
        message: z.string().describe('Description of the error, for people.'),
        ...(detailsSchema && { details: detailsSchema }),
      }),
      status_code: z.literal(status).describe('HTTP status.'),
      detail: z.string().describe('The same as `error.message`.'),
    })
    .meta({ id: `${errorName(code).replace(/Error$/, '')}Error`, description: meaningOf(code) })
}

const errorRecords = new Map(errorCodes.map((code) => [code, errorRecord(code)]))

/** Errors that every route can return: limits, unavailable components, invalid HTTP, invalid idempotency keys. */
const ofEveryRequest: ErrorCode[] = [
  'HEADERS_TOO_LARGE',
  'INTERNAL',
  'PARSE_ERROR',
  'REQUEST_TIMEOUT',
  'THROTTLED',
  'UNAVAILABLE',
  'VALIDATION_FAILED',
]

const when = (condition: unknown, ...codes: ErrorCode[]) => (condition ? codes : [])
const inOrder = (codes: readonly ErrorCode[]) => [...new Set(codes)].sort()

/** Returns the error codes of a route that executes no GraphQL operation. */
export const errorsOfDirectRoute = (
  { errors = [], params }: Description,
  { isOpenToStaleTokens, needsUser }: { isOpenToStaleTokens: boolean; needsUser: boolean },
): ErrorCode[] =>
  inOrder([
    ...ofEveryRequest,
    ...when(!isOpenToStaleTokens, 'AUTHENTICATION_FAILED'),
    ...when(needsUser, 'NOT_AUTHENTICATED'),
    ...when(params, 'NOT_FOUND'),
    ...errors,
  ])

export const errorsOfRoute = (route: Route, isOpenToStaleTokens: boolean, changes: boolean): ErrorCode[] =>
  inOrder([
    ...errorsOfDirectRoute(route, { isOpenToStaleTokens, needsUser: !allowsAnonymous(route.action) }),
    ...when(route.action === 'store:administer', 'PERMISSION_DENIED'),
    ...when(route.method !== 'GET', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'),
    // CONFLICT is also returned if a row lock cannot be acquired in time.
    ...when(changes, 'CONFLICT', 'IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED'),
    ...when(route.apiKey, 'UNTRUSTED_CLIENT'),
  ])

type Json = Record<string, unknown>

export type ErrorExamples = Partial<Record<ErrorCode, unknown>>

const describeCodes = (codes: ErrorCode[]) =>
  codes.length === 1
    ? meaningOf(codes[0]!)
    : codes.map((code) => `- \`${statuses[code].type}\`: ${meaningOf(code)}`).join('\n')

/** Collects the error responses of all routes. `used`: the error codes of these routes. */
export function createRefusals(schemaOf: (schema: z.ZodType) => JsonSchema, known: ErrorExamples) {
  const responses: Record<string, Json> = {}
  const examples: Record<string, Json> = {}
  const used = new Set<ErrorCode>(['METHOD_NOT_ALLOWED'])

  function exampleOf(code: ErrorCode): Json {
    examples[errorName(code)] = { summary: statuses[code].type, value: known[code] }
    return { $ref: `#/components/examples/${errorName(code)}` }
  }

  function contentOf(codes: ErrorCode[]): Json {
    for (const code of codes) used.add(code)
    const refs = codes.map((code) => schemaOf(errorRecords.get(code)!))
    const shown = codes.filter((code) => known[code])
    return {
      [JSON_TYPE]: {
        schema: refs.length === 1 ? refs[0] : { anyOf: refs },
        ...(shown.length > 0 && {
          examples: Object.fromEntries(shown.map((code) => [statuses[code].type, exampleOf(code)])),
        }),
      },
    }
  }

  function responseOf(status: number, codes: ErrorCode[]): Json {
    const response = {
      description: describeCodes(codes),
      headers: {
        'X-Request-Id': header('RequestId'),
        ...(status === 401 && { 'WWW-Authenticate': header('WwwAuthenticate') }),
        ...([409, 429, 503, 507].includes(status) && { 'Retry-After': header('RetryAfter') }),
      },
      content: contentOf(codes),
    }
    const name = codes.map(errorName).join('Or')
    responses[name] = response
    return { $ref: `#/components/responses/${name}` }
  }

  return {
    responses,
    examples,
    used,
    /** Returns the error responses for these codes, by HTTP status. Omits the statuses in `others`. */
    responsesOf(codes: ErrorCode[], others: string[] = []): Json {
      const byStatus = Map.groupBy(codes, (code) => statuses[code].status)
      const described = [...byStatus].filter(([status]) => !others.includes(String(status)))
      return Object.fromEntries(described.map(([status, each]) => [status, responseOf(status, each)]))
    },
  }
}
