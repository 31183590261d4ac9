import {
  createSourceEventStream,
  type ExecutionArgs,
  executeSubscriptionEvent,
  GraphQLError,
  getOperationAST,
  Kind,
  mapSourceToResponseEvent,
  type OperationDefinitionNode,
  validateSubscriptionArgs,
} from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import { DomainError, type ErrorCode } from '../shared/errors.ts'
import type { RequestWatch, SpanOptions, Tracer } from '../telemetry/telemetry-types.ts'
import type { Admission, createExecutor } from './execute.ts'
import { isTypename, LARGE_ANSWER } from './limits/document-cost.ts'
import { assertVariablesFit, type DocumentChecks, documentLimits, documentRefusal } from './limits/document-limits.ts'
import { maskError } from './mask-error.ts'
import type { NodeContext } from './request-body.ts'

/** Converts an expected error to an execution result. Throws other errors. Yoga masks both. */
function asResult(error: unknown): { errors: GraphQLError[] } {
  if (!(error instanceof DomainError)) throw error
  return { errors: [new GraphQLError(error.message, { originalError: error })] }
}

/** Executes a subscription for one event and counts it against the caller's quota. A throttled subscription continues. */
const executeEvent: typeof executeSubscriptionEvent = async (event) => {
  const { actor, requestQuota } = event.contextValue as Context
  const throttled = await requestQuota.consume(actor, 1).then(() => undefined, asResult)
  return throttled ?? executeSubscriptionEvent(event)
}

async function subscribe(args: ExecutionArgs) {
  const valid = validateSubscriptionArgs(args)
  if (!('schema' in valid)) return { errors: valid }
  const events = await createSourceEventStream(valid)
  return isAsyncIterable(events) ? mapSourceToResponseEvent(valid, events, executeEvent) : events
}

/** Executes operations with the executor that REST uses. */
export const useExecute = ({ execute }: ReturnType<typeof createExecutor>): Plugin => ({
  onExecute({ setExecuteFn }) {
    setExecuteFn((execution) => execute(execution as Parameters<typeof execute>[0]))
  },
  onSubscribe({ setSubscribeFn }) {
    setSubscribeFn((execution) => subscribe(execution as ExecutionArgs))
  },
})

const SUGGESTION = / Did you mean [^?]*\?/g

/**
 * Maximum size of a subscription event, in bytes. Every subscriber gets each change without a queue. With events of
 * 440 KB, 200 subscribers blocked the process for 5 s per change.
 */
const MAX_EVENT_BYTES = LARGE_ANSWER

const eventTooLarge = (bytes: number) =>
  documentRefusal(
    `An event of this subscription may have ${bytes} bytes. The maximum is ${MAX_EVENT_BYTES}. Select fewer fields, and read the rest with a query.`,
  )

interface DocumentLimitOptions {
  checks: DocumentChecks
  introspection: boolean
  admission: Admission
}

/**
 * Rejects documents and operations that exceed the limits. Each document is checked once, when it is parsed and
 * validated. Later requests only check their variables.
 */
export function useDocumentLimits({ checks, introspection, admission }: DocumentLimitOptions): Plugin<Context> {
  /** Returns the cost of an operation, or its error. Returns undefined for an unknown operation. */
  function judge({ contextValue, document, operationName, variableValues }: ExecutionArgs) {
    const operation = getOperationAST(document, operationName)
    if (!operation) return undefined
    try {
      return checks.measure(document, operation, variableValues ?? {})
    } catch (error) {
      // No other plugin masks errors before execution.
      return { errors: [maskError(error, (contextValue as Context).requestLog)] }
    }
  }

  return {
    onParams({ params }) {
      // The length must be checked before the text becomes a cache key.
      if (typeof params.query === 'string' && params.query.length > documentLimits.characters) {
        throw documentRefusal(`The document has more than ${documentLimits.characters} characters.`)
      }
      assertVariablesFit(params.variables)
    },
    onParse({ setParseFn }) {
      setParseFn(checks.parse)
    },
    onValidate({ addValidationRule, setValidationFn }) {
      for (const rule of checks.rules) addValidationRule(rule)
      setValidationFn(checks.validate)
    },
    onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      const judged = judge(args)
      if (!judged) return
      if ('errors' in judged) return setResultAndStopExecution(judged)
      const asked = { ...judged, actor: args.contextValue.actor }
      setExecuteFn(((given: typeof args) =>
        admission.enter(asked, async () => executeFn(given)).catch(asResult)) as typeof executeFn)
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const judged = judge(args)
      if (!judged) return
      if ('errors' in judged) setResultAndStopExecution(judged)
      else if (judged.bytes > MAX_EVENT_BYTES) setResultAndStopExecution({ errors: [eventTooLarge(judged.bytes)] })
    },
    onResultProcess({ result }) {
      // Like validation, the executor suggests names when it validates variables.
      if (introspection || Array.isArray(result) || !('errors' in result)) return
      for (const error of result.errors ?? []) error.message = error.message.replace(SUGGESTION, '')
    },
  }
}

