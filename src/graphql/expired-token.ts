/**
 * Rejects invalid tokens on every operation, so that clients notice them. Fields with `...openToStaleTokens` treat
 * the caller as anonymous. Otherwise, a client that always sends its token could not sign in again. Both APIs use
 * this option.
 */
import {
  type DocumentNode,
  defaultFieldResolver,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import { authenticationFailed } from '../shared/errors.ts'
import { isTypename } from './limits/document-limits.ts'

/** Field option: callers with an invalid token are anonymous. */
export const openToStaleTokens = { extensions: { openToStaleTokens: true } }

const isOpen = (extensions: Readonly<Record<string, unknown>>) => extensions.openToStaleTokens === true

const rootsOf = (schema: GraphQLSchema) => [
  schema.getQueryType(),
  schema.getMutationType(),
  schema.getSubscriptionType(),
]

/** Throws AUTHENTICATION_FAILED for an invalid token, unless the root field accepts it. */
export function assertFresh(
  { extensions }: Pick<GraphQLField<unknown, unknown>, 'extensions'>,
  { hasStaleToken }: Pick<Context, 'hasStaleToken'>,
): void {
  if (hasStaleToken && !isOpen(extensions)) throw authenticationFailed()
}

/** Makes every other root field reject an invalid token. */
export function guardRootFields(schema: GraphQLSchema): GraphQLSchema {
  for (const root of rootsOf(schema)) {
    for (const field of Object.values(root?.getFields() ?? {})) {
      if (isOpen(field.extensions)) continue
      const { resolve = defaultFieldResolver, subscribe } = field
      if (subscribe) {
        field.subscribe = (root, args, context, info) => {
          assertFresh(field, context)
          return subscribe(root, args, context, info)
        }
      } else {
        field.resolve = (root, args, context, info) => {
          assertFresh(field, context)
          return resolve(root, args, context, info)
        }
      }
    }
  }
  return schema
}

/** Returns the names of the fields at the root of an operation and its fragments, without `__typename`. */
export function rootNames(document: DocumentNode, operation: OperationDefinitionNode): Set<string> {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  }
  const names = new Set<string>()
  const seen = new Set<string>()
  const collect = ({ selections }: SelectionSetNode) => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        if (!isTypename(selection)) names.add(selection.name.value)
      } else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet)
      else if (!seen.has(selection.name.value)) {
        seen.add(selection.name.value)
        const fragment = fragments.get(selection.name.value)
        if (fragment) collect(fragment.selectionSet)
      }
    }
  }
  collect(operation.selectionSet)
  return names
}

/**
 * Returns true if an operation selects a field that accepts invalid tokens. Its other fields reject them
 * individually.
 */
export function hasOpenField(schema: GraphQLSchema, document: DocumentNode, operationName?: string | null): boolean {
  const operation = getOperationAST(document, operationName)
  const fields = operation && schema.getRootType(operation.operation)?.getFields()
  if (!operation || !fields) return false
  return [...rootNames(document, operation)].some((name) => fields[name] && isOpen(fields[name].extensions))
}

/** Creates the error result of a rejected request. Yoga does not mask errors before execution. */
function refusal() {
  const { code, message } = authenticationFailed()
  return { errors: [new GraphQLError(message, { extensions: { code } })] }
}

/** Common arguments of executions and subscriptions. */
type Begun = Pick<Parameters<NonNullable<Plugin<Context>['onExecute']>>[0], 'args' | 'setResultAndStopExecution'>

/** Rejects a request with an invalid token if no field in it accepts one. */
export function useStaleTokens(schema: GraphQLSchema): Plugin<Context> {
  const refuse = ({ args, setResultAndStopExecution }: Begun) => {
    const { contextValue, document, operationName } = args
    if (contextValue.hasStaleToken && !hasOpenField(schema, document, operationName ?? null)) {
      setResultAndStopExecution(refusal())
    }
  }
  return { onExecute: refuse, onSubscribe: refuse }
}
