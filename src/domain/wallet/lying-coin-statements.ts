/** Coins that lie where they came in: whose they are, and whether there is anything to do with them. */
import { arrayOf, boolean, bytes, int, numeric, orNull, type RowOf, smallint, statement, text, uuid } from '../sql.ts'
import { isCoinSql, isOpenSql, isSignedSql, lyingSql } from './coin-sql.ts'

/**
 * Wallets where at least so much lies, some of which was not gathered yet. By what is noted, so that those with less are
 * not looked at; that it is above zero is a condition of the index.
 */
const enoughSql = `
   select l.wallet_id from lying_coins l
   where l.amount > 0 and l.amount >= $least
     and exists (select from deposits d where d.wallet_id = l.wallet_id and d.gathered_by is null and ${isCoinSql})`

const lyingColumns = {
  userId: uuid,
  address: text,
  lying: numeric,
  nextNonce: int,
  /** Of the oldest move that is set aside there. */
  asideNonce: orNull(int),
  asideRecipient: orNull(text),
  /** What was credited last and is in no move, the newest first. */
  newest: arrayOf(text),
  version: smallint,
  vaultKeyId: text,
  wrappedDataKey: bytes,
  sealedPrivateKey: bytes,
}
/** Somebody's coins that lie on their own address, with their key. */
export type LyingRow = RowOf<typeof lyingColumns>

/** Deposits of which each may be the one that the chain loses. */
const DOUBTED = 8
const lyingRowSql = `
   w.user_id as "userId", w.address, ${lyingSql('w')} as lying,
   coalesce((select max(m.nonce) + 1 from coin_moves m where m.sender = w.address), 0) as "nextNonce",
   a.nonce as "asideNonce", a.recipient as "asideRecipient",
   array(select d.amount::text from deposits d where d.wallet_id = w.user_id and d.gathered_by is null and ${isCoinSql}
     order by d.block_number desc, d.id desc limit ${DOUBTED}) as newest,
   k.version, k.vault_key_id as "vaultKeyId", k.wrapped_data_key as "wrappedDataKey", k.sealed_private_key as "sealedPrivateKey"
   from wallets w join user_keys k on k.user_id = w.user_id left join lateral (
     select m.nonce, m.recipient from coin_moves m where m.sender = w.address and ${isSignedSql} and m.stranded_at is not null
     order by m.nonce limit 1) a on true`

/** Owners whose addresses hold at least so much that was credited, and from whose addresses nothing is under way. */
export const findLying = statement(
  'coins_lying',
  { parameters: { least: numeric, after: uuid, limit: int }, columns: lyingColumns },
  `select ${lyingRowSql}
   where w.user_id in (${enoughSql})
     and w.user_id > $after and w.closed_at is null
     and not exists (select from coin_moves m where m.sender = w.address and ${isOpenSql})
   order by w.user_id limit $limit`,
)

/** What was credited to one owner and lies on the address, also when that is nothing. */
export const findOwnLying = statement(
  'coins_own_lying',
  { parameters: { user: uuid }, columns: lyingColumns },
  `select ${lyingRowSql} where w.user_id = $user`,
)

/** Of these wallets, those where most lies: they say whether there is anything to do, and all are gone through now and then anyway. */
const LOOKED_AT = 100

/** Whether anything is signed and not settled, a withdrawal is due, or at least so much lies where it came in. */
export const hasCoinWork = statement(
  'coins_has_work',
  { parameters: { least: numeric }, columns: { open: boolean } },
  `select exists (select from coin_moves m where ${isOpenSql})
     or exists (select from withdrawals where status in ('WAITING', 'SENDING') and due_at <= now())
     or exists (
       select from (${enoughSql} order by l.amount desc limit ${LOOKED_AT}) as enough join user_keys k on k.user_id = enough.wallet_id) as open`,
)
