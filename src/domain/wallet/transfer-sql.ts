/**
 * The IDs of transfers. A wallet's statement is sorted by them, so the database makes an ID while it holds the wallet's row lock: the IDs have the
 * order in which the balance changed (decision 21). Usually `uuidv7()` is enough. If the wallet has a transfer whose ID is ahead of the clock, the
 * function `next_transfer_ids` continues from that ID. The function also sees the transfers that were written while the statement waited for the lock.
 */
import { NIL_UUID } from '../ids.ts'

/** A session's next `uuidv7()` is above its last one. */
const isPastSql = (wallet: string) => `uuidv7() > coalesce((
  select e.transfer_id from entries e where e.wallet_id = ${wallet}.user_id order by e.transfer_id desc limit 1), '${NIL_UUID}'::uuid)`

/** Returns the SQL of the ID of a wallet's next transfer. `wallet` is the alias of a locked row. */
export const nextTransferSql = (wallet: string) =>
  `case when ${isPastSql(wallet)} then uuidv7() else (next_transfer_ids(${wallet}.user_id))[1] end`

/** The CTE `new_transfer (transfer_id)`: the ID of one transfer of all wallets that the CTE `from` has locked. */
export const newTransferSql = (from: string) => `
  new_transfer as materialized (
    select ${nextTransferSql(from)} as transfer_id from ${from} order by transfer_id desc limit 1
  )`
