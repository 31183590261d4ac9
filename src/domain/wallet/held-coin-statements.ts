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

/** The same, of all books and of what waits now. */
export const findHeldCoins = statement(
  'held_coins',
  { columns },
  `select books.*, deposits.*, due.* from (
     select trim_scale(coalesce(-sum(amount) filter (where book = 'DEPOSITS'), 0)) as "atAddresses",
       trim_scale(coalesce(-sum(amount) filter (where book = 'UNDER_WAY'), 0)) as "underWay",
       trim_scale(coalesce(-sum(amount) filter (where book = 'TREASURY'), 0)) as "inTreasury",
       trim_scale(coalesce(-sum(amount) filter (where book = 'SHORTFALL'), 0)) as shortfall
     from entries where currency = 'NUM' and book in ('DEPOSITS', 'UNDER_WAY', 'TREASURY', 'SHORTFALL')
   ) books, (
     select count(*)::int as "frozenDeposits" from deposits where status = 'FROZEN'
   ) deposits, (
     select count(*)::int as "dueWithdrawals", trim_scale(coalesce(sum(amount + fee), 0)) as "amountDue", min(due_at) as "oldestDueAt"
     from withdrawals where status = 'WAITING' and due_at <= now()
   ) due`,
)
