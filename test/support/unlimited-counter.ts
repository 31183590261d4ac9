import type { ConcurrencyCounter } from '../../src/shared/concurrency-counter.ts'

export const unlimitedCounter: ConcurrencyCounter = {
  acquire: async (_subject, { needed, wanted = needed }) => wanted,
  release: async () => {},
  hasRoomHere: () => true,
  renew: async () => {},
  deleteExpired: async () => {},
}
