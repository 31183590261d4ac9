import type { IncomingMessage } from 'node:http'
import { GraphQLError } from 'graphql'
import { processRequest } from 'graphql-upload-ts'
import type { GraphQLParams, Plugin } from 'graphql-yoga'
import { DomainError } from '../domain/errors.ts'
import { parseJson as parseJsonText } from '../domain/json-input.ts'
import { uploadError } from './incoming-file.ts'
import type { NodeContext } from './yoga.ts'

export interface RequestBodyOptions {
  /** Raises PAYLOAD_TOO_LARGE, PARSE_ERROR. */
  readText: (req: IncomingMessage, maxBytes: number) => Promise<string>
  /** Of a document with its variables. */
  maxBytes: number
  maxFileBytes: number
}

const transportStatus: Partial<Record<DomainError['code'], number>> = { PAYLOAD_TOO_LARGE: 413, PARSE_ERROR: 400 }

/** Nothing was executed, so the transport's own status tells it. */
function transportError(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error
  return new GraphQLError(error.message, {
    extensions: { code: error.code, http: { status: transportStatus[error.code] ?? 400 } },
  })
}

function parseJson(text: string) {
  try {
    return parseJsonText(text)
  } catch (error) {
    throw new DomainError(
      'PARSE_ERROR',
      `JSON parse error - ${(error as Error).message.replace(/^(Unexpected token).*not valid JSON$/s, '$1 in JSON')}`,
      { cause: error },
    )
  }
}

/**
 * Reads bodies from the socket, bounded: JSON as text, and GraphQL multipart requests with their files streamed to disk,
 * never held in memory. Yoga's own reader sends every body through a stream of its own, which costs more than the query.
 */
export const useRequestBody = ({
  readText,
  maxBytes,
  maxFileBytes,
}: RequestBodyOptions): Plugin<object, NodeContext> => ({
  onRequestParse({ request, serverContext: { req, res }, setRequestParser }) {
    if (request.method !== 'POST') return
    const type = req.headers['content-type'] ?? ''
    const parse: (() => Promise<unknown>) | undefined = type.startsWith('multipart/form-data')
      ? () => processRequest(req, res, { maxFileSize: maxFileBytes, maxFiles: 1, maxFieldSize: maxBytes })
      : /^application\/(json|graphql\+json)\b/.test(type)
        ? async () => parseJson(await readText(req, maxBytes))
        : undefined
    if (!parse) {
      throw new GraphQLError('Send JSON, or a GraphQL multipart request.', {
        extensions: { code: 'UNSUPPORTED_MEDIA_TYPE', http: { status: 415 } },
      })
    }
    setRequestParser(async () => {
      try {
        return (await parse()) as GraphQLParams
      } catch (error) {
        throw transportError(uploadError(error))
      }
    })
  },
})
