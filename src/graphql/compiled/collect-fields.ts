import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  type SelectionSetNode,
} from 'graphql'
import { unfit } from './selection.ts'

/** The fields that a selection asks of an object, by the names that they have in the answer, in the order of the answer. */
export type Collected = ReadonlyMap<string, FieldNode[]>

/**
 * What `sets` ask of an object of this type, through fragments. Raises `unfit` where variables decide what is asked for
 * (`@skip`, `@include`).
 */
export function collectFields(
  schema: GraphQLSchema,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): Collected {
  const collected = new Map<string, FieldNode[]>()
  const seen = new Set<string>()
  const isOf = (name: string | undefined) => {
    const condition = name === undefined ? type : schema.getType(name)
    return condition === type || (isAbstractType(condition) && schema.isSubType(condition, type))
  }
  const collect = ({ selections }: SelectionSetNode) => {
    for (const node of selections) {
      if (node.directives?.length) throw unfit
      if (node.kind === Kind.FIELD) {
        const key = (node.alias ?? node.name).value
        const nodes = collected.get(key)
        if (nodes) nodes.push(node)
        else collected.set(key, [node])
        continue
      }
      if (node.kind === Kind.FRAGMENT_SPREAD) {
        if (seen.has(node.name.value)) continue
        seen.add(node.name.value)
      }
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value)
      if (!fragment) throw unfit
      if (isOf(fragment.typeCondition?.name.value)) collect(fragment.selectionSet)
    }
  }
  for (const set of sets) collect(set)
  // As a name of an object's member it would be lost.
  if (collected.has('__proto__')) throw unfit
  return collected
}
