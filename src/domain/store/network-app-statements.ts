import { auditSql } from '../audit/audit-sql.ts'
import { rememberSql } from '../idempotency.ts'
import { listStatement, statement } from '../ports.ts'

/**
 * Raises the unique index on the name when it is taken. No row: the owner was deleted meanwhile. The last three values of this and the other changes: who does it,
 * the app as callers see it, the address it came from.
 */
export const insertNetworkApp = statement<{ id: string }>(
  'network_app_insert',
  `with owner as materialized (
     select id from users where id = $2::uuid and deleted_at is null for share
   ),
   made as (
     insert into network_apps (id, owner_id, name, price, webhook_url, webhook_secret, delivery_failure_policy)
     select $1::uuid, id, $3, $4::numeric, $5, $6::bytea, $7::delivery_failure_policy from owner returning id
   ),
   ${auditSql({ name: 'audited', from: 'made', user: '$10', action: 'network-app.created', subject: '$11', address: '$12' })},
   ${rememberSql('$8', '$9', 'made.id::text', 'made')}
   select id from made`,
)

/**
 * Changes what is not null; $4 tells whether the URL ($5) is given, which enables a webhook again. A first URL takes the
 * secret $6. Orders keep the price they were made at.
 */
export const updateNetworkApp = statement<{ id: string }>(
  'network_app_update',
  `with changed as (
     update network_apps set name = coalesce($2::text, name), price = coalesce($3::numeric, price),
       webhook_url = case when $4::boolean then $5::text else webhook_url end,
       webhook_secret = case when $5::text is null then webhook_secret else coalesce(webhook_secret, $6::bytea) end,
       webhook_disabled_at = case when $4::boolean then null else webhook_disabled_at end,
       delivery_failure_policy = coalesce($7::delivery_failure_policy, delivery_failure_policy), updated_at = now()
     where id = $1::uuid returning id
   ),
   ${auditSql({ name: 'audited', from: 'changed', user: '$10', action: 'network-app.updated', subject: '$11', address: '$12' })},
   ${rememberSql('$8', '$9', 'changed.id::text', 'changed')}
   select id from changed`,
)

/** What signs an app's calls now, sealed. */
export const findSecrets = statement<{ webhook_secret: Buffer | null; previous_secret: Buffer | null }>(
  'network_app_secrets',
  `select webhook_secret, case when previous_secret_expires_at > now() then previous_secret end as previous_secret
   from network_apps where id = $1::uuid`,
)

/** No row: there is no such app, or it has no webhook. $3 names this rotation. */
export const rotateSecret = statement<{ id: string }>(
  'network_app_rotate_secret',
  `with changed as (
     update network_apps set previous_secret = webhook_secret, previous_secret_expires_at = now() + interval '24 hours',
       webhook_secret = $2::bytea, updated_at = now()
     where id = $1::uuid and webhook_url is not null returning id
   ),
   ${auditSql({ name: 'audited', from: 'changed', user: '$6', action: 'network-app.secret-rotated', subject: '$7', address: '$8' })},
   ${rememberSql('$4', '$5', '$3', 'changed')}
   select id from changed`,
)

/** An app that is not sold any more stays as it is. */
export const deactivateNetworkApp = statement<{ id: string }>(
  'network_app_deactivate',
  `with changed as (
     update network_apps set deactivated_at = coalesce(deactivated_at, now()),
       updated_at = case when deactivated_at is null then now() else updated_at end
     where id = $1::uuid returning id
   ),
   ${auditSql({ name: 'audited', from: 'changed', user: '$4', action: 'network-app.deactivated', subject: '$5', address: '$6' })},
   ${rememberSql('$2', '$3', 'changed.id::text', 'changed')}
   select id from changed`,
)

/** Apps whose name holds $1 and that are sold, or not, as $2 says; null says nothing. */
const matchesSql = `($1::text is null or position(lower($1::text) in lower(name)) > 0)
  and ($2::boolean is null or (deactivated_at is null) = $2::boolean)`

/** The app of exactly that name comes first: callers take the first result. Then newest first, from the cursor $3 on. */
const listSql = (from: '<=' | '>=', direction: 'asc' | 'desc') =>
  `with listed as (
     select id, created_at, lower(name) is not distinct from lower($1::text) as is_exact from network_apps where ${matchesSql}
   )
   select id from listed
   where $3::uuid is null or (is_exact, created_at, id) ${from} (select is_exact, created_at, id from listed where id = $3::uuid)
   order by is_exact ${direction}, created_at ${direction}, id ${direction} limit $4::bigint offset $5::bigint`

export const listNetworkApps = listStatement<{ id: string }>('network_app_list', listSql('<=', 'desc'))
/** The same list from its end. */
export const listNetworkAppsBackwards = listStatement<{ id: string }>(
  'network_app_list_backwards',
  listSql('>=', 'asc'),
)

export const countNetworkApps = listStatement<{ count: number }>(
  'network_app_count',
  `select count(*)::int as count from network_apps where ${matchesSql}`,
)
