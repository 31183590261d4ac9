/** What the database knows of coins, address by address, to be compared with the chain. */
import { settingKeys } from '../../../db/key-value-store.ts'
import { arrayOf, boolean, int, numeric, orNull, type RowOf, statement, text, uuid } from '../../../db/sql.ts'

const ownerColumns = {
  userId: uuid,
  address: text,
  closed: boolean,
  credited: numeric,
  nonces: arrayOf(int),
  amounts: arrayOf(text),
}
/** An address of an owner, what was credited there, and what was signed to leave it. */
export type ComparedOwner = RowOf<typeof ownerColumns>

/** A page of owners' addresses in their order; `which`: a condition on deposits `d` and moves `m`. */
const ownersSql = (
  which: string,
) => `select w.user_id as "userId", w.address, w.closed_at is not null as closed, d.credited, m.nonces, m.amounts
   from wallets w,
     lateral (select coalesce(sum(amount), 0) as credited from deposits where wallet_id = w.user_id and kind <> 'TOKEN' and status = 'CREDITED') d,
     lateral (
       select coalesce(array_agg(nonce order by nonce), '{}') as nonces, coalesce(array_agg(amount::text order by nonce), '{}') as amounts
       from coin_moves where sender = w.address) m
   where w.address > $after and ${which} order by w.address limit $limit`

const ownersTypes = { parameters: { after: text, limit: int }, columns: ownerColumns }

/** Every owner's address. */
export const findOwners = statement('compare_owners', ownersTypes, ownersSql('true'))

/** Addresses of owners to whom anything was credited, or from whom anything was moved. */
export const findOwnersWithCoins = statement(
  'check_coins_addresses',
  ownersTypes,
  ownersSql(`(d.credited > 0 or m.nonces <> '{}')`),
)

const treasuryColumns = {
  address: text,
  arrived: numeric,
  nonces: arrayOf(int),
  amounts: arrayOf(text),
  first: orNull(int),
}
/** A treasury, present or earlier. */
export type Treasury = RowOf<typeof treasuryColumns>

/**
 * Every treasury that the database knows of: what arrived there and how much was signed to leave it, nonce by nonce, and how many transactions
 * it had sent when it was first looked at.
 */
export const findTreasuries = statement(
  'compare_treasuries',
  { columns: treasuryColumns },
  `select t.address, coalesce((select sum(g.arrived) from coin_moves g where g.kind = 'GATHERING' and g.recipient = t.address), 0) as arrived,
     m.nonces, m.amounts, (select value::int from settings where key = '${settingKeys.treasury}' || t.address) as first
   from (
     select recipient as address from coin_moves where kind = 'GATHERING'
     union select substr(key, ${settingKeys.treasury.length + 1}) from settings where key like '${settingKeys.treasury}%'
   ) t, lateral (
     select coalesce(array_agg(nonce order by nonce), '{}') as nonces,
       coalesce(array_agg(coalesce(arrived + fee, amount)::text order by nonce), '{}') as amounts
     from coin_moves where sender = t.address) m
   order by t.address`,
)

const claimColumns = { id: uuid, userId: uuid, recipient: text, amount: numeric, fee: numeric }
/** A withdrawal that nothing was signed for, as far as the database knows. */
export type Claim = RowOf<typeof claimColumns>

/** Withdrawals that wait and may have been paid to these, oldest first. */
export const findClaims = statement(
  'compare_claims',
  { parameters: { recipients: arrayOf(text) }, columns: claimColumns },
  `select id, wallet_id as "userId", recipient, amount, fee from withdrawals
   where status = 'WAITING' and recipient = any ($recipients) order by id`,
)
