import { type DocumentNode, getOperationAST, Kind, type OperationDefinitionNode } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { RequestWatch } from '../domain/telemetry.ts'
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
