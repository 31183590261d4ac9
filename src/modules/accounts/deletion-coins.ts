/**
 * The coins that lie at an account's address when it is deleted. The key is the only one that moves them, so they are signed for before
 * it goes, and stored by the transaction that takes it away. Nothing is waited for: sending is the mover's, whenever that is.
 */

import type { Database } from '../../db/database-types.ts'
import type { Custody } from '../../keys/key-types.ts'
import { LostKeyError, unavailable } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import type { Log } from '../../shared/log.ts'
import { readOwnCoins, storeMove } from '../coins/coin-service.ts'
import type { Coins, SignedMove, UnsweptCoins } from '../coins/coin-types.ts'

interface Dependencies {
  database: Database
  custody: Custody
  coins: Coins
  log: Pick<Log, 'error'>
}

/** What was signed for an account, and what it was signed for. */
export interface LastMoves {
  seen: UnsweptCoins | undefined
  moves: readonly SignedMove[]
}

/** Signs and stores the last moves of accounts that are being deleted. */
export function createLastMoves({ database, custody, coins, log }: Dependencies) {
  return {
    /** Signs for everything that lies there. Raises UNAVAILABLE while the vault cannot be asked. */
    async sign(userId: string): Promise<LastMoves> {
      const seen = await readOwnCoins(database.query, userId)
      if (!seen) return { seen, moves: [] }
      const planned = await coins.planLast(seen)
      const moves: SignedMove[] = []
      try {
        for (const { amount, isBooked, isAnew, plans } of planned) {
          const signed = await custody.signCoins(userId, seen.key, plans)
          const { to: recipient, nonce } = plans[0]!
          const move = { userId, sender: seen.address, recipient, nonce, amount, signed, isAnew }
          moves.push(isBooked ? { ...move, unswept: seen.unswept } : move)
        }
      } catch (error) {
        if (!(error instanceof LostKeyError)) throw unavailable('The key vault', error)
        log.error({ user: toId('user', userId) }, 'Coins of a deleted account cannot be moved: its key does not open')
      }
      return { seen, moves }
    },

    /**
     * Stores them in the transaction of the deletion, which holds the wallet. False: something came in or was signed meanwhile, and it
     * is to be planned anew.
     */
    async store(query: Database['query'], userId: string, { seen, moves }: LastMoves): Promise<boolean> {
      const now = await readOwnCoins(query, userId)
      if (now?.unswept !== seen?.unswept || now?.nextNonce !== seen?.nextNonce) return false
      for (const move of moves) if (!(await storeMove(query, move))) return false
      return true
    },
  }
}
