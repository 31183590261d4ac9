/**
 * Rejects invalid tokens on every operation, so that clients notice them. Fields with `...openToStaleTokens` treat the caller as anonymous.
 * Otherwise, a client that always sends its token could not sign in again. Both APIs use this option.
 */
import {
  type DocumentNode,
  defaultFieldResolver,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getOperationAST,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import { authenticationFailed } from '../shared/errors.ts'
import { rootFieldsOf } from './limits/document-cost.ts'

/** Field option: callers with an invalid token are anonymous. */
export const openToStaleTokens = { extensions: { openToStaleTokens: true } }

const isOpen = ({ extensions }: GraphQLField<unknown, unknown>) => extensions.openToStaleTokens === true

/**
 * Makes every other root field throw AUTHENTICATION_FAILED for an invalid token. A root value that is a function
 * returns the result of a mutation that was already executed.
 */
export function guardRootFields(schema: GraphQLSchema): GraphQLSchema {
  for (const root of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]) {
    for (const field of Object.values(root?.getFields() ?? {})) {
      const { resolve = defaultFieldResolver, subscribe } = field
      const guarded: typeof resolve = (root, args, context, info) => {
        if (typeof root === 'function') return root(info)
        if ((context as Context).hasStaleToken && !isOpen(field)) throw authenticationFailed()
        return (subscribe ?? resolve)(root, args, context, info)
      }
      if (subscribe) field.subscribe = guarded
      else field.resolve = guarded
    }
  }
  return schema
}

/** Returns true if an operation selects a field that accepts invalid tokens. Its other fields reject them individually. */
export function hasOpenField(schema: GraphQLSchema, document: DocumentNode, operationName?: string | null): boolean {
  const operation = getOperationAST(document, operationName)
  const fields = operation && schema.getRootType(operation.operation)?.getFields()
  if (!operation || !fields) return false
  return rootFieldsOf(document, operation).some(({ name: { value } }) => fields[value] && isOpen(fields[value]))
}

/** Rejects a request with an invalid token if no field in it accepts one. */
export function useStaleTokens(schema: GraphQLSchema): Plugin<Context> {
  type Begun = Pick<Parameters<NonNullable<Plugin<Context>['onExecute']>>[0], 'args' | 'setResultAndStopExecution'>
  const refuse = ({ args: { contextValue, document, operationName }, setResultAndStopExecution }: Begun) => {
    if (!contextValue.hasStaleToken || hasOpenField(schema, document, operationName ?? null)) return
    // Yoga does not mask errors before execution.
    const { code, message } = authenticationFailed()
    setResultAndStopExecution({ errors: [new GraphQLError(message, { extensions: { code } })] })
  }
  return { onExecute: refuse, onSubscribe: refuse }
}
