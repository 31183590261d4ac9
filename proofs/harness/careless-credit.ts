/**
 * The known-bad variant of deposits, never part of the product: it credits what it sees in the newest block at first sight, and does not look
 * at that block again.
 */
import { fromUnits } from '../../src/domain/money.ts'
import { numeric, statement, text } from '../../src/domain/sql.ts'
import type { ConnectedDatabase } from '../../src/platform/database/database.ts'
import type { SentCoins } from './coin-chain.ts'

const credit = statement(
  'proof_careless_credit',
  { parameters: { address: text, amount: numeric, hash: text } },
  `with paid as (
     update wallets set num = num + $amount where address = $address returning user_id
   ),
   seen as (
     insert into deposits (reference, kind, status, transaction_hash, wallet_id, amount, block_number, block_hash, credited_at)
     select 'deposit:' || $hash || ':-1', 'COIN', 'CREDITED', $hash, user_id, $amount, 0, $hash, now() from paid
   ),
   moved as (insert into transfers (reference) select 'deposit:' || $hash || ':-1' from paid returning id)
   insert into entries (transfer_id, position, wallet_id, book, currency, amount)
   select moved.id, line.* from moved, paid, lateral (values
     (1, paid.user_id, null::book, 'NUM'::currency, $amount::numeric), (2, null, 'DEPOSITS', 'NUM', -$amount::numeric)) as line`,
)

/** Credits what was sent, as deep as it is. */
export const creditAtOnce = (database: ConnectedDatabase, { to, value, hash }: SentCoins) =>
  database.query(credit, { address: to, amount: fromUnits(value), hash })
