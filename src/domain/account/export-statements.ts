/**
 * Everything that is kept of a person, list by list, in pages: $1 user, $2 the cursor `after` of the row before or '',
 * $3 how many. Amounts are decimal strings. Identifiers are plain UUIDs here.
 */
import { auditSql } from '../audit/audit-sql.ts'
import { type Statement, statement } from '../ports.ts'
import { spendableSql } from '../wallet/points-sql.ts'

/** A row says where the next page begins; everything else of it is exported. */
export type ExportRow = { after: string } & Record<string, unknown>

export const noteExport = statement<never>(
  'export_note',
  `with asked as (select id from users where id = $1::uuid and deleted_at is null),
   ${auditSql({ name: 'noted', from: 'asked', user: 'asked.id', action: 'account.exported', address: '$2' })}
   select 1 from asked limit 0`,
)

export const readAccount = statement<Record<'account' | 'wallet', Record<string, unknown>> & { now: Date }>(
  'export_account',
  `select json_build_object('id', u.id, 'username', u.username, 'email', u.email, 'emailVerified', u.email_verified, 'pendingEmail', u.pending_email,
     'role', u.role, 'language', u.language, 'displayName', u.display_name, 'description', u.description,
     'defaultTag', u.default_tag, 'referralCode', u.referral_code, 'allowC2paDownload', u.allow_c2pa_download,
     'createdAt', to_char(u.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as account,
     json_build_object('address', w.address, 'num', trim_scale(w.num)::text, 'points', trim_scale(${spendableSql('w')})::text) as wallet, now() as now
   from users u join wallets w on w.user_id = u.id where u.id = $1::uuid and u.deleted_at is null`,
)

const NIL = `'00000000-0000-0000-0000-000000000000'`
const afterId = (part = '$2') => `coalesce(nullif(${part}, '')::uuid, ${NIL})`

/** A list whose rows have a UUID of their own, oldest first. */
const listById = (name: string, columns: string, rest: string) =>
  statement<ExportRow>(
    `export_${name}`,
    `select ${columns}, id::text as after ${rest} and id > ${afterId()} order by id limit $3::int`,
  )

/** As `listById` where the UUID is made before the row: by when that was written. */
const listByTime = (name: string, columns: string, rest: string) =>
  statement<ExportRow>(
    `export_${name}`,
    `select ${columns}, created_at || '/' || id as after ${rest}
       and (created_at, id) > (coalesce(nullif(split_part($2, '/', 1), '')::timestamptz, '-infinity'), ${afterId(`split_part($2, '/', 2)`)})
     order by created_at, id limit $3::int`,
  )

export const readAssets = listById(
  'assets',
  `nid, file_name as "fileName", mime_type as "mimeType", file_size::int as "fileSize", sha256, caption, headline, tag,
   public_access as "publicAccess", custom, meta, signed_metadata as "signedMetadata", signature,
   uploaded_at as "uploadedAt", updated_at as "updatedAt"`,
  'from assets where owner_id = $1::uuid and deleted_at is null',
)

/** Also of deleted assets: what became of them on the chain. By asset and position, as the indexes have them. */
export const readCommits = statement<ExportRow>(
  'export_commits',
  `select c.id, a.nid, c.sequence, c.message, c.changes, c.tree, c.tree_cid as "treeCid", c.tree_sha256 as "treeSha256",
     r.tree_signature as "treeSignature", r.status::text, r.transaction_hash as "transactionHash", c.created_at as "createdAt",
     a.id || ':' || c.sequence as after
   from assets a join commits c on c.asset_id = a.id join commit_relays r on r.commit_id = c.id
   where a.owner_id = $1::uuid and a.id >= ${afterId(`split_part($2, ':', 1)`)}
     and (a.id > ${afterId(`split_part($2, ':', 1)`)} or c.sequence > nullif(split_part($2, ':', 2), '')::int)
   order by a.id, c.sequence limit $3::int`,
)

export const readOrders = listByTime(
  'orders',
  `id, network_app_id as "networkAppId", network_app_name as "networkAppName", status::text, action_args as "actionArgs",
   trim_scale(price)::text as price, trim_scale(quoted_points)::text as "quotedPoints", trim_scale(quoted_num)::text as "quotedNum",
   trim_scale(points_paid)::text as "pointsPaid", trim_scale(num_paid)::text as "numPaid", transfer_id as "transferId",
   created_at as "createdAt", expires_at as "expiresAt", paid_at as "paidAt", settled_at as "settledAt"`,
  'from orders where buyer_id = $1::uuid',
)

/** With what each moved in this wallet; the other side may be somebody else's. */
export const readTransfers = statement<ExportRow>(
  'export_transfers',
  `select t.id, t.reference, t.created_at as "createdAt", own.entries, t.id::text as after
   from (
     select transfer_id, json_agg(json_build_object('currency', currency, 'amount', trim_scale(amount)::text) order by position) as entries
     from entries where wallet_id = $1::uuid and transfer_id > ${afterId()}
     group by transfer_id order by transfer_id limit $3::int
   ) own join transfers t on t.id = own.transfer_id order by t.id`,
)

export const readGrants = listById(
  'grants',
  `id, trim_scale(amount)::text as amount, trim_scale(remaining)::text as remaining, reason, expires_at as "expiresAt", expired_at as "expiredAt", created_at as "createdAt"`,
  'from point_grants where wallet_id = $1::uuid',
)

export const readDeposits = statement<ExportRow>(
  'export_deposits',
  `select transaction_hash as "transactionHash", position, trim_scale(amount)::text as amount, block_number as "blockNumber",
     block_hash as "blockHash", created_at as "createdAt", transaction_hash || ':' || position as after
   from deposits where wallet_id = $1::uuid
     and (transaction_hash, position) > (split_part($2, ':', 1), coalesce(nullif(split_part($2, ':', 2), '')::int, -2))
   order by transaction_hash, position limit $3::int`,
)

/** Without their secrets, of which only hashes are kept. */
export const readSessions = listById(
  'sessions',
  'id, name, created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt"',
  'from access_tokens where user_id = $1::uuid',
)

export const readAuditEntries = listById(
  'audit',
  'id, action, subject, address, created_at as "createdAt"',
  'from audit_entries where user_id = $1::uuid',
)

/** As WebP, in base64. */
export const readPictures = listByTime(
  'pictures',
  `id, kind::text, translate(encode(picture, 'base64'), E'\\n', '') as picture, created_at as "createdAt"`,
  'from pictures where user_id = $1::uuid',
)

/** Without their secrets. */
export const readNetworkApps = listByTime(
  'network_apps',
  `id, name, price_mode::text as "priceMode", trim_scale(price)::text as price, webhook_url as "webhookUrl",
   webhook_disabled_at as "webhookDisabledAt", delivery_failure_policy::text as "deliveryFailurePolicy",
   deactivated_at as "deactivatedAt", created_at as "createdAt", updated_at as "updatedAt"`,
  'from network_apps where owner_id = $1::uuid',
)

export type ExportPage = Statement<ExportRow>
