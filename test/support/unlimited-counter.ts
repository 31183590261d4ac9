import type { ConcurrencyCounter } from '../../src/shared/concurrency-counter.ts'

/** Counter that grants everything. */
export const unlimitedCounter: ConcurrencyCounter = {
  acquire: async (_subject, { needed, wanted = needed }) => wanted,
  release: async () => {},
  hasRoomHere: () => true,
  renew: async () => {},
  sweep: async () => {},
}
