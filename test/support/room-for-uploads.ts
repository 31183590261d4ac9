import type { UnpaidBytes } from '../../src/domain/asset/unpaid-bytes.ts'

/** Room without end, where nobody else takes any. */
export const roomForUploads: UnpaidBytes = {
  take: async (_owner, _needed, wanted) => wanted,
  giveBack: async () => {},
  hasRoomHere: () => true,
  tellAll: async () => {},
  forget: async () => {},
}
