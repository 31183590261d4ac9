import { normalizedExecutor } from '@graphql-tools/executor'
import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
} from 'graphql'
import type { Context } from '../context.ts'
import { type CompiledRead, compileRead } from './compiled/compile-read.ts'

/** What is carried out, and for whom. */
export interface Execution {
  schema: GraphQLSchema
  document: DocumentNode
  operationName?: string | null | undefined
  variableValues?: Readonly<Record<string, unknown>> | null | undefined
  contextValue: Context
}

/**
 * What carries valid documents out, at both doors: reads compiled, once for a document (decision 37), everything else field by field.
 * The answer is the same. `compiledRead` tells what an operation is compiled to, if it is.
 */
export function createExecutor(schema: GraphQLSchema) {
  const compiled = new WeakMap<OperationDefinitionNode, { read: CompiledRead | undefined }>()

  const compiledRead = ({ document, operationName }: Pick<Execution, 'document' | 'operationName'>) => {
    const operation = getOperationAST(document, operationName)
    if (!operation) return undefined
    let known = compiled.get(operation)
    if (!known) {
      known = { read: compileRead(schema, document, operation) }
      compiled.set(operation, known)
    }
    return known.read
  }

  const execute = async (execution: Execution) => {
    const read = compiledRead(execution)
    const answer = await read?.(execution.contextValue, execution.variableValues ?? {})
    return answer ?? (normalizedExecutor(execution as never) as ExecutionResult)
  }

  return { execute, compiledRead }
}
