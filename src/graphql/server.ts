/** The GraphQL API. Its plugins are in the order in which they process a request. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
} from 'graphql'
import { createLRUCache, createYoga, isAsyncIterable, type Plugin } from 'graphql-yoga'
import { LRUCache } from 'lru-cache'
import type { Context } from '../context.ts'
import { mediaTypeOf } from '../http/request-body.ts'
import { authenticationFailed } from '../shared/errors.ts'
import { isJsonObject } from '../shared/input.ts'
import type { Log } from '../shared/log.ts'
import type { Telemetry } from '../telemetry/telemetry-types.ts'
import { useStaleTokens } from './builder.ts'
import type { Admission, createExecutor } from './execute.ts'
import type { CompiledOperation } from './fast-path/compile-operation.ts'
import { assertVariablesFit, createDocumentChecks, type DocumentChecks } from './limits/document-limits.ts'
import { maskError, useMaskedErrors } from './mask-error.ts'
import { createPersistedDocuments, readTrustedDocuments } from './persisted-documents.ts'
import { createPlayground, wantsPlayground } from './playground/playground.ts'
import { type NodeContext, newNodeContext, type RequestReaders, readParams, useRequestBody } from './request-body.ts'
import * as plugins from './request-plugins.ts'

/** Maximum number of cached documents. A parsed document takes up to 1 MB. */
const MAX_DOCUMENTS = 200

const exposedHeaders = ['Idempotency-Replayed', 'Retry-After', 'X-Request-Id']

interface Options extends RequestReaders {
  schema: GraphQLSchema
  executor: ReturnType<typeof createExecutor>
  log: Log
  admission: Admission
  telemetry: Telemetry
  introspection: boolean
  playground: boolean
  trustedDocuments: string | undefined
  trustedOnly: boolean
}

/**
 * Creates the handler of `/graphql`. It serves the playground to browsers if it is enabled, and executes documents
 * otherwise. Throws TrustedDocumentsError for invalid manifests.
 */
export function createGraphQLHandler(options: Options) {
  const { schema, executor, log, bodyLimits, introspection, admission, trustedDocuments, trustedOnly, telemetry } =
    options
  const { watch } = telemetry
  const checks = createDocumentChecks(schema, introspection)
  const trusted = readTrustedDocuments(trustedDocuments, schema, introspection)
  const parsed = createLRUCache<DocumentNode>({ max: MAX_DOCUMENTS })
  const syntaxErrors = createLRUCache<Error>({ max: MAX_DOCUMENTS })
  const isKnown = (text: string) =>
    trusted.documents.has(text) || parsed.get(text) !== undefined || syntaxErrors.get(text) !== undefined
  const playground = createPlayground()
  const fastPath = createFastPath(options, checks)
  const yoga = createYoga<NodeContext, Context>({
    schema,
    graphqlEndpoint: '/graphql',
    maskedErrors: { maskError: (error) => maskError(error, () => log) },
    plugins: [
      plugins.useExecute(executor),
      plugins.useCsrfGuard(),
      useCaller(),
      useRequestBody(bodyLimits),
      plugins.useDocumentLimits(checks, admission),
      useStaleTokens(schema),
      useMaskedErrors(),
      plugins.useStreams(),
      ...createPersistedDocuments(trusted, trustedOnly),
      plugins.useRequestQuota({ isKnown }),
      useReplayHeader(),
      plugins.useResults(watch, introspection),
      plugins.useTelemetry(telemetry),
      fastPath.storeDocument,
    ],
    parserAndValidationCache: {
      documentCache: {
        get: (text) => trusted.documents.get(text) ?? parsed.get(text),
        set: (text, document) => void parsed.set(text, document),
      },
      errorCache: syntaxErrors,
    },
    cors: ({ method }) => ({
      ...{ origin: '*', credentials: false, exposedHeaders },
      ...(method === 'OPTIONS' && { maxAge: 86_400 }),
    }),
    graphiql: false,
    landingPage: false,
    multipart: false,
    extraParamNames: ['documentId'],
    // request-body.ts limits the size of request bodies.
    maxRequestBodySize: false,
    batching: false,
    logging: {
      warn: (...parts) => log.warn({ reason: parts.join(' ') }, 'GraphQL server warning'),
      // `maskError` logs unexpected errors. Yoga's texts quote the document, which may contain a password.
      ...{ debug() {}, info() {}, error() {} },
    },
  })
  return async (req: IncomingMessage, res: ServerResponse) => {
    const request = newNodeContext(options, req, res)
    // A handler can override this header. Without it, shared caches may store responses to GET requests.
    res.setHeader('Cache-Control', 'private, no-cache')
    if (await fastPath.handle(request)) return undefined
    if (!options.playground || !wantsPlayground(req)) return yoga(req, res, request)
    watch.setOperation(res, 'graphql', 'playground')
    return playground(req, res)
  }
}

