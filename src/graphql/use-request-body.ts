import type { IncomingMessage } from 'node:http'
import { GraphQLError } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import type { BodyReaders } from '../domain/asset/uploads.ts'
import { DomainError } from '../domain/errors.ts'
import { readJsonObject } from '../domain/json-input.ts'
import type { NodeContext } from './node-context.ts'
import { readUploadForm } from './read-upload-form.ts'

const transportStatus: Partial<Record<DomainError['code'], number>> = {
  PAYLOAD_TOO_LARGE: 413,
  PARSE_ERROR: 400,
  UNAVAILABLE: 503,
}

/** Nothing was executed, so the transport's own status tells it. */
function transportError(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error
  return new GraphQLError(error.message, {
    originalError: error,
    extensions: { code: error.code, http: { status: transportStatus[error.code] ?? 400 } },
  })
}

/** What a request is made of. Clients add more for links and servers of their own: Apollo’s the type of the operation. */
const PARAMETERS = new Set(['query', 'operationName', 'variables', 'extensions'])

/** As at the other door, what nobody knows is left out. */
function knownParams<Params extends object>(params: Params): Params {
  const names = Object.keys(params)
  // One that is misspelled may be the very document: it is named then.
  if (names.every((name) => PARAMETERS.has(name)) || !names.includes('query')) return params
  return Object.fromEntries(Object.entries(params).filter(([name]) => PARAMETERS.has(name))) as Params
}

/**
 * Reads bodies from the socket, bounded: JSON as text, and GraphQL multipart requests. Yoga's own reader sends every body
 * through a stream of its own, which costs more than the query.
 */
export const useRequestBody = (options: BodyReaders<IncomingMessage>): Plugin<Context & NodeContext, NodeContext> => {
  /** Until the answer is sent, or the caller is gone. */
  const readFiles = ({ req, res, services, actor }: Context & NodeContext) => {
    const intake = services.uploads.open(actor)
    const form = readUploadForm(req, options, intake)
    res.once('close', () => {
      form.cancel()
      void intake.close()
    })
    return form.params
  }

  return {
    onRequestParse({ request, serverContext, setRequestParser }) {
      if (request.method !== 'POST') return
      const { req } = serverContext
      const type = req.headers['content-type'] ?? ''
      const parse = type.startsWith('multipart/form-data')
        ? async () => readFiles(serverContext as unknown as Context & NodeContext)
        : /^application\/(json|graphql\+json)\b/.test(type)
          ? async () => readJsonObject(await options.readText(req, options.maxBytes))
          : undefined
      if (!parse) {
        throw new GraphQLError('Send JSON, or a GraphQL multipart request.', {
          extensions: { code: 'UNSUPPORTED_MEDIA_TYPE', http: { status: 415 } },
        })
      }
      setRequestParser(async () => {
        try {
          return await parse()
        } catch (error) {
          throw transportError(error)
        }
      })
    },
    onParams({ params, setParams }) {
      setParams(knownParams(params))
    },
  }
}
