import { openRelaysSql } from '../asset/open-relays-sql.ts'
import { firstIdSql } from '../ids.ts'
import { int, numeric, orNull, type RowOf, statement, text, timestamp } from '../sql.ts'

const dayColumns = {
  /** A day in UTC, as `2026-11-22`. */
  day: text,
  revenueNum: numeric,
  revenuePoints: numeric,
  ordersMade: int,
  ordersPaid: int,
  refunds: int,
  commits: int,
  /** Milliseconds from acceptance to final, of the commits that became final on that day: median and 95th percentile. */
  lagP50: orNull(int),
  lagP95: orNull(int),
  /** Deliveries that were made on that day, by what became of them; test events are none of these. */
  delivered: int,
  pending: int,
  givenUp: int,
  signUps: int,
}
/** What happened on one day. Amounts are decimal strings. */
export type DayFigures = RowOf<typeof dayColumns>

/**
 * Some identifiers are made by a process before the database's clock is read: an hour's allowance finds those, too.
 */
const spanSql = `
  span as materialized (
    select since, ${firstIdSql(`since - interval '1 hour'`)} as first_id
    from (select date_trunc('day', now(), 'UTC') - make_interval(days => $days - 1) as since) as start
  )`

const dayOf = (moment: string) => `((${moment}) at time zone 'UTC')::date`
const isInSpan = (id: string, moment: string) =>
  `${id} >= (select first_id from span) and ${moment} >= (select since from span)`

/** Figures of each of the last days, the oldest first; today counts as one. */
export const readDays = statement(
  'figures_days',
  { parameters: { days: int }, columns: dayColumns, isList: true },
  `with ${spanSql},
   days as (
     select ${dayOf(`since + make_interval(days => n)`)} as day from span, generate_series(0, $days - 1) as n
   ),
   revenue as (
     select ${dayOf('t.created_at')} as day, sum(e.amount) filter (where e.currency = 'NUM') as num,
       sum(e.amount) filter (where e.currency = 'POINTS') as points
     from entries e join transfers t on t.id = e.transfer_id
     where e.book = 'REVENUE' and ${isInSpan('e.transfer_id', 't.created_at')} group by 1
   ),
   made as (select ${dayOf('created_at')} as day, count(*)::int as n from orders where ${isInSpan('id', 'created_at')} group by 1),
   paid as (select ${dayOf('paid_at')} as day, count(*)::int as n from orders where ${isInSpan('id', 'paid_at')} group by 1),
   returned as (select ${dayOf('created_at')} as day, count(*)::int as n from refunds where ${isInSpan('id', 'created_at')} group by 1),
   accepted as (select ${dayOf('created_at')} as day, count(*)::int as n from commits where ${isInSpan('id', 'created_at')} group by 1),
   lag as (
     select day, round(percentile_cont(0.5) within group (order by ms))::int as p50, round(percentile_cont(0.95) within group (order by ms))::int as p95
     from (
       select ${dayOf('e.created_at')} as day, (extract(epoch from e.created_at - c.created_at) * 1000)::float8 as ms
       from events e join commits c on c.id = e.commit_id
       where e.type = 'commit.final' and ${isInSpan('e.id', 'e.created_at')}
     ) as final group by day
   ),
   deliveries as (
     select ${dayOf('created_at')} as day, count(*) filter (where status = 'DELIVERED')::int as delivered,
       count(*) filter (where status = 'PENDING')::int as pending, count(*) filter (where status = 'GIVEN_UP')::int as given_up
     from webhook_deliveries where order_id is not null and ${isInSpan('id', 'created_at')} group by 1
   ),
   joined as (
     select ${dayOf('created_at')} as day, count(*)::int as n from users where ${isInSpan('id', 'created_at')} group by 1
   )
   select days.day::text, coalesce(revenue.num, 0) as "revenueNum", coalesce(revenue.points, 0) as "revenuePoints",
     coalesce(made.n, 0) as "ordersMade", coalesce(paid.n, 0) as "ordersPaid", coalesce(returned.n, 0) as refunds,
     coalesce(accepted.n, 0) as commits, lag.p50 as "lagP50", lag.p95 as "lagP95",
     coalesce(deliveries.delivered, 0) as delivered, coalesce(deliveries.pending, 0) as pending,
     coalesce(deliveries.given_up, 0) as "givenUp", coalesce(joined.n, 0) as "signUps"
   from days left join revenue using (day) left join made using (day) left join paid using (day) left join returned using (day)
     left join accepted using (day) left join lag using (day) left join deliveries using (day) left join joined using (day)
   order by days.day`,
)

/** What waits now: commits that are not settled on the chain, and webhook calls. */
export const readWaiting = statement(
  'figures_waiting',
  { columns: { commits: int, oldestCommitAt: orNull(timestamp), deliveries: int } },
  `select count(*)::int as commits, min(c.created_at) as "oldestCommitAt",
     (select count(*)::int from webhook_deliveries where status = 'PENDING') as deliveries
   from (${openRelaysSql}) r join commits c on c.id = r.commit_id where r.status <> 'INCLUDED'`,
)
