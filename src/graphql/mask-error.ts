/** Masks errors for callers. Expected errors keep their code. Unexpected errors are logged and get a fixed message. */
import { PothosValidationError } from '@pothos/core'
import { type ASTNode, GraphQLError, type GraphQLErrorOptions } from 'graphql'
import { handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import { DomainError, type ErrorCode, errorCodes, type FieldErrors, isDatabaseOutage } from '../shared/errors.ts'
import type { Log } from '../shared/log.ts'

/**
 * Removes the rest of a message from its first quoted value on. A single regular expression would take quadratic time
 * for a value that repeats the text before it.
 */
function withoutFound(message: string): string {
  const start = message.indexOf('Expected value of type "')
  const quoting = start < 0 ? -1 : message.slice(start).search(/[,;.]? (?:but encountered error|[Ff]ound:?) /)
  return quoting < 0 ? message : `${message.slice(0, start + quoting)}.`
}

const cut = (message: string) =>
  withoutFound(
    message
      .replace(/^Value ".*" does not exist in ("\w+" enum).*$/s, 'A value does not exist in $1.')
      .replace(/ (String|BlockString|Int|Float) ".*$/s, ' $1.')
      .replace(/ cannot represent .*$/s, ' cannot represent the value.'),
  ).replace(/\?\.$/, '?')

const inWords = (problem: string) =>
  cut(problem)
    .replace(/^(\w+) cannot represent the value\.$/, 'expected $1.')
    .replace(
      /^(?:A value does not exist in|Enum) ("\w+") (?:enum|cannot represent the value)\.$/,
      'expected a value of the enum $1.',
    )
    .replace(/^Expected /, 'expected ')

/** Parses a message about an invalid variable: its name, the path in it, and the problem. */
function refusedVariable(message: string) {
  const [, variable, path = '', problem = ''] =
    /^Variable "\$(\w+)" has invalid value(?: at ([.[].*?))?: (.*)$/s.exec(message) ?? []
  return variable === undefined ? undefined : { variable, path, problem }
}

/**
 * Returns a GraphQL message without the quoted values. A password in a wrong field must not appear in an error that
 * callers log. The error's location shows the position. `reason` is a custom scalar's message, which has no value.
 */
export function withoutValues(message: string, reason?: string): string {
  const refused = refusedVariable(message)
  if (!refused) return cut(message)
  const { variable, path, problem } = refused
  const at = path && ` at "${variable}${path}"`
  return `Variable "$${variable}" got an invalid value${at}; ${reason ?? inWords(problem)}`
}

/** The only message that callers get for an unexpected error. */
const INTERNAL_MESSAGE = 'An internal error occurred. You are not charged for a failed operation. Please try again.'

const masked = new WeakSet<GraphQLError>()

function shown(message: string, code: ErrorCode, from?: GraphQLError, extras: object = {}, http?: object) {
  // GraphQL libraries repeat the input in messages.
  const error = new GraphQLError(message.slice(0, 1_000).toWellFormed(), {
    nodes: from?.nodes,
    source: from?.source,
    positions: from?.positions,
    path: from?.path,
    extensions: { code, ...extras, ...http },
  } as GraphQLErrorOptions)
  masked.add(error)
  return error
}

const knownCode = ({ extensions }: GraphQLError): ErrorCode | undefined =>
  errorCodes.find((code) => code === extensions.code) ??
  ((extensions.http as { status?: number } | undefined)?.status === 405 ? 'METHOD_NOT_ALLOWED' : undefined)

function domainErrorOf(error: unknown): DomainError | undefined {
  if (error instanceof DomainError) return error
  return error instanceof GraphQLError && error.originalError ? domainErrorOf(error.originalError) : undefined
}

/** Returns the message of a custom scalar. It contains no value. */
const reasonOf = ({ originalError }: GraphQLError) =>
  originalError instanceof ScalarRefusal ? originalError.message : undefined

/** Returns the problems with variables by field of the input object or by variable, or undefined without problems. */
export function refusedFields(errors: readonly GraphQLError[]): FieldErrors | undefined {
  const fields: FieldErrors = {}
  for (const error of errors) {
    const refused = refusedVariable(error.message)
    if (!refused) continue
    const [step, field = refused.variable] = /^\.(\w+)/.exec(refused.path) ?? ['']
    const place = refused.path.slice(step.length)
    const reason = reasonOf(error)?.replace(/^Not an? \w+: (.)/, (_, first: string) => first.toUpperCase())
    const message = `${place && `At ${place}: `}${reason ?? 'The value is not valid.'}`
    fields[field] = [...(fields[field] ?? []), message]
  }
  return Object.keys(fields).length > 0 ? fields : undefined
}

/** Returns the error that the caller sees. Logs unexpected errors and those of unavailable services. */
export function maskError(error: unknown, log: () => Log): GraphQLError {
  const from = error instanceof GraphQLError ? error : undefined
  if (from && masked.has(from)) return from
  const http = from?.extensions.http ? { http: from.extensions.http } : undefined
  const refusal = domainErrorOf(error)
  if (refusal) {
    const { code, details, shortfall, retryAfter } = refusal
    const isFull = code === 'INSUFFICIENT_STORAGE'
    if (code === 'UNAVAILABLE' || isFull)
      log()[isDatabaseOutage(refusal) ? 'debug' : 'warn'](
        { err: refusal.cause ?? refusal, code, reason: refusal.message },
        'Request failed: service outage',
      )
    // The status shows proxies that the request can be retried.
    const status = isFull ? { http: { status: 503 } } : http
    return shown(refusal.message, code, from, { details, ...shortfall, retryAfter }, status)
  }
  const cause = from?.originalError ?? error
  if (cause instanceof PothosValidationError) return shown(cause.message, 'VALIDATION_FAILED', from)
  // GraphQL itself rejected the document or its variables.
  if (from && (!from.originalError || from.originalError instanceof GraphQLError)) {
    const code = knownCode(from) ?? (from.message.startsWith('Syntax Error') ? 'PARSE_ERROR' : 'VALIDATION_FAILED')
    return shown(withoutValues(from.message, reasonOf(from)), code, from, {}, http)
  }
  log().error({ err: cause, path: from?.path }, 'Request failed: unexpected error')
  return shown(INTERNAL_MESSAGE, 'INTERNAL', from)
}

/** Error of a custom scalar for an invalid value. The caller sees the message, which must not contain the value. */
export class ScalarRefusal extends GraphQLError {
  constructor(reason: string, node?: ASTNode) {
    super(reason, { nodes: node, extensions: { code: 'VALIDATION_FAILED' } })
  }
}

type Result = Parameters<typeof handleStreamOrSingleExecutionResult>[0]

/** Masks errors of an execution. Unlike Yoga's own masking, it logs unexpected errors with the request ID. */
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
