import { getOperationAST, type OperationDefinitionNode } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { SpanOptions, Tracer } from '../domain/telemetry.ts'
import { nameOfOperation } from './use-request-watch.ts'

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
