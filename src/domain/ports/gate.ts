/** Concurrency limits for expensive operations. */

/** For whom an expensive operation runs. */
export interface Asker {
  /** The account and the network. Each has a share of its own. */
  keys: readonly string[]
  /** The trusted service that acts for the account. It has a larger share than an account or a network. */
  service?: string
}

/**
 * Runs a limited number of operations at once; the others wait for a limited time. Without an asker only the total is limited. Throws
 * UNAVAILABLE when no place became free in time.
 */
export type Gate = <T>(work: () => Promise<T>, asker?: Asker) => Promise<T>

/**
 * Runs a limited amount at once for each key; what exceeds it waits in a queue of that key alone. Without a key everything runs at once.
 * Throws THROTTLED when no share became free in time.
 */
export interface Shares {
  take<T>(key: string | undefined, size: number, work: () => Promise<T>): Promise<T>
  /** Returns whether the work would run at once. */
  hasRoom(key: string | undefined, size: number): boolean
}
