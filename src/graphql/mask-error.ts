/** What a caller learns of an error. Expected refusals keep their code; everything else becomes one fixed sentence and a log line. */
import { PothosValidationError } from '@pothos/core'
import { type ASTNode, GraphQLError, type GraphQLErrorOptions } from 'graphql'
import { handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga'
import type { Context } from '../services-context.ts'
import { DomainError, type ErrorCode, errorCodes, type FieldErrors } from '../shared/errors.ts'
import type { Log } from '../shared/log.ts'
import type { NodeContext } from './node-context.ts'

const EXPECTED = 'Expected value of type "'
/** What a value is quoted behind. */
const QUOTING = /[,;.]? (?:but encountered error|[Ff]ound:?) /

/** Cut at its first quotation. One regular expression for both would look for the end at each beginning that the value repeats. */
function withoutFound(message: string): string {
  const start = message.indexOf(EXPECTED)
  const quoting = start < 0 ? -1 : message.slice(start).search(QUOTING)
  return quoting < 0 ? message : `${message.slice(0, start + quoting)}.`
}

/** What GraphQL says, without the values that it quotes. */
const cut = (message: string) =>
  withoutFound(
    message
      .replace(/^Value ".*" does not exist in ("\w+" enum).*$/s, 'A value does not exist in $1.')
      .replace(/ (String|BlockString|Int|Float) ".*$/s, ' $1.')
      .replace(/ cannot represent .*$/s, ' cannot represent the value.'),
  ).replace(/\?\.$/, '?')

/** What is wrong with a variable, as the end of a sentence. */
const inWords = (problem: string) =>
  cut(problem)
    .replace(/^(\w+) cannot represent the value\.$/, 'expected $1.')
    .replace(
      /^(?:A value does not exist in|Enum) ("\w+") (?:enum|cannot represent the value)\.$/,
      'expected a value of the enum $1.',
    )
    .replace(/^Expected /, 'expected ')

/** Which variable GraphQL refuses, where in it, and why; undefined when its message is about something else. */
export function refusedVariable(message: string) {
  const [, variable, path = '', problem = ''] =
    /^Variable "\$(\w+)" has invalid value(?: at ([.[].*?))?: (.*)$/s.exec(message) ?? []
  return variable === undefined ? undefined : { variable, path, problem }
}

/**
 * What GraphQL says of a document or its variables, without the values it quotes: a password that was sent as the wrong
 * type, or behind a forgotten colon, must not stand in an error that callers log. Where it is, the error's location tells;
 * `reason` is a scalar's own, which holds none.
 */
export function withoutValues(message: string, reason?: string): string {
  const refused = refusedVariable(message)
  if (!refused) return cut(message)
  const { variable, path, problem } = refused
  const at = path && ` at "${variable}${path}"`
  return `Variable "$${variable}" got an invalid value${at}; ${reason ?? inWords(problem)}`
}

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

/** Why a scalar of ours refuses a value, in a sentence that never holds the value. It is shown to the caller as it is. */
export class ScalarRefusal extends GraphQLError {
  constructor(reason: string, node?: ASTNode) {
    super(reason, { nodes: node, extensions: { code: 'VALIDATION_FAILED' } })
  }
}

type Result = Parameters<typeof handleStreamOrSingleExecutionResult>[0]

/** Masks the errors of an execution and logs the unexpected ones with the request ID. Yoga masks without the context. */
export function useMaskedErrors(): Plugin<Context> {
  const mask = (payload: Result, { requestLog }: Context) =>
    handleStreamOrSingleExecutionResult(payload, ({ result, setResult }) => {
      if (result.errors) setResult({ ...result, errors: result.errors.map((error) => maskError(error, requestLog)) })
    })
  return {
    onExecute: ({ args: { contextValue } }) => ({ onExecuteDone: (payload) => mask(payload, contextValue) }),
    onSubscribe: ({ args: { contextValue } }) => ({
      onSubscribeResult: (payload) => mask(payload, contextValue),
      onSubscribeError: ({ error, setError }) => setError(maskError(error, contextValue.requestLog)),
    }),
  }
}

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