/** Sets `Idempotency-Replayed` if the response is replayed for a repeated idempotency key and is no error. */
const useReplayHeader = (): Plugin<Context & NodeContext> => ({
  onExecute: () => ({
    onExecuteDone({ args, result }) {
      const { idempotency, res } = args.contextValue
      const isRefused = !isAsyncIterable(result) && result.errors !== undefined
      if (idempotency.replayed && !isRefused) res.setHeader('Idempotency-Replayed', 'true')
    },
  }),
})

/**
 * Authenticates the caller before the body is read. Requests with a rejected document also count against the caller's
 * limits. Throws AUTHENTICATION_FAILED for an upload with an invalid token.
 */
const useCaller = (): Plugin<Context & NodeContext, NodeContext> => ({
  async onRequestParse({ request, serverContext }) {
    if (request.method === 'OPTIONS') return
    const context = await serverContext.findCaller().catch((error: unknown) => {
      throw maskError(error, serverContext.requestLog)
    })
    // No operation that accepts an invalid token uses files, so the body need not be read.
    const hasFiles = mediaTypeOf(serverContext.req.headers['content-type']) === 'multipart/form-data'
    if (context.hasStaleToken && hasFiles) throw authenticationFailed()
    Object.assign(serverContext, context)
  },
})

type CompiledDocument = { document: DocumentNode; operation: OperationDefinitionNode; read: CompiledOperation }

/** Returns true for a POST request with JSON that accepts a JSON response and needs no other features of Yoga. */
const isFastPathRequest = ({ method, url, headers }: IncomingMessage) =>
  method === 'POST' &&
  url === '/graphql' &&
  headers['content-type'] === 'application/json' &&
  (headers.accept === undefined || headers.accept === '*/*' || headers.accept === 'application/json') &&
  headers['access-control-request-method'] === undefined &&
  headers['access-control-request-headers'] === undefined

/** Returns the parameters if they contain only a document, variables and an operation name. */
function plainParams({ query, variables, operationName, ...others }: Record<string, unknown>) {
  if (typeof query !== 'string' || Object.keys(others).length > 0) return undefined
  if (variables === undefined || variables === null) return { query, operationName, variables: {} }
  return isJsonObject(variables) ? { query, operationName, variables } : undefined
}

/**
 * Handles repeated POST requests with a compiled document without Yoga, but with the same functions as the plugins. Yoga
 * handles a request with an error. `storeDocument` is a plugin. `handle` returns true if it handled the request.
 */
function createFastPath({ executor, admission, telemetry, trustedOnly }: Options, checks: DocumentChecks) {
  const known = new LRUCache<string, CompiledDocument>({ max: MAX_DOCUMENTS })

  const storeDocument: Plugin<Context & NodeContext> = {
    onExecute: ({ args: { document, contextValue } }) => {
      const { query } = contextValue.params
      const operation = getOperationAST(document)
      const read = operation && typeof query === 'string' && executor.compiledRead({ document })
      if (read) known.set(query, { document, operation, read })
    },
  }

  /** Returns the stored operation of a request. Returns undefined if the operation is unknown or would have to wait. */
  async function find({ readText }: NodeContext, { actor }: Context) {
    const params = plainParams(readParams(await readText()))
    const found = params && known.get(params.query)
    if (!found) return undefined
    const { variables, operationName = null } = params
    if (operationName !== null && operationName !== found.operation.name?.value) return undefined
    assertVariablesFit(variables)
    const cost = { ...checks.measure(found.document, found.operation, variables), actor }
    return admission.isOpen(cost) ? { ...found, cost, variables } : undefined
  }

  async function resultOf(request: NodeContext): Promise<ExecutionResult | undefined> {
    const context = await request.findCaller()
    if (context.hasStaleToken) return undefined
    const found = await find(request, context)
    if (!found) return undefined
    const { cost, operation, read, variables } = found
    const run = () => admission.enter(cost, async () => read(context, variables))
    const result = await telemetry.tracer.span(operation.operation, plugins.spanOfOperation(operation), run)
    if (result && !result.errors) {
      telemetry.watch.setOperation(request.res, 'graphql', plugins.nameOfOperation(operation), operation.name?.value)
    }
    return result
  }

  function write({ headers: { origin } }: IncomingMessage, res: ServerResponse, result: ExecutionResult) {
    const body = plugins.bodyOf(result)
    if (origin !== undefined) {
      res.setHeader('Access-Control-Allow-Origin', origin)
      res.setHeader('Vary', 'Origin')
      res.setHeader('Access-Control-Expose-Headers', exposedHeaders.join(', '))
    }
    res.setHeader('Content-Type', 'application/json; charset=utf-8')
    res.setHeader('Content-Length', Buffer.byteLength(body))
    res.end(body)
  }

  return {
    storeDocument,
    async handle(request: NodeContext): Promise<boolean> {
      if (trustedOnly || known.size === 0 || !isFastPathRequest(request.req)) return false
      const result = await resultOf(request).catch(() => undefined)
      if (!result || result.errors) return false
      write(request.req, request.res, result)
      return true
    },
  }
}
