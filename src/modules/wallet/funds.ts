/** The spendable balances of a wallet. */
import type { Use } from '../../context.ts'
import type { Database } from '../../db/database-types.ts'
import { boolean, numeric, statement, uuid } from '../../db/sql.ts'
import type { Funds } from './quote.ts'

/** Amounts are decimal strings. */
export interface WalletFunds extends Funds {
  num: string
  points: string
  /** Its owner's account was deleted. */
  closed: boolean
}

const findFunds = statement(
  'wallet_funds',
  { parameters: { user: uuid }, columns: { num: numeric, points: numeric, closed: boolean } },
  'select num, points, closed_at is not null as closed from wallets where user_id = $user',
)

/** The service that reads the balances of wallets. */
export type FundsService = ReturnType<typeof createFunds>

/** Creates the service that reads the balances of wallets. */
export const createFunds = ({ database }: { database: Pick<Database, 'query'> }) => ({
  /** Returns the balances of a user, by UUID. */
  async of(userId: string): Promise<WalletFunds> {
    const [funds] = await database.query(findFunds, { user: userId })
    if (!funds) throw new Error('A user has no wallet.')
    return funds
  },
})

/** Returns the balances of a user, by UUID. */
export const readFunds = ({ database }: Use<'database'>, userId: string): Promise<WalletFunds> =>
  createFunds({ database }).of(userId)
