import { type DocumentNode, getOperationAST, Kind, type OperationDefinitionNode } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { Context } from '../../services-context.ts'
import type { ErrorCode } from '../../shared/errors.ts'
import type { RequestWatch, SpanOptions, Tracer } from '../../telemetry/telemetry-types.ts'
import { isTypename } from '../limits/document-parts.ts'
import type { NodeContext } from '../node-context.ts'

/**
 * Returns the type of an operation and its only field, such as `mutation updateAsset`, or `query other` for several fields.
 * Metrics need bounded names: clients can choose any name for an operation, but fields are those of the schema.
 */
export function nameOfOperation({ operation, selectionSet: { selections } }: OperationDefinitionNode): string {
  const [first, ...others] = selections.filter((node) => node.kind !== Kind.FIELD || !isTypename(node))
  return `${operation} ${first?.kind === Kind.FIELD && others.length === 0 ? first.name.value : 'other'}`
}

/** Reports the operation of each request once its document is valid, and the error code of a failed request. */
export function useRequestWatch(watch: RequestWatch): Plugin<Context & NodeContext, NodeContext> {
  function report(document: DocumentNode, operationName: string | null | undefined, { res }: NodeContext) {
    const operation = getOperationAST(document, operationName)
    if (operation) watch.asked(res, 'graphql', nameOfOperation(operation), operation.name?.value)
  }
  return {
    onRequest({ serverContext }) {
      watch.asked(serverContext.res, 'graphql', 'other')
    },
    onExecute({ args: { document, operationName, contextValue } }) {
      report(document, operationName, contextValue)
    },
    onSubscribe({ args: { document, operationName, contextValue } }) {
      report(document, operationName, contextValue)
    },
    // Runs after the errors are mapped to the codes that callers read.
    onResultProcess({ result, serverContext: { res } }) {
      if (Array.isArray(result) || !('errors' in result)) return
      const [error] = result.errors ?? []
      if (error) watch.refused(res, error.extensions.code as ErrorCode)
    },
  }
}

/** The attributes of an operation's span. */
export const spanOfOperation = (operation: OperationDefinitionNode): SpanOptions => ({
  facts: { 'graphql.operation.type': operation.operation, 'annal.operation': nameOfOperation(operation) },
})

/** Traces the execution of each operation by its type and root field. Never records its document or variables. */
export const useTracing = (tracer: Tracer): Plugin => ({
  onExecute({ args: { document, operationName }, executeFn, setExecuteFn }) {
    const operation = getOperationAST(document, operationName)
    if (!operation) return
    setExecuteFn(((args: Parameters<typeof executeFn>[0]) =>
      tracer.span(operation.operation, spanOfOperation(operation), async () => executeFn(args))) as typeof executeFn)
  },
})

/** Maximum length of a text that is written as text, in characters. */
const SHORT = 65_536

/** Returns the body of a response. Yoga's types know only text. */
export const writable = (text: string): string =>
  text.length <= SHORT ? text : (Buffer.from(text) as unknown as string)

const stringify = (result: unknown) => writable(JSON.stringify(result))

/** Writes long responses as bytes. As text, a response takes four times its length in memory until the client has read it. */
export const useAnswerBytes = (): Plugin => ({
  onResultProcess({ result }) {
    if (!isAsyncIterable(result) && !Array.isArray(result)) result.stringify = stringify
  },
})
