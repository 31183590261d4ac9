/** The responses to an operation from the compiled code and from the executor. */

import { type DocumentNode, type ExecutionResult, execute, getOperationAST } from 'graphql'
import type { Context } from '../../src/context.ts'
import { compileOperation } from '../../src/graphql/fast-path/compile-operation.ts'
import { authenticate } from '../../src/modules/accounts/authenticate.ts'
import type { DomainError } from '../../src/shared/errors.ts'
import { schema } from './full-api.ts'
import type { TestApp } from './test-app.ts'

/** The GraphQL context of a request with these credentials. */
export async function contextOf(app: TestApp, token: string | undefined, apiKey?: string): Promise<Context> {
  return {
    ...(await authenticate(app.context, { token, apiKey, address: '127.0.0.1' })),
    ...app.context,
    baseUrl: app.url,
    requestLog: () => app.log,
    idempotency: { key: undefined, replayed: false },
  }
}

const textOf = (result: ExecutionResult) =>
  JSON.stringify({
    ...result,
    codes: result.errors?.map(({ originalError }) => (originalError as DomainError | null)?.code),
  })

/** Returns both responses. `compiled` is undefined if the operation is left to the executor. */
export async function answersOf(
  document: DocumentNode,
  variableValues: Record<string, unknown>,
  contextValue: Context,
) {
  const operation = compileOperation(schema, document, getOperationAST(document)!)
  const compiled = await operation?.(contextValue, variableValues)
  const executed = await execute({ schema, document, variableValues, contextValue })
  return { compiled: compiled && textOf(compiled), executed: textOf(executed) }
}
