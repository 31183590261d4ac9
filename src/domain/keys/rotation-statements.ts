/** What a rotation of the key-encryption key reads and writes: three columns of sealed texts, and the custodial keys. */
import { auditSql } from '../audit/audit-sql.ts'
import { type Statement, statement } from '../ports.ts'

/** Where something lies that the key vault wrapped. */
export type KeyHolder = 'user_keys' | 'orders' | 'network_apps' | 'network_apps_previous'

/** Rows of a page: all of them, so that a page costs the same whatever is left in it. $1 after which row, $2 how many. */
export interface TextRow {
  id: string
  /** Null unless it is to be rewrapped. */
  envelope: Buffer | null
}

export interface KeyRow {
  user_id: string
  is_stale: boolean
  version: number
  vault_key_id: string
  wrapped_data_key: Buffer
}

/** $3: which key wraps now, $4: the version that is written now. */
export const findKeys = statement<KeyRow>(
  'keys_page',
  `select user_id, vault_key_id <> $3 or version <> $4::smallint as is_stale, version, vault_key_id, wrapped_data_key
   from user_keys where user_id > $1::uuid order by user_id limit $2`,
)

/** $1 user, $2 the wrapping as it was read; $3, $4 and $5 the new one. */
export const replaceKey = statement<{ user_id: string }>(
  'keys_replace',
  `update user_keys set wrapped_data_key = $3, version = $4::smallint, vault_key_id = $5
   where user_id = $1::uuid and wrapped_data_key = $2 returning user_id`,
)

/** Whether it lies there still as it was read. */
export const findKey = statement<{ is_same: boolean }>(
  'keys_find',
  'select wrapped_data_key = $2::bytea as is_same from user_keys where user_id = $1::uuid',
)

interface TextStatements {
  /** $3: how everything begins that the current key wraps. */
  page: Statement<TextRow>
  /** $1 row, $2 the envelope as it was read, $3 the new one. */
  replace: Statement<{ id: string }>
  /** $1 row, $2 the envelope. */
  find: Statement<{ id: string }>
}

const textsOf = (table: string, column: string): TextStatements => ({
  page: statement(
    `sealed_page_${column}`,
    `select id, case when substring(${column} from 1 for octet_length($3::bytea)) <> $3 then ${column} end as envelope
     from ${table} where id > $1::uuid order by id limit $2`,
  ),
  replace: statement(
    `sealed_replace_${column}`,
    `update ${table} set ${column} = $3::bytea where id = $1::uuid and ${column} = $2::bytea returning id`,
  ),
  find: statement(`sealed_find_${column}`, `select id from ${table} where id = $1::uuid and ${column} = $2::bytea`),
})

export const sealedTexts = {
  orders: textsOf('orders', 'action_args'),
  network_apps: textsOf('network_apps', 'webhook_secret'),
  network_apps_previous: textsOf('network_apps', 'previous_secret'),
} satisfies Record<Exclude<KeyHolder, 'user_keys'>, TextStatements>

/** How much of what a key wraps. $1: its id, $2: how every sealed text begins that it wraps. */
export const countWrapped = statement<Record<KeyHolder, number>>(
  'keys_count_wrapped',
  `select (select count(*) from user_keys where vault_key_id = $1)::int as user_keys,
     (select count(*) from orders where substring(action_args from 1 for octet_length($2::bytea)) = $2)::int as orders,
     (select count(*) from network_apps where substring(webhook_secret from 1 for octet_length($2)) = $2)::int as network_apps,
     (select count(*) from network_apps where substring(previous_secret from 1 for octet_length($2)) = $2)::int
       as network_apps_previous`,
)

/** How many custodial keys are of an older version than $1, and how much is wrapped in all. */
export const countAll = statement<{ old_versions: number; total: number }>(
  'keys_count_all',
  `select (select count(*) from user_keys where version <> $1::smallint)::int as old_versions,
     ((select count(*) from user_keys) + (select count(action_args) from orders)
       + (select count(webhook_secret) + count(previous_secret) from network_apps))::int as total`,
)

/** $1: the key that wraps now. */
export const noteRotation = statement<never>(
  'keys_note_rotation',
  `with ended as (select 1), ${auditSql({ name: 'audited', from: 'ended', user: 'null', action: 'keys.rotated', subject: '$1' })}
   select 1`,
)
