/** Stores signed coin transfers, and imports those that only the chain knows after a restore. Amounts are in wei. */
import type { Database } from '../../db/database-types.ts'
import { orNull, statement, uuid } from '../../db/sql.ts'
import type { SignedCoins } from '../../keys/key-types.ts'
import { fromUnits } from '../../shared/money.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { postTransferSql } from '../wallet/ledger-sql.ts'
import {
  displaceMoves,
  holdMoves,
  holdWallets,
  insertSweep,
  resumeMoves,
  resumeSweep,
  signedColumns,
  storeMoveSql,
} from './coin-transfers.sql.ts'
import { storeWithdrawal } from './withdrawals.sql.ts'

type Query = Database['query']
type Transactions = Pick<Database, 'transaction'>

/** A signed transfer to store. */
export interface SignedTransfer {
  sender: string
  recipient: string
  nonce: number
  amount: bigint
  signed: readonly SignedCoins[]
}

/** A signed transfer from a user's address. */
export interface SignedSweep extends SignedTransfer {
  userId: string
  /** True if it replaces a suspended transfer at the same nonce. */
  replacesSuspended?: boolean
  /** Balance that the ledger must have at the sender's address. The transfer takes all of it. Undefined for coins that are not in the ledger. */
  unswept?: bigint
}

/** A coin transaction that is on the chain and not in the ledger. */
export type UnknownTransfer =
  | { kind: 'SWEEP'; move: SignedSweep }
  /** `claim`: the withdrawal that it pays. Without a claim, the platform bears the payment. */
  | { kind: 'WITHDRAWAL'; move: SignedTransfer; claim: { id: string; userId: string } | undefined }

/** Parameters of the statements that store a transfer. */
export const transferParams = ({ sender, recipient, nonce, amount, signed }: SignedTransfer) => ({
  ...{ sender, recipient, nonce, amount: fromUnits(amount) },
  hashes: signed.map(({ hash }) => hash),
  raws: signed.map(({ raw }) => raw),
  prices: signed.map(({ gasPrice }) => String(gasPrice)),
  values: signed.map(({ value }) => fromUnits(value)),
})

/** Stores a sweep. With `unswept`, the wallet must be locked before. Returns false if another process was faster, or the account is deleted. */
export async function storeSweep(query: Query, transfer: SignedSweep): Promise<boolean> {
  const unswept = transfer.unswept === undefined ? null : fromUnits(transfer.unswept)
  const parameters = { ...transferParams(transfer), user: transfer.userId, unswept }
  return (await query(transfer.replacesSuspended ? resumeSweep : insertSweep, parameters)).length > 0
}

/** Runs `work` after it has locked the wallets of these addresses: no deposit and no transfer changes them meanwhile. */
const withLock = <T>(database: Transactions, addresses: string[], work: (query: Query) => Promise<T>) =>
  database.transaction(async (query) => {
    await query(holdWallets, { addresses })
    return work(query)
  })

/** Locks the wallet and stores a sweep before it is sent. Returns false in the same cases as `storeSweep`. */
export const lockAndStoreSweep = (database: Transactions, transfer: SignedSweep) =>
  withLock(database, [transfer.sender], (query) => storeSweep(query, transfer))

/** Resumes suspended transfers with the signed amount that the address has, in `free` wei. Returns the addresses where it did. */
export async function resumeTransfers(
  database: Transactions,
  seen: readonly { address: string; free: bigint }[],
): Promise<string[]> {
  const addresses = seen.map(({ address }) => address)
  const free = seen.map((each) => fromUnits(each.free))
  const [row] = await withLock(database, addresses, (query) => query(resumeMoves, { addresses, free }))
  return row?.addresses ?? []
}

/** Marks transfers whose blocks are gone. Reverses the entries of those that were settled. */
export const displaceTransfers = (database: Transactions, ids: readonly string[]) =>
  database.transaction(async (query) => {
    await query(holdMoves, { ids })
    await query(displaceMoves, { ids })
  })

/** Stores a payment that no withdrawal in the database asks for. The platform bears it. No row if another move has the nonce. */
const storeUnclaimed = statement(
  'coins_store_unclaimed',
  { parameters: { ...signedColumns, user: orNull(uuid) }, columns: { id: uuid } },
  `with ${storeMoveSql('WITHDRAWAL', '(select) once')},
   ${postTransferSql({
     from: 'inserted_move',
     reference: `'coins-signed:' || inserted_move.id`,
     omitsZeros: true,
     lines: [
       { book: 'TREASURY', currency: 'NUM', amount: '$amount' },
       { book: 'IN_TRANSIT', currency: 'NUM', amount: '-$amount' },
       { book: 'WITHDRAWALS', currency: 'NUM', amount: '($values)[1]' },
       { book: 'REVENUE', currency: 'NUM', amount: '-($values)[1]' },
     ],
   })},
   ${auditSql({ from: 'inserted_move', user: 'null', action: 'payment.borne', subject: '($hashes)[1]' })}
   select id from inserted_move`,
)

async function importOne(query: Query, transfer: UnknownTransfer): Promise<boolean> {
  if (transfer.kind === 'SWEEP') return storeSweep(query, transfer.move)
  const { move, claim } = transfer
  const columns = transferParams(move)
  const stored = claim
    ? await query(storeWithdrawal, { ...columns, user: claim.userId, withdrawal: claim.id })
    : await query(storeUnclaimed, { ...columns, user: null })
  return stored.length > 0
}

/**
 * Adds the transactions in this order. The nonces of a treasury must ascend, because withdrawals wait while the chain counts more of them than the
 * ledger. Returns false if one cannot be added because something changed since the comparison. Those before it are added.
 */
export async function importTransactions({ query }: Pick<Database, 'query'>, transfers: readonly UnknownTransfer[]) {
  for (const transfer of transfers) if (!(await importOne(query, transfer))) return false
  return true
}
