/** Parts of a document that several checks look for. */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'

/** The fragments of a document by name. */
export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

/** The fragments that a document defines. */
export const fragmentsOf = ({ definitions }: DocumentNode): Fragments =>
  new Map(
    definitions
      .filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((node) => [node.name.value, node]),
  )

/** Returns whether a field describes the schema. */
export const isIntrospection = ({ name }: FieldNode) => name.value === '__schema' || name.value === '__type'

/** Returns whether a field is `__typename`. At the root of an operation it costs nothing: client tools add it to every selection. */
export const isTypename = ({ name }: FieldNode) => name.value === '__typename'

const isBareTypename = (node: SelectionNode) =>
  node.kind === Kind.FIELD &&
  isTypename(node) &&
  !node.arguments?.length &&
  !node.directives?.length &&
  !node.selectionSet

const isSubscription = (node: DocumentNode['definitions'][number]): node is OperationDefinitionNode =>
  node.kind === Kind.OPERATION_DEFINITION && node.operation === OperationTypeNode.SUBSCRIPTION

function withoutTypename(set: SelectionSetNode): SelectionSetNode {
  const selections = set.selections
    .filter((node) => !isBareTypename(node))
    .map((node) =>
      node.kind === Kind.INLINE_FRAGMENT ? { ...node, selectionSet: withoutTypename(node.selectionSet) } : node,
    )
  return selections.length > 0 ? { ...set, selections } : set
}

/**
 * Returns the document without `__typename` at the root of its subscriptions, or the same document if it has no subscription.
 * graphql-js takes the first field at the root for the source of events, and its validation allows no other field beside it.
 */
export function withoutSubscriptionTypename(
  document: DocumentNode,
  subscriptionType: string | undefined,
): DocumentNode {
  if (!document.definitions.some(isSubscription)) return document
  const definitions = document.definitions.map((node) => {
    const isRoot =
      isSubscription(node) ||
      (node.kind === Kind.FRAGMENT_DEFINITION && node.typeCondition.name.value === subscriptionType)
    return isRoot ? { ...node, selectionSet: withoutTypename(node.selectionSet) } : node
  })
  return { ...document, definitions }
}
