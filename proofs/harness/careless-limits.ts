/** A limit of depth as it is written first: whatever stands inside each other counts, data or the description of the schema. */
import { type DocumentNode, Kind, type SelectionSetNode } from 'graphql'
import { fragmentsOf } from '../../src/graphql/document-parts.ts'

/** Levels of fields, with fragments where they are spread. The document is valid. */
export function deepestOf(document: DocumentNode): number {
  const fragments = fragmentsOf(document)
  const depthOf = (selectionSet: SelectionSetNode | undefined): number =>
    Math.max(
      0,
      ...(selectionSet?.selections ?? []).map((node) => {
        if (node.kind === Kind.FIELD) return 1 + depthOf(node.selectionSet)
        return depthOf(
          node.kind === Kind.INLINE_FRAGMENT ? node.selectionSet : fragments.get(node.name.value)?.selectionSet,
        )
      }),
    )
  return Math.max(
    ...document.definitions.map((node) => (node.kind === Kind.OPERATION_DEFINITION ? depthOf(node.selectionSet) : 0)),
  )
}
