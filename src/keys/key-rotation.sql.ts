/** Statements of the key rotation. Wrapped keys are in three columns of encrypted texts and in the custodial keys. */

import { boolean, bytes, int, orNull, type RowOf, smallint, statement, text, uuid } from '../db/sql.ts'
import { auditSql } from '../modules/audit/audit-sql.ts'
import { actionArgsContext } from '../modules/store/action-args.ts'
import { webhookSecretContext } from '../modules/store/network-apps.ts'
import type { IdPrefix } from '../shared/ids.ts'

/** A page has all rows, so it costs the same at any progress. */
const page = { after: uuid, limit: int }

const keyColumns = { user_id: uuid, is_stale: boolean, version: smallint, vault_key_id: text, wrapped_data_key: bytes }
/** A wrapped custodial key. It is stale unless the current key wraps it. */
export type KeyRow = RowOf<typeof keyColumns>

export const findKeys = statement(
  'keys_page',
  { parameters: { ...page, currentKey: text }, columns: keyColumns },
  `select user_id, vault_key_id <> $currentKey as is_stale, version, vault_key_id, wrapped_data_key
   from user_keys where user_id > $after order by user_id limit $limit`,
)

/** Replaces a wrapping unless it changed since it was read (`before`). */
export const replaceKey = statement(
  'keys_replace',
  {
    parameters: { user: uuid, before: bytes, wrappedDataKey: bytes, version: smallint, vaultKeyId: text },
    columns: { user_id: uuid },
  },
  `update user_keys set wrapped_data_key = $wrappedDataKey, version = $version, vault_key_id = $vaultKeyId
   where user_id = $user and wrapped_data_key = $before returning user_id`,
)

/** Returns true if the wrapping is unchanged. No row: the key was deleted. */
export const findKey = statement(
  'keys_find',
  { parameters: { user: uuid, before: bytes }, columns: { is_same: boolean } },
  'select wrapped_data_key = $before as is_same from user_keys where user_id = $user',
)

interface TextHolder {
  /** Description of the text for operators. */
  title: string
  prefix: IdPrefix
  /** Returns the context of the encrypted text of a row. */
  contextOf: (id: string) => string
}

const sealedText = (table: string, column: string, holder: TextHolder) => ({
  ...holder,
  /** `envelope` is null if the current key wraps it already. `currentPrefix` is the prefix of those envelopes. */
  page: statement(
    `sealed_page_${column}`,
    { parameters: { ...page, currentPrefix: bytes }, columns: { id: uuid, envelope: orNull(bytes) } },
    `select id,
       case when substring(${column} from 1 for octet_length($currentPrefix)) <> $currentPrefix then ${column} end as envelope
     from ${table} where id > $after order by id limit $limit`,
  ),
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

const app = { prefix: 'app', contextOf: webhookSecretContext } as const

/** Columns of encrypted texts. */
export const sealedTexts = {
  orders: sealedText('orders', 'action_args', {
    ...{ title: 'its arguments', prefix: 'order', contextOf: actionArgsContext },
  }),
  network_apps: sealedText('network_apps', 'webhook_secret', { ...app, title: 'its webhook secret' }),
  network_apps_previous: sealedText('network_apps', 'previous_secret', {
    ...app,
    title: 'its previous webhook secret',
  }),
}
export const textHolders = Object.keys(sealedTexts) as (keyof typeof sealedTexts)[]
/** A place of wrapped keys. */
export type KeyHolder = 'user_keys' | keyof typeof sealedTexts

/** Counts the rows of a key. `prefix` is the prefix of its envelopes. */
export const countWrapped = statement(
  'keys_count_wrapped',
  {
    parameters: { key: text, prefix: bytes },
    columns: { user_keys: int, orders: int, network_apps: int, network_apps_previous: int },
  },
  `select (select count(*) from user_keys where vault_key_id = $key)::int as user_keys,
     (select count(*) from orders where substring(action_args from 1 for octet_length($prefix)) = $prefix)::int as orders,
     (select count(*) from network_apps where substring(webhook_secret from 1 for octet_length($prefix)) = $prefix)::int
       as network_apps,
     (select count(*) from network_apps where substring(previous_secret from 1 for octet_length($prefix)) = $prefix)::int
       as network_apps_previous`,
)

export const countAll = statement(
  'keys_count_all',
  { columns: { total: int } },
  `select ((select count(*) from user_keys) + (select count(action_args) from orders)
       + (select count(webhook_secret) + count(previous_secret) from network_apps))::int as total`,
)

export const recordRotation = statement(
  'keys_note_rotation',
  { parameters: { currentKey: text } },
  `with rotation as (select 1),
   ${auditSql({ from: 'rotation', user: 'null', action: 'keys.rotated', subject: '$currentKey' })}
   select`,
)
