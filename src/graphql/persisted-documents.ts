/**
 * Documents that are stored before a request: trusted documents of the operator, and documents that clients identify
 * by hash (automatic persisted queries, APQ).
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { basename, join } from 'node:path'
import { defaultExtractPersistedOperationId, usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations'
import { type DocumentNode, GraphQLError, type GraphQLSchema, Kind, specifiedRules } from 'graphql'
import type { GraphQLParams, Plugin } from 'graphql-yoga'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Context } from '../context.ts'
import { statuses } from '../http/error-status.ts'
import { type ErrorCode, errorMeanings } from '../shared/errors.ts'
import { createDocumentChecks, type DocumentChecks, documentLimits } from './limits/document-limits.ts'
import type { NodeContext } from './request-body.ts'

/** Error for invalid manifests. The message lists all problems. */
export class TrustedDocumentsError extends Error {
  override readonly name = 'TrustedDocumentsError'
}

const SHA256 = /^[0-9a-f]{64}$/

export const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** Returns the lookup key of an ID. `sha256:<hex>` and `<hex>` are the same ID. */
export const keyOf = (id: string) => (id.startsWith('sha256:') ? id.slice('sha256:'.length) : id)

const byId = z.record(z.string(), z.string()).transform(Object.entries<string>)
const listed = z
  .object({ operations: z.array(z.object({ id: z.string(), body: z.string() })) })
  .transform(({ operations }) => operations.map(({ id, body }): [string, string] => [id, body]))
const manifest = z.union([listed, byId])

function entriesOf(json: string): [id: string, text: string][] {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw new Error('The file is not valid JSON.')
  }
  const { data: entries } = manifest.safeParse(value)
  if (!entries)
    throw new Error('The file is not a manifest. Expected documents by ID, or a list `operations` of `id` and `body`.')
  if (entries.length === 0) throw new Error('The manifest contains no documents.')
  return entries
}

/** Parses and checks a document. Throws the error that a request with it would get. */
function check(text: string, schema: GraphQLSchema, checks: DocumentChecks): DocumentNode {
  if (text.length > documentLimits.characters)
    throw new Error(`The document has more than ${documentLimits.characters} characters.`)
  const document = checks.parse(text)
  const [error] = checks.validate(schema, document, [...specifiedRules, ...checks.rules])
  if (error) throw error
  for (const operation of document.definitions) {
    // Variables have their default values in this check. Each request is measured again with its own values.
    if (operation.kind === Kind.OPERATION_DEFINITION) checks.measure(document, operation, {})
  }
  return document
}

/** Reads and checks the manifests at a path, if any. Throws TrustedDocumentsError, which lists every problem. */
export function readTrustedDocuments(path: string | undefined, schema: GraphQLSchema, introspection: boolean) {
  const checks = createDocumentChecks(schema, introspection)
  /** Texts by ID, and parsed documents by text. */
  const texts = new Map<string, string>()
  const documents = new Map<string, DocumentNode>()
  const problems: string[] = []
  const attempt = (what: string, act: () => void) => {
    try {
      act()
    } catch (error) {
      problems.push(`${what}: ${(error as Error).message}`)
    }
  }

  function add(id: string, text: string) {
    const key = keyOf(id)
    if (key === '') throw new Error('The document has no identifier.')
    if (SHA256.test(key) && key !== hashOf(text)) throw new Error('The identifier is not the SHA-256 of the document.')
    if ((texts.get(key) ?? text) !== text) throw new Error('Another document has the same identifier.')
    if (!documents.has(text)) documents.set(text, check(text, schema, checks))
    texts.set(key, text)
  }

  function readManifest(file: string) {
    for (const [id, text] of entriesOf(readFileSync(file, 'utf8'))) {
      attempt(`${basename(file)}, document ${id}`, () => add(id, text))
    }
  }

  if (path) {
    attempt(path, () => {
      const names = statSync(path).isDirectory() ? readdirSync(path).filter((name) => name.endsWith('.json')) : ['']
      if (names.length === 0) throw new Error('The folder contains no .json file.')
      for (const file of names.sort().map((name) => join(path, name))) attempt(basename(file), () => readManifest(file))
    })
  }
  if (problems.length) {
    throw new TrustedDocumentsError(`GRAPHQL_TRUSTED_DOCUMENTS has problems:\n  ${problems.join('\n  ')}`)
  }
  return { texts, documents }
}

