/** What only the chain knows of goes into the books: what no other statement stores. */
import { auditSql } from '../audit/audit-sql.ts'
import { orNull, statement, uuid } from '../sql.ts'
import { signedColumns, storeMoveSql } from './coin-move-statements.ts'
import { postTransferSql } from './post-transfer-sql.ts'

/** A payment that no withdrawal in the database asks for: the platform bears what arrives, and all of it until that is settled. No row: another move has the nonce. */
export const storeUnclaimed = statement(
  'coins_store_unclaimed',
  { parameters: { ...signedColumns, user: orNull(uuid) }, columns: { id: uuid } },
  `with ${storeMoveSql('WITHDRAWAL', '(select) once')},
   ${postTransferSql({
     from: 'inserted_move',
     reference: `'coins-signed:' || inserted_move.id`,
     omitsZeros: true,
     lines: [
       { book: 'TREASURY', currency: 'NUM', amount: '$amount' },
       { book: 'UNDER_WAY', currency: 'NUM', amount: '-$amount' },
       { book: 'WITHDRAWALS', currency: 'NUM', amount: '($values)[1]' },
       { book: 'REVENUE', currency: 'NUM', amount: '-($values)[1]' },
     ],
   })},
   ${auditSql({ from: 'inserted_move', user: 'null', action: 'payment.borne', subject: '($hashes)[1]' })}
   select id from inserted_move`,
)
