/** Statements on unswept coins and treasuries, and shared conditions on deposits and coin transfers. */
import { keyValueKeys } from '../../db/key-value-store.ts'
import type { RowOf } from '../../db/sql.ts'
import { arrayOf, boolean, bytes, int, json, numeric, orNull, smallint, statement, text, uuid } from '../../db/sql.ts'

/** Condition on a transfer `m`: signed and not settled. Must match the partial index `coin_transfers_open_idx`. */
export const isSignedSql = `m.status in ('SIGNED', 'BROADCAST', 'INCLUDED')`
export const isOpenSql = `${isSignedSql} and m.suspended_at is null`
export const openTransfers = json<{ nonce: number; amount: string }[]>()
export const openSql = (sender: string) =>
  `(select coalesce(json_agg(json_build_object('nonce', m.nonce, 'amount', m.amount::text) order by m.nonce), '[]')
     from coin_transfers m where m.sender = ${sender} and ${isOpenSql})`
/** Condition on a deposit `d`: credited coins. Tokens are never swept. */
export const isCoinSql = `d.kind = 'COIN' and d.status = 'CREDITED'`
const isUnsweptSql = `d.swept_by is null and ${isCoinSql}`
/** SQL for the ledger balance of a wallet's address: credited coins minus transfers that are not suspended. */
export const unsweptSql = (wallet: string) => `
   (select coalesce(sum(d.amount), 0) from deposits d where d.wallet_id = ${wallet}.user_id and ${isCoinSql})
   - (select coalesce(sum(m.amount), 0) from coin_transfers m where m.sender = ${wallet}.address and m.suspended_at is null)`

const unsweptColumns = {
  /** `unswept`: currency units. `nextNonce`: nonce after all signed transfers. */
  ...{ userId: uuid, address: text, open: openTransfers, unswept: numeric, nextNonce: int },
  /** The oldest suspended transfer. The next transfer uses the same nonce and recipient. */
  suspended: orNull(json<{ nonce: number; recipient: string }>()),
  /** Amounts of the newest deposits that no transfer has swept, newest first. */
  newest: arrayOf(text),
  ...{ version: smallint, vaultKeyId: text, wrappedDataKey: bytes, sealedPrivateKey: bytes },
}
/** The coins at a user's address, with the user's sealed key. */
export type UnsweptRow = RowOf<typeof unsweptColumns>
/** Number of newest deposits that the chain may still lose. */
const UNCERTAIN_DEPOSITS = 8
const unsweptRowSql = `
   w.user_id as "userId", w.address, ${unsweptSql('w')} as unswept,
   coalesce((select max(m.nonce) + 1 from coin_transfers m where m.sender = w.address), 0) as "nextNonce",
   ${openSql('w.address')} as open, a.suspended,
   array(select d.amount::text from deposits d where d.wallet_id = w.user_id and ${isUnsweptSql}
     order by d.block_number desc, d.id desc limit ${UNCERTAIN_DEPOSITS}) as newest,
   k.version, k.vault_key_id as "vaultKeyId", k.wrapped_data_key as "wrappedDataKey",
   k.sealed_private_key as "sealedPrivateKey"
   from wallets w join user_keys k on k.user_id = w.user_id left join lateral (
     select json_build_object('nonce', m.nonce, 'recipient', m.recipient) as suspended from coin_transfers m
     where m.sender = w.address and ${isSignedSql} and m.suspended_at is not null order by m.nonce limit 1) a on true`

/** Returns a page of users with at least `least` unswept coins and no open transfer from their address. */
export const findUnswept = statement(
  'coins_unswept',
  { parameters: { least: numeric, after: uuid, limit: int }, columns: unsweptColumns },
  `with page as materialized (
     select w.user_id from deposits d join wallets w on w.user_id = d.wallet_id join user_keys k on k.user_id = w.user_id
     where ${isUnsweptSql} and d.wallet_id > $after and w.closed_at is null
       and not exists (select from coin_transfers m where m.sender = w.address and ${isOpenSql})
     group by w.user_id having sum(d.amount) >= $least and ${unsweptSql('w')} >= $least
     order by w.user_id limit $limit
   )
   select ${unsweptRowSql} where w.user_id in (select user_id from page) order by w.user_id`,
)

export const findOwnUnswept = statement(
  'coins_own_unswept',
  { parameters: { user: uuid }, columns: unsweptColumns },
  `select ${unsweptRowSql} where w.user_id = $user`,
)

/** Ignores deposits older than a minute: a full step runs once a minute. */
export const hasCoinWork = statement(
  'coins_has_work',
  { parameters: { least: numeric }, columns: { open: boolean } },
  `select exists (select from coin_transfers m where ${isOpenSql})
     or exists (select from withdrawals where status in ('WAITING', 'SENDING') and due_at <= now())
     or exists (
       select from deposits n where n.swept_by is null and n.kind = 'COIN' and n.credited_at > now() - interval '1 minute'
         and (select sum(d.amount) from deposits d where d.wallet_id = n.wallet_id and ${isUnsweptSql}) >= $least
     ) as open`,
)

const IN_DOUBT = `'${keyValueKeys.treasuryInDoubt}'`
/** Condition: no waiting withdrawal can have been paid already. */
export const isTreasuryCertainSql = `not exists (select from key_values where key = ${IN_DOUBT})`

export const markTreasuryInDoubt = statement(
  'coins_treasury_in_doubt',
  { parameters: { address: text, inDoubt: boolean } },
  `with certain as (delete from key_values where key = ${IN_DOUBT} and not $inDoubt)
   insert into key_values (key, value) select ${IN_DOUBT}, $address where $inDoubt on conflict (key) do nothing`,
)

const TREASURY = `'${keyValueKeys.treasury}'`

/** `nonces`: nonces of signed transfers. `first`: transaction count at the first use. */
export const findStoredTreasuries = statement(
  'coins_stored_treasuries',
  { columns: { address: text, nonces: arrayOf(int), first: int } },
  `select address, array(select m.nonce from coin_transfers m where m.sender = address order by m.nonce) as nonces, first
   from (
     select substr(key, length(${TREASURY}) + 1) as address, value::int as first from key_values
     where key like ${TREASURY} || '%'
   ) stored
   order by address`,
)

/** Stores and returns the first transaction count of a new treasury: 0 after another treasury. */
export const storeTreasury = statement(
  'coins_store_treasury',
  { parameters: { address: text, count: int }, columns: { first: int } },
  `with inserted_value as (
     insert into key_values (key, value)
     select ${TREASURY} || $address,
       case when exists (select from key_values where key like ${TREASURY} || '%') then 0 else $count end::text
     on conflict (key) do nothing returning value
   )
   select value::int as first from inserted_value
   union all select value::int from key_values where key = ${TREASURY} || $address limit 1`,
)

export const findEarlierTreasuries = statement(
  'coins_earlier_treasuries',
  { parameters: { current: text }, columns: { address: text, held: numeric } },
  `select address, held from (
     select g.recipient as address, sum(g.arrived)
       - coalesce((select sum(coalesce(m.arrived + m.fee, m.amount)) from coin_transfers m where m.sender = g.recipient), 0) as held
     from coin_transfers g where g.kind = 'SWEEP' and g.status = 'FINAL' and g.recipient <> $current group by g.recipient
   ) earlier where held > 0 order by address`,
)
