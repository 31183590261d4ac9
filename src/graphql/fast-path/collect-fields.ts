import {
  type DirectiveNode,
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

/** What selections are understood by. */
export interface Terms {
  readonly schema: GraphQLSchema
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** Values of the variables that decide what is asked for, by name. */
  readonly conditions: ReadonlyMap<string, boolean | undefined>
}

/** Whether `@skip` or `@include` lets a part in. Raises `unfit` for other directives. */
function letsIn({ name, arguments: args }: DirectiveNode, conditions: Terms['conditions']): boolean {
  const given = args?.find((argument) => argument.name.value === 'if')?.value
  const value =
    given?.kind === Kind.BOOLEAN
      ? given.value
      : given?.kind === Kind.VARIABLE
        ? conditions.get(given.name.value)
        : undefined
  if (value === undefined) throw unfit
  if (name.value === 'include') return value
  if (name.value === 'skip') return !value
  throw unfit
}

/** What `sets` ask of an object of this type, through fragments. Raises `unfit` for what is not known to come out the same. */
export function collectFields(
  { schema, fragments, conditions }: Terms,
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
      if (!(node.directives ?? []).every((directive) => letsIn(directive, conditions))) continue
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
