/** Statements of coin transfers. Coins are in the ledger account IN_TRANSIT from signature to settlement. */
import type { RowOf } from '../../db/sql.ts'
import { arrayOf, boolean, bytes, int, json, numeric, orNull, statement, text, textOf, uuid } from '../../db/sql.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { numLines, postTransferSql } from '../wallet/ledger-sql.ts'
import { isCoinSql, isOpenSql, isSignedSql, openSql, openTransfers, unsweptSql } from './treasury.sql.ts'

type Book = 'DEPOSITS' | 'IN_TRANSIT' | 'TREASURY'
/** SQL that moves `amount` between two ledger accounts for each row of `from`. */
export const moveBookSql = (from: string, reference: string, [source, target]: [Book, Book], amount = 'amount') =>
  postTransferSql({ from, reference, lines: numLines({ [source]: amount, [target]: `-${amount}` }) })

/** Returns the open transfers of an address, and the nonce after all its signed transfers. */
export const findSender = statement(
  'coins_sender',
  { parameters: { sender: text }, columns: { nextNonce: int, open: openTransfers } },
  `select coalesce((select max(nonce) + 1 from coin_transfers where sender = $sender), 0) as "nextNonce",
     ${openSql('$sender')} as open`,
)

/** A transfer and its transactions, cheapest first, in parallel arrays. `prices` is in wei. */
export const signedColumns = {
  ...{ sender: text, nonce: int, recipient: text, user: uuid, amount: numeric },
  ...{ hashes: arrayOf(text), raws: arrayOf(bytes), prices: arrayOf(numeric), values: arrayOf(numeric) },
}
/** SQL for the value and the maximum fee of a sweep's transaction `t`. */
const spentSql = `(t.value + 21000 * 0.000000000000000001 * t.gas_price)`
const insertTransactionsSql = (transfer: string) => `
   inserted_transactions as (
     insert into coin_transactions (hash, coin_transfer_id, raw, gas_price, value)
     select item.hash, ${transfer}.id, item.raw, item.price, item.value
     from ${transfer}, unnest($hashes, $raws, $prices, $values) as item (hash, raw, price, value)
     on conflict (hash) do nothing
   )`
/** SQL of the CTE `stored_transfer (id, transfer_id)`, which stores a transfer for each row of `from`. */
export const storeTransferSql = (kind: 'SWEEP' | 'WITHDRAWAL', from: string) => `
   stored_transfer as (
     insert into coin_transfers (kind, sender, nonce, recipient, wallet_id, amount, transaction_hash)
     select '${kind}', $sender, $nonce, $recipient, $user, $amount, ($hashes)[1] from ${from}
     on conflict (sender, nonce) do nothing
     returning id, uuidv7() as transfer_id
   ),
   ${insertTransactionsSql('stored_transfer')}`

/** Must be a separate statement: only later statements see what was committed during the wait. */
export const lockWallets = statement(
  'coins_lock_wallets',
  { parameters: { addresses: arrayOf(text) } },
  'select from wallets where address = any ($addresses) order by user_id for no key update',
)

const lockedWalletSql = `
   locked_wallet as materialized (
     select user_id, address from wallets where user_id = $user and closed_at is null for no key update
   )`
const isAllSql = `($unswept is null or $unswept = ${unsweptSql('locked_wallet')})`
/** SQL of the ledger entries for a sweep of all coins at an address, in the CTE `transfer (id, transfer_id)`. */
const sweepSql = (transfer: string, reference: string) => `
   swept_deposits as (
     update deposits d set swept_by = ${transfer}.id from ${transfer}
     where $unswept is not null and d.wallet_id = $user and d.swept_by is null and ${isCoinSql}
   ),
   ${moveBookSql(transfer, reference, ['DEPOSITS', 'IN_TRANSIT'], '$amount')}`

/**
 * Stores a sweep of the ledger balance `unswept`, or of coins outside the ledger (null). Returns no row if the account
 * is deleted, the balance differs, or the nonce is used.
 */
export const insertSweep = statement(
  'coins_store_sweep',
  { parameters: { ...signedColumns, unswept: orNull(numeric) }, columns: { id: uuid } },
  `with ${lockedWalletSql},
   ${storeTransferSql('SWEEP', `locked_wallet where ${isAllSql}`)},
   ${sweepSql('stored_transfer', `'coins-signed:' || stored_transfer.id`)}
   select id from stored_transfer`,
)

/**
 * Resumes a suspended sweep with transactions of another amount. Earlier transactions stay valid, but the chain includes
 * only one per nonce. Returns no row as `insertSweep` does, and if the sweep is not suspended.
 */
