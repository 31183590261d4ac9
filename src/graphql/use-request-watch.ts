import { type DocumentNode, getOperationAST, Kind, type OperationDefinitionNode } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { RequestWatch } from '../domain/telemetry.ts'
import type { NodeContext } from './node-context.ts'

/**
 * An operation by its type and the one field that it asks for, `mutation updateAsset`; `query other` when it asks for several. Clients
 * choose the names of operations, of which there may be any number; fields are the schema's.
 */
export function nameOfOperation({ operation, selectionSet: { selections } }: OperationDefinitionNode): string {
  const [first, ...others] = selections
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
