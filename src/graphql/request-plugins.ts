/** Plugins that check a request, its document and its response. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
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
import { isAsyncIterable, type Plugin, processRegularResult } from 'graphql-yoga'
import type { Context } from '../context.ts'
import { mediaTypeOf } from '../http/request-body.ts'
import { DomainError, type ErrorCode, errorCodes } from '../shared/errors.ts'
import { noopTracer, type RequestWatch, type SpanOptions, type Telemetry } from '../telemetry/telemetry-types.ts'
import type { Admission, createExecutor } from './execute.ts'
import { isTypename, LARGE_ANSWER } from './limits/document-cost.ts'
import { assertVariablesFit, type DocumentChecks, documentLimits, documentRefusal } from './limits/document-limits.ts'
import { maskError, withoutValues } from './mask-error.ts'
import type { NodeContext } from './request-body.ts'

/** Headers that require a CORS preflight for cross-origin requests. */
const PREFLIGHT_HEADERS = [
  'graphql-require-preflight',
  'apollo-require-preflight',
  'x-apollo-operation-name',
  'x-graphql-yoga-csrf',
  'x-api-key',
]

/** Authentication schemes whose stored credentials a browser adds to requests automatically, without a preflight. */
const BROWSER_CREDENTIALS = /^\s*(basic|digest|negotiate|ntlm)\b/i

const hadPreflight = (headers: IncomingHttpHeaders) =>
  PREFLIGHT_HEADERS.some((name) => headers[name] !== undefined) ||
  (headers.authorization !== undefined && !BROWSER_CREDENTIALS.test(headers.authorization))

/** Media types of GraphQL responses. Links, images and forms send an Accept header with `*\/*` or HTML. */
const RESPONSE_TYPE = /\b(application\/(json|graphql-response\+json)|text\/event-stream|multipart\/mixed)\b/i

/** Fetch modes in which a page cannot read a cross-origin response. Scripts cannot change the mode. */
const FETCH_MODES: unknown[] = ['cors', 'same-origin']

const badRequest = (message: string) =>
  new GraphQLError(message, { extensions: { code: 'VALIDATION_FAILED', http: { status: 400 } } })

/** Rejects requests that another site can send by a link, an image or a form, without knowledge of its visitors. */
export const useCsrfGuard = (): Plugin<object, NodeContext> => ({
  onRequestParse({ request: { method }, serverContext: { req } }) {
    const { headers } = req
    if (hadPreflight(headers)) return
    if (method === 'GET') {
      if (RESPONSE_TYPE.test(headers.accept ?? '') || FETCH_MODES.includes(headers['sec-fetch-mode'])) return
      throw badRequest('Add the header `Accept: application/json`.')
    }
    if (method !== 'POST' || mediaTypeOf(headers['content-type']) !== 'multipart/form-data') return
    throw badRequest('A multipart request needs the header GraphQL-Require-Preflight.')
  },
})

const EVENT_STREAM = 'text/event-stream'
const RESPONSES = ['application/json', 'application/graphql-response+json', EVENT_STREAM]

/** Returns true if an Accept header allows a media type. A missing header allows all. */
export function accepts(header: string | undefined, type: string): boolean {
  if (!header?.trim()) return true
  const [kind] = type.split('/')
  return (
    header
      .toLowerCase()
      .split(',')
      // Quality zero means "not acceptable" (RFC 9110).
      .filter((range) => !/;\s*q=0(\.0*)?\s*(;|$)/.test(range))
      .map((range) => range.split(';')[0]!.trim())
      .some((range) => range === '*/*' || range === `${kind}/*` || range === type)
  )
}

const acceptsResponse = ({ headers }: IncomingMessage) => RESPONSES.some((type) => accepts(headers.accept, type))

const notAcceptable = (message: string) =>
  new GraphQLError(message, { extensions: { code: 'NOT_ACCEPTABLE', http: { status: 406 } } })

const NO_RESPONSE =
  'The server cannot produce an accepted media type. Send `Accept: application/json`, or `Accept: text/event-stream` for a subscription.'
