/**
 * What is left of a grant. Wallets hold one number of points; which points were spent is told by replaying what moved
 * them: those that expire soonest go first, those that never expire last. Points of a grant whose time is over count
 * behind all others, so that it makes no difference how soon after that moment somebody looks.
 */
import { type Amount, toUnits } from '../money.ts'

/** One transfer's change of a wallet's points. */
export interface PointMovement {
  reference: string
  /** Signed. */
  amount: Amount
  at: Date
}

export interface GrantTerms {
  id: string
  /** Null: never. */
  expiresAt: Date | null
}

/** Points that came in on the same terms, in units of 10^-18. */
interface Lot {
  /** Milliseconds since 1970, or Infinity. */
  readonly expiresAt: number
  left: bigint
  /** What was left was taken back: what a refund brings later never expires. */
  isClosed?: boolean
}

type Taken = { lot: Lot; units: bigint }[]

/** The charge that a refund gives back. */
const refunds: Record<string, string> = { refund: 'commit', 'order-refund': 'order' }

const least = (a: bigint, b: bigint) => (a < b ? a : b)

/** In the order in which they are spent at a moment: still valid, soonest end first; then those whose time is over. */
const byTurn = (at: number) => (a: Lot, b: Lot) => {
  const [isOverA, isOverB] = [a.expiresAt <= at, b.expiresAt <= at]
  if (isOverA !== isOverB) return isOverA ? 1 : -1
  return a.expiresAt === b.expiresAt ? 0 : a.expiresAt - b.expiresAt
}

/** What is left of each grant after all movements, in units of 10^-18. `movements`: oldest first, all of one wallet. */
export function leftOfGrants(
  movements: readonly PointMovement[],
  grants: readonly GrantTerms[],
): ReadonlyMap<string, bigint> {
  const lasting: Lot = { expiresAt: Number.POSITIVE_INFINITY, left: 0n }
  const lots = new Map<string, Lot>(
    grants.map(({ id, expiresAt }) => [id, { expiresAt: expiresAt?.getTime() ?? Number.POSITIVE_INFINITY, left: 0n }]),
  )
  const charges = new Map<string, Taken>()

  /** What no lot can give is owed by those that never expire: clocks may tell two movements in the wrong order. */
  const take = (wanted: bigint, at: number): Taken => {
    let missing = wanted
    const taken: Taken = []
    for (const lot of [...lots.values(), lasting].sort(byTurn(at))) {
      const units = least(missing, lot.left)
      if (units <= 0n) continue
      lot.left -= units
      missing -= units
      taken.push({ lot, units })
    }
    lasting.left -= missing
    return missing > 0n ? [...taken, { lot: lasting, units: missing }] : taken
  }

  /** Back to where it came from; what is more than that never expires. */
  const giveBack = (given: bigint, taken: Taken) => {
    let rest = given
    for (const { lot, units } of taken) {
      const back = least(rest, units)
      ;(lot.isClosed ? lasting : lot).left += back
      rest -= back
    }
    lasting.left += rest
  }

  for (const { reference, amount, at } of movements) {
    const [kind = '', subject = ''] = reference.split(':', 2)
    const units = toUnits(amount)
    const own = kind === 'grant' || kind === 'grant-expiry' ? lots.get(subject) : undefined
    if (own) {
      own.left += units
      own.isClosed = kind === 'grant-expiry'
    } else if (units < 0n) {
      charges.set(reference, take(-units, at.getTime()))
    } else {
      giveBack(units, charges.get(`${refunds[kind]}:${subject}`) ?? [])
    }
  }
  return new Map([...lots].map(([id, { left }]) => [id, left]))
}
