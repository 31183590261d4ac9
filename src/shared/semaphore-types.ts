import type { QueueLoad } from '../telemetry/telemetry-types.ts'

/** The caller of an operation, and how many places the operation takes. */
export interface Holder {
  /** Account, address and service. Each key has a share of its own. Without keys only the total is limited. */
  keys?: readonly string[]
  /** 1 when missing. */
  size?: number
}

/** Runs a limited number of operations at once. The others wait in a bounded queue. Throws when the queue is full or the wait is over. */
export interface Semaphore {
  <T>(work: () => Promise<T>, holder?: Holder): Promise<T>
  /** Returns whether an operation would start immediately. */
  isFree(holder?: Holder): boolean
  load(): QueueLoad
}
