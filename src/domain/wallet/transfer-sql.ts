/**
 * What a transfer is called. A statement of a wallet goes by the identifiers of its transfers, so they are made by the
 * database where the wallet's row is held: they are in the order in which its balance changed (decision 21).
 */
import type { ChangeParts } from './points-sql.ts'

/** What an update of a wallet returns when one transfer changes it: what that is called, and the wallet's grants are used. */
export const openTransferSql = ({ wallet, change, at = 'now()', undone = 'null' }: ChangeParts) =>
  `open_transfer(${wallet}.user_id, ${wallet}.points_expire_at is not null, ${change}, ${at}, ${undone}::uuid) as transfer_id`

/** The same where no grant is used. `wallet` is the alias of a row that is held. */
export const nextTransferSql = (wallet: string) => `(next_transfer_ids(${wallet}.user_id))[1]`

/** The part `opened (transfer_id)`: what one transfer of all wallets is called that the part `from` holds. */
export const openedSql = (from: string) => `
  opened as materialized (
    select ${nextTransferSql(from)} as transfer_id from ${from} order by transfer_id desc limit 1
  )`
