/** What a wallet can spend, by the database's clock. */
import type { Database } from '../ports/database.ts'
import { boolean, numeric, statement, uuid } from '../sql.ts'
import { spendableSql } from './points-sql.ts'
import type { Funds } from './quote.ts'

/** Amounts are decimal strings. */
export interface WalletFunds extends Funds {
  num: string
  points: string
  /** Its owner's account was deleted. */
  closed: boolean
}

/** A wallet's balances as they can be spent. */
const readFunds = statement(
  'wallet_funds',
  { parameters: { user: uuid }, columns: { num: numeric, points: numeric, closed: boolean } },
  `select w.num, ${spendableSql('w')} as points, w.closed_at is not null as closed
   from wallets w where w.user_id = $user`,
)

/** Tells what wallets can spend; what `createFunds` makes. */
export type FundsService = ReturnType<typeof createFunds>

/** What wallets can spend: the balance less points whose time is over, by the database's clock. */
export function createFunds({ database }: { database: Pick<Database, 'query'> }) {
  /** The funds of a user, by UUID. */
  async function of(userId: string): Promise<WalletFunds> {
    const [funds] = await database.query(readFunds, { user: userId })
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
