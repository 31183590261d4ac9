/** Coins that are still at the addresses they were deposited to, and the conditions on deposits and moves that several statements share. */
import {
  arrayOf,
  boolean,
  bytes,
  int,
  numeric,
  orNull,
  type RowOf,
  smallint,
  statement,
  text,
  uuid,
} from '../../db/sql.ts'

/** Condition on a move `m`: signed and not settled. Written as the partial index `coin_moves_open_idx` has it. */
export const isSignedSql = `m.status in ('SIGNED', 'BROADCAST', 'INCLUDED')`
/** Condition on a move `m`: signed, not settled and not suspended. */
export const isOpenSql = `${isSignedSql} and m.stranded_at is null`
/** Condition on a deposit `d`: credited coins. Tokens are never swept. */
export const isCoinSql = `d.kind = 'COIN' and d.status = 'CREDITED'`
/** Condition on a deposit `d`: credited coins that no move has taken. */
const isUnsweptSql = `d.gathered_by is null and ${isCoinSql}`
/** Coins at a wallet's address as the ledger has it: the credited deposits, less every move from the address that is not suspended. */
export const unsweptSql = (wallet: string) => `
   (select coalesce(sum(d.amount), 0) from deposits d where d.wallet_id = ${wallet}.user_id and ${isCoinSql})
   - (select coalesce(sum(m.amount), 0) from coin_moves m where m.sender = ${wallet}.address and m.stranded_at is null)`

const unsweptColumns = {
  userId: uuid,
  address: text,
  unswept: numeric,
  nextNonce: int,
  /** Nonce and recipient of the oldest suspended move. */
  asideNonce: orNull(int),
  asideRecipient: orNull(text),
  /** Amounts of the newest deposits that no move has taken, newest first. */
  newest: arrayOf(text),
  version: smallint,
  vaultKeyId: text,
  wrappedDataKey: bytes,
  sealedPrivateKey: bytes,
}
/** The coins at a user's address, with the user's sealed key. */
export type UnsweptRow = RowOf<typeof unsweptColumns>

/** Number of newest deposits of which each may be the one that the chain loses. */
const DOUBTED = 8
const unsweptRowSql = `
   w.user_id as "userId", w.address, ${unsweptSql('w')} as unswept,
   coalesce((select max(m.nonce) + 1 from coin_moves m where m.sender = w.address), 0) as "nextNonce",
   a.nonce as "asideNonce", a.recipient as "asideRecipient",
   array(select d.amount::text from deposits d where d.wallet_id = w.user_id and ${isUnsweptSql}
     order by d.block_number desc, d.id desc limit ${DOUBTED}) as newest,
   k.version, k.vault_key_id as "vaultKeyId", k.wrapped_data_key as "wrappedDataKey", k.sealed_private_key as "sealedPrivateKey"
   from wallets w join user_keys k on k.user_id = w.user_id left join lateral (
     select m.nonce, m.recipient from coin_moves m where m.sender = w.address and ${isSignedSql} and m.stranded_at is not null
     order by m.nonce limit 1) a on true`

/** A page of users at whose addresses at least so many coins wait for a sweep, and from whose addresses no move is under way. */
export const findUnswept = statement(
  'coins_unswept',
  { parameters: { least: numeric, after: uuid, limit: int }, columns: unsweptColumns },
  `with page as materialized (
     select w.user_id from deposits d join wallets w on w.user_id = d.wallet_id join user_keys k on k.user_id = w.user_id
     where ${isUnsweptSql} and d.wallet_id > $after and w.closed_at is null
       and not exists (select from coin_moves m where m.sender = w.address and ${isOpenSql})
     group by w.user_id having sum(d.amount) >= $least and ${unsweptSql('w')} >= $least
     order by w.user_id limit $limit
   )
   select ${unsweptRowSql} where w.user_id in (select user_id from page) order by w.user_id`,
)

/** The coins at one user's address, also when there are none. */
export const findOwnUnswept = statement(
  'coins_own_unswept',
  { parameters: { user: uuid }, columns: unsweptColumns },
  `select ${unsweptRowSql} where w.user_id = $user`,
)

/**
 * Whether a move is not settled, a withdrawal is due, or a deposit of the last minute brought an address to at least so many coins. It runs every
 * second, so it does not look at older deposits: the treasury worker looks at all addresses once a minute.
 */
export const hasCoinWork = statement(
  'coins_has_work',
  { parameters: { least: numeric }, columns: { open: boolean } },
  `select exists (select from coin_moves m where ${isOpenSql})
     or exists (select from withdrawals where status in ('WAITING', 'SENDING') and due_at <= now())
     or exists (
       select from deposits n where n.gathered_by is null and n.kind = 'COIN' and n.credited_at > now() - interval '1 minute'
         and (select sum(d.amount) from deposits d where d.wallet_id = n.wallet_id and ${isUnsweptSql}) >= $least
     ) as open`,
)
