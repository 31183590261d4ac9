/** What is signed while an account is being deleted, so that nothing lies at its address that nobody can move. */

import { isNoAnswer, type Registry } from '../../../chain/registry/registry.ts'
import { quantity } from '../../../chain/rpc.ts'
import { readView } from '../../../chain/view.ts'
import type { Database } from '../../../db/database-types.ts'
import { findSetting, settingKeys } from '../../../db/key-value-store.ts'
import type { BookedCoins, Coins, MovePlan } from '../coin-types.ts'
import { freeOf, readAddresses } from './addresses.ts'
import { lessenedBy, presentPrice, pricesUpTo, spendAll } from './plan.ts'

/** Which chain it is, and where the coins go. */
export interface LastCoinsOptions {
  registry: Registry
  database: Pick<Database, 'query'>
  /** The treasury's address. */
  treasury: string
  /** Wei; nothing above is ever offered. */
  maxFeePerGas: bigint
}

/** Milliseconds: a deletion waits for nothing. */
const PATIENCE_MS = 2_000
/** Steps below the present price, and, where that is not known, below the highest: gas may be cheaper later, and dust worth moving. */
const STEPS_BELOW_PRESENT = 3n
const STEPS_BELOW_CAP = 10n

interface Seen {
  chainId: number
  lowest: bigint
  /** Wei at the address that no move takes yet; nonces that the chain has counted. */
  free: bigint
  count: number
}

/** Plans the last moves from addresses whose keys are about to be destroyed. */
export function createLastCoins({
  registry,
  database,
  treasury,
  maxFeePerGas: cap,
}: LastCoinsOptions): Pick<Coins, 'planLast'> {
  const look = async ({ address, open }: BookedCoins): Promise<Seen> => {
    const rpc = registry.rpc.until(AbortSignal.timeout(PATIENCE_MS))
    const view = await readView(rpc, [])
    await registry.assertChain(view.chainId)
    // Of one block: a move that is included in between would count twice.
    const [at] = await readAddresses(rpc, [address], quantity(view.head.number))
    const present = presentPrice(view, cap) ?? cap
    return { chainId: view.chainId, lowest: present >> STEPS_BELOW_PRESENT, free: freeOf(at!, open), count: at!.count }
  }

  /** What the node says; what the books say where it does not answer in time; nothing where none ever answered. */
  const lookIfPossible = async (booked: BookedCoins): Promise<Seen | undefined> => {
    try {
      return await look(booked)
    } catch (error) {
      if (!isNoAnswer(error)) throw error
      const [row] = await database.query(findSetting, { key: settingKeys.chain })
      return row && { chainId: Number(row.value), lowest: cap >> STEPS_BELOW_CAP, free: booked.unswept, count: 0 }
    }
  }

  return {
    async planLast(booked) {
      const seen = await lookIfPossible(booked)
      if (!seen) return []
      const { chainId, lowest, free, count } = seen
      const prices = pricesUpTo(lowest, cap)
      const moves: MovePlan[] = []
      const next = Math.max(booked.nextNonce, count)
      // Nothing behind a move that is set aside is ever included.
      const aside = booked.aside && booked.aside.nonce >= count ? booked.aside : undefined
      const add = (amount: bigint, isBooked: boolean) => {
        const anew = moves.length === 0 ? aside : undefined
        const nonce = anew?.nonce ?? next + moves.filter(({ isAnew }) => !isAnew).length
        const way = { chainId, nonce, to: anew?.recipient ?? treasury }
        const plans = spendAll(way, amount, prices)
        if (plans.length === 0) return false
        for (const less of isBooked ? lessenedBy(amount, booked.newest) : []) plans.push(...spendAll(way, less, prices))
        moves.push({ amount, isBooked, isAnew: anew !== undefined, plans })
        return true
      }
      // What was credited goes by itself: whatever else is there may be in blocks that are displaced, and take the rest along.
      const isAdded = add(booked.unswept, true)
      const others = free - booked.unswept
      if (isAdded) add(others, false)
      else add(free, true)
      return moves
    },
  }
}