/** Maximum number and size of stored client documents per process. */
export const storedDocumentLimits = { documents: 1_000, bytes: 4_000_000 } as const

/** Creates the error for a rejected document. Clients that accept only application/json get status 200. */
const refusal = (code: ErrorCode, message: string = errorMeanings[code]) => {
  const http = { spec: true, status: statuses[code].status, headers: { 'Cache-Control': 'no-store' } }
  return new GraphQLError(message, { extensions: { code, http } })
}

/** Creates the error for an unknown hash. Clients recognize its message or code, and then send the document. */
const notFound = () => refusal('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound')
const notInList = () => refusal('PERSISTED_QUERY_NOT_IN_LIST')
const idRequired = () => refusal('PERSISTED_QUERY_ID_REQUIRED')

/** Creates the error for an invalid request. Its status is 400, independent of the Accept header. */
const malformed = (message: string) =>
  new GraphQLError(message, { extensions: { code: 'VALIDATION_FAILED', http: { status: 400 } } })
const NO_DOCUMENT = 'Send a document as `query`, or its identifier as `documentId` or `extensions.persistedQuery`.'

/** Returns the document ID of a request, in the format of GraphQL over HTTP or of Apollo. */
const documentIdOf: typeof defaultExtractPersistedOperationId = (
  params: GraphQLParams & { documentId?: unknown },
  ...rest
) => (typeof params.documentId === 'string' ? params.documentId : defaultExtractPersistedOperationId(params, ...rest))

/** Returns true if an ID claims to be the SHA-256 of the document. Other IDs are not checked. */
const isHash = (params: GraphQLParams & { documentId?: unknown }) =>
  typeof params.documentId !== 'string' || params.documentId.startsWith('sha256:')

/**
 * Creates the plugins that find documents by ID and store documents that clients identify by hash. Place them after
 * the plugins that check documents, so that rejected documents are not stored.
 */
export function createPersistedDocuments(
  trusted: ReturnType<typeof readTrustedDocuments>,
  trustedOnly: boolean,
): [Plugin<Context & NodeContext, NodeContext>, Plugin] {
  const stored = new LRUCache<string, string>({
    max: storedDocumentLimits.documents,
    maxSize: storedDocumentLimits.bytes,
    sizeCalculation: (text, key) => 2 * (text.length + key.length),
  })
  /** Documents that clients sent with a hash, and that are not executed yet. */
  const claims = new WeakMap<IncomingMessage, { hash: string; text: string }>()
  const storeClaimed = ({ args }: { args: { contextValue: NodeContext } }) => {
    const claim = claims.get(args.contextValue.req)
    if (claim) stored.set(claim.hash, claim.text)
  }

  const storeDocuments: Plugin<Context & NodeContext, NodeContext> = {
    onParams({ params, request, context: { req } }) {
      const { query: text } = params
      if (trustedOnly || typeof text !== 'string') return
      const id = documentIdOf(params, request, {})
      if (id === null || !isHash(params)) return
      const hash = hashOf(text)
      if (keyOf(id) !== hash)
        throw malformed('The identifier in the request is not the SHA-256 of the document in the request.')
      claims.set(req, { hash, text })
    },
    onExecute: storeClaimed,
    onSubscribe: storeClaimed,
  }
  const findDocuments = usePersistedOperations({
    allowArbitraryOperations: !trustedOnly,
    extractPersistedOperationId: documentIdOf,
    getPersistedOperation: (id) => trusted.texts.get(keyOf(id)) ?? stored.get(keyOf(id)) ?? null,
    customErrors: {
      notFound: trustedOnly ? notInList : notFound,
      keyNotFound: trustedOnly ? idRequired : () => malformed(NO_DOCUMENT),
      persistedQueryOnly: idRequired,
    },
  })
  return [storeDocuments, findDocuments]
}
