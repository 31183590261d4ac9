import {
  type DocumentNode,
  execute as executeByField,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql'
import type { Context } from '../context.ts'
import type { Actor } from '../shared/actor.ts'
import { rateLimitKey, rateLimitKeys } from '../shared/rate-limiter.ts'
import type { Semaphore } from '../shared/semaphore.ts'
import { type CompiledOperation, compileOperation } from './fast-path/compile-operation.ts'
import { createCostOf, LARGE_ANSWER } from './limits/document-cost.ts'
import { rootFieldsOf } from './limits/document-limits.ts'

/** An operation to execute. */
export interface Asked {
  document: DocumentNode
  operation: OperationDefinitionNode
  /** Maximum size of the response, in bytes. */
  bytes: number
  actor: Actor
}

/** Limits concurrent operations. */
export interface Admission {
  /** Runs an operation when a slot is free. Throws THROTTLED and UNAVAILABLE. */
  enter<T>(asked: Asked, run: () => Promise<T>): Promise<T>
  /** Returns true if the operation would start immediately. */
  isOpen(asked: Asked): boolean
}

/**
 * Creates the admission control for both APIs. An operation first waits for its caller's other operations, counted in
 * root fields. This delays no other caller. Then an operation with a possibly large response waits for a slot shared
 * by all callers.
 */
export function createAdmission({
  operations,
  largeAnswers,
}: {
  operations: Semaphore
  largeAnswers: Semaphore
}): Admission {
  const isLarge = ({ bytes }: Asked) => bytes >= LARGE_ANSWER
  const holderOf = ({ document, operation, actor }: Asked) => {
    const key = rateLimitKey(actor)
    return { keys: key === undefined ? [] : [key], size: rootFieldsOf(document, operation) }
  }
  return {
    enter(asked, run) {
      const enter = () => (isLarge(asked) ? largeAnswers(run, { keys: rateLimitKeys(asked.actor) }) : run())
      return operations(enter, holderOf(asked))
    },
    isOpen: (asked) => !isLarge(asked) && operations.isFree(holderOf(asked)),
  }
}

/** Runs an operation of a REST route or a page when a slot is free. Throws THROTTLED and UNAVAILABLE. */
type Admit = <T>(
  asked: { document: DocumentNode; variables: Record<string, unknown>; actor: Actor },
  run: () => Promise<T>,
) => Promise<T>

/** Creates the admission control for operations of REST routes and pages. */
export function createAdmit(schema: GraphQLSchema, admission: Admission): Admit {
  const costOf = createCostOf(schema)
  return ({ document, variables, actor }, run) => {
    const operation = getOperationAST(document)!
    return admission.enter({ document, operation, actor, bytes: costOf(document, operation, variables).bytes }, run)
  }
}

/** Arguments of an execution. */
export interface Execution {
  schema: GraphQLSchema
  document: DocumentNode
  operationName?: string | null | undefined
  variableValues?: Readonly<Record<string, unknown>> | null | undefined
  contextValue: Context
}

/**
 * Creates the executor of validated documents for both APIs. Most queries and mutations are compiled once per
 * document (decision 37). graphql-js executes the rest, with the same responses. `compiledRead` returns the compiled
 * form of a query, or undefined if there is none.
 */
export function createExecutor(schema: GraphQLSchema, { fastPaths = true } = {}) {
  const compiled = new WeakMap<OperationDefinitionNode, CompiledOperation | 'none'>()

  const compile = (document: DocumentNode, operation: OperationDefinitionNode) => {
    if (!fastPaths) return undefined
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
