/** What is forgotten by age, table by table. How long each is kept stands in `retention.ts`. */
import { firstIdSql } from '../ids.ts'
import { type ForgottenRows, forgottenRows } from './aged-rows.ts'
import { noteKeptFromSql } from './kept-from.ts'

const daysSql = 'make_interval(days => $days)'
const beforeSql = `now() - ${daysSql}`

/** Keys whose requests nobody repeats any more. */
export const oldKeys: ForgottenRows = forgottenRows({
  sweep: 'forget-idempotency-keys',
  name: 'idempotency',
  table: 'idempotency_keys',
  key: { bytes: 'scope' },
  by: 'created_at',
  isOver: `r.created_at < ${beforeSql}`,
  overSince: `r.created_at + ${daysSql}`,
})

/** Sessions that ended by themselves. */
export const endedTokens: ForgottenRows = forgottenRows({
  sweep: 'forget-tokens',
  name: 'token',
  table: 'access_tokens',
  key: { uuid: 'id' },
  by: 'expires_at',
  isOver: `r.expires_at < ${beforeSql}`,
  overSince: `r.expires_at + ${daysSql}`,
})

/** Sessions that nobody uses any more. Those that are as old and in use are looked at, too: there are as many as people. */
export const idleTokens: ForgottenRows = forgottenRows({
  sweep: 'forget-idle-sessions',
  name: 'idle_token',
  table: 'access_tokens',
  key: { uuid: 'id' },
  isOver: `r.id < ${firstIdSql(beforeSql)} and greatest(r.created_at, r.last_used_at) < ${beforeSql}`,
  overSince: `greatest(r.created_at, r.last_used_at) + ${daysSql}`,
})

/** Mailed secrets that are worth nothing any more, with the addresses that they went to. */
export const endedOneTimeTokens: ForgottenRows = forgottenRows({
  sweep: 'forget-one-time-tokens',
  name: 'one_time_token',
  table: 'one_time_tokens',
  key: { bytes: 'hash' },
  by: 'expires_at',
  isOver: `r.expires_at < ${beforeSql}`,
  overSince: `r.expires_at + ${daysSql}`,
})

/** Webhook calls that are settled, with their attempts and what the receivers answered. */
export const oldDeliveries: ForgottenRows = forgottenRows({
  sweep: 'forget-deliveries',
  name: 'delivery',
  table: 'webhook_deliveries',
  key: { uuid: 'id' },
  isOver: `r.id < ${firstIdSql(beforeSql)} and r.settled_at < ${beforeSql}`,
  overSince: `r.settled_at + ${daysSql}`,
  parts: `deleted_attempts as (delete from webhook_attempts a using over_rows where a.delivery_id = over_rows.id),
   ${noteKeptFromSql(beforeSql)}`,
})

/**
 * Events, from the beginning of each feed on, so that positions have no gap: where one has to stay, because the call that tells it is
 * not forgotten yet, so do those after it.
 */
export const oldEvents: ForgottenRows = forgottenRows({
  sweep: 'forget-events',
  name: 'event',
  table: 'events',
  key: { uuid: 'id' },
  isOver: `r.id < ${firstIdSql(beforeSql)} and r.created_at < ${beforeSql}`,
  overSince: `r.created_at + ${daysSql}`,
  parts: `kept_events as materialized (
     select feeds.owner_id, first_kept.sequence
     from (select distinct owner_id from over_rows) feeds cross join lateral (
       select e.sequence from events e
       where e.owner_id = feeds.owner_id and (e.id not in (select id from over_rows)
         or exists (select from webhook_deliveries d where d.event_id = e.id))
       order by e.sequence limit 1
     ) first_kept
   ),
   ${noteKeptFromSql(beforeSql)}`,
  unless: 'exists (select from kept_events k where k.owner_id = r.owner_id and k.sequence <= r.sequence)',
})
