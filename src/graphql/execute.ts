import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import {
  type DocumentNode,
  type ExecutionResult,
  execute as executeByField,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql'
import type { Context } from '../context.ts'
import type { Refusal } from '../http/error-status.ts'
import { type ErrorCode, validationFailed } from '../shared/errors.ts'
import { assertVariables } from '../shared/input.ts'
import { rateLimitKey, rateLimitKeys, type Semaphore } from '../shared/limiters.ts'
import type { Actor } from '../shared/policy.ts'
import type { Tracer } from '../telemetry/telemetry-types.ts'
import { type CompiledOperation, compileOperation } from './fast-path/compile-operation.ts'
import { type DocumentCost, LARGE_ANSWER, measureDocument } from './limits/document-cost.ts'
import { maskError, refusedFields } from './mask-error.ts'

type Operation = DocumentCost & { actor: Actor }

export interface Admission {
  /** Runs an operation when a slot is free. Throws THROTTLED and UNAVAILABLE. */
  enter<T>(operation: Operation, run: () => Promise<T>): Promise<T>
  /** Returns true if the operation would start immediately. */
  isOpen(operation: Operation): boolean
}

/**
 * Creates the admission control for GraphQL and REST. An operation first waits for its caller's other operations,
 * counted in root fields. This delays no other caller. Then an operation with a possibly large response waits for a
 * slot shared by all callers.
 */
export function createAdmission(semaphores: Record<'operations' | 'largeAnswers', Semaphore>): Admission {
  const { operations, largeAnswers } = semaphores
  const isLarge = ({ bytes }: Operation) => bytes >= LARGE_ANSWER
  const holderOf = ({ rootFields, actor }: Operation) => {
    const key = rateLimitKey(actor)
    return { keys: key === undefined ? [] : [key], size: rootFields }
  }
  return {
    enter(operation, run) {
      const enter = () => (isLarge(operation) ? largeAnswers(run, { keys: rateLimitKeys(operation.actor) }) : run())
      return operations(enter, holderOf(operation))
    },
    isOpen: (operation) => !isLarge(operation) && operations.isFree(holderOf(operation)),
  }
}

/**
 * Creates a function that returns the cost of an operation of a valid document. Without variables in page arguments,
 * it is computed once per document. The function throws VALIDATION_FAILED for an invalid page size.
 */
export function createCostOf(schema: GraphQLSchema) {
  const known = new WeakMap<OperationDefinitionNode, DocumentCost>()

  return (
    document: DocumentNode,
    operation: OperationDefinitionNode,
    given: Readonly<Record<string, unknown>> = {},
  ): DocumentCost => {
    const found = known.get(operation)
    if (found) return found
    let isFixed = true
    const cost = measureDocument(schema, document, operation, (name) => {
      isFixed = false
      if (Object.hasOwn(given, name)) return given[name]
      const definition = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name)
      const value = definition?.defaultValue
      return value?.kind === Kind.INT ? Number(value.value) : undefined
    })
    if (isFixed) known.set(operation, cost)
    return cost
  }
}

/** Creates the admission control for operations of REST routes and pages. It throws THROTTLED and UNAVAILABLE. */
export function createAdmit(schema: GraphQLSchema, admission: Admission) {
  const costOf = createCostOf(schema)
  type RouteOperation = { document: DocumentNode; variables: Record<string, unknown>; actor: Actor }
  return <T>({ document, variables, actor }: RouteOperation, run: () => Promise<T>): Promise<T> =>
    admission.enter({ ...costOf(document, getOperationAST(document)!, variables), actor }, run)
}

/** Each error message about a variable repeats the whole input. */
const options = { maxCoercionErrors: 10 }

interface Execution {
  schema: GraphQLSchema
  document: DocumentNode
  operationName?: string | null | undefined
  variableValues?: Readonly<Record<string, unknown>> | null | undefined
  contextValue: Context
}

/**
 * Creates the executor of validated documents for both APIs. Most queries and mutations are compiled once per document
 * (decision 37). graphql-js executes the rest, with the same responses. `compiledRead` returns the compiled form of a
 * query, or undefined if there is none.
 */
export function createExecutor(schema: GraphQLSchema, { fastPaths = true } = {}) {
  const compiled = new WeakMap<OperationDefinitionNode, CompiledOperation | undefined>()

  const compile = (document: DocumentNode, operation: OperationDefinitionNode) => {
    if (!fastPaths) return undefined
    if (!compiled.has(operation)) compiled.set(operation, compileOperation(schema, document, operation))
    return compiled.get(operation)
  }

  const compiledRead = ({ document, operationName }: Pick<Execution, 'document' | 'operationName'>) => {
    const operation = getOperationAST(document, operationName)
    return operation?.operation === OperationTypeNode.QUERY ? compile(document, operation) : undefined
  }

  const execute = async (execution: Execution) => {
    const { document, operationName, contextValue } = execution
    const operation = getOperationAST(document, operationName)
    const run = operation && compile(document, operation)
    return (await run?.(contextValue, execution.variableValues ?? {})) ?? executeByField({ ...execution, options })
  }

  return { execute, compiledRead }
}

export interface Executor {
  schema: GraphQLSchema
  tracer: Tracer
  execute: ReturnType<typeof createExecutor>['execute']
  admit: ReturnType<typeof createAdmit>
}

/** The error of an operation that a REST route executed, in its public form. */
export class RouteRefused extends Error {
  override readonly name = 'RouteRefused'
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** Returns the operation of a document. Throws an Error for a document without an operation. */
export const operationOf = ({ operation }: { operation: DocumentNode }) => {
  const [definition] = operation.definitions.filter((node) => node.kind === 'OperationDefinition')
  if (!definition) throw new Error('A route needs a document with one operation.')
  return definition
}

/** Converts an error to its public form. An unexpected error is logged and becomes INTERNAL. */
export const refusalOf = (error: unknown, context: Pick<Context, 'requestLog'>): Refusal => {
  if (error instanceof RouteRefused) return error.refusal
  const { message, extensions } = maskError(error, context.requestLog)
  return {
    code: extensions.code as ErrorCode,
    message,
    details: extensions.details,
    retryAfter: extensions.retryAfter as number | undefined,
  }
}

/** Executes an operation. Throws VALIDATION_FAILED for forbidden input, and RouteRefused for an error. */
export async function executeOperation<Data, Variables extends Record<string, unknown>>(
  { schema, tracer, admit, execute }: Executor,
  document: TypedDocumentNode<Data, Variables>,
  variableValues: Variables,
  context: Context,
): Promise<Data> {
  assertVariables(variableValues)
  const type = operationOf({ operation: document }).operation
  const run = () =>
    tracer.span(type, { facts: { 'graphql.operation.type': type } }, async () =>
      execute({ schema, document, variableValues, contextValue: context }),
    ) as Promise<ExecutionResult<Data>>
  const result = await admit({ document, variables: variableValues, actor: context.actor }, run)
  const [error] = result.errors ?? []
  if (error) {
    const fields = refusedFields(result.errors!)
    throw new RouteRefused(refusalOf(fields ? validationFailed(fields) : error, context))
  }
  return result.data!
}
