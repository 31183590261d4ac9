import { DomainError, isUnavailable } from '../domain/errors.ts'
import type { ContentStore } from '../domain/ports/files.ts'
import type { Log } from '../domain/ports/log.ts'

/** One of several content stores that keep the same files. */
export interface StoreNode {
  /** For operators: it holds no password. */
  name: string
  store: ContentStore
}

/** Milliseconds after which a node that did not answer is looked at again. */
const LOOK_EVERY_MS = 5_000

/** Which of several nodes answer, as far as their last answers told. */
export const createNodeHealth = (nodes: readonly StoreNode[], log: Pick<Log, 'info' | 'warn'>) => {
  /** Those that did not answer, and when each was looked at last. */
  const resting = new Map<StoreNode, number>()

  const answered = (node: StoreNode) => {
    if (resting.delete(node)) log.info({ node: node.name }, 'File store node recovered')
  }
  const lookAgain = () => {
    const now = performance.now()
    for (const [node, at] of resting) {
      if (now - at < LOOK_EVERY_MS) continue
      resting.set(node, now)
      void node.store.isReachable().then((isReachable) => isReachable && answered(node))
    }
  }

  return {
    answered,
    /** Takes note of what a node raised: only one that is away rests. */
    failed(node: StoreNode, error: unknown) {
      if (!isUnavailable(error)) return error instanceof DomainError ? answered(node) : undefined
      if (!resting.has(node)) log.warn({ node: node.name, err: error }, 'File store node does not answer')
      resting.set(node, performance.now())
    },
    /** Those that answer in their order, then those that rest; these are looked at again meanwhile. */
    inOrder(): { awake: StoreNode[]; resting: StoreNode[] } {
      lookAgain()
      return {
        awake: nodes.filter((node) => !resting.has(node)),
        resting: nodes.filter((node) => resting.has(node)),
      }
    },
  }
}
