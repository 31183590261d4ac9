/**
 * Documents that are known before they are sent: those that the operator trusts, and those that a client had sent before and
 * names by their hash from then on (automatic persisted queries, APQ).
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { basename, join } from 'node:path'
import { defaultExtractPersistedOperationId, usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations'
import { type DocumentNode, GraphQLError, type GraphQLSchema, Kind, specifiedRules } from 'graphql'
import type { GraphQLParams, Plugin } from 'graphql-yoga'
import { LRUCache } from 'lru-cache'
import type { Context } from '../services-context.ts'
import { type ErrorCode, errorMeanings } from '../shared/errors.ts'
import { isJsonObject } from '../shared/json-input.ts'
import { createDocumentChecks, type DocumentChecks } from './limits/document-checks.ts'
import { documentLimits } from './limits/document-limits.ts'
import type { NodeContext } from './node-context.ts'

/** What is looked up for each request. */
export interface TrustedDocuments {
  /** The text of each document by the keys of its identifiers. */
  texts: ReadonlyMap<string, string>
  /** Each document by its text. */
  documents: ReadonlyMap<string, DocumentNode>
}

/** There are none. */
export const noTrustedDocuments: TrustedDocuments = { texts: new Map(), documents: new Map() }

/** The manifests have problems; its message names all of them. */
export class TrustedDocumentsError extends Error {
  override readonly name = 'TrustedDocumentsError'
}

const SHA256 = /^[0-9a-f]{64}$/

/** The SHA-256 of a document's text, in lower-case hex digits. */
export const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** What a document is found by: `sha256:<hex>` and the bare digits are the same identifier. */
export const keyOf = (id: string) => (id.startsWith('sha256:') ? id.slice('sha256:'.length) : id)

type Entry = readonly [id: string, text: string]

const isEntry = (entry: unknown): entry is Entry =>
  Array.isArray(entry) && entry.every((part) => typeof part === 'string')

/** The documents of one manifest, of whichever kind. Raises an Error that says what is wrong. */
function entriesOf(json: string): Entry[] {
  let manifest: unknown
  try {
    manifest = JSON.parse(json)
  } catch {
    throw new Error('is not valid JSON.')
  }
  const entries: unknown[] =
    isJsonObject(manifest) && Array.isArray(manifest.operations)
      ? manifest.operations.map((operation) => [operation?.id, operation?.body])
      : isJsonObject(manifest)
        ? Object.entries(manifest)
        : []
  if (entries.length === 0) throw new Error('holds no documents.')
  if (!entries.every(isEntry)) {
    throw new Error(
      'is no manifest: expected documents by their identifiers, or a list `operations` of `id` and `body`.',
    )
  }
  return entries
}

/** The manifests at a path, which is a file, or a folder of files whose names end in `.json`. Raises what the file system says. */
const manifestsAt = (path: string): string[] =>
  statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => name.endsWith('.json'))
        .sort()
        .map((name) => join(path, name))
    : [path]

/** The document of a text. Raises what a request with it would be refused with, by its syntax, the schema and the limits. */
function check(text: string, schema: GraphQLSchema, checks: DocumentChecks): DocumentNode {
  if (text.length > documentLimits.characters)
    throw new Error(`It has more than ${documentLimits.characters} characters.`)
  const document = checks.parse(text)
  const [error] = checks.validate(schema, document, [...specifiedRules, ...checks.rules])
  if (error) throw error
  for (const operation of document.definitions) {
    // With the defaults of its variables: what each request gives is measured then.
    if (operation.kind === Kind.OPERATION_DEFINITION) checks.measure(document, operation, {})
  }
  return document
}

/**
 * Reads the manifests at a path, and holds each document to what a request with it is held to. Raises TrustedDocumentsError,
 * which names every problem.
 */
export function readTrustedDocuments(path: string, schema: GraphQLSchema, introspection: boolean): TrustedDocuments {
  const checks = createDocumentChecks(schema, introspection)
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
    if (key === '') throw new Error('It has no identifier.')
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

  attempt(path, () => {
    const files = manifestsAt(path)
    if (files.length === 0) throw new Error('There is no file in it whose name ends in .json.')
    for (const file of files) attempt(basename(file), () => readManifest(file))
  })
  if (problems.length) {
    throw new TrustedDocumentsError(`GRAPHQL_TRUSTED_DOCUMENTS has problems:\n  ${problems.join('\n  ')}`)
  }
  return { texts, documents }
}

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
