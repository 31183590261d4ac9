/** How many things are done at once, and who waits. */

/**
 * So many at once, and the others wait their turn for a while. `keys`: who and what it is done for, of which each has its share. Raises
 * UNAVAILABLE when no turn came.
 */
export type Gate = <T>(work: () => Promise<T>, keys?: readonly string[]) => Promise<T>

/**
 * So much at once for each key, and what goes beyond waits in a line of that key alone. Without a key it is done at once. Raises THROTTLED when
 * no turn came.
 */
export interface Shares {
  take<T>(key: string | undefined, size: number, work: () => Promise<T>): Promise<T>
  /** Whether it would be done at once. */
  hasRoom(key: string | undefined, size: number): boolean
}
