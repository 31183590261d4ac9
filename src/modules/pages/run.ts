import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import type { Context } from '../../services-context.ts'

/**
 * Executes an operation in-process, on the same schema as the interfaces, with the same context and the same masking. Raises what it is refused
 * for.
 */
export type Run = <Data, Variables extends Record<string, unknown>>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  context: Context,
) => Promise<Data>
