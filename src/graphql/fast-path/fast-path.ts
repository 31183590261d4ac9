/**
 * Handles repeated POST requests with a compiled document without Yoga. It calls the same functions as the plugins.
 * On any error it passes the request to Yoga, which reports the error. The caller and the body are read only once.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type DocumentNode, type ExecutionResult, getOperationAST, type OperationDefinitionNode } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { LRUCache } from 'lru-cache'
import type { Context } from '../../context.ts'
import type { Telemetry } from '../../telemetry/telemetry-types.ts'
import type { Admission } from '../execute.ts'
import { nameOfOperation, spanOfOperation, writable } from '../execution-plugins.ts'
import { assertVariablesFit, type DocumentChecks } from '../limits/document-limits.ts'
import type { NodeContext } from '../request-body.ts'
import { readParams } from '../request-body.ts'
import type { CompiledOperation } from './compile-operation.ts'

type Variables = Readonly<Record<string, unknown>>

interface Known {
  document: DocumentNode
  operation: OperationDefinitionNode
  read: CompiledOperation
}

interface Options {
  compiledRead: (asked: {
    document: DocumentNode
    operationName?: string | null | undefined
  }) => CompiledOperation | undefined
  checks: Pick<DocumentChecks, 'measure'>
  admission: Admission
  max: number
  /** True if clients may send documents as text. */
  isOn: boolean
  telemetry: Pick<Telemetry, 'watch' | 'tracer'>
  exposedHeaders: readonly string[]
}

/** Returns true for a POST request with JSON that accepts a JSON response and needs no other features of Yoga. */
const isFastPathRequest = ({ method, url, headers }: IncomingMessage) =>
  method === 'POST' &&
  url === '/graphql' &&
  headers['content-type'] === 'application/json' &&
  (headers.accept === undefined || headers.accept === '*/*' || headers.accept === 'application/json') &&
  headers['access-control-request-method'] === undefined &&
  headers['access-control-request-headers'] === undefined

const isVariables = (value: unknown): value is Variables =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the parameters if they contain only a document, variables and an operation name. */
function plainParams({ query, variables, operationName, ...others }: Record<string, unknown>) {
  if (typeof query !== 'string' || Object.keys(others).length > 0) return undefined
  if (variables === undefined || variables === null) return { query, operationName, variables: {} }
  return isVariables(variables) ? { query, operationName, variables } : undefined
}

/** `remember` is a Yoga plugin that stores compiled documents. `answer` handles a request and returns true if it did. */
export function createFastPath(options: Options) {
  const { compiledRead, checks, admission, max, isOn, telemetry, exposedHeaders } = options
  const known = new LRUCache<string, Known>({ max })

  const remember: Plugin<Context & NodeContext> = {
    onExecute: ({ args: { document, contextValue } }) => {
      const { query } = contextValue.params
      const operation = getOperationAST(document)
      const read = operation && typeof query === 'string' && compiledRead({ document })
      if (read) known.set(query, { document, operation, read })
    },
  }

  /** Returns the stored operation of a request. Returns undefined if it is unknown or would have to wait. */
  async function find({ readText }: NodeContext, { actor }: Context) {
    const params = plainParams(readParams(await readText()))
    const found = params && known.get(params.query)
    if (!found) return undefined
    const { variables, operationName = null } = params
    if (operationName !== null && operationName !== found.operation.name?.value) return undefined
    assertVariablesFit(variables)
    const asked = { ...checks.measure(found.document, found.operation, variables), actor }
    return admission.isOpen(asked) ? { ...found, asked, variables } : undefined
  }

  async function resultOf(request: NodeContext): Promise<ExecutionResult | undefined> {
    const context = await request.findCaller()
    if (context.hasStaleToken) return undefined
    const found = await find(request, context)
    if (!found) return undefined
    const { asked, operation, read, variables } = found
    const run = () => admission.enter(asked, async () => read(context, variables))
    const result = await telemetry.tracer.span(operation.operation, spanOfOperation(operation), run)
    if (result && !result.errors) {
      telemetry.watch.asked(request.res, 'graphql', nameOfOperation(operation), operation.name?.value)
    }
    return result
  }

  function write({ headers: { origin } }: IncomingMessage, res: ServerResponse, result: ExecutionResult) {
    const body = writable(JSON.stringify(result))
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
    remember,
    async answer(request: NodeContext): Promise<boolean> {
      if (!isOn || known.size === 0 || !isFastPathRequest(request.req)) return false
      const result = await resultOf(request).catch(() => undefined)
      if (!result || result.errors) return false
      write(request.req, request.res, result)
      return true
    },
  }
}
