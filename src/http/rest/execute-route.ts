/** Executes the GraphQL operation of a route in-process, with the schema, context and error handling of the GraphQL API. */

import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql'
import type { Context } from '../../context.ts'
import { maskError, refusedFields } from '../../graphql/mask-error.ts'
import { type ErrorCode, validationFailed } from '../../shared/errors.ts'
import { keepAnswer, recallAnswer } from '../../shared/idempotency.ts'
import { assertVariables } from '../../shared/json-input.ts'
import type { Tracer } from '../../telemetry/telemetry-types.ts'
import type { Refusal } from '../error-status.ts'
import type { RestRequest, Route } from './define-route.ts'

/** The response of a route. */
export interface Answer {
  status: number
  /** The body, which becomes JSON. Undefined when the response has no body, or `parts` are set. */
  body?: unknown
  /** The body as JSON that is read while it is sent. */
  parts?: AsyncIterable<Uint8Array>
  /** Version of the resource. The `ETag` begins with it. */
  etag?: string | undefined
}

export interface Executor {
  schema: GraphQLSchema
  tracer: Tracer
  execute: (execution: {
    schema: GraphQLSchema
    document: DocumentNode
    variableValues: Record<string, unknown>
    contextValue: Context
  }) => Promise<ExecutionResult>
  /** Runs an operation. Operations with large results wait in a queue. */
  admit: <T>(
    asked: { document: DocumentNode; variables: Record<string, unknown>; actor: Context['actor'] },
    run: () => Promise<T>,
  ) => Promise<T>
}

/** An error of a route, ready to be presented. */
export class RouteRefused extends Error {
  override readonly name = 'RouteRefused'
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** Returns the operation of a document. Throws an Error without one. */
export const operationOf = ({ operation }: { operation: DocumentNode }) => {
  const [definition] = operation.definitions.filter((node) => node.kind === 'OperationDefinition')
  if (!definition) throw new Error('A route needs a document with one operation.')
  return definition
}

/** Returns how an error is presented. A bug is logged and becomes INTERNAL. */
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

/** Executes an operation. Throws VALIDATION_FAILED for forbidden input, and RouteRefused with the first error of the execution. */
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

/** Executes the operation of a route. Throws the errors of `executeOperation`. */
export async function executeRoute(
  executor: Executor,
  route: Route,
  request: RestRequest,
  context: Context,
): Promise<Answer> {
  const data = await executeOperation(executor, route.operation, route.variables(request), context)
  return { status: route.status ?? 200, body: route.present!(data, request), etag: route.etag?.(data) }
}

/** Stores the response of a first request. A replay sends the stored response, even if the resource has changed since. */
export async function executeReplayable(
  run: () => Promise<Answer>,
  context: Context,
): Promise<Answer & { replayed?: boolean }> {
  const { idempotency } = context
  try {
    const fresh = await run()
    if (!idempotency.replayed) {
      await keepAnswer(context, fresh)
      return fresh
    }
    return { ...(((await recallAnswer(context)) as Answer | undefined) ?? fresh), replayed: true }
  } catch (error) {
    const kept = idempotency.replayed && ((await recallAnswer(context)) as Answer | undefined)
    if (!kept) throw error
    return { ...kept, replayed: true }
  }
}
