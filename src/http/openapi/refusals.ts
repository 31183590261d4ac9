/** Refusals in the description: what routes are refused with, each under its name where it stands alone. */
import type { z } from 'zod'
import type { ErrorCode } from '../../shared/errors.ts'
import { statuses } from '../error-status.ts'
import { header, JSON_TYPE } from './components.ts'
import { errorName, errorRecords, meaningOf } from './errors.ts'
import type { JsonSchema } from './json-schema.ts'

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