const NO_STREAM = 'Subscriptions use server-sent events. Send `Accept: text/event-stream`.'

/** Handles event streams. A stream ends when its client disconnects, and is aborted, not completed, during shutdown. */
export function useStreams(): Plugin<Context & NodeContext, NodeContext> {
  const streams = new WeakSet<ServerResponse>()
  return {
    // The Accept header is checked before execution, because the client could not read the response.
    onParams({ context: { req } }) {
      if (!acceptsResponse(req)) throw notAcceptable(NO_RESPONSE)
    },
    onSubscribe({ args: { contextValue }, setResultAndStopExecution }) {
      const { req, res, eventStreams } = contextValue
      streams.add(res)
      if (!accepts(req.headers.accept, EVENT_STREAM)) {
        setResultAndStopExecution({ errors: [notAcceptable(NO_STREAM)] })
        return undefined
      }
      return {
        onSubscribeResult({ result }) {
          if (!isAsyncIterable(result)) return undefined
          // Disables the response buffer of nginx.
          res.setHeader('X-Accel-Buffering', 'no')
          const leave = () => void (result as AsyncIterableIterator<unknown>).return?.()
          if (res.closed) leave()
          else res.once('close', leave)
          // A client that receives the end of the stream would not reconnect to another process.
          return { onEnd: () => void (eventStreams.isDraining() && res.destroy()) }
        },
      }
    },
    onResultProcess({ result, serverContext: { req, res }, setResultProcessor, resultProcessor }) {
      // If the client accepts no supported media type, the error is sent as JSON.
      if (!resultProcessor || !acceptsResponse(req)) setResultProcessor(processRegularResult, 'application/json')
      if (!streams.has(res) || !('errors' in result)) return
      for (const { extensions } of result.errors ?? [])
        if (extensions.code === 'THROTTLED') extensions.http = { status: 429 }
    },
  }
}

/** Public error codes for the error codes of libraries. */
const translations: Record<string, ErrorCode> = {
  GRAPHQL_PARSE_FAILED: 'PARSE_ERROR',
  METHOD_NOT_ALLOWED: 'METHOD_NOT_ALLOWED',
  REQUEST_ENTITY_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  UNSUPPORTED_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
}

const known = new Set<unknown>(errorCodes)

/**
 * HTTP statuses of responses without data. Default: 400. They apply to callers that accept
 * `application/graphql-response+json` (GraphQL over HTTP, section 6.4.2). `application/json` always gets 200.
 */
const statuses: Partial<Record<ErrorCode, number>> = { THROTTLED: 429, UNAVAILABLE: 503, INTERNAL: 500 }

/**
 * Converts the codes of all errors to public error codes, and reports the first one to `watch`. Sets `Retry-After` to
 * the longest delay among the errors. Without introspection, removes the suggestions of schema names that the executor
 * adds to errors about variables.
 */
export const useResults = (watch: RequestWatch, introspection: boolean): Plugin<object, NodeContext> => ({
  onResultProcess({ result, serverContext: { res } }) {
    if (isAsyncIterable(result) || Array.isArray(result)) return
    result.stringify = bodyOf
    let longest = 0
    for (const error of result.errors ?? []) {
      const { extensions } = error
      error.message = withoutValues(error.message)
      if (!introspection) error.message = error.message.replace(/ Did you mean [^?]*\?/g, '')
      if (!known.has(extensions.code)) extensions.code = translations[String(extensions.code)] ?? 'VALIDATION_FAILED'
      const status = statuses[extensions.code as ErrorCode] ?? 400
      if (!('data' in result)) extensions.http ??= { spec: true, status }
      longest = Math.max(longest, Number(extensions.retryAfter ?? 0))
    }
    if (longest > 0) res.setHeader('Retry-After', String(longest))
    const [first] = result.errors ?? []
    if (first) watch.refused(res, first.extensions.code as ErrorCode)
  },
})

/** Converts an expected error to an execution result. Throws other errors. Yoga masks all errors. */
function asResult(error: unknown): { errors: GraphQLError[] } {
  if (!(error instanceof DomainError)) throw error
  return { errors: [new GraphQLError(error.message, { originalError: error })] }
}

