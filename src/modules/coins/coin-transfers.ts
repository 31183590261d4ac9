/** Stores signed coin transfers, and imports those that only the chain knows after a restore. Amounts are in wei. */
import type { Database } from '../../db/database-types.ts'
import type { SignedCoins } from '../../keys/key-types.ts'
import { fromUnits } from '../../shared/money.ts'
import * as sql from './coin-transfers.sql.ts'
import { storeWithdrawal } from './withdrawals.sql.ts'

type Query = Database['query']
type Transactions = Pick<Database, 'transaction'>

type SignedTransfer = {
  sender: string
  recipient: string
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

/** A coin transaction that is on the chain and not in the ledger. */
export type UnknownTransfer =
  | { kind: 'SWEEP'; transfer: SignedSweep }
  /** `claim`: the withdrawal that the payment settles. Without a claim, the payment is a loss of the platform. */
  | { kind: 'WITHDRAWAL'; transfer: SignedTransfer; claim: { id: string; userId: string } | undefined }

/** Parameters of the statements that store a transfer. */
export const transferParams = ({ sender, recipient, nonce, amount, signed }: SignedTransfer) => ({
  ...{ sender, recipient, nonce, amount: fromUnits(amount) },
  hashes: signed.map(({ hash }) => hash),
  raws: signed.map(({ raw }) => raw),
  prices: signed.map(({ gasPrice }) => String(gasPrice)),
  values: signed.map(({ value }) => fromUnits(value)),
})

/** Stores a sweep. With `unswept`, the wallet must be locked. Returns false if a row changed since it was read. */
export async function storeSweep(query: Query, transfer: SignedSweep): Promise<boolean> {
  const unswept = transfer.unswept === undefined ? null : fromUnits(transfer.unswept)
  const parameters = { ...transferParams(transfer), user: transfer.userId, unswept }
  return (await query(transfer.replacesSuspended ? sql.resumeSweep : sql.insertSweep, parameters)).length > 0
}

/** Locks the wallets of these addresses and runs `work`. Until it ends, no deposit and no transfer changes them. */
const withLock = <T>(database: Transactions, addresses: string[], work: (query: Query) => Promise<T>) =>
  database.transaction(async (query) => {
    await query(sql.lockWallets, { addresses })
    return work(query)
  })

/** Locks the wallet and stores a sweep before it is sent. Returns false if a row changed since it was read. */
export const lockAndStoreSweep = (database: Transactions, transfer: SignedSweep) =>
  withLock(database, [transfer.sender], (query) => storeSweep(query, transfer))

/** Resumes suspended transfers. `free`: wei on the chain that no transfer uses. Returns the senders' addresses. */
export async function resumeTransfers(database: Transactions, seen: readonly { address: string; free: bigint }[]) {
  const addresses = seen.map(({ address }) => address)
  const free = seen.map((each) => fromUnits(each.free))
  const [row] = await withLock(database, addresses, (query) => query(sql.resumeTransfers, { addresses, free }))
  return row!.addresses
}

/** Removes transfers from displaced blocks. Reverses the entries of those that were settled. */
export const displaceTransfers = (database: Transactions, ids: readonly string[]) =>
  database.transaction(async (query) => {
    await query(sql.lockTransfers, { ids })
    await query(sql.displaceTransfers, { ids })
  })

/**
 * Imports the transactions in this order. The nonces of a treasury must ascend, because withdrawals wait while the
 * chain counts more of them than the ledger. Returns false and stops at the first one that changed since the
 * comparison.
 */
export async function importTransactions({ query }: Pick<Database, 'query'>, transfers: readonly UnknownTransfer[]) {
  for (const each of transfers) {
    const columns = transferParams(each.transfer)
    const isStored =
      each.kind === 'SWEEP'
        ? await storeSweep(query, each.transfer)
        : each.claim
          ? (await query(storeWithdrawal, { ...columns, user: each.claim.userId, withdrawal: each.claim.id })).length >
            0
          : (await query(sql.storeUnclaimed, { ...columns, user: null })).length > 0
    if (!isStored) return false
  }
  return true
}
