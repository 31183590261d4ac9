import { chain } from './chain.ts'
import { deadlines } from './deadlines.ts'
import { delivery } from './delivery.ts'
import { doors } from './doors.ts'
import { erasure } from './erasure.ts'
import { keys } from './keys.ts'
import { money } from './money.ts'
import type { Mutant } from './mutant.ts'
import { permission } from './permission.ts'

/** Every mutant, by area. A new rule comes with its mutant. */
export const mutants: Mutant[] = [
  ...permission,
  ...money,
  ...chain,
  ...deadlines,
  ...delivery,
  ...doors,
  ...erasure,
  ...keys,
]
