import { type DocumentNode, type GraphQLSchema, getOperationAST, type OperationDefinitionNode } from 'graphql'
import type { Actor } from '../domain/actor.ts'
import { askerOf } from '../domain/asker.ts'
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
 * What both interfaces let operations through. First comes the share of who asks, by fields at the root: who waits there keeps no
 * other from a place. Then those whose answers may be large wait for a place behind the gate.
 */
export function createAdmission({ shares, largeAnswers }: { shares: Shares; largeAnswers: Gate }): Admission {
  const isLarge = ({ bytes }: Asked) => bytes >= LARGE_ANSWER
  const sizeOf = ({ document, operation }: Asked) => rootFieldsOf(document, operation)
  return {
    enter(asked, run) {
      const keys = askerOf(asked.actor)
      return shares.take(keys[0], sizeOf(asked), () => (isLarge(asked) ? largeAnswers(run, keys) : run()))
    },
    isOpen: (asked) => !isLarge(asked) && shares.hasRoom(askerOf(asked.actor)[0], sizeOf(asked)),
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
