import {
  type DocumentNode,
  execute as executeByField,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql'
import type { Context } from '../context.ts'
import { type CompiledRead, compileRead } from './compiled/compile-read.ts'
import { lagging, mayLag, writing } from './lagging.ts'

/** What is carried out, and for whom. */
export interface Execution {
  schema: GraphQLSchema
  document: DocumentNode
  operationName?: string | null | undefined
  variableValues?: Readonly<Record<string, unknown>> | null | undefined
  contextValue: Context
}

/**
 * What carries valid documents out, at both doors: reads compiled, once for a document (decision 37), everything else field by field, by
 * graphql-js: others take what has a field `then` for a promise, be it an alias or somebody's JSON. The answer is the same. `compiledRead` tells what an operation is compiled to, if it is.
 */
export function createExecutor(schema: GraphQLSchema) {
  const known = new WeakMap<OperationDefinitionNode, { read: CompiledRead | undefined; mayLag: boolean }>()

  const look = (document: DocumentNode, operation: OperationDefinitionNode) => {
    let found = known.get(operation)
    if (!found) {
      const read = compileRead(schema, document, operation)
      found = { read, mayLag: mayLag(document, operation) }
      known.set(operation, found)
    }
    return found
  }

  const compiledRead = ({ document, operationName }: Pick<Execution, 'document' | 'operationName'>) => {
    const operation = getOperationAST(document, operationName)
    const found = operation && look(document, operation)
    if (!found?.read || !found.mayLag) return found?.read
    const { read } = found
    return (...asked: Parameters<CompiledRead>) => lagging(asked[0], () => read(...asked))
  }

  const execute = async (execution: Execution) => {
    const { document, operationName, contextValue } = execution
    const operation = getOperationAST(document, operationName)
    const found = operation && look(document, operation)
    const carryOut = async () =>
      (await found?.read?.(contextValue, execution.variableValues ?? {})) ?? executeByField(execution)
    if (found?.mayLag) return lagging(contextValue, carryOut)
    return operation?.operation === OperationTypeNode.MUTATION ? writing(contextValue, carryOut) : carryOut()
  }

  return { execute, compiledRead }
}
