/** Suspends sweeps whose coins the chain lost with their deposits, and resumes them. A suspended sweep has no coins under way in the ledger. */
import { arrayOf, int, numeric, statement, text } from '../../db/sql.ts'
import { leavesSql, moveBookSql } from './coin-transfers.sql.ts'
import { isSignedSql, openSql, openTransfers, unsweptSql } from './treasury.sql.ts'

/** Condition on a transfer `m`: a pending sweep without a change for an hour. */
const waitsSql = `m.kind = 'SWEEP' and m.status in ('SIGNED', 'BROADCAST') and m.suspended_at is null and m.updated_at < now() - interval '1 hour'`

/** Suspends the newest pending sweep of each address whose ledger balance is negative for an hour: the chain lost its deposits. */
export const suspendTransfers = statement(
  'coins_suspend',
  { columns: { addresses: arrayOf(text) } },
  `with lacking_wallets as materialized (
     select w.user_id, w.address from wallets w
     where w.address in (select m.sender from coin_transfers m where ${waitsSql}) and ${unsweptSql('w')} < 0
     order by w.user_id for no key update
   ),
   newest_moves as (
     select distinct on (m.sender) m.id from coin_transfers m join lacking_wallets w on w.address = m.sender
     where ${waitsSql} order by m.sender, m.nonce desc
   ),
   suspended_transfers as (
     update coin_transfers m set suspended_at = now(), updated_at = now() from newest_moves
     where m.id = newest_moves.id and ${waitsSql}
     returning m.id, m.sender, m.amount, uuidv7() as transfer_id
   ),
   left_deposits as (update deposits d set swept_by = null from suspended_transfers s where d.swept_by = s.id),
   ${moveBookSql('suspended_transfers', `'coins-stranded:' || id || ':' || transfer_id`, ['IN_TRANSIT', 'DEPOSITS'], 'amount')}
   select array(select sender from suspended_transfers order by sender) as addresses`,
)

/** SQL for the transactions of the transfer `move` that the ledger balance of the wallet `w` covers. */
const coveredSql = (move: string) =>
  `select t.hash, ${leavesSql} as amount from coin_transactions t where t.coin_transfer_id = ${move}.id and ${leavesSql} <= ${unsweptSql('w')}`

/** Returns a page of addresses whose oldest suspended sweep has a signed transaction that the ledger balance covers, with their open transfers. */
export const findResumable = statement(
  'coins_resumable',
  { parameters: { after: text, limit: int }, columns: { address: text, open: openTransfers } },
  `with oldest_moves as materialized (
     select distinct on (m.sender) m.id, m.sender from coin_transfers m
     where ${isSignedSql} and m.suspended_at is not null order by m.sender, m.nonce
   )
   select o.sender as address, ${openSql('o.sender')} as open from oldest_moves o join wallets w on w.address = o.sender
   where o.sender > $after and exists (${coveredSql('o')}) order by o.sender limit $limit`,
)

/**
 * Resumes the oldest suspended sweep of each address, with the largest signed amount that the ledger covers. Skips an address if a larger signed
 * amount is `free` on the chain: the rest is not credited yet, and the nonce can be used only once. The wallets must be locked. Returns the
 * addresses.
 */
export const resumeMoves = statement(
  'coins_resume',
  { parameters: { addresses: arrayOf(text), free: arrayOf(numeric) }, columns: { addresses: arrayOf(text) } },
  `with oldest_moves as materialized (
     select distinct on (m.sender) m.id, m.sender, seen.free
     from coin_transfers m join unnest($addresses, $free) as seen (address, free) on seen.address = m.sender
     where ${isSignedSql} and m.suspended_at is not null order by m.sender, m.nonce
   ),
   covering_wallets as materialized (
     select o.id, f.hash, f.amount from wallets w join oldest_moves o on o.sender = w.address, lateral (
       ${coveredSql('o')} order by amount desc, t.gas_price limit 1
     ) f
     where not exists (
       select from coin_transactions t where t.coin_transfer_id = o.id and ${leavesSql} > f.amount and ${leavesSql} <= o.free
     )
     order by w.user_id for no key update of w
   ),
   resumed_moves as (
     update coin_transfers m set suspended_at = null, updated_at = now(), amount = c.amount,
       status = case when m.amount = c.amount then m.status else 'SIGNED' end,
       transaction_hash = case when m.amount = c.amount then m.transaction_hash else c.hash end
     from covering_wallets c
     where m.id = c.id and m.suspended_at is not null
     returning m.id, m.sender, m.amount, uuidv7() as transfer_id
   ),
   ${moveBookSql('resumed_moves', `'coins-resumed:' || id || ':' || transfer_id`, ['DEPOSITS', 'IN_TRANSIT'], 'amount')}
   select array(select sender from resumed_moves order by sender) as addresses`,
)
