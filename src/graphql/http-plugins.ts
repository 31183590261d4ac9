import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { GraphQLError } from 'graphql'
import { isAsyncIterable, type Plugin, processRegularResult } from 'graphql-yoga'
import type { Context } from '../context.ts'
import { mediaTypeOf } from '../http/request-body.ts'
import { type ErrorCode, errorCodes } from '../shared/errors.ts'
import { withoutValues } from './mask-error.ts'
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
const ANSWER_TYPE = /\b(application\/(json|graphql-response\+json)|text\/event-stream|multipart\/mixed)\b/i

/** Fetch modes in which a page cannot read a cross-origin response. Scripts cannot change the mode. */
const FETCH_MODES = new Set<unknown>(['cors', 'same-origin'])

const refuse = (message: string): never => {
  throw new GraphQLError(message, { extensions: { code: 'VALIDATION_FAILED', http: { status: 400 } } })
}

/** Rejects requests that another site can send by a link, an image or a form. They could make visitors cause work. */
export const useCsrfGuard = (): Plugin<object, NodeContext> => ({
  onRequestParse({ request: { method }, serverContext: { req } }) {
    const { headers } = req
    if (hadPreflight(headers)) return
    if (method === 'GET') {
      if (ANSWER_TYPE.test(headers.accept ?? '') || FETCH_MODES.has(headers['sec-fetch-mode'])) return
      refuse('Add the header `Accept: application/json`.')
    }
    if (method !== 'POST' || mediaTypeOf(headers['content-type']) !== 'multipart/form-data') return
    refuse('A multipart request needs the header GraphQL-Require-Preflight.')
  },
})

const EVENT_STREAM = 'text/event-stream'
const ANSWERS = ['application/json', 'application/graphql-response+json', EVENT_STREAM]

/** Matches quality zero, which means "not acceptable" (RFC 9110). */
const REFUSED = /;\s*q=0(\.0*)?\s*(;|$)/

/** Returns true if an Accept header allows a media type. A missing header allows all. */
export function accepts(header: string | undefined, type: string): boolean {
  if (!header?.trim()) return true
  const [kind] = type.split('/')
  return header
    .toLowerCase()
    .split(',')
    .filter((wish) => !REFUSED.test(wish))
    .map((wish) => wish.split(';')[0]!.trim())
    .some((wish) => wish === '*/*' || wish === `${kind}/*` || wish === type)
}

const takesAnswers = ({ headers }: IncomingMessage) => ANSWERS.some((type) => accepts(headers.accept, type))

const notAcceptable = (message: string) =>
  new GraphQLError(message, { extensions: { code: 'NOT_ACCEPTABLE', http: { status: 406 } } })

const NO_ANSWER =
  'The server cannot produce an accepted media type. Send `Accept: application/json`, or `Accept: text/event-stream` for a subscription.'
const NO_STREAM = 'Subscriptions use server-sent events. Send `Accept: text/event-stream`.'

/**
 * Handles event streams. The client must accept them. They end when the client disconnects. A stream that the process
 * cannot finish is aborted, not completed. A rejected stream has status 429.
 */
export function useStreams(): Plugin<Context & NodeContext, NodeContext> {
  const streams = new WeakSet<ServerResponse>()
  return {
    // This must be checked before execution, because the client could not read the response.
    onParams({ context: { req } }) {
      if (!takesAnswers(req)) throw notAcceptable(NO_ANSWER)
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
      if (!resultProcessor || !takesAnswers(req)) setResultProcessor(processRegularResult, 'application/json')
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

/** Converts the codes of all errors to public error codes. Sets `Retry-After` to the longest delay among them. */
export const useErrorVocabulary = (): Plugin<object, NodeContext> => ({
  onResultProcess({ result, serverContext }) {
    if (Array.isArray(result) || !('errors' in result)) return
    let longest = 0
    for (const error of result.errors ?? []) {
      const { extensions } = error
      error.message = withoutValues(error.message)
      if (!known.has(extensions.code)) extensions.code = translations[String(extensions.code)] ?? 'VALIDATION_FAILED'
      const status = statuses[extensions.code as ErrorCode] ?? 400
      if (!('data' in result)) extensions.http ??= { spec: true, status }
      longest = Math.max(longest, Number(extensions.retryAfter ?? 0))
    }
    if (longest > 0) serverContext.res.setHeader('Retry-After', String(longest))
  },
})
