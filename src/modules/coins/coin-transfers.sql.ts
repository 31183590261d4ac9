/**
 * Moves of coins: signed, sent, in a block, settled. What a move does to the books stands here alone: signed, its coins
 * are under way; settled, they are where they arrived, less the fee.
 */
import { arrayOf, boolean, bytes, int, numeric, orNull, statement, text, textOf, uuid } from '../../db/sql.ts'
import { postTransferSql } from '../wallet/ledger-sql.ts'
import { isCoinSql, isOpenSql, isSignedSql, unsweptSql } from './treasury.sql.ts'

/** The nonce after all that were ever signed for an address. */
export const findNextNonce = statement(
  'coins_next_nonce',
  { parameters: { sender: text }, columns: { nonce: int } },
  'select coalesce(max(nonce) + 1, 0) as nonce from coin_moves where sender = $sender',
)

/** What is signed for an address and not settled. */
export const findUnderWay = statement(
  'coins_under_way',
  { parameters: { sender: text }, columns: { nonce: int, amount: numeric } },
  `select m.nonce, m.amount from coin_moves m where m.sender = $sender and ${isOpenSql} order by m.nonce`,
)

/** A move and its transactions, the cheapest first: in step, each with its value. Prices in wei, all else in currency units. */
export const signedColumns = {
  sender: text,
  nonce: int,
  recipient: text,
  user: uuid,
  amount: numeric,
  hashes: arrayOf(text),
  raws: arrayOf(bytes),
  prices: arrayOf(numeric),
  values: arrayOf(numeric),
}
/** What leaves an address by the transaction `t` of a gathering, which costs all of its price. */
export const leavesSql = `(t.value + 21000 * 0.000000000000000001 * t.gas_price)`
const insertTransactionsSql = (move: string) => `
   inserted_transactions as (
     insert into coin_transactions (hash, move_id, raw, gas_price, value)
     select item.hash, ${move}.id, item.raw, item.price, item.value
     from ${move}, unnest($hashes, $raws, $prices, $values) as item (hash, raw, price, value)
     on conflict (hash) do nothing
   )`
/** Stores a move with its transactions where the part or join `from` has a row: `inserted_move (id, transfer_id)`. */
export const storeMoveSql = (kind: 'GATHERING' | 'WITHDRAWAL', from: string) => `
   inserted_move as (
     insert into coin_moves (kind, sender, nonce, recipient, wallet_id, amount, transaction_hash)
     select '${kind}', $sender, $nonce, $recipient, $user, $amount, ($hashes)[1] from ${from}
     on conflict (sender, nonce) do nothing
     returning id, uuidv7() as transfer_id
   ),
   ${insertTransactionsSql('inserted_move')}`

/**
 * Holds the wallets of these addresses until the transaction ends. A statement of its own: only the one after it sees what became of their coins
 * while this one waited.
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
/** What the move `move (id, transfer_id)` of all coins there does to the books. */
const gatherSql = (move: string, reference: string) => `
   gathered_deposits as (
     update deposits d set gathered_by = ${move}.id from ${move}
     where $unswept is not null and d.wallet_id = $user and d.gathered_by is null and ${isCoinSql}
   ),
   ${postTransferSql({
     from: move,
     reference,
     lines: [
       { book: 'DEPOSITS', currency: 'NUM', amount: '$amount' },
       { book: 'UNDER_WAY', currency: 'NUM', amount: '-$amount' },
     ],
   })}`

/**
 * Stores a move from an owner's address with all its transactions. `unswept` is what the books must have there, all of which it takes; null
 * for coins that are not in the books. No row when the account is deleted, something else lies there, or another move has the nonce.
 */
export const storeGathering = statement(
  'coins_store_gathering',
  { parameters: { ...signedColumns, unswept: orNull(numeric) }, columns: { id: uuid } },
  `with ${lockedWalletSql},
   ${storeMoveSql('GATHERING', `locked_wallet where ${isAllSql}`)},
   ${gatherSql('inserted_move', `'coins-signed:' || inserted_move.id`)}
   select id from inserted_move`,
)

/**
 * Takes a move up again that is set aside, with transactions of another amount at its nonce; those that it had stay, and whichever gets into
 * the chain counts. No row as for `storeGathering`, and when it is not set aside.
 */
