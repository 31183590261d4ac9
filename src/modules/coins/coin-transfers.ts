/** Stores signed coin transfers. Amounts are in wei. */
import type { Database } from '../../db/database-types.ts'
import type { SignedCoins } from '../../keys/key-types.ts'
import { fromUnits } from '../../shared/money.ts'
import * as sql from './coin-transfers.sql.ts'

type Query = Database['query']
export type SignedTransfer = Record<'sender' | 'recipient', string> & {
  nonce: number
  amount: bigint
  signed: readonly SignedCoins[]
}

export type SignedSweep = SignedTransfer & {
  userId: string
  /** True if the sweep replaces a suspended transfer at the same nonce. */
  replacesSuspended?: boolean
  /** Expected ledger balance of the sender's address. Undefined: the coins are not in the ledger. */
  unswept?: bigint
}

export const transferParams = ({ sender, recipient, nonce, amount, signed }: SignedTransfer) => ({
  ...{ sender, recipient, nonce, amount: fromUnits(amount) },
  hashes: signed.map(({ hash }) => hash),
  raws: signed.map(({ raw }) => raw),
  prices: signed.map(({ gasPrice }) => String(gasPrice)),
  values: signed.map(({ value }) => fromUnits(value)),
})

/** Stores a sweep. With `unswept`, the wallet must be locked. Returns false if a row changed since it was read. */
export async function storeSweep(query: Query, { userId, unswept, replacesSuspended, ...transfer }: SignedSweep) {
  const ledger = { user: userId, unswept: unswept === undefined ? null : fromUnits(unswept) }
  const parameters = { ...transferParams(transfer), ...ledger }
  return (await query(replacesSuspended ? sql.resumeSweep : sql.insertSweep, parameters)).length > 0
}

/** Locks the wallets of these addresses and runs `work`. Until `work` ends, no deposit and no transfer changes them. */
export const withWalletLock = <T>(
  database: Pick<Database, 'transaction'>,
  addresses: string[],
  work: (query: Query) => Promise<T>,
) =>
  database.transaction(async (query) => {
    await query(sql.lockWallets, { addresses })
    return work(query)
  })

/** Locks the wallet and stores a sweep before it is sent. Returns false if a row changed since it was read. */
export const lockAndStoreSweep = (database: Pick<Database, 'transaction'>, transfer: SignedSweep) =>
  withWalletLock(database, [transfer.sender], (query) => storeSweep(query, transfer))
