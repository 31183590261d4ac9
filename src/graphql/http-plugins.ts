import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { GraphQLError } from 'graphql'
import { isAsyncIterable, type Plugin, processRegularResult } from 'graphql-yoga'
import type { Context } from '../context.ts'
import { mediaTypeOf } from '../http/request-body.ts'
import type { NodeContext } from './node-context.ts'

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

/**
 * Fetch modes in which a page cannot read a cross-origin response. Browsers set the mode, and scripts cannot change
 * it.
 */
const FETCH_MODES = new Set<unknown>(['cors', 'same-origin'])

const refuse = (message: string): never => {
  throw new GraphQLError(message, { extensions: { code: 'VALIDATION_FAILED', http: { status: 400 } } })
}

/**
 * Rejects requests that another site can send by a link, an image or a form. Such a request would be anonymous,
 * because this API uses no cookies. It could still make a visitor's browser cause work.
 */
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
/** Media type of incremental delivery. */
const PARTS = 'multipart/mixed'

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

const noAnswer = () =>
  notAcceptable(
    'The server cannot produce an accepted media type. Send `Accept: application/json`, or `Accept: text/event-stream` for a subscription.',
  )
const noParts = () =>
  notAcceptable(
    'Incremental responses (multipart/mixed) are not supported. Send `Accept: application/json`, or `Accept: text/event-stream` for a subscription.',
  )
const noStream = () => notAcceptable('Subscriptions use server-sent events. Send `Accept: text/event-stream`.')

/**
 * Handles event streams. The client must accept them. They end when the client disconnects. A stream that the process
 * cannot finish is aborted, not completed. A rejected stream has status 429.
 */
export function useStreams(): Plugin<Context & NodeContext, NodeContext> {
  const streams = new WeakSet<ServerResponse>()
  return {
    // This must be checked before execution, because the client could not read the response.
    onParams({ context: { req } }) {
      if (!takesAnswers(req)) throw accepts(req.headers.accept, PARTS) ? noParts() : noAnswer()
    },
    onSubscribe({ args: { contextValue }, setResultAndStopExecution }) {
      const { req, res, eventStreams } = contextValue
      streams.add(res)
      if (!accepts(req.headers.accept, EVENT_STREAM)) {
        setResultAndStopExecution({ errors: [noStream()] })
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
