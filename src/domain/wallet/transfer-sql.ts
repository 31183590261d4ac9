/**
 * What a transfer is called. A statement of a wallet goes by the identifiers of its transfers, so they are made by the
 * database where the wallet's row is held: they are in the order in which its balance changed (decision 21). Mostly the
 * clock alone tells that. Where it does not, because the wallet has a transfer that some clock has named ahead of now, a
 * function goes on from that one; it looks anew, also at what came while the statement waited.
 */
import { NIL_UUID } from '../ids.ts'
import type { ChangeParts } from './points-sql.ts'

/** A session's next `uuidv7()` is above its last one. */
const isPastSql = (wallet: string) => `uuidv7() > coalesce((
  select e.transfer_id from entries e where e.wallet_id = ${wallet}.user_id order by e.transfer_id desc limit 1), '${NIL_UUID}'::uuid)`

/** What an update of a wallet returns when one transfer changes it: what that is called; and the wallet's grants are used. */
export const openTransferSql = ({ wallet, change, at = 'now()', undone = 'null' }: ChangeParts) => `
  case when ${wallet}.points_expire_at is null and ${isPastSql(wallet)} then uuidv7()
    else open_transfer(${wallet}.user_id, ${wallet}.points_expire_at is not null, ${change}, ${at}, ${undone}::uuid)
  end as transfer_id`

/** What the next transfer of a wallet is called where no grant is used. `wallet` is the alias of a row that is held. */
export const nextTransferSql = (wallet: string) =>
  `case when ${isPastSql(wallet)} then uuidv7() else (next_transfer_ids(${wallet}.user_id))[1] end`

/** The part `new_transfer (transfer_id)`: what one transfer of all wallets is called that the part `from` holds. */
export const newTransferSql = (from: string) => `
  new_transfer as materialized (
    select ${nextTransferSql(from)} as transfer_id from ${from} order by transfer_id desc limit 1
  )`
