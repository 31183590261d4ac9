/** Refusals as the description tells them: each code has a schema, and a route has those that it can be refused with. */
import { z } from 'zod'
import { type ErrorCode, errorCodes, errorMeanings } from '../../shared/errors.ts'
import { allowsAnonymous } from '../../shared/policy.ts'
import { statuses } from '../error-status.ts'
import type { DirectDescription, Route } from '../rest/define-route.ts'
import { header, JSON_TYPE, type JsonSchema } from './components.ts'

const fieldErrors = z
  .record(z.string(), z.array(z.string()))
  .describe('What is wrong, by field; `non_field_errors` is about no field or several.')
const neededAmount = z.string().describe('Words, and after `: ` the amount that is needed.')
const knownAssets = z
  .array(
    z.object({
      id: z.string().describe('The nid of the asset.'),
      cid: z.string().describe('The same as `id`.'),
    }),
  )
  .describe('The asset that is registered already.')

/** What a refusal tells in `error.details`, where it tells something. */
const details: Partial<Record<ErrorCode, z.ZodType>> = {
  ASSET_COMMIT_INSUFFICIENT_FUND: neededAmount,
  CONFLICT: z.string().optional().describe('What it is now; of an asset its head commit.'),
  DUPLICATE_ASSET: knownAssets,
  DUPLICATE_EMAIL: fieldErrors.optional(),
  DUPLICATE_USERNAME: fieldErrors.optional(),
  INSUFFICIENT_FUND: neededAmount,
  VALIDATION_FAILED: fieldErrors.optional(),
}

/** A sentence of the other interface: a code is told by its type, and what it has among its extensions has a place of its own. */
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

/** What a refusal means to a caller of REST. */
export const meaningOf = (code: ErrorCode) => inRest(errorMeanings[code])

/** `NotFound` of `NOT_FOUND`. */
export const errorName = (code: ErrorCode) =>
  code
    .toLowerCase()
    .split('_')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('')

const errorRecord = (code: ErrorCode) => {
  const { status, type } = statuses[code]
  const told = details[code]
  return z
    .object({
      error: z.object({
        type: z.literal(type).describe('What went wrong, for programs: it is never changed.'),
        message: z.string().describe('What went wrong, for a person.'),
        ...(told && { details: told }),
      }),
      status_code: z.literal(status).describe('The status of the answer.'),
      detail: z.string().describe('The same as `error.message`.'),
    })
    .meta({ id: `${errorName(code).replace(/Error$/, '')}Error`, description: meaningOf(code) })
}

/** The body of each refusal. */
export const errorRecords: ReadonlyMap<ErrorCode, z.ZodType> = new Map(
  errorCodes.map((code) => [code, errorRecord(code)]),
)

/** Whatever is asked for: limits, parts that are away, requests that are no HTTP or carry a bad key. */
const ofEveryRequest: ErrorCode[] = [
  'HEADERS_TOO_LARGE',
  'INTERNAL',
  'PARSE_ERROR',
  'REQUEST_TIMEOUT',
  'THROTTLED',
  'UNAVAILABLE',
  'VALIDATION_FAILED',
]
const ofBodies: ErrorCode[] = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']
/** What it changes may be held by somebody else for longer than anybody waits; and its key may be another request's. */
const ofChanges: ErrorCode[] = ['CONFLICT', 'IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED']

/** What the policy refuses strangers, and those who are no administrators. */
function refusalsOf(action: Route['action']): ErrorCode[] {
  if (allowsAnonymous(action)) return []
  return action === 'store:administer' ? ['NOT_AUTHENTICATED', 'PERMISSION_DENIED'] : ['NOT_AUTHENTICATED']
}

const inOrder = (codes: ErrorCode[]) => [...new Set(codes)].sort()

/** What a refused stale token is told, unless the route is where one gets in again, or looks at no token. */
const staleToken = (isOpenToStaleTokens: boolean): ErrorCode[] => (isOpenToStaleTokens ? [] : ['AUTHENTICATION_FAILED'])

/** Every code that a route can be refused with. `changes`: whether its operation is a mutation. */
export const errorsOfRoute = (
  route: Route,
  { isOpenToStaleTokens, changes }: { isOpenToStaleTokens: boolean; changes: boolean },
): ErrorCode[] =>
  inOrder([
    ...ofEveryRequest,
    ...staleToken(isOpenToStaleTokens),
    ...refusalsOf(route.action),
    ...(route.method === 'GET' ? [] : ofBodies),
    ...(changes ? ofChanges : []),
    ...(route.apiKey ? (['UNTRUSTED_CLIENT'] as const) : []),
    ...(route.params ? (['NOT_FOUND'] as const) : []),
    ...(route.errors ?? []),
  ])

/** The same of a direct route. */
export const errorsOfDirectRoute = (
  { errors = [], params, access }: DirectDescription,
  { isOpenToStaleTokens }: { isOpenToStaleTokens: boolean },
): ErrorCode[] =>
  inOrder([
    ...ofEveryRequest,
    ...staleToken(isOpenToStaleTokens),
    ...(access === 'user' ? (['NOT_AUTHENTICATED'] as const) : []),
    ...(params ? (['NOT_FOUND'] as const) : []),
    ...errors,
  ])

type Json = Record<string, unknown>

/** Refusals as they really were, by code. */
export type ErrorExamples = Partial<Record<ErrorCode, unknown>>

const describeCodes = (codes: ErrorCode[]) =>
  codes.length === 1
    ? meaningOf(codes[0]!)
    : codes.map((code) => `- \`${statuses[code].type}\`: ${meaningOf(code)}`).join('\n')

/** Collects the refusals that routes are described with. `told`: their codes. */
export function createRefusals(schemaOf: (schema: z.ZodType) => JsonSchema, known: ErrorExamples) {
  const responses: Record<string, Json> = {}
  const examples: Record<string, Json> = {}
  const told = new Set<ErrorCode>(['METHOD_NOT_ALLOWED'])

  function exampleOf(code: ErrorCode): Json {
    examples[errorName(code)] = { summary: statuses[code].type, value: known[code] }
    return { $ref: `#/components/examples/${errorName(code)}` }
  }

  function contentOf(codes: ErrorCode[]): Json {
    for (const code of codes) told.add(code)
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
    told,
    /** The answers with these codes, by status, but for the statuses that stand for something else. */
    responsesOf(codes: ErrorCode[], others: string[] = []): Json {
      const byStatus = Map.groupBy(codes, (code) => statuses[code].status)
      const described = [...byStatus].filter(([status]) => !others.includes(String(status)))
      return Object.fromEntries(described.map(([status, each]) => [status, responseOf(status, each)]))
    },
  }
}