export const resumeSweep = statement(
  'coins_resume_sweep',
  { parameters: { ...signedColumns, unswept: orNull(numeric) }, columns: { id: uuid } },
  `with ${lockedWalletSql},
   resumed_transfer as (
     update coin_transfers m set amount = $amount, suspended_at = null, status = 'SIGNED',
       transaction_hash = ($hashes)[1], updated_at = now()
     from locked_wallet
     where m.sender = $sender and m.nonce = $nonce and m.recipient = $recipient and m.wallet_id = $user
       and ${isSignedSql} and m.suspended_at is not null and ${isAllSql}
     returning m.id, uuidv7() as transfer_id
   ),
   ${insertTransactionsSql('resumed_transfer')},
   ${sweepSql('resumed_transfer', `'coins-resumed:' || id || ':' || transfer_id`)}
   select id from resumed_transfer`,
)

const transferColumns = {
  ...{ id: uuid, sender: text, nonce: int },
  status: textOf<'SIGNED' | 'BROADCAST' | 'INCLUDED' | 'FINAL' | 'FAILED'>('coin_transfer_status'),
  /** Hash of the included transaction, or of the most expensive one that was sent. */
  transactionHash: text,
  ...{ blockNumber: orNull(int), blockHash: orNull(text), hasArrived: boolean },
  /** Signed transactions, cheapest first. Current transactions have the amount of the ledger. */
  transactions: json<{ hash: string; gasPrice: string; isCurrent: boolean }[]>(),
}
export type CoinTransfer = RowOf<typeof transferColumns>

/** Returns a page of transfers that are open, or whose block number is at least `youngest`. */
export const findTransfers = statement(
  'coins_transfers',
  { parameters: { youngest: int, afterSender: text, afterNonce: int, limit: int }, columns: transferColumns },
  `select m.id, m.sender, m.nonce, m.status, m.transaction_hash as "transactionHash", m.block_number as "blockNumber",
     m.block_hash as "blockHash", coalesce(m.arrived > 0, false) as "hasArrived", t.transactions
   from (
     select * from coin_transfers m where ${isOpenSql}
     union
     select * from coin_transfers m where m.block_number is not null and m.block_number >= $youngest
   ) m, lateral (
     select json_agg(json_build_object('hash', t.hash, 'gasPrice', t.gas_price::text, 'isCurrent',
       m.kind = 'WITHDRAWAL' or ${spentSql} = m.amount
     ) order by t.gas_price, t.hash) as transactions
     from coin_transactions t where t.coin_transfer_id = m.id
   ) t
   where (m.sender, m.nonce) > ($afterSender, $afterNonce) order by m.sender, m.nonce limit $limit`,
)

export const findCoinRaw = statement(
  'coins_raw',
  { parameters: { hashes: arrayOf(text) }, columns: { hash: text, raw: bytes } },
  'select hash, raw from coin_transactions where hash = any ($hashes)',
)

export const markTransfersSent = statement(
  'coins_sent',
  { parameters: { ids: arrayOf(uuid), hashes: arrayOf(text) } },
  `update coin_transfers m set status = 'BROADCAST', transaction_hash = item.hash, updated_at = now()
   from unnest($ids, $hashes) as item (id, hash)
   where m.id = item.id and m.status in ('SIGNED', 'BROADCAST')`,
)

/** Corrects the ledger if the included transaction has another amount than the ledger. */
export const markTransfersIncluded = statement(
  'coins_included',
  {
    parameters: {
      ...{ ids: arrayOf(uuid), hashes: arrayOf(text), blockNumbers: arrayOf(int), blockHashes: arrayOf(text) },
      ...{ fees: arrayOf(numeric), arrived: arrayOf(boolean) },
    },
  },
  `with placed as materialized (
     select item.*, t.value, m.wallet_id, m.amount as before,
       case m.kind when 'SWEEP' then ${spentSql} else m.amount end as amount
     from unnest($ids, $hashes, $blockNumbers, $blockHashes, $fees, $arrived)
       as item (id, hash, block_number, block_hash, fee, arrived)
       join coin_transactions t on t.hash = item.hash join coin_transfers m on m.id = item.id and m.id = t.coin_transfer_id
     where m.status in ('SIGNED', 'BROADCAST')
   ),
   locked_wallets as materialized (
     select user_id from wallets where user_id in (select wallet_id from placed where before <> amount)
     order by user_id for no key update
   ),
   included_transfers as (
     update coin_transfers m set status = 'INCLUDED', transaction_hash = p.hash, block_number = p.block_number,
       block_hash = p.block_hash, amount = p.amount, fee = p.fee, arrived = case when p.arrived then p.value else 0 end,
       updated_at = now()
     from placed p
     where m.id = p.id and m.status in ('SIGNED', 'BROADCAST') and m.amount = p.before
       and (select count(*) from locked_wallets) >= 0
     returning m.id, new.amount - old.amount as more, uuidv7() as transfer_id
   ),
   changed_transfers as (select * from included_transfers where more <> 0),
   ${moveBookSql('changed_transfers', `'coins-changed:' || id || ':' || transfer_id`, ['DEPOSITS', 'IN_TRANSIT'], 'more')}
   select from included_transfers limit 0`,
)

