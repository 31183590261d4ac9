/** What is found in a document wherever one is looked at. */
import { type DocumentNode, type FieldNode, type FragmentDefinitionNode, Kind } from 'graphql'

/** The fragments of a document by name. */
export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

/** The fragments that a document defines. */
export const fragmentsOf = ({ definitions }: DocumentNode): Fragments =>
  new Map(
    definitions
      .filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((node) => [node.name.value, node]),
  )

/** Whether the description of the schema begins here. */
export const isIntrospection = ({ name }: FieldNode) => name.value === '__schema' || name.value === '__type'
