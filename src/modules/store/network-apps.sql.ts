import type { DeliveryFailurePolicy } from '../../db/prisma/client.ts'
import { arrayOf, bigint, boolean, bytes, int, numeric, orNull, statement, text, textOf, uuid } from '../../db/sql.ts'
import { remembered, rememberSql } from '../../shared/idempotency.ts'
import { type ListOrder, MAX_COUNTED } from '../../shared/lists.ts'
import { audited, auditSql } from '../audit/audit-sql.ts'

const policy = textOf<DeliveryFailurePolicy>('delivery_failure_policy')
/** Parameters of all statements that change an app. `subject`: the public ID of the app. */
const change = { app: uuid, subject: text, ...remembered, ...audited }

/** Creates an app. Violates the unique index `network_apps_name_key` if the name is taken. Returns no row if the owner was deleted. */
export const insertNetworkApp = statement(
  'network_app_insert',
  {
    parameters: {
      ...change,
      owner: uuid,
      name: text,
      price: numeric,
      url: orNull(text),
      secret: orNull(bytes),
      policy,
    },
    columns: { id: uuid },
  },
  `with locked_owner as materialized (
     select id from users where id = $owner and deleted_at is null for share
   ),
   inserted_app as (
     insert into network_apps (id, owner_id, name, price, webhook_url, webhook_secret, delivery_failure_policy)
     select $app, id, $name, $price, $url, $secret, $policy from locked_owner returning id
   ),
   ${auditSql({ from: 'inserted_app', user: '$actor', action: 'network-app.created', subject: '$subject', address: '$address' })},
   ${rememberSql('inserted_app.id::text', 'inserted_app')}
   select id from inserted_app`,
)

/**
 * Updates the columns whose parameters are not null. `hasUrl`: true if the URL changes. A new URL also enables the webhook again. The first
 * URL of an app also stores its webhook secret.
 */
export const updateNetworkApp = statement(
  'network_app_update',
  {
    parameters: {
      ...change,
      name: orNull(text),
      price: orNull(numeric),
      hasUrl: boolean,
      url: orNull(text),
      secret: orNull(bytes),
      policy: orNull(policy),
    },
    columns: { id: uuid },
  },
  `with updated_app as (
     update network_apps set name = coalesce($name, name), price = coalesce($price, price),
       webhook_url = case when $hasUrl then $url else webhook_url end,
       webhook_secret = case when $url is null then webhook_secret else coalesce(webhook_secret, $secret) end,
       webhook_disabled_at = case when $hasUrl then null else webhook_disabled_at end,
       delivery_failure_policy = coalesce($policy, delivery_failure_policy), updated_at = now()
     where id = $app returning id
   ),
   ${auditSql({ from: 'updated_app', user: '$actor', action: 'network-app.updated', subject: '$subject', address: '$address' })},
   ${rememberSql('updated_app.id::text', 'updated_app')}
   select id from updated_app`,
)

/** Reads the encrypted secrets that sign an app's webhook requests. */
export const findSecrets = statement(
  'network_app_secrets',
  { parameters: { app: uuid }, columns: { webhook_secret: orNull(bytes), previous_secret: orNull(bytes) } },
  `select webhook_secret, case when previous_secret_expires_at > now() then previous_secret end as previous_secret
   from network_apps where id = $app`,
)

/**
 * Replaces an app's webhook secret. The previous secret remains valid for 24 hours. `rotation`: ID of this rotation. Returns no row if the
 * app does not exist or has no webhook.
 */
export const rotateSecret = statement(
  'network_app_rotate_secret',
  { parameters: { ...change, secret: bytes, rotation: text }, columns: { id: uuid } },
  `with updated_app as (
     update network_apps set previous_secret = webhook_secret, previous_secret_expires_at = now() + interval '24 hours',
       webhook_secret = $secret, updated_at = now()
     where id = $app and webhook_url is not null returning id
   ),
   ${auditSql({ from: 'updated_app', user: '$actor', action: 'network-app.secret-rotated', subject: '$subject', address: '$address' })},
   ${rememberSql('$rotation', 'updated_app')}
   select id from updated_app`,
)

/** Ends the sale of an app. Has no effect on an app that is no longer sold. */
export const deactivateNetworkApp = statement(
  'network_app_deactivate',
  { parameters: change, columns: { id: uuid } },
  `with updated_app as (
     update network_apps set deactivated_at = coalesce(deactivated_at, now()),
       updated_at = case when deactivated_at is null then now() else updated_at end
     where id = $app returning id
   ),
   ${auditSql({ from: 'updated_app', user: '$actor', action: 'network-app.deactivated', subject: '$subject', address: '$address' })},
   ${rememberSql('updated_app.id::text', 'updated_app')}
   select id from updated_app`,
)

/** Filter parameters. Null values are ignored. `onlySold`: true for callers who may not see apps that are no longer sold. */
const filter = { name: orNull(text), isActive: orNull(boolean), onlySold: boolean, patterns: arrayOf(text) }
const matchesSql = `name ilike all ($patterns) and ($name is null or position(lower($name) in lower(name)) > 0)
  and ($isActive is null or (deactivated_at is null) = $isActive) and (not $onlySold or deactivated_at is null)`

const listed = {
  parameters: {
    ...{ ...filter, orderBy: orNull(textOf<ListOrder>()), cursor: orNull(uuid) },
    ...{ limit: orNull(bigint), offset: bigint },
  },
  columns: { id: uuid },
  isList: true,
} as const

/**
 * SQL of a page of apps. Without `orderBy`, an app with exactly the given name comes first, because clients use the first result. The page
 * starts after the app of the cursor, even if that app no longer matches the filter.
 */
const listSql = (beyond: '<' | '>', direction: 'asc' | 'desc') =>
  `with placed as (
     select id, name, deactivated_at, case $orderBy when 'UPDATED_AT' then updated_at else created_at end as listed_at,
       $orderBy is null and lower(name) is not distinct from lower($name) as is_exact
     from network_apps
   )
   select id from placed
   where ${matchesSql}
     and ($cursor is null or (is_exact, listed_at, id) ${beyond} (select is_exact, listed_at, id from placed where id = $cursor))
   order by is_exact ${direction}, listed_at ${direction}, id ${direction} limit $limit offset $offset`

export const listNetworkApps = statement('network_app_list', listed, listSql('<', 'desc'))
export const listNetworkAppsBackwards = statement('network_app_list_backwards', listed, listSql('>', 'asc'))

export const countNetworkApps = statement(
  'network_app_count',
  { parameters: filter, columns: { count: int }, isList: true },
  `select count(*)::int as count from (select from network_apps where ${matchesSql} limit ${MAX_COUNTED}) counted`,
)