/**
 * Settles transfers whose block hash is unchanged. The unused part of the fee returns to the account that paid it. A
 * confirmed withdrawal reopens if its recipient refused the coins in another block after a reorganization.
 */
export const settleTransfers = statement(
  'coins_settle',
  { parameters: { ids: arrayOf(uuid), blockHashes: arrayOf(text) } },
  `with settled_transfers as (
     update coin_transfers m set status = case when m.arrived > 0 then 'FINAL' else 'FAILED' end::coin_transfer_status,
       settlements = m.settlements + 1, updated_at = now()
     from unnest($ids, $blockHashes) as item (id, block_hash)
     where m.id = item.id and m.status = 'INCLUDED' and m.block_hash = item.block_hash
     returning m.id, m.kind, m.amount, m.arrived, m.fee, m.settlements, uuidv7() as transfer_id,
       m.amount - m.arrived - m.fee as rest, case when m.wallet_id is not null then m.arrived
         else (select max(t.value) from coin_transactions t where t.coin_transfer_id = m.id) end as paid
   ),
   reopened_withdrawals as (
     update withdrawals x set status = 'SENDING', settled_at = null from settled_transfers s
     where x.coin_transfer_id = s.id and x.status = 'CONFIRMED' and s.arrived = 0
   ),
   ${postTransferSql({
     from: 'settled_transfers',
     reference: `'coins-settled:' || id || ':' || settlements`,
     omitsZeros: true,
     lines: numLines({
       ...{ IN_TRANSIT: 'amount', GAS: '-fee', TREASURY: `case kind when 'SWEEP' then -arrived else -rest end` },
       DEPOSITS: `case kind when 'SWEEP' then -rest else 0 end`,
       WITHDRAWALS: `case kind when 'SWEEP' then 0 else -paid end`,
       REVENUE: `case kind when 'SWEEP' then 0 else paid - arrived end`,
     }),
   })}
   select from settled_transfers limit 0`,
)

/** Must be a separate statement, for the same reason as `lockWallets`. */
export const lockTransfers = statement(
  'coins_lock_transfers',
  { parameters: { ids: arrayOf(uuid) } },
  'select from coin_transfers where id = any ($ids) order by id for no key update',
)

/** Removes locked transfers from displaced blocks. Reverses the entries of settled ones. */
export const displaceTransfers = statement(
  'coins_displace',
  { parameters: { ids: arrayOf(uuid) } },
  `with displaced_transfers as (
     update coin_transfers m set status = 'BROADCAST', block_number = null, block_hash = null, arrived = null, fee = null,
       updated_at = now()
     where m.id = any ($ids) and m.block_number is not null
     returning m.id, m.settlements, old.status as before, uuidv7() as transfer_id
   ),
   reversed as (
     select d.*, t.id as booked from displaced_transfers d
       join transfers t on t.reference = 'coins-settled:' || d.id || ':' || d.settlements
     where d.before in ('FINAL', 'FAILED')
   ),
   ${postTransferSql({
     from: 'reversed',
     reference: `'coins-displaced:' || id || ':' || settlements`,
     lines: 'select position, wallet_id, book, currency, -amount from entries where transfer_id = reversed.booked',
   })}
   select from reversed limit 0`,
)

/** Condition on a transfer `m`: a pending sweep without a change for an hour. */
const isStaleSql = `m.kind = 'SWEEP' and m.status in ('SIGNED', 'BROADCAST') and m.suspended_at is null
     and m.updated_at < now() - interval '1 hour'`

