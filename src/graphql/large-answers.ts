import { type DocumentNode, type GraphQLSchema, getOperationAST } from 'graphql'
import type { Actor } from '../domain/actor.ts'
import { askerOf } from '../domain/asker.ts'
import type { Gate } from '../domain/ports.ts'
import { createCostOf, LARGE_ANSWER } from './document-cost.ts'

/** Carries an operation of ours out, when its turn has come if its answer may be large. Raises UNAVAILABLE. */
type Admit = <T>(
  asked: { document: DocumentNode; variables: Record<string, unknown>; actor: Actor },
  run: () => Promise<T>,
) => Promise<T>

/**
 * Has answers that may be large wait for a place behind the gate that both interfaces share; others run at once. Raises
 * UNAVAILABLE when none came.
 */
export function createAdmit(schema: GraphQLSchema, largeAnswers: Gate): Admit {
  const costOf = createCostOf(schema)
  return ({ document, variables, actor }, run) => {
    const { bytes } = costOf(document, getOperationAST(document)!, variables)
    return bytes >= LARGE_ANSWER ? largeAnswers(run, askerOf(actor)) : run()
  }
}
