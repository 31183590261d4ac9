import type { Plugin } from 'graphql-yoga'
import { type ErrorCode, errorCodes } from '../domain/errors.ts'
import type { NodeContext } from './node-context.ts'
import { withoutValues } from './without-values.ts'

/** Words of the libraries for what we have a word for. */
const translations: Record<string, ErrorCode> = {
  GRAPHQL_PARSE_FAILED: 'PARSE_ERROR',
  METHOD_NOT_ALLOWED: 'METHOD_NOT_ALLOWED',
  REQUEST_ENTITY_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  UNSUPPORTED_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
}

const known = new Set<unknown>(errorCodes)

/** Statuses of requests that were not carried out, where they are not 400. */
const statuses: Partial<Record<ErrorCode, number>> = { THROTTLED: 429, UNAVAILABLE: 503, INTERNAL: 500 }

/**
 * The status of an answer without data, for callers who accept `application/graphql-response+json`: to them it may not be 200 (GraphQL over HTTP,
 * section 6.4.2). Who asks for `application/json` gets 200 as ever.
 */
const httpOf = (code: unknown) => ({ spec: true, status: statuses[code as ErrorCode] ?? 400 })

/** Every error that leaves speaks the one vocabulary, and `Retry-After` is that of the refusal that asks for the longest wait. */
export const useErrorVocabulary = (): Plugin<object, NodeContext> => ({
  onResultProcess({ result, serverContext }) {
    if (Array.isArray(result) || !('errors' in result)) return
    let longest = 0
    for (const error of result.errors ?? []) {
      const { extensions } = error
      error.message = withoutValues(error.message)
      if (!known.has(extensions.code)) extensions.code = translations[String(extensions.code)] ?? 'VALIDATION_FAILED'
      if (!('data' in result)) extensions.http ??= httpOf(extensions.code)
      longest = Math.max(longest, Number(extensions.retryAfter ?? 0))
    }
    if (longest > 0) serverContext.res.setHeader('Retry-After', String(longest))
  },
})
