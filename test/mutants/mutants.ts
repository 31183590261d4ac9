import { admin } from './admin.ts'
import { bounds } from './bounds.ts'
import { chain } from './chain.ts'
import { compiled } from './compiled.ts'
import { deadlines } from './deadlines.ts'
import { delivery } from './delivery.ts'
import { doors } from './doors.ts'
import { embedded } from './embedded.ts'
import { erasure } from './erasure.ts'
import { failover } from './failover.ts'
import { figures } from './figures.ts'
import { frozen } from './frozen.ts'
import { growth } from './growth.ts'
import { isolation } from './isolation.ts'
import { keys } from './keys.ts'
import { money } from './money.ts'
import type { Mutant } from './mutant.ts'
import { order } from './order.ts'
import { permission } from './permission.ts'
import { relay } from './relay.ts'
import { replicas } from './replicas.ts'
import { retention } from './retention.ts'
import { shortLived } from './short-lived.ts'
import { telemetry } from './telemetry.ts'
import { time } from './time.ts'
import { together } from './together.ts'
import { verify } from './verify.ts'

/** What keeps a rule that no test is to notice the loss of: another keeper of the same rule stands behind it. */
const otherKeepers: Record<string, string> = {
  'chain.final-displaced':
    'the count of nonces falls with the block, and the gap is closed by sending again what was in it',
  'chain.found-once':
    'the unique index on account, nonce and position gives an event to one commit alone; the next pass looks on',
  'delivery.attempt-once': 'the primary key of the attempts refuses a second one of the same number',
  'failover.read-only-away':
    'the connection is cut with the refusal, so its statement fails as one whose connection was lost',
  'growth.names':
    'by the order of names, an average one is found as quickly; a rare beginning is what the index is for',
  'delivery.response-size': 'F09 counts what is read of a gigabyte',
  'chain.receipt-without-log': 'nothing is signed while there is no code at the registry’s address',
}

const all: Mutant[] = [
  ...admin,
  ...permission,
  ...money,
  ...chain,
  ...relay,
  ...compiled,
  ...deadlines,
  ...delivery,
  ...bounds,
  ...doors,
  ...embedded,
  ...erasure,
  ...failover,
  ...figures,
  ...frozen,
  ...growth,
  ...isolation,
  ...keys,
  ...order,
  ...retention,
  ...replicas,
  ...shortLived,
  ...telemetry,
  ...time,
  ...together,
  ...verify,
]

/** Every mutant, by area. A new rule comes with its mutant. */
export const mutants: Mutant[] = all.map((mutant) => ({ ...mutant, instead: otherKeepers[mutant.id] }))