/** Executes a subscription for one event and counts it against the caller's quota. Throttling does not end it. */
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

export const useExecute = ({ execute }: ReturnType<typeof createExecutor>): Plugin => ({
  onExecute({ setExecuteFn }) {
    setExecuteFn((execution) => execute(execution as Parameters<typeof execute>[0]))
  },
  onSubscribe({ setSubscribeFn }) {
    setSubscribeFn((execution) => subscribe(execution as ExecutionArgs))
  },
})

/**
 * Maximum size of a subscription event, in bytes. Every subscriber gets each change without a queue. With events of
 * 440 KB, 200 subscribers blocked the process for 5 s per change.
 */
const MAX_EVENT_BYTES = LARGE_ANSWER

const eventTooLarge = (bytes: number) =>
  documentRefusal(
    `An event of this subscription may have ${bytes} bytes. The maximum is ${MAX_EVENT_BYTES}. Select fewer fields, and read the rest with a query.`,
  )

/**
 * Rejects documents and operations that exceed the limits. Each document is checked once, when it is parsed and
 * validated. Later requests only check their variables.
 */
export function useDocumentLimits(checks: DocumentChecks, admission: Admission): Plugin<Context> {
  /** Returns the cost of an operation, or its error. Returns undefined for an unknown operation. */
  function measure({ contextValue, document, operationName, variableValues }: ExecutionArgs) {
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
      const cost = measure(args)
      if (!cost) return
      if ('errors' in cost) return setResultAndStopExecution(cost)
      const operation = { ...cost, actor: args.contextValue.actor }
      setExecuteFn(((given: typeof args) =>
        admission.enter(operation, async () => executeFn(given)).catch(asResult)) as typeof executeFn)
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const cost = measure(args)
      if (!cost) return
      if ('errors' in cost) setResultAndStopExecution(cost)
      else if (cost.bytes > MAX_EVENT_BYTES) setResultAndStopExecution({ errors: [eventTooLarge(cost.bytes)] })
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
 * Returns an operation's type and only root field, such as `mutation updateAsset`, or `query other` for several fields.
 * Metrics need a bounded number of names. Clients choose operation names freely, but fields come from the schema.
 */
export function nameOfOperation({ operation, selectionSet: { selections } }: OperationDefinitionNode): string {
  const [first, ...others] = selections.filter((node) => node.kind !== Kind.FIELD || !isTypename(node))
  return `${operation} ${first?.kind === Kind.FIELD && others.length === 0 ? first.name.value : 'other'}`
}

export const spanOfOperation = (operation: OperationDefinitionNode): SpanOptions => ({
  facts: { 'graphql.operation.type': operation.operation, 'annal.operation': nameOfOperation(operation) },
})

/**
 * Reports the operation of each request once its document is valid. Traces the execution by type and root field, never
 * with its document or variables.
 */
export function useTelemetry({ watch, tracer }: Telemetry): Plugin<Context & NodeContext, NodeContext> {
  function report({ document, operationName, contextValue }: ExecutionArgs) {
    const operation = getOperationAST(document, operationName)
    const { res } = contextValue as NodeContext
    if (operation) watch.setOperation(res, 'graphql', nameOfOperation(operation), operation.name?.value)
    return operation
  }
  return {
    onRequest({ serverContext }) {
      watch.setOperation(serverContext.res, 'graphql', 'other')
    },
    onExecute({ args, executeFn, setExecuteFn }) {
      const operation = report(args)
      if (!operation || tracer === noopTracer) return
      setExecuteFn(((given: typeof args) =>
        tracer.span(operation.operation, spanOfOperation(operation), async () => executeFn(given))) as typeof executeFn)
    },
    onSubscribe({ args }) {
      report(args)
    },
  }
}

/**
 * Returns the body of a response: a string, or bytes if it is long. Until the client has read a string, it takes four
 * times its length in memory. Yoga's types allow only a string.
 */
export const bodyOf = (result: unknown): string => {
  const text = JSON.stringify(result)
  return text.length <= 65_536 ? text : (Buffer.from(text) as unknown as string)
}
