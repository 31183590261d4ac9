import { type ASTNode, GraphQLError } from 'graphql'

/** Why a scalar of ours refuses a value, in a sentence that never holds the value. It is shown to the caller as it is. */
export class ScalarRefusal extends GraphQLError {
  constructor(reason: string, node?: ASTNode) {
    super(reason, { nodes: node, extensions: { code: 'VALIDATION_FAILED' } })
  }
}
