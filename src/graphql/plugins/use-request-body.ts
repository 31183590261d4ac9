import type { IncomingMessage } from 'node:http'
import { GraphQLError } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { mediaTypeOf } from '../../http/request-body.ts'
import type { BodyReaders, Intake } from '../../modules/assets/uploads.ts'
import type { Context } from '../../services-context.ts'
import { DomainError } from '../../shared/errors.ts'
import { maskError } from '../mask-error.ts'
import type { NodeContext } from '../node-context.ts'
import { readParams, readSearchParams } from '../read-params.ts'
import { readUploadForm } from '../read-upload-form.ts'

const transportStatus: Partial<Record<DomainError['code'], number>> = {
  PAYLOAD_TOO_LARGE: 413,
  PARSE_ERROR: 400,
  UNAVAILABLE: 503,
  UNSUPPORTED_MEDIA_TYPE: 415,
}

/** Nothing was executed, so the transport's own status tells it. */
function transportError(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error
  return new GraphQLError(error.message, {
    originalError: error,
    extensions: { code: error.code, http: { status: transportStatus[error.code] ?? 400 } },
  })
}

const JSON_TYPES = new Set(['application/json', 'application/graphql+json'])

/** What a request is made of. Clients add more for links and servers of their own: Apollo’s the type of the operation. */
const PARAMETERS = new Set(['query', 'documentId', 'operationName', 'variables', 'extensions'])

/** As at the other door, what nobody knows is left out. */
function knownParams<Params extends object>(params: Params): Params {
  const names = Object.keys(params)
  // One that is misspelled may be the very document: it is named then.
  const isNamed = names.includes('query') || names.includes('documentId')
  if (names.every((name) => PARAMETERS.has(name)) || !isNamed) return params
  return Object.fromEntries(Object.entries(params).filter(([name]) => PARAMETERS.has(name))) as Params
}

/**
 * Reads GET parameters from the URL and POST bodies from the socket, up to a maximum size. Yoga's own parser is not used: it
 * copies every body through a stream, which costs more than the query, and rounds numbers that a double cannot hold.
 */
export const useRequestBody = (options: BodyReaders<IncomingMessage>): Plugin<Context & NodeContext, NodeContext> => {
  const intakes = new WeakMap<IncomingMessage, Intake>()
  /** Until there is an answer, or the caller is gone. */
  const readFiles = ({ req, res, uploads, actor }: Context & NodeContext) => {
    const intake = uploads.open(actor, Number(req.headers['content-length'] ?? 0))
    intakes.set(req, intake)
    const form = readUploadForm(req, options, intake)
    res.once('close', () => {
      form.cancel()
      void intake.close()
    })
    return form.params
  }

  /** Returns the function that reads a body of the request's media type. Raises UNSUPPORTED_MEDIA_TYPE. */
  function bodyReader(context: Context & NodeContext): () => Promise<Record<string, unknown>> {
    const { req, readText } = context
    const type = mediaTypeOf(req.headers['content-type'])
    if (type === 'multipart/form-data') return async () => readFiles(context)
    if (JSON_TYPES.has(type)) return async () => readParams(await readText())
    if (type === 'application/graphql') return async () => ({ query: await readText() })
    throw new GraphQLError('Send JSON, a GraphQL document, or a GraphQL multipart request.', {
      extensions: { code: 'UNSUPPORTED_MEDIA_TYPE', http: { status: 415 } },
    })
  }

  return {
    onRequestParse({ request: { method }, serverContext, setRequestParser }) {
      if (method !== 'GET' && method !== 'POST') return
      const read =
        method === 'GET'
          ? async () => readSearchParams(serverContext.req.url ?? '')
          : bodyReader(serverContext as unknown as Context & NodeContext)
      setRequestParser(async () => {
        try {
          return await read()
        } catch (error) {
          throw maskError(transportError(error), serverContext.requestLog)
        }
      })
    },
    onParams({ params, setParams }) {
      setParams(knownParams(params))
    },
    onResponse: ({ serverContext }) => intakes.get(serverContext.req)?.close(),
  }
}