/** Number of document characters whose parsing and validation count as one request. */
const CHARACTERS_PER_REQUEST = 2_000

/**
 * Counts the parsing and validation of a new document against the caller's quota, before it happens. Place this
 * plugin after those that find documents by ID. Throws THROTTLED.
 */
export const useRequestQuota = ({ isKnown }: { isKnown(text: string): boolean }): Plugin<Context, Context> => ({
  async onParams({ params: { query }, context: { actor, requestQuota } }) {
    if (typeof query !== 'string' || query.length < CHARACTERS_PER_REQUEST || isKnown(query)) return
    await requestQuota.consume(actor, Math.floor(query.length / CHARACTERS_PER_REQUEST))
  },
})

/**
 * Returns an operation's type and only root field, such as `mutation updateAsset`, or `query other` for several fields. Metrics need a bounded number
 * of names. Clients choose operation names freely, but fields come from the schema.
 */
export function nameOfOperation({ operation, selectionSet: { selections } }: OperationDefinitionNode): string {
  const [first, ...others] = selections.filter((node) => node.kind !== Kind.FIELD || !isTypename(node))
  return `${operation} ${first?.kind === Kind.FIELD && others.length === 0 ? first.name.value : 'other'}`
}

/** Reports the operation of each request once its document is valid, and the error code of a failed request. */
export function useRequestWatch(watch: RequestWatch): Plugin<Context & NodeContext, NodeContext> {
  function report({ args: { document, operationName, contextValue } }: { args: ExecutionArgs }) {
    const operation = getOperationAST(document, operationName)
    const { res } = contextValue as NodeContext
    if (operation) watch.asked(res, 'graphql', nameOfOperation(operation), operation.name?.value)
  }
  return {
    onRequest({ serverContext }) {
      watch.asked(serverContext.res, 'graphql', 'other')
    },
    onExecute: report,
    onSubscribe: report,
    // This runs after errors are mapped to public error codes.
    onResultProcess({ result, serverContext: { res } }) {
      if (Array.isArray(result) || !('errors' in result)) return
      const [error] = result.errors ?? []
      if (error) watch.refused(res, error.extensions.code as ErrorCode)
    },
  }
}

export const spanOfOperation = (operation: OperationDefinitionNode): SpanOptions => ({
  facts: { 'graphql.operation.type': operation.operation, 'annal.operation': nameOfOperation(operation) },
})

/** Traces the execution of each operation by its type and root field. Never records its document or variables. */
export const useTracing = (tracer: Tracer): Plugin => ({
  onExecute({ args: { document, operationName }, executeFn, setExecuteFn }) {
    const operation = getOperationAST(document, operationName)
    if (!operation) return
    setExecuteFn(((args: Parameters<typeof executeFn>[0]) =>
      tracer.span(operation.operation, spanOfOperation(operation), async () => executeFn(args))) as typeof executeFn)
  },
})

/** Maximum length of a response that is written as a string, in characters. */
const SHORT = 65_536

/** Returns the body of a response: a string, or bytes if it is long. Yoga's types allow only a string. */
export const writable = (text: string): string =>
  text.length <= SHORT ? text : (Buffer.from(text) as unknown as string)

const stringify = (result: unknown) => writable(JSON.stringify(result))

/** Writes long responses as bytes. As a string, a response takes four times its length in memory until the client has read it. */
export const useAnswerBytes = (): Plugin => ({
  onResultProcess({ result }) {
    if (!isAsyncIterable(result) && !Array.isArray(result)) result.stringify = stringify
  },
})
