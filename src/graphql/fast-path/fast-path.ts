/**
 * The short way of queries that are known: of a document that went through all plugins before and is compiled, a request by POST
 * with nothing unusual about it. What the plugins find out of such a request is found out here, by the same functions, without Yoga's
 * requests and responses around it. What goes wrong on the way goes through Yoga, which tells it; who asked and with what is not
 * asked twice.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type DocumentNode, type ExecutionResult, getOperationAST, type OperationDefinitionNode } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { LRUCache } from 'lru-cache'
import type { Context } from '../../services-context.ts'
import type { Telemetry } from '../../telemetry/telemetry-types.ts'
import type { Admission } from '../execute.ts'
import { nameOfOperation, spanOfOperation, writable } from '../execution-plugins.ts'
import type { DocumentChecks } from '../limits/document-checks.ts'
import { assertVariablesFit } from '../limits/document-limits.ts'
import type { NodeContext } from '../node-context.ts'
import { readParams } from '../request-body.ts'
import type { CompiledOperation } from './compile-operation.ts'

type Variables = Readonly<Record<string, unknown>>

interface Known {
  document: DocumentNode
  operation: OperationDefinitionNode
  read: CompiledOperation
}

interface Options {
  /** What a document's operation is compiled to, if it is. */
  compiledRead: (asked: {
    document: DocumentNode
    operationName?: string | null | undefined
  }) => CompiledOperation | undefined
  checks: Pick<DocumentChecks, 'measure'>
  /** What operations wait for. */
  admission: Admission
  /** How many documents are kept. */
  most: number
  /** Whether documents may be sent as texts. */
  isOn: boolean
  telemetry: Pick<Telemetry, 'watch' | 'tracer'>
  /** Headers of answers that scripts of other origins may read. */
  exposedHeaders: readonly string[]
}

/** Of all that a client may send, what asks for nothing but an answer in JSON. */
const isUsual = ({ method, url, headers }: IncomingMessage) =>
  method === 'POST' &&
  url === '/graphql' &&
  headers['content-type'] === 'application/json' &&
  (headers.accept === undefined || headers.accept === '*/*' || headers.accept === 'application/json') &&
  headers['access-control-request-method'] === undefined &&
  headers['access-control-request-headers'] === undefined

const isVariables = (value: unknown): value is Variables =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What is asked with parameters that hold a document and its variables, and nothing else. */
function plainParams({ query, variables, operationName, ...others }: Record<string, unknown>) {
  if (typeof query !== 'string' || Object.keys(others).length > 0) return undefined
  if (variables === undefined || variables === null) return { query, operationName, variables: {} }
  return isVariables(variables) ? { query, operationName, variables } : undefined
}

/**
 * `remember`, first among the plugins, learns documents; `answer` answers a request and tells whether it did.
 */
export function createKnownQueries(options: Options) {
  const { compiledRead, checks, admission, most, isOn, telemetry, exposedHeaders } = options
  const known = new LRUCache<string, Known>({ max: most })

  const remember: Plugin<Context & NodeContext> = {
    onExecute: ({ args: { document, contextValue } }) => {
      const { query } = contextValue.params
      const operation = getOperationAST(document)
      const read = operation && typeof query === 'string' && compiledRead({ document })
      if (read) known.set(query, { document, operation, read })
    },
  }

  /** What the request asks for, if that is known and asks for nothing that has to wait or be refused. */
  async function find({ readText }: NodeContext, { actor }: Context) {
    const params = plainParams(readParams(await readText()))
    const found = params && known.get(params.query)
    if (!found) return undefined
    const { variables, operationName = null } = params
    if (operationName !== null && operationName !== found.operation.name?.value) return undefined
    assertVariablesFit(variables)
    const bytes = checks.measure(found.document, found.operation, variables)
    const asked = { document: found.document, operation: found.operation, bytes, actor }
    return admission.isOpen(asked) ? { asked, read: found.read, variables } : undefined
  }

  async function resultOf(request: NodeContext): Promise<ExecutionResult | undefined> {
    const context = await request.findCaller()
    if (context.hasStaleToken) return undefined
    const found = await find(request, context)
    if (!found) return undefined
    const { asked, read, variables } = found
    const { operation } = asked
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
      if (!isOn || known.size === 0 || !isUsual(request.req)) return false
      const result = await resultOf(request).catch(() => undefined)
      if (!result || result.errors) return false
      write(request.req, request.res, result)
      return true
    },
  }
}
