import {
  type DocumentNode,
  execute as executeByField,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql'
import type { Context } from '../services-context.ts'
import { compileOperation } from './fast-path/compile-operation.ts'
import type { CompiledOperation } from './fast-path/root-field.ts'

/** What is carried out, and for whom. */
export interface Execution {
  schema: GraphQLSchema
  document: DocumentNode
  operationName?: string | null | undefined
  variableValues?: Readonly<Record<string, unknown>> | null | undefined
  contextValue: Context
}

/**
 * Creates the executor of validated documents for both APIs. Most queries and mutations are compiled once per document
 * (decision 37). graphql-js executes the rest, and gives the same answers. `compiledRead` returns the compiled form of a query,
 * or undefined when there is none.
 */
export function createExecutor(schema: GraphQLSchema) {
  const compiled = new WeakMap<OperationDefinitionNode, CompiledOperation | 'none'>()

  const compile = (document: DocumentNode, operation: OperationDefinitionNode) => {
    let found = compiled.get(operation)
    if (!found) {
      found = compileOperation(schema, document, operation) ?? 'none'
      compiled.set(operation, found)
    }
    return found === 'none' ? undefined : found
  }

  const compiledRead = ({ document, operationName }: Pick<Execution, 'document' | 'operationName'>) => {
    const operation = getOperationAST(document, operationName)
    return operation?.operation === OperationTypeNode.QUERY ? compile(document, operation) : undefined
  }

  const execute = async (execution: Execution) => {
    const { document, operationName, contextValue } = execution
    const operation = getOperationAST(document, operationName)
    const run = operation && compile(document, operation)
    return (await run?.(contextValue, execution.variableValues ?? {})) ?? executeByField(execution)
  }

  return { execute, compiledRead }
}
