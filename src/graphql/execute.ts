import {
  type DocumentNode,
  execute as executeByField,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql'
import type { Context } from '../context.ts'
import { compileOperation } from './compiled/compile-operation.ts'
import type { CompiledOperation } from './compiled/root-field.ts'
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
 * What carries valid documents out, at both doors: reads and mutations compiled, once for a document (decision 37), everything else field by
 * field, by graphql-js: others take what has a field `then` for a promise, be it an alias or somebody's JSON. The answer is the same.
 * `compiledRead` tells what a query is compiled to, if it is.
 */
export function createExecutor(schema: GraphQLSchema) {
  const known = new WeakMap<OperationDefinitionNode, { compiled: CompiledOperation | undefined; mayLag: boolean }>()

  const look = (document: DocumentNode, operation: OperationDefinitionNode) => {
    let found = known.get(operation)
    if (!found) {
      found = { compiled: compileOperation(schema, document, operation), mayLag: mayLag(document, operation) }
      known.set(operation, found)
    }
    return found
  }

  const compiledRead = ({ document, operationName }: Pick<Execution, 'document' | 'operationName'>) => {
    const operation = getOperationAST(document, operationName)
    if (operation?.operation !== OperationTypeNode.QUERY) return undefined
    const found = look(document, operation)
    const { compiled } = found
    if (!compiled || !found.mayLag) return compiled
    return (...asked: Parameters<CompiledOperation>) => lagging(asked[0], () => compiled(...asked))
  }

  const execute = async (execution: Execution) => {
    const { document, operationName, contextValue } = execution
    const operation = getOperationAST(document, operationName)
    const found = operation && look(document, operation)
    const carryOut = async () =>
      (await found?.compiled?.(contextValue, execution.variableValues ?? {})) ?? executeByField(execution)
    if (found?.mayLag) return lagging(contextValue, carryOut)
    return operation?.operation === OperationTypeNode.MUTATION ? writing(contextValue, carryOut) : carryOut()
  }

  return { execute, compiledRead }
}
