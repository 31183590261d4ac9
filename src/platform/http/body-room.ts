/**
 * What all requests together hold in memory of bodies that are not whole yet. Nobody is kept out by those who send slowly: above
 * the bound whoever holds most for longest is refused.
 */
import { DomainError } from '../../domain/errors.ts'
import { removeItem } from '../remove-item.ts'

/** Bytes. */
const MOST_BYTES = 64_000_000
/** Milliseconds that count for each, so that age alone does not decide among those who have just begun. */
const LEAST_AGE_MS = 200

/** A body that is being read. */
export interface HeldBody {
  /** How many bytes of it are in memory now. */
  hold(bytes: number): void
  /** It is whole, or given up. */
  release(): void
}

/** The memory for bodies that are being read. */
export interface BodyRoom {
  /** `refuse` gives the body up. */
  open(refuse: (error: DomainError) => void): HeldBody
}

interface Holder {
  bytes: number
  since: number
  isReleased: boolean
  refuse(error: DomainError): void
}

const crowded = () =>
  new DomainError('UNAVAILABLE', 'Too many bodies are on their way right now. Try again shortly.', { retryAfter: 5 })

/** Room for so many bytes; above them the body that holds most for longest is refused with UNAVAILABLE. */
function createBodyRoom(most: number): BodyRoom {
  const holders: Holder[] = []
  let held = 0

  function release(holder: Holder) {
    if (holder.isReleased) return
    holder.isReleased = true
    removeItem(holders, holder)
    held -= holder.bytes
  }

  function refuseHeaviest() {
    const now = performance.now()
    const weightOf = ({ bytes, since }: Holder) => bytes * (now - since + LEAST_AGE_MS)
    const heaviest = holders.reduce((worst, holder) => (weightOf(holder) > weightOf(worst) ? holder : worst))
    release(heaviest)
    heaviest.refuse(crowded())
  }

  return {
    open(refuse) {
      const holder: Holder = { bytes: 0, since: performance.now(), isReleased: false, refuse }
      holders.push(holder)
      return {
        hold(bytes) {
          if (holder.isReleased) return
          held += bytes - holder.bytes
          holder.bytes = bytes
          while (held > most) refuseHeaviest()
        },
        release: () => release(holder),
      }
    },
  }
}

/** Memory is the process's, whatever reads into it. */
export const bodyRoom = createBodyRoom(MOST_BYTES)
