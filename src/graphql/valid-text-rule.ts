import { type ASTNode, type ASTVisitor, GraphQLError, Kind, type ValidationContext } from 'graphql'
import { textProblem } from '../domain/json-input.ts'

const isNamed = (node: ASTNode | readonly ASTNode[]) =>
  'kind' in node &&
  (node.kind === Kind.OBJECT_FIELD || node.kind === Kind.ARGUMENT || node.kind === Kind.VARIABLE_DEFINITION)

/** Texts that a document itself holds obey what those of variables do. */
export function ValidTextRule(context: ValidationContext): ASTVisitor {
  return {
    StringValue(node, _key, parent, _path, ancestors) {
      const problem = textProblem(node.value)
      if (!problem) return
      const holder = [...ancestors, parent!].findLast(isNamed) as { name?: { value: string } } | undefined
      context.reportError(
        new GraphQLError(`${holder?.name ? `${holder.name.value}: ` : ''}${problem}`, { nodes: node }),
      )
    },
  }
}