export const signAnew = statement(
  'coins_sign_anew',
  { parameters: { ...signedColumns, unswept: orNull(numeric) }, columns: { id: uuid } },
  `with ${lockedWalletSql},
   renewed_move as (
     update coin_moves m set amount = $amount, stranded_at = null, status = 'SIGNED', transaction_hash = ($hashes)[1], updated_at = now()
     from locked_wallet
     where m.sender = $sender and m.nonce = $nonce and m.recipient = $recipient and m.wallet_id = $user
       and ${isSignedSql} and m.stranded_at is not null and ${isAllSql}
     returning m.id, uuidv7() as transfer_id
   ),
   ${insertTransactionsSql('renewed_move')},
   ${gatherSql('renewed_move', `'coins-resumed:' || id || ':' || transfer_id`)}
   select id from renewed_move`,
)

/** Stores transactions that move nothing, at the nonce of a withdrawal in no block. No row: it has some. */
export const storeFillers = statement(
  'coins_store_fillers',
  {
    parameters: { move: uuid, hashes: arrayOf(text), raws: arrayOf(bytes), prices: arrayOf(numeric) },
    columns: { hash: text },
  },
  `with given_up_move as materialized (
     select m.id from coin_moves m where m.id = $move and m.kind = 'WITHDRAWAL' and m.status in ('SIGNED', 'BROADCAST') for no key update
   )
   insert into coin_transactions (hash, move_id, raw, gas_price, value)
   select item.hash, id, item.raw, item.price, 0
   from given_up_move, unnest($hashes, $raws, $prices) as item (hash, raw, price) where not exists (
     select from coin_transactions t where t.move_id = $move and t.value = 0
   ) returning hash`,
)

const moveColumns = {
  id: uuid,
  sender: text,
  nonce: int,
  status: textOf<'SIGNED' | 'BROADCAST' | 'INCLUDED' | 'FINAL' | 'FAILED'>('coin_move_status'),
  transactionHash: text,
  blockNumber: orNull(int),
  blockHash: orNull(text),
  hasArrived: boolean,
  hashes: arrayOf(text),
  prices: arrayOf(text),
  /** Whether each is to be sent: it moves what the books have under way, or is the filler of a withdrawal that is given up. */
  current: arrayOf(boolean),
}

/** A page of what is not settled, and what is in blocks from `youngest` on. */
export const findMoves = statement(
  'coins_moves',
  { parameters: { youngest: int, afterSender: text, afterNonce: int, limit: int }, columns: moveColumns },
  `select m.id, m.sender, m.nonce, m.status, m.transaction_hash as "transactionHash", m.block_number as "blockNumber",
     m.block_hash as "blockHash", coalesce(m.arrived > 0, false) as "hasArrived", t.hashes, t.prices, t.current
   from (
     select * from coin_moves m where ${isOpenSql}
     union
     select * from coin_moves m where m.block_number is not null and m.block_number >= $youngest
   ) m, lateral (
     select array_agg(t.hash order by t.gas_price, t.hash) as hashes, array_agg(t.gas_price::text order by t.gas_price, t.hash) as prices,
       array_agg(case m.kind
         when 'WITHDRAWAL' then t.value = (select min(o.value) from coin_transactions o where o.move_id = m.id)
         else ${leavesSql} = m.amount
       end order by t.gas_price, t.hash) as current
     from coin_transactions t where t.move_id = m.id
   ) t
   where (m.sender, m.nonce) > ($afterSender, $afterNonce) order by m.sender, m.nonce limit $limit`,
)

/** Stored bytes. */
export const findCoinRaw = statement(
  'coins_raw',
  { parameters: { hashes: arrayOf(text) }, columns: { hash: text, raw: bytes } },
  'select hash, raw from coin_transactions where hash = any ($hashes)',
)

/** Moves of which a node has taken a transaction. */
export const markMovesSent = statement(
  'coins_sent',
  { parameters: { ids: arrayOf(uuid), hashes: arrayOf(text) } },
  `update coin_moves m set status = 'BROADCAST', transaction_hash = item.hash, updated_at = now()
   from unnest($ids, $hashes) as item (id, hash)
   where m.id = item.id and m.status in ('SIGNED', 'BROADCAST')`,
)

/**
 * Moves that are in blocks: which transaction of each it is, what its fee was, and whether anything arrived. Where it is one of another amount
 * than the books have under way, they have that one.
 */
