import { int, numeric, orNull, type RowOf, statement, timestamp } from '../sql.ts'

const columns = {
  atAddresses: numeric,
  underWay: numeric,
  inTreasury: numeric,
  shortfall: numeric,
  frozenDeposits: int,
  dueWithdrawals: int,
  amountDue: numeric,
  oldestDueAt: orNull(timestamp),
}
/** Where coins lie by the books, and what waits for them. */
export type BookedHeldCoins = RowOf<typeof columns>

/** The same, of the balances that are noted where entries are written, and of what waits now. */
export const findHeldCoins = statement(
  'held_coins',
  { columns },
  `select trim_scale(b.at_addresses) as "atAddresses", trim_scale(b.under_way) as "underWay", trim_scale(b.in_treasury) as "inTreasury",
     trim_scale(b.shortfall) as shortfall, deposits.*, due.*
   from coin_balances b, (
     select count(*)::int as "frozenDeposits" from deposits where status = 'FROZEN'
   ) deposits, (
     select count(*)::int as "dueWithdrawals", trim_scale(coalesce(sum(amount + fee), 0)) as "amountDue", min(due_at) as "oldestDueAt"
     from withdrawals where status = 'WAITING' and due_at <= now()
   ) due`,
)
