/** What a rotation of the key-encryption key reads and writes: three columns of sealed texts, and the custodial keys. */

import { boolean, bytes, int, orNull, type RowOf, smallint, statement, text, uuid } from '../db/sql.ts'
import { auditSql } from '../modules/audit/audit-sql.ts'

/** Where something lies that the key vault wrapped. */
export type KeyHolder = 'user_keys' | 'orders' | 'network_apps' | 'network_apps_previous'

/** Rows of a page: all of them, so that a page costs the same whatever is left in it. */
const page = { after: uuid, limit: int }

const keyColumns = { user_id: uuid, is_stale: boolean, version: smallint, vault_key_id: text, wrapped_data_key: bytes }
/** A wrapped custodial key, and whether it is to be wrapped anew. */
export type KeyRow = RowOf<typeof keyColumns>

/** A page of the custodial keys' wrappings. What is not of the current key and version is stale. */
export const findKeys = statement(
  'keys_page',
  { parameters: { ...page, currentKey: text, currentVersion: smallint }, columns: keyColumns },
  `select user_id, vault_key_id <> $currentKey or version <> $currentVersion as is_stale, version, vault_key_id,
     wrapped_data_key
   from user_keys where user_id > $after order by user_id limit $limit`,
)

/** Replaces a wrapping, if it is still as it was read (`before`). */
export const replaceKey = statement(
  'keys_replace',
  {
    parameters: { user: uuid, before: bytes, wrappedDataKey: bytes, version: smallint, vaultKeyId: text },
    columns: { user_id: uuid },
  },
  `update user_keys set wrapped_data_key = $wrappedDataKey, version = $version, vault_key_id = $vaultKeyId
   where user_id = $user and wrapped_data_key = $before returning user_id`,
)

/** Whether it lies there still as it was read. */
export const findKey = statement(
  'keys_find',
  { parameters: { user: uuid, before: bytes }, columns: { is_same: boolean } },
  'select wrapped_data_key = $before as is_same from user_keys where user_id = $user',
)

const textsOf = (table: string, column: string) => ({
  /** An envelope is null unless it is to be rewrapped. `currentPrefix`: how everything begins that the current key wraps. */
  page: statement(
    `sealed_page_${column}`,
    { parameters: { ...page, currentPrefix: bytes }, columns: { id: uuid, envelope: orNull(bytes) } },
    `select id,
       case when substring(${column} from 1 for octet_length($currentPrefix)) <> $currentPrefix then ${column} end as envelope
     from ${table} where id > $after order by id limit $limit`,
  ),
  /** `before`: the envelope as it was read. */
  replace: statement(
    `sealed_replace_${column}`,
    { parameters: { row: uuid, before: bytes, envelope: bytes }, columns: { id: uuid } },
    `update ${table} set ${column} = $envelope where id = $row and ${column} = $before returning id`,
  ),
  find: statement(
    `sealed_find_${column}`,
    { parameters: { row: uuid, envelope: bytes }, columns: { id: uuid } },
    `select id from ${table} where id = $row and ${column} = $envelope`,
  ),
})

/** For each column of sealed texts: how it is read page by page, and how one text is replaced and found again. */
export const sealedTexts = {
  orders: textsOf('orders', 'action_args'),
  network_apps: textsOf('network_apps', 'webhook_secret'),
  network_apps_previous: textsOf('network_apps', 'previous_secret'),
} satisfies Record<Exclude<KeyHolder, 'user_keys'>, object>

const holders = { user_keys: int, orders: int, network_apps: int, network_apps_previous: int } satisfies Record<
  KeyHolder,
  typeof int
>

/** How much of what a key wraps. `prefix`: how every sealed text begins that it wraps. */
export const countWrapped = statement(
  'keys_count_wrapped',
  { parameters: { key: text, prefix: bytes }, columns: holders },
  `select (select count(*) from user_keys where vault_key_id = $key)::int as user_keys,
     (select count(*) from orders where substring(action_args from 1 for octet_length($prefix)) = $prefix)::int as orders,
     (select count(*) from network_apps where substring(webhook_secret from 1 for octet_length($prefix)) = $prefix)::int
       as network_apps,
     (select count(*) from network_apps where substring(previous_secret from 1 for octet_length($prefix)) = $prefix)::int
       as network_apps_previous`,
)

/** How many custodial keys are of another version than the current one, and how much is wrapped in all. */
export const countAll = statement(
  'keys_count_all',
  { parameters: { currentVersion: smallint }, columns: { old_versions: int, total: int } },
  `select (select count(*) from user_keys where version <> $currentVersion)::int as old_versions,
     ((select count(*) from user_keys) + (select count(action_args) from orders)
       + (select count(webhook_secret) + count(previous_secret) from network_apps))::int as total`,
)

/** Writes a rotation into the audit trail. */
export const noteRotation = statement(
  'keys_note_rotation',
  { parameters: { currentKey: text } },
  `with rotation as (select 1),
   ${auditSql({ from: 'rotation', user: 'null', action: 'keys.rotated', subject: '$currentKey' })}
   select`,
)
