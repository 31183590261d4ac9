/** What a caller learns of an error. Expected refusals keep their code; everything else becomes one fixed sentence and a log line. */
import { PothosValidationError } from '@pothos/core'
import { GraphQLError, type GraphQLErrorOptions } from 'graphql'
import { DomainError, type ErrorCode, errorCodes, type FieldErrors } from '../domain/errors.ts'
import type { Log } from '../domain/ports/log.ts'
import { ScalarRefusal } from './scalar-refusal.ts'
import { refusedVariable, withoutValues } from './without-values.ts'

/** All that a caller learns of a fault. */
const INTERNAL_MESSAGE = 'Something went wrong on our side. Nothing was charged that did not happen; please try again.'

/** GraphQL and its libraries repeat what they were given, once for each field that was given it. */
const MAX_MESSAGE = 1_000

/** Refusals that say nothing about the request: whatever stands between may know that it can be sent again. */
const wholeAnswer: Partial<Record<ErrorCode, object>> = { INSUFFICIENT_STORAGE: { http: { status: 503 } } }

const SYNTAX_ERROR = /^Syntax Error/

/** Errors that are masked already. */
const masked = new WeakSet<GraphQLError>()

function shown(message: string, code: ErrorCode, from?: GraphQLError, extras: object = {}, http?: object) {
  const error = new GraphQLError(message.slice(0, MAX_MESSAGE).toWellFormed(), {
    nodes: from?.nodes,
    source: from?.source,
    positions: from?.positions,
    path: from?.path,
    extensions: { code, ...extras, ...http },
  } as GraphQLErrorOptions)
  masked.add(error)
  return error
}

/** The code of an error that speaks our vocabulary already, or says it by its status. */
const knownCode = ({ extensions }: GraphQLError): ErrorCode | undefined =>
  errorCodes.find((code) => code === extensions.code) ??
  ((extensions.http as { status?: number } | undefined)?.status === 405 ? 'METHOD_NOT_ALLOWED' : undefined)

/** The expected refusal inside an error, if it is one. */
function domainErrorOf(error: unknown): DomainError | undefined {
  if (error instanceof DomainError) return error
  if (error instanceof GraphQLError && error.originalError) return domainErrorOf(error.originalError)
  return undefined
}

/** A scalar's own reason; it holds no value. */
const reasonOf = ({ originalError }: GraphQLError) =>
  originalError instanceof ScalarRefusal ? originalError.message : undefined

/** The same to who has not heard of scalars. */
const plainReasonOf = (error: GraphQLError) =>
  reasonOf(error)?.replace(/^Not an? \w+: (.)/, (_, first: string) => first.toUpperCase()) ?? 'Not a valid value.'

/** What is wrong with the variables, by the fields of the input object or else by the variables' names; undefined when nothing is. */
export function refusedFields(errors: readonly GraphQLError[]): FieldErrors | undefined {
  const fields: FieldErrors = {}
  for (const error of errors) {
    const refused = refusedVariable(error.message)
    if (!refused) continue
    const [step, field = refused.variable] = /^\.(\w+)/.exec(refused.path) ?? ['']
    const place = refused.path.slice(step.length)
    const message = `${place && `At ${place}: `}${plainReasonOf(error)}`
    fields[field] = [...(fields[field] ?? []), message]
  }
  return Object.keys(fields).length > 0 ? fields : undefined
}

/**
 * Returns the error that the caller sees. Logs unexpected errors and those of unavailable parts. An error that is masked already is
 * returned as it is.
 */
export function maskError(error: unknown, log: () => Log): GraphQLError {
  const from = error instanceof GraphQLError ? error : undefined
  if (from && masked.has(from)) return from
  const http = from?.extensions.http ? { http: from.extensions.http } : undefined
  const refusal = domainErrorOf(error)
  if (refusal) {
    const { code, details, shortfall, retryAfter } = refusal
    if (code === 'UNAVAILABLE' || code === 'INSUFFICIENT_STORAGE')
      log().warn({ err: refusal.cause ?? refusal, code, reason: refusal.message }, 'Request failed: part unavailable')
    return shown(refusal.message, code, from, { details, ...shortfall, retryAfter }, wholeAnswer[code] ?? http)
  }
  const cause = from?.originalError ?? error
  if (cause instanceof PothosValidationError) return shown(cause.message, 'VALIDATION_FAILED', from)
  // An error of GraphQL itself: the document or its variables.
  if (from && (!from.originalError || from.originalError instanceof GraphQLError)) {
    const code = knownCode(from) ?? (SYNTAX_ERROR.test(from.message) ? 'PARSE_ERROR' : 'VALIDATION_FAILED')
    return shown(withoutValues(from.message, reasonOf(from)), code, from, {}, http)
  }
  log().error({ err: cause, path: from?.path }, 'Request failed: unexpected error')
  return shown(INTERNAL_MESSAGE, 'INTERNAL', from)
}
