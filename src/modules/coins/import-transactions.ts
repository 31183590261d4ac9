/** Adds coin transactions that only the chain knows to the ledger, after the database was restored from a backup. */

import type { Database } from '../../db/database-types.ts'
import { orNull, statement, uuid } from '../../db/sql.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { postTransferSql } from '../wallet/ledger-sql.ts'
import { storeSweep, transferParams } from './coin-ledger.ts'
import { signedColumns, storeMoveSql } from './coin-transfers.sql.ts'
import type { UnknownTransfer } from './coin-types.ts'
import { storeWithdrawal } from './withdrawals.sql.ts'

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

/**
 * Adds the transactions in this order. The nonces of a treasury must ascend, because withdrawals wait while the chain counts more of them than the
 * ledger. Returns false if one cannot be added because something changed since the comparison. Those before it are added.
 */
export async function importTransactions(
  { query }: Pick<Database, 'query'>,
  transfers: readonly UnknownTransfer[],
): Promise<boolean> {
  for (const transfer of transfers) {
    const stored = await store(query, transfer)
    if (!stored) return false
  }
  return true
}

async function store(query: Database['query'], transfer: UnknownTransfer): Promise<boolean> {
  if (transfer.kind === 'SWEEP') return storeSweep(query, transfer.move)
  const { move, claim } = transfer
  const columns = transferParams(move)
  const stored = claim
    ? await query(storeWithdrawal, { ...columns, user: claim.userId, withdrawal: claim.id })
    : await query(storeUnclaimed, { ...columns, user: null })
  return stored.length > 0
}
