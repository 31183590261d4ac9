import { GraphQLError } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { NodeContext } from './node-context.ts'

/** A browser asks first before it sends one of these to another origin. */
const PREFLIGHT_HEADERS = ['x-graphql-yoga-csrf', 'apollo-require-preflight', 'graphql-require-preflight']

/** Named outright: what a link, an image or a form accepts is `*\/*` or a page. */
const ANSWER_TYPE = /\b(application\/(json|graphql-response\+json)|text\/event-stream|multipart\/mixed)\b/i

/** Modes in which a page cannot read what it may not: browsers say so, and scripts cannot pretend. */
const FETCH_MODES = new Set<unknown>(['cors', 'same-origin'])

const refuse = (message: string, code: string, status: number): never => {
  throw new GraphQLError(message, { extensions: { code, http: { status } } })
}

/**
 * Answers only what no plain link, image or form of another site can send. Nothing here goes by cookies, so such a request
 * would be anonymous; it is refused all the same, for it could still make a browser do somebody's work.
 */
export const useCsrfGuard = (): Plugin<object, NodeContext> => ({
  onRequestParse({ request: { method }, serverContext: { req } }) {
    const { headers } = req
    if (PREFLIGHT_HEADERS.some((name) => headers[name] !== undefined)) return
    if (method === 'GET') {
      if (ANSWER_TYPE.test(headers.accept ?? '') || FETCH_MODES.has(headers['sec-fetch-mode'])) return
      refuse('Name the type of the answer: send `Accept: application/json`.', 'VALIDATION_FAILED', 400)
    }
    if (method !== 'POST' || !/^multipart\/form-data\b/i.test(headers['content-type'] ?? '')) return
    refuse(`A multipart request carries the header ${PREFLIGHT_HEADERS[2]}.`, 'VALIDATION_FAILED', 400)
  },
})