/** Suspends the newest stale sweep of each address with a negative ledger balance: the chain lost its deposits. */
export const suspendTransfers = statement(
  'coins_suspend',
  { columns: { addresses: arrayOf(text) } },
  `with lacking_wallets as materialized (
     select w.user_id, w.address from wallets w
     where w.address in (select m.sender from coin_transfers m where ${isStaleSql}) and ${unsweptSql('w')} < 0
     order by w.user_id for no key update
   ),
   newest_transfers as (
     select distinct on (m.sender) m.id from coin_transfers m join lacking_wallets w on w.address = m.sender
     where ${isStaleSql} order by m.sender, m.nonce desc
   ),
   suspended_transfers as (
     update coin_transfers m set suspended_at = now(), updated_at = now() from newest_transfers
     where m.id = newest_transfers.id and ${isStaleSql}
     returning m.id, m.sender, m.amount, uuidv7() as transfer_id
   ),
   left_deposits as (update deposits d set swept_by = null from suspended_transfers s where d.swept_by = s.id),
   ${moveBookSql('suspended_transfers', `'coins-stranded:' || id || ':' || transfer_id`, ['IN_TRANSIT', 'DEPOSITS'])}
   select array(select sender from suspended_transfers order by sender) as addresses`,
)

/** SQL of the CTE `oldest_transfers`: the oldest suspended sweep of each address. `seen` is an SQL join. */
const oldestSql = (column = '', seen = '') => `oldest_transfers as materialized (
     select distinct on (m.sender) m.id, m.sender${column} from coin_transfers m ${seen}
     where ${isSignedSql} and m.suspended_at is not null order by m.sender, m.nonce
   )`
/** SQL for the transactions of the transfer `o` that the ledger balance of `w` covers. */
const coveredSql = `select t.hash, ${spentSql} as amount from coin_transactions t
     where t.coin_transfer_id = o.id and ${spentSql} <= ${unsweptSql('w')}`

/** Returns a page of addresses whose oldest suspended sweep has a transaction that the ledger balance covers. */
export const findResumable = statement(
  'coins_resumable',
  { parameters: { after: text, limit: int }, columns: { address: text, open: openTransfers } },
  `with ${oldestSql()}
   select o.sender as address, ${openSql('o.sender')} as open
   from oldest_transfers o join wallets w on w.address = o.sender
   where o.sender > $after and exists (${coveredSql}) order by o.sender limit $limit`,
)

/**
 * Resumes the oldest suspended sweep of each locked address with the largest signed amount that the ledger covers. Skips
 * an address if a larger signed amount is `free` on the chain: the rest waits for its credit, and a nonce works once.
 */
export const resumeTransfers = statement(
  'coins_resume',
  { parameters: { addresses: arrayOf(text), free: arrayOf(numeric) }, columns: { addresses: arrayOf(text) } },
  `with ${oldestSql(', seen.free', 'join unnest($addresses, $free) as seen (address, free) on seen.address = m.sender')},
   covering_wallets as materialized (
     select o.id, f.hash, f.amount from wallets w join oldest_transfers o on o.sender = w.address, lateral (
       ${coveredSql} order by amount desc, t.gas_price limit 1
     ) f
     where not exists (
       select from coin_transactions t where t.coin_transfer_id = o.id and ${spentSql} > f.amount and ${spentSql} <= o.free
     )
     order by w.user_id for no key update of w
   ),
   resumed_transfers as (
     update coin_transfers m set suspended_at = null, updated_at = now(), amount = c.amount,
       status = case when m.amount = c.amount then m.status else 'SIGNED' end,
       transaction_hash = case when m.amount = c.amount then m.transaction_hash else c.hash end
     from covering_wallets c
     where m.id = c.id and m.suspended_at is not null
     returning m.id, m.sender, m.amount, uuidv7() as transfer_id
   ),
   ${moveBookSql('resumed_transfers', `'coins-resumed:' || id || ':' || transfer_id`, ['DEPOSITS', 'IN_TRANSIT'])}
   select array(select sender from resumed_transfers order by sender) as addresses`,
)

/** Stores a payment without a withdrawal as a loss. Returns no row if the nonce is used. */
export const storeUnclaimed = statement(
  'coins_store_unclaimed',
  { parameters: { ...signedColumns, user: orNull(uuid) }, columns: { id: uuid } },
  `with ${storeTransferSql('WITHDRAWAL', '(select) once')},
   ${postTransferSql({
     from: 'stored_transfer',
     reference: `'coins-signed:' || stored_transfer.id`,
     omitsZeros: true,
     lines: numLines({
       ...{ TREASURY: '$amount', IN_TRANSIT: '-$amount', WITHDRAWALS: '($values)[1]', REVENUE: '-($values)[1]' },
     }),
   })},
   ${auditSql({ from: 'stored_transfer', user: 'null', action: 'payment.borne', subject: '($hashes)[1]' })}
   select id from stored_transfer`,
)
