/**
 * Documents that are known before they are sent: those that the operator trusts, and those that a client had sent before and
 * names by their hash from then on (automatic persisted queries, APQ).
 */
import type { IncomingMessage } from 'node:http'
import { defaultExtractPersistedOperationId, usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations'
import { GraphQLError } from 'graphql'
import type { GraphQLParams, Plugin } from 'graphql-yoga'
import { LRUCache } from 'lru-cache'
import type { Context } from '../services-context.ts'
import { type ErrorCode, errorMeanings } from '../shared/errors.ts'
import type { NodeContext } from './node-context.ts'
import { hashOf, keyOf, type TrustedDocuments } from './trusted-documents.ts'

/** What is kept of what clients sent, in each process. The document that was not asked for the longest goes first. */
export const keptDocuments = { documents: 1_000, bytes: 4_000_000 } as const

/** Of a text in memory, at most. */
const BYTES_PER_UNIT = 2

/** Who accepts application/json alone gets 200, as for every refusal of a document. */
const refusal = (code: ErrorCode, status: number, message: string = errorMeanings[code]) => {
  const headers = { 'Cache-Control': 'no-store' }
  return new GraphQLError(message, { extensions: { code, http: { spec: true, status, headers } } })
}

/** Clients go by this very message, or by the code, to send the document after all. */
const notFound = () => refusal('PERSISTED_QUERY_NOT_FOUND', 404, 'PersistedQueryNotFound')
const notInList = () => refusal('PERSISTED_QUERY_NOT_IN_LIST', 403)
const idRequired = () => refusal('PERSISTED_QUERY_ID_REQUIRED', 400)

/** As for every request that is made wrongly, whatever its sender accepts. */
const malformed = (message: string) =>
  new GraphQLError(message, { extensions: { code: 'VALIDATION_FAILED', http: { status: 400 } } })
const noDocument = () =>
  malformed('Send a document as `query`, or the identifier of one as `documentId` or `extensions.persistedQuery`.')
const mismatch = () =>
  malformed('The identifier that was sent is not the SHA-256 of the document that was sent with it.')

/** By what a request names its document: as GraphQL over HTTP has it, or as Apollo does. */
const documentIdOf: typeof defaultExtractPersistedOperationId = (
  params: GraphQLParams & { documentId?: unknown },
  ...rest
) => (typeof params.documentId === 'string' ? params.documentId : defaultExtractPersistedOperationId(params, ...rest))

/** Whether an identifier says that it is the SHA-256 of the document; what else one is made of is its client's own affair. */
const isHash = (params: GraphQLParams & { documentId?: unknown }) =>
  typeof params.documentId !== 'string' || params.documentId.startsWith('sha256:')

type AppPlugin = Plugin<Context & NodeContext, NodeContext>

/**
 * Plugins that find documents by their identifiers, and keep those that clients name by a hash. They belong behind everything that
 * judges a document: what was refused is not kept. `trustedOnly`: nothing but what the operator trusts is let in.
 */
export function createPersistedDocuments(trusted: TrustedDocuments, trustedOnly: boolean): [AppPlugin, Plugin] {
  const kept = new LRUCache<string, string>({
    max: keptDocuments.documents,
    maxSize: keptDocuments.bytes,
    sizeCalculation: (text, key) => BYTES_PER_UNIT * (text.length + key.length),
  })
  /** Which documents came together with their hash, until they are carried out. */
  const claims = new WeakMap<IncomingMessage, { hash: string; text: string }>()
  const keepClaimed = ({ args }: { args: { contextValue: NodeContext } }) => {
    const claim = claims.get(args.contextValue.req)
    if (claim) kept.set(claim.hash, claim.text)
  }

  const keepDocuments: AppPlugin = {
    onParams({ params, request, context: { req } }) {
      const { query: text } = params
      if (trustedOnly || typeof text !== 'string') return
      const id = documentIdOf(params, request, {})
      if (id === null || !isHash(params)) return
      const hash = hashOf(text)
      if (keyOf(id) !== hash) throw mismatch()
      claims.set(req, { hash, text })
    },
    onExecute: keepClaimed,
    onSubscribe: keepClaimed,
  }
  const findDocuments = usePersistedOperations({
    allowArbitraryOperations: !trustedOnly,
    extractPersistedOperationId: documentIdOf,
    getPersistedOperation: (id) => trusted.texts.get(keyOf(id)) ?? kept.get(keyOf(id)) ?? null,
    customErrors: {
      notFound: trustedOnly ? notInList : notFound,
      keyNotFound: trustedOnly ? idRequired : noDocument,
      persistedQueryOnly: idRequired,
    },
  })
  return [keepDocuments, findDocuments]
}
