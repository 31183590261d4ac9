/** Statements of coin transfers. A signed transfer moves coins to the account IN_TRANSIT, a settled one to the account where they arrived. */
import {
  arrayOf,
  boolean,
  bytes,
  int,
  json,
  numeric,
  orNull,
  type RowOf,
  statement,
  text,
  textOf,
  uuid,
} from '../../db/sql.ts'
import { postTransferSql } from '../wallet/ledger-sql.ts'
import { isCoinSql, isOpenSql, isSignedSql, openSql, openTransfers, unsweptSql } from './treasury.sql.ts'

type Book = 'DEPOSITS' | 'IN_TRANSIT' | 'TREASURY'
/** SQL that moves `amount` from one ledger account to another, for each row of `from` that fulfills `when`. */
export const moveBookSql = (
  from: string,
  reference: string,
  [source, target]: [Book, Book],
  amount: string,
  when = 'true',
) => {
  const lines = [
    { book: source, currency: 'NUM' as const, amount },
    { book: target, currency: 'NUM' as const, amount: `-${amount}` },
  ]
  return postTransferSql({ from, reference, lines, when })
}

/** Returns the nonce after all signed transfers of an address, and its open transfers. */
export const findSender = statement(
  'coins_sender',
  { parameters: { sender: text }, columns: { nextNonce: int, open: openTransfers } },
  `select coalesce((select max(nonce) + 1 from coin_transfers where sender = $sender), 0) as "nextNonce", ${openSql('$sender')} as open`,
)

/** A transfer with its transactions, cheapest first. The arrays are parallel. Prices are in wei, other amounts in currency units. */
export const signedColumns = {
  ...{ sender: text, nonce: int, recipient: text, user: uuid, amount: numeric },
  ...{ hashes: arrayOf(text), raws: arrayOf(bytes), prices: arrayOf(numeric), values: arrayOf(numeric) },
}
/** SQL for the amount that leaves an address with the transaction `t` of a sweep: its value and its gas at the full price. */
export const leavesSql = `(t.value + 21000 * 0.000000000000000001 * t.gas_price)`
const insertTransactionsSql = (move: string) => `
   inserted_transactions as (
     insert into coin_transactions (hash, coin_transfer_id, raw, gas_price, value)
     select item.hash, ${move}.id, item.raw, item.price, item.value
     from ${move}, unnest($hashes, $raws, $prices, $values) as item (hash, raw, price, value)
     on conflict (hash) do nothing
   )`
/** SQL that stores a transfer with its transactions for each row of `from`. Defines the CTE `inserted_move (id, transfer_id)`. */
export const storeMoveSql = (kind: 'SWEEP' | 'WITHDRAWAL', from: string) => `
   inserted_move as (
     insert into coin_transfers (kind, sender, nonce, recipient, wallet_id, amount, transaction_hash)
     select '${kind}', $sender, $nonce, $recipient, $user, $amount, ($hashes)[1] from ${from}
     on conflict (sender, nonce) do nothing
     returning id, uuidv7() as transfer_id
   ),
   ${insertTransactionsSql('inserted_move')}`

/**
 * Locks the wallets of these addresses until the transaction ends. It must be a separate statement, because only later statements see what
 * other transactions committed while this one waited for the locks.
 */
export const holdWallets = statement(
  'coins_hold_wallets',
  { parameters: { addresses: arrayOf(text) } },
  'select from wallets where address = any ($addresses) order by user_id for no key update',
)

const lockedWalletSql = `
   locked_wallet as materialized (
     select user_id, address from wallets where user_id = $user and closed_at is null for no key update
   )`
const isAllSql = `($unswept is null or $unswept = ${unsweptSql('locked_wallet')})`
/** SQL of the ledger entries for a sweep of all coins at an address, in the CTE `move (id, transfer_id)`. */
const sweepSql = (move: string, reference: string) => `
   swept_deposits as (
     update deposits d set swept_by = ${move}.id from ${move}
     where $unswept is not null and d.wallet_id = $user and d.swept_by is null and ${isCoinSql}
   ),
   ${moveBookSql(move, reference, ['DEPOSITS', 'IN_TRANSIT'], '$amount')}`

/**
 * Stores a sweep with all its transactions. `unswept` is the expected ledger balance of the address, and the sweep takes all of it. Null for
 * coins that are not in the ledger. Returns no row if the account is deleted, the balance differs, or the nonce is used.
 */
export const insertSweep = statement(
  'coins_store_sweep',
  { parameters: { ...signedColumns, unswept: orNull(numeric) }, columns: { id: uuid } },
  `with ${lockedWalletSql},
   ${storeMoveSql('SWEEP', `locked_wallet where ${isAllSql}`)},
   ${sweepSql('inserted_move', `'coins-signed:' || inserted_move.id`)}
   select id from inserted_move`,
)

/**
 * Resumes a suspended sweep with transactions of another amount at its nonce. Its earlier transactions stay valid, and only one of them can
 * be included. Returns no row in the same cases as `insertSweep`, or if the sweep is not suspended.
 */
