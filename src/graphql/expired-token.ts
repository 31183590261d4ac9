/**
 * A token that is good no more is refused everywhere, also where none is needed, so that callers learn of it; but for where
 * one gets in again: a client that always attaches its token would be trapped. Those fields say so among their options,
 * as in `...openToStaleTokens`; both doors go by that.
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
import type { Context } from '../services-context.ts'
import { authenticationFailed } from '../shared/errors.ts'
import { isTypename } from './limits/document-limits.ts'

/** Who comes with a stale token is anonymous here. */
export const openToStaleTokens = { extensions: { openToStaleTokens: true } }

const isOpen = (extensions: Readonly<Record<string, unknown>>) => extensions.openToStaleTokens === true

const rootsOf = (schema: GraphQLSchema) => [
  schema.getQueryType(),
  schema.getMutationType(),
  schema.getSubscriptionType(),
]

/** Raises AUTHENTICATION_FAILED for a stale token where the field at the root is not open to one. */
export function assertFresh(
  { extensions }: Pick<GraphQLField<unknown, unknown>, 'extensions'>,
  { hasStaleToken }: Pick<Context, 'hasStaleToken'>,
): void {
  if (hasStaleToken && !isOpen(extensions)) throw authenticationFailed()
}

/** Has every other root field refuse a stale token. */
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

/** Whether an operation asks for a field that is open to stale tokens. Whatever else it asks for refuses them by itself. */
export function hasOpenField(schema: GraphQLSchema, document: DocumentNode, operationName?: string | null): boolean {
  const operation = getOperationAST(document, operationName)
  const fields = operation && schema.getRootType(operation.operation)?.getFields()
  if (!operation || !fields) return false
  return [...rootNames(document, operation)].some((name) => fields[name] && isOpen(fields[name].extensions))
}

/** As it leaves: what stops an execution is not masked. */
function refusal() {
  const { code, message } = authenticationFailed()
  return { errors: [new GraphQLError(message, { extensions: { code } })] }
}

/** What starting an execution and a subscription have in common. */
type Begun = Pick<Parameters<NonNullable<Plugin<Context>['onExecute']>>[0], 'args' | 'setResultAndStopExecution'>

/** Refuses a request with a stale token outright where nothing in it is open to one. */
export function useStaleTokens(schema: GraphQLSchema): Plugin<Context> {
  const refuse = ({ args, setResultAndStopExecution }: Begun) => {
    const { contextValue, document, operationName } = args
    if (contextValue.hasStaleToken && !hasOpenField(schema, document, operationName ?? null)) {
      setResultAndStopExecution(refusal())
    }
  }
  return { onExecute: refuse, onSubscribe: refuse }
}
