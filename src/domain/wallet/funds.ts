/** What a wallet can spend, by the database's clock. */
import { type Database, statement } from '../ports.ts'
import { spendableSql } from './points-sql.ts'
import type { Funds } from './quote.ts'

/** Amounts are decimal strings. */
export interface WalletFunds extends Funds {
  num: string
  points: string
  /** Its owner's account was deleted. */
  closed: boolean
}

/** $1 user. */
const readFunds = statement<WalletFunds>(
  'wallet_funds',
  `select w.num::text, ${spendableSql('w')}::text as points, w.closed_at is not null as closed
   from wallets w where w.user_id = $1::uuid`,
)

export type FundsService = ReturnType<typeof createFunds>

export function createFunds({ database }: { database: Pick<Database, 'query'> }) {
  /** The funds of a user, by UUID. */
  async function of(userId: string): Promise<WalletFunds> {
    const [funds] = await database.query(readFunds, [userId])
    if (!funds) throw new Error('A user has no wallet.')
    return funds
  }

  return {
    of,
    /** The points of a wallet that was read a moment ago: nearly every one has none that could have expired since. */
    points<Points>(wallet: { userId: string; points: Points; pointsExpireAt: unknown }): Points | Promise<string> {
      return wallet.pointsExpireAt === null ? wallet.points : of(wallet.userId).then(({ points }) => points)
    },
  }
}
