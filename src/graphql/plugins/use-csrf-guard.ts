import type { IncomingHttpHeaders } from 'node:http'
import { GraphQLError } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { mediaTypeOf } from '../../http/request-body.ts'
import type { NodeContext } from '../node-context.ts'

/** Headers that a page of another origin can only send after a CORS preflight. */
const PREFLIGHT_HEADERS = [
  'graphql-require-preflight',
  'apollo-require-preflight',
  'x-apollo-operation-name',
  'x-graphql-yoga-csrf',
  'x-api-key',
]

/** Authentication schemes whose credentials a browser stores and adds to requests by itself, without a preflight. */
const BROWSER_CREDENTIALS = /^\s*(basic|digest|negotiate|ntlm)\b/i

const hadPreflight = (headers: IncomingHttpHeaders) =>
  PREFLIGHT_HEADERS.some((name) => headers[name] !== undefined) ||
  (headers.authorization !== undefined && !BROWSER_CREDENTIALS.test(headers.authorization))

/** Media types of GraphQL responses. Links, images and forms accept `*\/*` or HTML. */
const ANSWER_TYPE = /\b(application\/(json|graphql-response\+json)|text\/event-stream|multipart\/mixed)\b/i

/** Fetch modes in which a page cannot read a response of another origin. Browsers set the mode, and scripts cannot change it. */
const FETCH_MODES = new Set<unknown>(['cors', 'same-origin'])

const refuse = (message: string): never => {
  throw new GraphQLError(message, { extensions: { code: 'VALIDATION_FAILED', http: { status: 400 } } })
}

/**
 * Rejects requests that a link, an image or a form of another site can send. No cookie identifies a caller here, so such a
 * request would be anonymous, but it could still make a visitor's browser do work.
 */
export const useCsrfGuard = (): Plugin<object, NodeContext> => ({
  onRequestParse({ request: { method }, serverContext: { req } }) {
    const { headers } = req
    if (hadPreflight(headers)) return
    if (method === 'GET') {
      if (ANSWER_TYPE.test(headers.accept ?? '') || FETCH_MODES.has(headers['sec-fetch-mode'])) return
      refuse('Name the type of the answer: send `Accept: application/json`.')
    }
    if (method !== 'POST' || mediaTypeOf(headers['content-type']) !== 'multipart/form-data') return
    refuse('A multipart request needs the header GraphQL-Require-Preflight.')
  },
})