export const markMovesIncluded = statement(
  'coins_included',
  {
    parameters: {
      ids: arrayOf(uuid),
      hashes: arrayOf(text),
      blockNumbers: arrayOf(int),
      blockHashes: arrayOf(text),
      fees: arrayOf(numeric),
      arrived: arrayOf(boolean),
    },
  },
  `with placed as materialized (
     select item.*, t.value, m.wallet_id, m.amount as before,
       case m.kind when 'GATHERING' then ${leavesSql} else m.amount end as amount
     from unnest($ids, $hashes, $blockNumbers, $blockHashes, $fees, $arrived)
       as item (id, hash, block_number, block_hash, fee, arrived)
       join coin_transactions t on t.hash = item.hash join coin_moves m on m.id = item.id and m.id = t.move_id
     where m.status in ('SIGNED', 'BROADCAST')
   ),
   locked_wallets as materialized (
     select user_id from wallets where user_id in (select wallet_id from placed where before <> amount) order by user_id for no key update
   ),
   included_moves as (
     update coin_moves m set status = 'INCLUDED', transaction_hash = p.hash, block_number = p.block_number, block_hash = p.block_hash,
       amount = p.amount, fee = p.fee, arrived = case when p.arrived then p.value else 0 end, updated_at = now()
     from placed p
     where m.id = p.id and m.status in ('SIGNED', 'BROADCAST') and m.amount = p.before and (select count(*) from locked_wallets) >= 0
     returning m.id, new.amount - old.amount as more, uuidv7() as transfer_id
   ),
   ${postTransferSql({
     from: 'included_moves',
     reference: `'coins-changed:' || id || ':' || transfer_id`,
     when: 'more <> 0',
     lines: [
       { book: 'DEPOSITS', currency: 'NUM', amount: 'more' },
       { book: 'UNDER_WAY', currency: 'NUM', amount: '-more' },
     ],
   })}
   select from included_moves limit 0`,
)

/**
 * Settled, where its block is still the one of that hash. What the fee did not take of what was kept for it goes back to where it came from. A withdrawal
 * that was confirmed by an earlier block, and that its recipient refused in this one, is to be ended once more; of what the platform bears it bears
 * what arrived.
 */
export const settleMoves = statement(
  'coins_settle',
  { parameters: { ids: arrayOf(uuid), blockHashes: arrayOf(text) } },
  `with settled_moves as (
     update coin_moves m set status = case when m.arrived > 0 then 'FINAL' else 'FAILED' end::coin_move_status,
       settlements = m.settlements + 1, updated_at = now()
     from unnest($ids, $blockHashes) as item (id, block_hash)
     where m.id = item.id and m.status = 'INCLUDED' and m.block_hash = item.block_hash
     returning m.id, m.kind, m.wallet_id is null as borne, m.amount, m.arrived, m.fee, m.settlements, uuidv7() as transfer_id,
       (select max(t.value) from coin_transactions t where t.move_id = m.id) as value
   ),
   reopened_withdrawals as (
     update withdrawals x set status = 'SENDING', settled_at = null from settled_moves s
     where x.move_id = s.id and x.status = 'CONFIRMED' and s.arrived = 0
   ),
   ${postTransferSql({
     from: 'settled_moves',
     reference: `'coins-settled:' || id || ':' || settlements`,
     omitsZeros: true,
     lines: [
       { book: 'UNDER_WAY', currency: 'NUM', amount: 'amount' },
       { book: 'GAS', currency: 'NUM', amount: '-fee' },
       {
         book: 'TREASURY',
         currency: 'NUM',
         amount: `case kind when 'GATHERING' then -arrived else arrived + fee - amount end`,
       },
       {
         book: 'DEPOSITS',
         currency: 'NUM',
         amount: `case kind when 'GATHERING' then arrived + fee - amount else 0 end`,
       },
       {
         book: 'WITHDRAWALS',
         currency: 'NUM',
         amount: `case when kind = 'GATHERING' then 0 when borne then -value else -arrived end`,
       },
       { book: 'REVENUE', currency: 'NUM', amount: `case when borne then value - arrived else 0 end` },
     ],
   })}
   select from settled_moves limit 0`,
)

/** Holds moves until the transaction ends. A statement of its own, as `holdWallets` is: the one after it sees what was settled meanwhile. */
export const holdMoves = statement(
  'coins_hold_moves',
  { parameters: { ids: arrayOf(uuid) } },
  'select from coin_moves where id = any ($ids) order by id for no key update',
)

/** The blocks of these, which are held, are gone. What was booked for one that counted as settled is taken back. */
export const displaceMoves = statement(
  'coins_displace',
  { parameters: { ids: arrayOf(uuid) } },
  `with displaced_moves as (
     update coin_moves m set status = 'BROADCAST', block_number = null, block_hash = null, arrived = null, fee = null,
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