export const resumeSweep = statement(
  'coins_sign_anew',
  { parameters: { ...signedColumns, unswept: orNull(numeric) }, columns: { id: uuid } },
  `with ${lockedWalletSql},
   renewed_move as (
     update coin_transfers m set amount = $amount, suspended_at = null, status = 'SIGNED', transaction_hash = ($hashes)[1], updated_at = now()
     from locked_wallet
     where m.sender = $sender and m.nonce = $nonce and m.recipient = $recipient and m.wallet_id = $user
       and ${isSignedSql} and m.suspended_at is not null and ${isAllSql}
     returning m.id, uuidv7() as transfer_id
   ),
   ${insertTransactionsSql('renewed_move')},
   ${sweepSql('renewed_move', `'coins-resumed:' || id || ':' || transfer_id`)}
   select id from renewed_move`,
)

/** Stores empty transactions at the nonce of a withdrawal that is in no block. Returns no row if it has some already. */
export const storeFillers = statement(
  'coins_store_fillers',
  {
    parameters: { move: uuid, hashes: arrayOf(text), raws: arrayOf(bytes), prices: arrayOf(numeric) },
    columns: { hash: text },
  },
  `with given_up_move as materialized (
     select m.id from coin_transfers m where m.id = $move and m.kind = 'WITHDRAWAL' and m.status in ('SIGNED', 'BROADCAST') for no key update
   )
   insert into coin_transactions (hash, coin_transfer_id, raw, gas_price, value)
   select item.hash, id, item.raw, item.price, 0
   from given_up_move, unnest($hashes, $raws, $prices) as item (hash, raw, price) where not exists (
     select from coin_transactions t where t.coin_transfer_id = $move and t.value = 0
   ) returning hash`,
)

const moveColumns = {
  ...{ id: uuid, sender: text, nonce: int },
  status: textOf<'SIGNED' | 'BROADCAST' | 'INCLUDED' | 'FINAL' | 'FAILED'>('coin_transfer_status'),
  /** Hash of the included transaction, else of the most expensive one that was sent. */
  transactionHash: text,
  ...{ blockNumber: orNull(int), blockHash: orNull(text), hasArrived: boolean },
  /** All transactions signed for it, cheapest first. Only current ones are sent: they have the ledger's amount, or replace a canceled payment. */
  transactions: json<{ hash: string; gasPrice: string; isCurrent: boolean }[]>(),
}
/** A transfer that can still change: it is not settled, or its block is young. */
export type CoinTransfer = RowOf<typeof moveColumns>

/** Returns a page of transfers that are open or in a block from `youngest` on. */
export const findMoves = statement(
  'coins_moves',
  { parameters: { youngest: int, afterSender: text, afterNonce: int, limit: int }, columns: moveColumns },
  `select m.id, m.sender, m.nonce, m.status, m.transaction_hash as "transactionHash", m.block_number as "blockNumber",
     m.block_hash as "blockHash", coalesce(m.arrived > 0, false) as "hasArrived", t.transactions
   from (
     select * from coin_transfers m where ${isOpenSql}
     union
     select * from coin_transfers m where m.block_number is not null and m.block_number >= $youngest
   ) m, lateral (
     select json_agg(json_build_object('hash', t.hash, 'gasPrice', t.gas_price::text, 'isCurrent', case m.kind
       when 'WITHDRAWAL' then t.value = (select min(o.value) from coin_transactions o where o.coin_transfer_id = m.id)
       else ${leavesSql} = m.amount
     end) order by t.gas_price, t.hash) as transactions
     from coin_transactions t where t.coin_transfer_id = m.id
   ) t
   where (m.sender, m.nonce) > ($afterSender, $afterNonce) order by m.sender, m.nonce limit $limit`,
)

export const findCoinRaw = statement(
  'coins_raw',
  { parameters: { hashes: arrayOf(text) }, columns: { hash: text, raw: bytes } },
  'select hash, raw from coin_transactions where hash = any ($hashes)',
)

/** Marks transfers of which a node accepted a transaction. */
export const markMovesSent = statement(
  'coins_sent',
  { parameters: { ids: arrayOf(uuid), hashes: arrayOf(text) } },
  `update coin_transfers m set status = 'BROADCAST', transaction_hash = item.hash, updated_at = now()
   from unnest($ids, $hashes) as item (id, hash)
   where m.id = item.id and m.status in ('SIGNED', 'BROADCAST')`,
)

