/**
 * How the service does, counted in slots of ten minutes. What a slot that is over holds is counted once and kept (decision 53); what is not kept yet is
 * counted when it is asked for.
 */
import { openRelaysSql } from '../asset/open-relays-sql.ts'
import { firstIdSql } from '../ids.ts'
import { arrayOf, int, LARGEST_INT, numeric, orNull, type RowOf, statement, text, timestamp } from '../sql.ts'

const dayColumns = {
  /** A day in UTC, as `2026-11-22`. */
  day: text,
  revenueNum: numeric,
  revenuePoints: numeric,
  ordersMade: int,
  ordersPaid: int,
  refunds: int,
  commits: int,
  /** Milliseconds from acceptance to final, of the commits that became final on that day, to within 3 %: median and 95th percentile. */
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

const SLOT = `interval '10 minutes'`
/** After which no statement is under way any more that began in the slot: they end after some seconds. */
const GRACE = `interval '5 minutes'`
/** What an identifier that the database makes may be away from the moment of its row. */
const DATABASE_IDS = `interval '10 minutes'`
/** The same of one that a process makes before the database's clock is read. */
const PROCESS_IDS = `interval '1 hour'`

/** SQL: the beginning of the slot in which a moment lies. */
export const slotOfSql = (moment: string) => `date_bin(${SLOT}, ${moment}, timestamptz '2000-01-01 00:00+00')`
/** SQL: the end of the last slot that is over. */
const keptUntilSql = slotOfSql(`now() - ${GRACE}`)
const dayOf = (moment: string) => `((${moment}) at time zone 'UTC')::date`

/** Whether a row lies in the span `s`; `earlier` is how far its identifier may be before it. */
const isInSpan = (id: string, moment: string, earlier = DATABASE_IDS) =>
  `${id} >= ${firstIdSql(`s.since - ${earlier}`)} and ${id} < ${firstIdSql(`s.until + ${DATABASE_IDS}`)}
    and ${moment} >= s.since and ${moment} < s.until`

/** Lags go by powers of this: the middle of one tells a lag to within 3 %. */
const STEP = `ln(1.05)`
const bucketOf = (milliseconds: string) => `floor(ln(greatest(${milliseconds}, 1)) / ${STEP})::int`
/** In milliseconds, and of more than 25 days no more: a number of 32 bits does not hold it. */
const lagOf = (bucket: string) => `least(round(exp((${bucket} + 0.5) * ${STEP})), ${LARGEST_INT})::int`

/** What is looked up for each row: the planner takes a span for a large part of the table, and would read all that it is joined with. */
const eachSql = (lookup: string) => `${lookup} offset 0`

/** Parts that count by slots what happened in the part `span (since, until)`. */
const countedSql = `
   revenue as (
     select ${slotOfSql('t.created_at')} as slot, sum(e.amount) filter (where e.currency = 'NUM') as num,
       sum(e.amount) filter (where e.currency = 'POINTS') as points
     from span s join transfers t on ${isInSpan('t.id', 't.created_at')}
       cross join lateral (${eachSql(`select amount, currency from entries where transfer_id = t.id and book = 'REVENUE'`)}) as e group by 1
   ),
   made as (
     select ${slotOfSql('o.created_at')} as slot, count(*)::int as n
     from span s join orders o on o.created_at >= s.since and o.created_at < s.until group by 1
   ),
   paid as (
     select ${slotOfSql('o.paid_at')} as slot, count(*)::int as n
     from span s join orders o on o.created_at >= s.since - make_interval(secs => $window) - ${PROCESS_IDS} and o.created_at < s.until
       and o.paid_at >= s.since and o.paid_at < s.until group by 1
   ),
   returned as (
     select ${slotOfSql('r.created_at')} as slot, count(*)::int as n from span s join refunds r on ${isInSpan('r.id', 'r.created_at')} group by 1
   ),
   accepted as (
     select ${slotOfSql('c.created_at')} as slot, count(*)::int as n from span s join commits c on ${isInSpan('c.id', 'c.created_at')} group by 1
   ),
   final as (
     select ${slotOfSql('e.created_at')} as slot, ${bucketOf('extract(epoch from e.created_at - c.created_at) * 1000')} as bucket, count(*) as n
     from span s join events e on e.type = 'commit.final' and ${isInSpan('e.id', 'e.created_at')}
       cross join lateral (${eachSql('select created_at from commits where id = e.commit_id')}) as c
     group by 1, 2
   ),
   called as (
     select ${slotOfSql('d.created_at')} as slot, count(*)::int as n
     from span s join webhook_deliveries d on d.order_id is not null and ${isInSpan('d.id', 'd.created_at')} group by 1
   ),
   joined as (
     select ${slotOfSql('u.created_at')} as slot, count(*)::int as n
     from span s join users u on ${isInSpan('u.id', 'u.created_at', PROCESS_IDS)} group by 1
   )`

/** When the installation began: the database had no tables before. */
const INSTALLED = `(select min(started_at) from _prisma_migrations)`

/** Slots of the last `$days` days until a moment that are not kept: taken away as a set, which is quick also by a plan from when hardly any were kept. */
const unkeptSql = (until: string) => `
   start as materialized (select date_trunc('day', now(), 'UTC') - make_interval(days => $days - 1) as since),
   unkept as materialized (
     select slot from start, generate_series(
       greatest(start.since, ${slotOfSql(INSTALLED)}), ${until}, ${SLOT}
     ) as slot
     except select starts_at from kept_figures where starts_at >= (select since from start)
   )`

/** The part `span`: the slots of the part `from (slot)`, those together between which none is missing. */
const spanSql = (from: string) => `
   span as materialized (
     select min(slot) as since, max(slot) + ${SLOT} as until
     from (select slot, slot - row_number() over (order by slot) * ${SLOT} as first from ${from}) as numbered group by first
   )`

/** Slots that are over and not kept, of the last `days` days, the newest first. */
export const findUnkept = statement(
  'figures_unkept',
  { parameters: { days: int, limit: int }, columns: { slot: timestamp } },
  `with ${unkeptSql(`${keptUntilSql} - ${SLOT}`)} select slot from unkept order by slot desc limit $limit`,
)

/** Counts what happened in slots that are over, and keeps it. Somebody else may have. `window`: seconds in which an order can be paid. */
export const keepSlots = statement(
  'figures_keep',
  { parameters: { slots: arrayOf(timestamp), window: int } },
  `with over as materialized (select slot from unnest($slots) as slot where slot + ${SLOT} <= ${keptUntilSql}),
   ${spanSql('over')},
   ${countedSql},
   lags as (select slot, jsonb_object_agg(bucket, n) as counts from final group by slot)
   insert into kept_figures (starts_at, revenue_num, revenue_points, orders_made, orders_paid, refunds, commits, lags, deliveries, sign_ups)
   select slot, coalesce(revenue.num, 0), coalesce(revenue.points, 0), coalesce(made.n, 0), coalesce(paid.n, 0), coalesce(returned.n, 0),
     coalesce(accepted.n, 0), coalesce(lags.counts, '{}'), coalesce(called.n, 0), coalesce(joined.n, 0)
   from over left join revenue using (slot) left join made using (slot) left join paid using (slot) left join returned using (slot)
     left join accepted using (slot) left join lags using (slot) left join called using (slot) left join joined using (slot)
   on conflict do nothing`,
)

/** The part of a statement that forgets the deliveries `over_rows`: what was given up stays counted where it was made. */
export const noteGivenUpSql = `noted_given_up as (
     update kept_figures k set given_up = k.given_up + gone.n
     from (
       select ${slotOfSql('created_at')} as slot, count(*)::int as n from over_rows
       where status = 'GIVEN_UP' and order_id is not null group by 1
     ) as gone where k.starts_at = gone.slot
   )`

/** Figures of each of the last days, the oldest first; today counts as one. `window`: seconds in which an order can be paid. */
export const readDays = statement(
  'figures_days',
  { parameters: { days: int, window: int }, columns: dayColumns, isList: true },
  `with ${unkeptSql('now()')},
   ${spanSql('unkept')},
   ${countedSql},
   kept as materialized (select * from kept_figures where starts_at >= (select since from start)),
   each_slot (slot, num, points, made, paid, refunds, commits, deliveries, given_up, sign_ups) as (
     select starts_at, revenue_num, revenue_points, orders_made, orders_paid, refunds, commits, deliveries, given_up, sign_ups from kept
     union all select slot, num, points, 0, 0, 0, 0, 0, 0, 0 from revenue
     union all select slot, 0, 0, n, 0, 0, 0, 0, 0, 0 from made
     union all select slot, 0, 0, 0, n, 0, 0, 0, 0, 0 from paid
     union all select slot, 0, 0, 0, 0, n, 0, 0, 0, 0 from returned
     union all select slot, 0, 0, 0, 0, 0, n, 0, 0, 0 from accepted
     union all select slot, 0, 0, 0, 0, 0, 0, n, 0, 0 from called
     union all select slot, 0, 0, 0, 0, 0, 0, 0, 0, n from joined
   ),
   each_day as (
     select ${dayOf('slot')} as day, sum(num) as num, sum(points) as points, sum(made)::int as made, sum(paid)::int as paid,
       sum(refunds)::int as refunds, sum(commits)::int as commits, sum(deliveries)::int as deliveries, sum(given_up)::int as given_up,
       sum(sign_ups)::int as sign_ups
     from each_slot group by 1
   ),
   lag_counts as (
     select ${dayOf('slot')} as day, bucket, sum(n) as n from (
       select slot, bucket, n from final
       union all select starts_at, l.key::int, l.value::bigint from kept cross join lateral jsonb_each_text(kept.lags) as l
     ) as each_lag group by 1, 2
   ),
   lag as (
     select day, ${lagOf('min(bucket) filter (where upto >= 0.5 * total)')} as p50, ${lagOf('min(bucket) filter (where upto >= 0.95 * total)')} as p95
     from (
       select day, bucket, sum(n) over (partition by day order by bucket) as upto, sum(n) over (partition by day) as total from lag_counts
     ) as counted group by day
   ),
   open as (
     select ${dayOf('d.created_at')} as day, count(*) filter (where d.status = 'PENDING')::int as pending,
       count(*) filter (where d.status = 'GIVEN_UP')::int as given_up
     from webhook_deliveries d
     where d.status <> 'DELIVERED' and d.order_id is not null and d.id >= ${firstIdSql(`(select since from start) - ${DATABASE_IDS}`)}
       and d.created_at >= (select since from start) group by 1
   ),
   days as (
     select ${dayOf('since + make_interval(days => n)')} as day from start, generate_series(0, $days - 1) as n
   ),
   told as (
     select days.day, coalesce(e.num, 0) as num, coalesce(e.points, 0) as points, coalesce(e.made, 0) as made, coalesce(e.paid, 0) as paid,
       coalesce(e.refunds, 0) as refunds, coalesce(e.commits, 0) as commits, coalesce(e.deliveries, 0) as deliveries,
       coalesce(open.pending, 0) as pending, coalesce(e.given_up, 0) + coalesce(open.given_up, 0) as given_up,
       coalesce(e.sign_ups, 0) as sign_ups, lag.p50, lag.p95
     from days left join each_day e using (day) left join lag using (day) left join open using (day)
   )
   select day::text, num as "revenueNum", points as "revenuePoints", made as "ordersMade", paid as "ordersPaid", refunds, commits,
     p50 as "lagP50", p95 as "lagP95", deliveries - pending - given_up as delivered, pending, given_up as "givenUp", sign_ups as "signUps"
   from told order by day`,
)

/** What waits now: commits that are not settled on the chain, and webhook calls. */
export const readWaiting = statement(
  'figures_waiting',
  { columns: { commits: int, oldestCommitAt: orNull(timestamp), deliveries: int } },
  `select count(*)::int as commits, min(c.created_at) as "oldestCommitAt",
     (select count(*)::int from webhook_deliveries where status = 'PENDING') as deliveries
   from (${openRelaysSql}) r join commits c on c.id = r.commit_id where r.status <> 'INCLUDED'`,
)
