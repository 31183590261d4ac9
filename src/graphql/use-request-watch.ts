import { type DocumentNode, getOperationAST, Kind, type OperationDefinitionNode } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { RequestWatch, SpanOptions, Tracer } from '../domain/telemetry.ts'
import { isTypename } from './document-parts.ts'
import type { NodeContext } from './node-context.ts'

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
    // After the vocabulary: what it is told is what callers read.
    onResultProcess({ result, serverContext: { res } }) {
      if (Array.isArray(result) || !('errors' in result)) return
      const [error] = result.errors ?? []
      if (error) watch.refused(res, error.extensions.code as ErrorCode)
    },
  }
}

/** What a span tells of an operation. */
export const spanOfOperation = (operation: OperationDefinitionNode): SpanOptions => ({
  facts: { 'graphql.operation.type': operation.operation, 'annal.operation': nameOfOperation(operation) },
})

/** Follows the carrying out of each operation, by its type and the field that it asks for: never by its document or variables. */
export const useTracing = (tracer: Tracer): Plugin => ({
  onExecute({ args: { document, operationName }, executeFn, setExecuteFn }) {
    const operation = getOperationAST(document, operationName)
    if (!operation) return
    setExecuteFn(((args: Parameters<typeof executeFn>[0]) =>
      tracer.span(operation.operation, spanOfOperation(operation), async () => executeFn(args))) as typeof executeFn)
  },
})

/** Text of so many characters is written at once, and seldom waits for its reader. */
const SHORT = 65_536

/** What a response takes as its body; Yoga knows of text alone. */
export const writable = (text: string): string =>
  text.length <= SHORT ? text : (Buffer.from(text) as unknown as string)

const stringify = (result: unknown) => writable(JSON.stringify(result))

/**
 * Long answers are handed to the connection as bytes. As text one would take four times its length until it is read: the
 * text itself, and beside it the room that Node makes for any characters.
 */
export const useAnswerBytes = (): Plugin => ({
  onResultProcess({ result }) {
    if (!isAsyncIterable(result) && !Array.isArray(result)) result.stringify = stringify
  },
})
