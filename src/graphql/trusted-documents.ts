/**
 * The documents that the operator trusts, from the manifests that clients' build tools write: graphql-codegen and Relay an object of
 * documents by their identifiers, Apollo's generate-persisted-query-manifest a list. All of them is read and checked before anything is served.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type DocumentNode, type GraphQLSchema, Kind, specifiedRules } from 'graphql'
import { isJsonObject } from '../shared/json-input.ts'
import { createDocumentChecks, type DocumentChecks } from './limits/document-checks.ts'
import { documentLimits } from './limits/document-limits.ts'

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