/** Marks transfers as included. If the transaction has another amount than the ledger, the ledger is corrected. */
export const markMovesIncluded = statement(
  'coins_included',
  {
    parameters: {
      ...{ ids: arrayOf(uuid), hashes: arrayOf(text), blockNumbers: arrayOf(int), blockHashes: arrayOf(text) },
      ...{ fees: arrayOf(numeric), arrived: arrayOf(boolean) },
    },
  },
  `with placed as materialized (
     select item.*, t.value, m.wallet_id, m.amount as before,
       case m.kind when 'SWEEP' then ${leavesSql} else m.amount end as amount
     from unnest($ids, $hashes, $blockNumbers, $blockHashes, $fees, $arrived)
       as item (id, hash, block_number, block_hash, fee, arrived)
       join coin_transactions t on t.hash = item.hash join coin_transfers m on m.id = item.id and m.id = t.coin_transfer_id
     where m.status in ('SIGNED', 'BROADCAST')
   ),
   locked_wallets as materialized (
     select user_id from wallets where user_id in (select wallet_id from placed where before <> amount) order by user_id for no key update
   ),
   included_moves as (
     update coin_transfers m set status = 'INCLUDED', transaction_hash = p.hash, block_number = p.block_number, block_hash = p.block_hash,
       amount = p.amount, fee = p.fee, arrived = case when p.arrived then p.value else 0 end, updated_at = now()
     from placed p
     where m.id = p.id and m.status in ('SIGNED', 'BROADCAST') and m.amount = p.before and (select count(*) from locked_wallets) >= 0
     returning m.id, new.amount - old.amount as more, uuidv7() as transfer_id
   ),
   ${moveBookSql('included_moves', `'coins-changed:' || id || ':' || transfer_id`, ['DEPOSITS', 'IN_TRANSIT'], 'more', 'more <> 0')}
   select from included_moves limit 0`,
)

/**
 * Settles transfers whose block hash is unchanged. The unused part of the fee returns to the account that paid it. A confirmed withdrawal is reopened
 * if its recipient refused it in another block after a reorg. For a payment that the platform bears, only the amount that arrived is a loss.
 */
export const settleMoves = statement(
  'coins_settle',
  { parameters: { ids: arrayOf(uuid), blockHashes: arrayOf(text) } },
  `with settled_moves as (
     update coin_transfers m set status = case when m.arrived > 0 then 'FINAL' else 'FAILED' end::coin_transfer_status,
       settlements = m.settlements + 1, updated_at = now()
     from unnest($ids, $blockHashes) as item (id, block_hash)
     where m.id = item.id and m.status = 'INCLUDED' and m.block_hash = item.block_hash
     returning m.id, m.kind, m.amount, m.arrived, m.fee, m.settlements, uuidv7() as transfer_id, m.amount - m.arrived - m.fee as rest,
       case when m.wallet_id is null then (select max(t.value) from coin_transactions t where t.coin_transfer_id = m.id) else m.arrived end as paid
   ),
   reopened_withdrawals as (
     update withdrawals x set status = 'SENDING', settled_at = null from settled_moves s
     where x.coin_transfer_id = s.id and x.status = 'CONFIRMED' and s.arrived = 0
   ),
   ${postTransferSql({
     from: 'settled_moves',
     reference: `'coins-settled:' || id || ':' || settlements`,
     omitsZeros: true,
     lines: [
       { book: 'IN_TRANSIT', currency: 'NUM', amount: 'amount' },
       { book: 'GAS', currency: 'NUM', amount: '-fee' },
       { book: 'TREASURY', currency: 'NUM', amount: `case kind when 'SWEEP' then -arrived else -rest end` },
       { book: 'DEPOSITS', currency: 'NUM', amount: `case kind when 'SWEEP' then -rest else 0 end` },
       { book: 'WITHDRAWALS', currency: 'NUM', amount: `case kind when 'SWEEP' then 0 else -paid end` },
       { book: 'REVENUE', currency: 'NUM', amount: `case kind when 'SWEEP' then 0 else paid - arrived end` },
     ],
   })}
   select from settled_moves limit 0`,
)

/** Locks transfers until the transaction ends. Must be a separate statement, for the same reason as `holdWallets`. */
export const holdMoves = statement(
  'coins_hold_moves',
  { parameters: { ids: arrayOf(uuid) } },
  'select from coin_transfers where id = any ($ids) order by id for no key update',
)

/** Marks transfers as displaced by a reorg and reverses the ledger entries of settled ones. The transfers must be locked. */
export const displaceMoves = statement(
  'coins_displace',
  { parameters: { ids: arrayOf(uuid) } },
  `with displaced_moves as (
     update coin_transfers m set status = 'BROADCAST', block_number = null, block_hash = null, arrived = null, fee = null,
       updated_at = now()
     where m.id = any ($ids) and m.block_number is not null
     returning m.id, m.settlements, old.status as before, uuidv7() as transfer_id
   ),
   undone as (
     select d.*, t.id as booked from displaced_moves d
       join transfers t on t.reference = 'coins-settled:' || d.id || ':' || d.settlements
     where d.before in ('FINAL', 'FAILED')
   ),
   ${postTransferSql({
     from: 'undone',
     reference: `'coins-displaced:' || id || ':' || settlements`,
     lines: 'select position, wallet_id, book, currency, -amount from entries where transfer_id = undone.booked',
   })}
   select from undone limit 0`,
)

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
