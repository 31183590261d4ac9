/** Statistics of the service for administrators, computed from existing tables. */
import type { Use } from '../../context.ts'
import { int, LARGEST_INT, numeric, orNull, type RowOf, statement, text, timestamp } from '../../db/sql.ts'
import { validationFailed } from '../../shared/errors.ts'
import { firstIdSql } from '../../shared/ids.ts'
import { assertMay } from '../../shared/policy.ts'
import { openRelaysSql } from '../commits/commits.sql.ts'

const dayColumns = {
  /** Date of the statistics in UTC, such as `2026-11-22`. */
  day: text,
  ...{ revenueNum: numeric, revenuePoints: numeric, ordersMade: int, ordersPaid: int, refunds: int, commits: int },
  /** Median and 95th percentile of the time from acceptance to finality, in milliseconds, by the day of finality. */
  ...{ lagP50: orNull(int), lagP95: orNull(int) },
  /** Webhook deliveries created on this day, by their current status. Test events are excluded. */
  ...{ delivered: int, pending: int, givenUp: int },
  signUps: int,
}
export type DayStatistics = RowOf<typeof dayColumns>

/**
 * Maximum difference between a row's ID and its time. Row IDs are UUIDv7, so an ID range finds the period's rows by
 * the primary key. A process may create an ID before the database records the time.
 */
const ID_SKEW = `interval '1 hour'`

const dayOf = (time: string) => `((${time}) at time zone 'UTC')::date`

/** Returns the SQL condition that a row was created in the period. */
const isInPeriod = (id: string, time: string) =>
  `${id} >= ${firstIdSql(`(select since from period) - ${ID_SKEW}`)} and ${time} >= (select since from period)`

/** Returns an SQL join that looks up rows one by one. `offset 0` prevents a scan of the joined table. */
const lookup = (query: string) => `cross join lateral (${query} offset 0)`

const lagPercentile = (fraction: number) =>
  `least(round(percentile_cont(${fraction}) within group (order by lag)), ${LARGEST_INT})::int`

/** Returns the statistics of the last `days` days, oldest first. `window`: seconds in which an order can be paid. */
export const readDays = statement(
  'statistics_days',
  { parameters: { days: int, window: int }, columns: dayColumns, isList: true },
  `with period as materialized (select date_trunc('day', now(), 'UTC') - make_interval(days => $days - 1) as since),
   revenue as (
     select ${dayOf('t.created_at')} as day, sum(e.amount) filter (where e.currency = 'NUM') as num,
       sum(e.amount) filter (where e.currency = 'POINTS') as points
     from transfers t ${lookup(`select amount, currency from entries where transfer_id = t.id and book = 'REVENUE'`)} e
     where ${isInPeriod('t.id', 't.created_at')} group by 1
   ),
   ordered as (
     select ${dayOf('created_at')} as day, count(*)::int as made from orders where created_at >= (select since from period) group by 1
   ),
   paid as (
     select ${dayOf('paid_at')} as day, count(*)::int as paid from orders
     where created_at >= (select since from period) - make_interval(secs => $window) and paid_at >= (select since from period) group by 1
   ),
   refunded as (
     select ${dayOf('created_at')} as day, count(*)::int as refunds from refunds where ${isInPeriod('id', 'created_at')} group by 1
   ),
   committed as (
     select ${dayOf('created_at')} as day, count(*)::int as commits from commits where ${isInPeriod('id', 'created_at')} group by 1
   ),
   finalized as (
     select day, ${lagPercentile(0.5)} as p50, ${lagPercentile(0.95)} as p95 from (
       select ${dayOf('e.created_at')} as day, extract(epoch from e.created_at - c.created_at) * 1000 as lag
       from events e ${lookup('select created_at from commits where id = e.commit_id')} c
       where e.type = 'commit.final' and ${isInPeriod('e.id', 'e.created_at')}
     ) as lags group by day
   ),
   delivered as (
     select ${dayOf('created_at')} as day, count(*) filter (where status = 'DELIVERED')::int as delivered,
       count(*) filter (where status = 'PENDING')::int as pending, count(*) filter (where status = 'GIVEN_UP')::int as given_up
     from webhook_deliveries where order_id is not null and ${isInPeriod('id', 'created_at')} group by 1
   ),
   joined as (
     select ${dayOf('created_at')} as day, count(*)::int as sign_ups from users where ${isInPeriod('id', 'created_at')} group by 1
   ),
   days as (
     select ${dayOf('since + make_interval(days => n)')} as day from period, generate_series(0, $days - 1) as n
   )
   select day::text, coalesce(num, 0) as "revenueNum", coalesce(points, 0) as "revenuePoints", coalesce(made, 0) as "ordersMade",
     coalesce(paid, 0) as "ordersPaid", coalesce(refunds, 0) as refunds, coalesce(commits, 0) as commits, p50 as "lagP50", p95 as "lagP95",
     coalesce(delivered, 0) as delivered, coalesce(pending, 0) as pending, coalesce(given_up, 0) as "givenUp",
     coalesce(sign_ups, 0) as "signUps"
   from days left join revenue using (day) left join ordered using (day) left join paid using (day) left join refunded using (day)
     left join committed using (day) left join finalized using (day) left join delivered using (day) left join joined using (day)
   order by day`,
)

/** Returns the backlog: commits that are not in a block, and webhook deliveries that will be retried. */
export const readBacklog = statement(
  'statistics_backlog',
  { columns: { waitingCommits: int, oldestWaitingCommitAt: orNull(timestamp), waitingDeliveries: int } },
  `select count(*)::int as "waitingCommits", min(c.created_at) as "oldestWaitingCommitAt",
     (select count(*)::int from webhook_deliveries where status = 'PENDING') as "waitingDeliveries"
   from (${openRelaysSql}) r join commits c on c.id = r.commit_id where r.status <> 'INCLUDED'`,
)

/** Maximum number of days in one query. */
export const MAX_DAYS = 31

export type Statistics = Awaited<ReturnType<typeof readStatistics>>

/** Returns the statistics of the last `days` days, and the backlog. Throws PERMISSION_DENIED, VALIDATION_FAILED. */
export async function readStatistics({ actor, config, database }: Use<'actor' | 'config' | 'database'>, days: number) {
  assertMay(actor, 'store:administer')
  if (days < 1 || days > MAX_DAYS) throw validationFailed({ days: [`Must be between 1 and ${MAX_DAYS}.`] })
  const [perDay, [backlog]] = await Promise.all([
    database.query(readDays, { days, window: config.store.orderWindowSeconds }),
    database.query(readBacklog),
  ])
  return { days: perDay, ...backlog! }
}
