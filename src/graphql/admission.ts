import { type DocumentNode, type GraphQLSchema, getOperationAST, type OperationDefinitionNode } from 'graphql'
import type { Actor } from '../domain/actor.ts'
import { accountOf, askerOf } from '../domain/asker.ts'
import type { Gate, Shares } from '../domain/ports/gate.ts'
import { createCostOf, LARGE_ANSWER } from './document-cost.ts'
import { rootFieldsOf } from './document-limits.ts'

/** An operation that is about to be carried out. `bytes`: how many its answer may have. */
export interface Asked {
  document: DocumentNode
  operation: OperationDefinitionNode
  bytes: number
  actor: Actor
}

/** What lets operations through. */
export interface Admission {
  /** Carries an operation out when its turn has come. Raises THROTTLED and UNAVAILABLE. */
  enter<T>(asked: Asked, run: () => Promise<T>): Promise<T>
  /** Whether it need not wait. */
  isOpen(asked: Asked): boolean
}

/**
 * Admission of operations, for both transports. First the caller needs a share, counted in root fields; waiting for it blocks no other
 * caller. Then operations with possibly large responses wait for a place at the gate.
 */
export function createAdmission({ shares, largeAnswers }: { shares: Shares; largeAnswers: Gate }): Admission {
  const isLarge = ({ bytes }: Asked) => bytes >= LARGE_ANSWER
  const sizeOf = ({ document, operation }: Asked) => rootFieldsOf(document, operation)
  return {
    enter(asked, run) {
      const enter = () => (isLarge(asked) ? largeAnswers(run, askerOf(asked.actor)) : run())
      return shares.take(accountOf(asked.actor), sizeOf(asked), enter)
    },
    isOpen: (asked) => !isLarge(asked) && shares.hasRoom(accountOf(asked.actor), sizeOf(asked)),
  }
}

/** Carries an operation of ours out, when its turn has come. Raises THROTTLED and UNAVAILABLE. */
type Admit = <T>(
  asked: { document: DocumentNode; variables: Record<string, unknown>; actor: Actor },
  run: () => Promise<T>,
) => Promise<T>

/** Lets operations of ours through. Raises THROTTLED and UNAVAILABLE when their turn does not come. */
export function createAdmit(schema: GraphQLSchema, admission: Admission): Admit {
  const costOf = createCostOf(schema)
  return ({ document, variables, actor }, run) => {
    const operation = getOperationAST(document)!
    return admission.enter({ document, operation, actor, bytes: costOf(document, operation, variables).bytes }, run)
  }
}
