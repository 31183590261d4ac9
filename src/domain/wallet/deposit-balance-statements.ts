/** What contracts send to wallets' addresses: what an address holds, less what is known to have come and gone. */
import { NIL_UUID } from '../ids.ts'
import { arrayOf, int, numeric, orNull, statement, text, uuid } from '../sql.ts'
import { lyingSql } from './coin-sql.ts'

/** Rows since the last mark of a wallet from which on another one is made, so that few are summed at each look. */
const ROWS_OF_A_MARK = 200

/**
 * Whose balances are looked at: those whose owners are there; and of deleted accounts those from whose addresses more was signed to go than was
 * credited, because what a contract had sent went with the rest.
 */
const isWatchedSql = (wallet: string) => `(${wallet}.closed_at is null or ${lyingSql(wallet)} < 0)`

/** A page of watched wallets, by their identifiers. */
export const findWatchedWallets = statement(
  'balances_wallets',
  { parameters: { after: orNull(uuid), limit: int }, columns: { id: uuid, address: text } },
  `select w.user_id as id, w.address from wallets w
   where ${isWatchedSql('w')} and w.user_id > coalesce($after, '${NIL_UUID}')
   order by w.user_id limit $limit`,
)

/**
 * Holds what addresses hold at a block to what is known; the scan is held. What is too much is given to the wallet's deposits
 * by contracts that the chain has lost, as many as it covers, those first that something is owed for: nothing names them, and they are not to be
 * credited twice. What is left of it becomes a new one, but for what was found at a later block already. What is too little is told. A mark says what was there where the sum cannot.
 */
export const settleBalances = statement(
  'balances_settle',
  {
    parameters: {
      ...{ since: text, height: int, hash: text },
      ...{ addresses: arrayOf(text), balances: arrayOf(numeric) },
    },
    columns: { found: int, lacking: arrayOf(text) },
  },
  `with read_balances as materialized (
     select w.user_id, w.address, b.balance, m.balance as base, coalesce(m.block_number, -1) as base_number,
       m.balance is null and u.created_at <= (select value::timestamptz from settings where key = $since) as is_earlier
     from unnest($addresses, $balances) as b (address, balance)
     join wallets w on w.address = b.address and ${isWatchedSql('w')} join users u on u.id = w.user_id
     left join lateral (
       select balance, block_number from balance_marks where wallet_id = w.user_id and block_number <= $height
       order by block_number desc limit 1
     ) m on true
   ),
   known_balances as materialized (
     select r.*, coalesce(base, 0) + came.sum - went.sum as known, came.count + went.count as rows
     from read_balances r, lateral (
       select coalesce(sum(amount), 0) as sum, count(*) as count from deposits
       where wallet_id = r.user_id and kind <> 'TOKEN' and block_number > base_number and block_number <= $height
     ) came, lateral (
       select coalesce(sum(amount), 0) as sum, count(*) as count from spendings
       where wallet_id = r.user_id and block_number > base_number and block_number <= $height
     ) went
   ),
   excesses as materialized (
     select user_id, balance - known - later.sum as excess from known_balances k, lateral (
       select coalesce(sum(amount), 0) as sum from deposits where wallet_id = k.user_id and kind = 'CONTRACT' and block_number > $height
     ) later
     where balance > known and not is_earlier
   ),
   returned_deposits as materialized (
     select id, user_id, amount from (
       select d.id, e.user_id, e.excess, d.amount,
         sum(d.amount) over (partition by e.user_id order by d.shortfall + d.written_off = 0, d.amount, d.id) as sum
       from excesses e join deposits d on d.wallet_id = e.user_id
       where d.kind = 'CONTRACT' and d.status = 'FROZEN' and d.block_number is null
     ) lost where sum <= excess
   ),
   updated_deposits as (
     update deposits d set block_number = $height, block_hash = $hash from returned_deposits r where d.id = r.id returning 1
   ),
   new_excesses as materialized (
     select user_id, excess - coalesce((select sum(amount) from returned_deposits r where r.user_id = e.user_id), 0) as excess from excesses e
   ),
   inserted_deposits as (
     insert into deposits (reference, kind, status, wallet_id, amount, block_number, block_hash)
     select 'deposit:' || $hash || ':' || user_id, 'CONTRACT', 'PENDING', user_id, excess, $height, $hash
     from new_excesses where excess > 0 order by user_id
     on conflict (reference) do nothing returning 1
   ),
   inserted_marks as (
     insert into balance_marks (wallet_id, block_number, balance) select user_id, $height, balance
     from known_balances where is_earlier or balance < known or rows > ${ROWS_OF_A_MARK}
     on conflict (wallet_id, block_number) do nothing
   )
   select ((select count(*) from inserted_deposits) + (select count(*) from updated_deposits))::int as found,
     array(select address from known_balances where balance < known and not is_earlier order by address) as lacking`,
)
