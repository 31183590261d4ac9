/**
 * Statements that read all data of a user, page by page. `after` is the cursor of the previous row, or ''. Amounts are decimal strings, and IDs are UUIDs.
 */

import {
  bytes,
  int,
  json,
  jsonb,
  orNull,
  type ParametersOf,
  type Statement,
  statement,
  type Types,
  text,
  timestamp,
  uuid,
} from '../../db/sql.ts'
import { NIL_UUID } from '../../shared/ids.ts'
import { metadataExport } from '../assets/metadata.ts'
import { auditSql } from '../audit/audit-sql.ts'

/** A row of an export with its cursor `after`, which is not exported. */
export type ExportRow = { after: string } & Record<string, unknown>

/** Writes an export into the user's audit log. */
export const recordExport = statement(
  'export_note',
  { parameters: { user: uuid, address: text } },
  `with exported_user as (select id from users where id = $user and deleted_at is null),
   ${auditSql({ from: 'exported_user', user: 'exported_user.id', action: 'account.exported', address: '$address' })}
   select from exported_user limit 0`,
)

/** Writes an operator's export with its reason into the audit logs of the user and of the system. `subject` is the public ID of the user. */
export const recordOperatorExport = statement(
  'export_note_for',
  { parameters: { user: uuid, subject: text, reason: text } },
  `with exported_user as (select id from users where id = $user and deleted_at is null),
   ${auditSql({ name: 'owner_entry', from: 'exported_user', user: 'exported_user.id', action: 'account.exported', reason: '$reason' })},
   ${auditSql({ name: 'system_entry', from: 'exported_user', user: 'null', action: 'account.exported', subject: '$subject', reason: '$reason' })}
   select from exported_user limit 0`,
)

/** Reads the account, its wallet and the time of the database. No row: the account is deleted. */
export const readAccount = statement(
  'export_account',
  {
    parameters: { user: uuid },
    columns: { account: json<Record<string, unknown>>(), wallet: json<Record<string, unknown>>(), now: timestamp },
  },
  `select json_build_object('id', u.id, 'username', u.username, 'email', u.email, 'emailVerified', u.email_verified, 'pendingEmail', u.pending_email,
     'role', u.role, 'language', u.language, 'displayName', u.display_name, 'description', u.description,
     'defaultTag', u.default_tag, 'referralCode', u.referral_code, 'allowC2paDownload', u.allow_c2pa_download,
     'createdAt', to_char(u.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as account,
     json_build_object('address', w.address, 'num', trim_scale(w.num)::text, 'points', trim_scale(w.points)::text) as wallet, now() as now
   from users u join wallets w on w.user_id = u.id where u.id = $user and u.deleted_at is null`,
)

const NIL = `'${NIL_UUID}'`
/** SQL of a part of a cursor. */
const part = (place: number) => `split_part($after, '/', ${place})`
const afterMoment = `coalesce(nullif(${part(1)}, '')::timestamptz, '-infinity')`
const afterId = (part = '$after') => `coalesce(nullif(${part}, '')::uuid, ${NIL})`

const parameters = { user: uuid, after: text, limit: int }
/** Reads a page of a list. */
export type ExportPage = Statement<ParametersOf<typeof parameters>, ExportRow>

const list = (name: string, columns: Types, sql: string): ExportPage =>
  statement(`export_${name}`, { parameters, columns: { ...columns, after: text } }, sql)

/** Reads a list in the order of its UUIDs, oldest first. */
const listById = (name: string, columns: Types, selected: string, rest: string) =>
  list(name, columns, `select ${selected}, id::text as after ${rest} and id > ${afterId()} order by id limit $limit`)

/** Reads a list by creation time, for rows whose UUID is older than the row. */
const listByTime = (name: string, columns: Types, selected: string, rest: string) =>
  list(
    name,
    columns,
    `select ${selected}, created_at || '/' || id as after ${rest}
       and (created_at, id) > (${afterMoment}, ${afterId(part(2))})
     order by created_at, id limit $limit`,
  )

export const readAssets = listById(
  'assets',
  {
    nid: text,
    fileName: text,
    mimeType: text,
    fileSize: int,
    sha256: text,
    ...metadataExport.columns,
    uploadedAt: timestamp,
    updatedAt: timestamp,
  },
  `nid, file_name as "fileName", mime_type as "mimeType", file_size::int as "fileSize", sha256,
   ${metadataExport.sql}, uploaded_at as "uploadedAt", updated_at as "updatedAt"`,
  'from assets where owner_id = $user and deleted_at is null',
)

/** Commits, also of deleted assets, by asset and position as in the indexes. Reads at most one page of each asset, so that a long history is not read whole. */
export const readCommits = list(
  'commits',
  {
    id: uuid,
    nid: text,
    sequence: int,
    message: text,
    changes: jsonb(),
    tree: text,
    treeCid: text,
    treeSha256: text,
    treeSignature: orNull(text),
    status: text,
    transactionHash: orNull(text),
    createdAt: timestamp,
  },
  `select c.id, a.nid, c.sequence, c.message, c.changes, c.tree, c.tree_cid as "treeCid", c.tree_sha256 as "treeSha256",
     r.tree_signature as "treeSignature", r.status::text, r.transaction_hash as "transactionHash", c.created_at as "createdAt",
     a.id || '/' || c.sequence as after
   from assets a cross join lateral (
     select * from commits where asset_id = a.id and sequence > case when a.id = ${afterId(part(1))} then coalesce(nullif(${part(2)}, '')::int, 0) else 0 end
     order by sequence limit $limit
   ) c join commit_relays r on r.commit_id = c.id
   where a.owner_id = $user and a.id >= ${afterId(part(1))}
   order by a.id, c.sequence limit $limit`,
)

/** The user's orders. `actionArgs` is encrypted. */
export const readOrders = listByTime(
  'orders',
  {
    id: uuid,
    networkAppId: uuid,
    networkAppName: text,
    status: text,
    actionArgs: orNull(bytes),
    price: text,
    quotedPoints: text,
    quotedNum: text,
    pointsPaid: orNull(text),
    numPaid: orNull(text),
    pointsRefunded: text,
    numRefunded: text,
    transferId: orNull(uuid),
    createdAt: timestamp,
    expiresAt: timestamp,
    paidAt: orNull(timestamp),
    settledAt: orNull(timestamp),
  },
  `id, network_app_id as "networkAppId", network_app_name as "networkAppName", status::text, action_args as "actionArgs",
   trim_scale(price)::text as price, trim_scale(quoted_points)::text as "quotedPoints", trim_scale(quoted_num)::text as "quotedNum",
   trim_scale(points_paid)::text as "pointsPaid", trim_scale(num_paid)::text as "numPaid",
   trim_scale(points_refunded)::text as "pointsRefunded", trim_scale(num_refunded)::text as "numRefunded", transfer_id as "transferId",
   created_at as "createdAt", expires_at as "expiresAt", paid_at as "paidAt", settled_at as "settledAt"`,
  'from orders where buyer_id = $user',
)

/** Refunds of the user's orders, in the order of the index on orders. */
export const readRefunds = list(
  'refunds',
  { id: uuid, orderId: uuid, points: text, num: text, reason: text, transferId: uuid, createdAt: timestamp },
  `select r.id, r.order_id as "orderId", trim_scale(r.points)::text as points, trim_scale(r.num)::text as num, r.reason,
     r.transfer_id as "transferId", r.created_at as "createdAt", o.created_at || '/' || o.id || '/' || r.id as after
   from orders o cross join lateral (
     select * from refunds where order_id = o.id and id > case when o.id = ${afterId(part(2))} then ${afterId(part(3))} else ${NIL} end
     order by id limit $limit
   ) r
   where o.buyer_id = $user
     and (o.created_at, o.id) >= (${afterMoment}, ${afterId(part(2))})
   order by o.created_at, o.id, r.id limit $limit`,
)

/** The transfers of the user's wallet, with the entries of this wallet only. The other entries can belong to another user. */
export const readTransfers = list(
  'transfers',
  { id: uuid, reference: text, reason: orNull(text), createdAt: timestamp, entries: json() },
  `select t.id, t.reference, t.reason, t.created_at as "createdAt", own.entries, t.id::text as after
   from (
     select transfer_id, json_agg(json_build_object('currency', currency, 'amount', trim_scale(amount)::text) order by position) as entries
     from entries where wallet_id = $user and transfer_id > ${afterId()}
     group by transfer_id order by transfer_id limit $limit
   ) own join transfers t on t.id = own.transfer_id order by t.id`,
)

export const readWithdrawals = listById(
  'withdrawals',
  {
    id: uuid,
    amount: text,
    fee: text,
    recipient: text,
    status: text,
    transactionHash: orNull(text),
    failure: orNull(text),
    createdAt: timestamp,
    dueAt: timestamp,
    settledAt: orNull(timestamp),
  },
  `id, trim_scale(amount)::text as amount, trim_scale(fee)::text as fee, recipient, status::text as status,
   (select m.transaction_hash from coin_transfers m where m.id = coin_transfer_id and m.status <> 'SIGNED') as "transactionHash",
   failure, created_at as "createdAt", due_at as "dueAt", settled_at as "settledAt"`,
  'from withdrawals where wallet_id = $user',
)

export const readDeposits = listById(
  'deposits',
  {
    id: uuid,
    kind: text,
    status: text,
    transactionHash: text,
    amount: text,
    blockNumber: orNull(int),
    blockHash: orNull(text),
    shortfall: text,
    createdAt: timestamp,
    creditedAt: orNull(timestamp),
    frozenAt: orNull(timestamp),
  },
  `id, kind::text, status::text, transaction_hash as "transactionHash", trim_scale(amount)::text as amount, block_number as "blockNumber",
   block_hash as "blockHash", trim_scale(shortfall)::text as shortfall, created_at as "createdAt", credited_at as "creditedAt",
   frozen_at as "frozenAt"`,
  'from deposits where wallet_id = $user',
)

/** Sessions without their hashes. */
export const readSessions = listById(
  'sessions',
  { id: uuid, name: text, createdAt: timestamp, lastUsedAt: orNull(timestamp), expiresAt: orNull(timestamp) },
  'id, name, created_at as "createdAt", last_used_at as "lastUsedAt", expires_at as "expiresAt"',
  'from access_tokens where user_id = $user',
)

/** Links to the user's assets, without their signatures, in the order of the index on assets. */
export const readAssetLinks = list(
  'asset_links',
  {
    id: uuid,
    nid: text,
    label: text,
    createdAt: timestamp,
    expiresAt: timestamp,
    revokedAt: orNull(timestamp),
    lastUsedAt: orNull(timestamp),
  },
  `select l.id, a.nid, l.label, l.created_at as "createdAt", l.expires_at as "expiresAt", l.revoked_at as "revokedAt",
     l.last_used_at as "lastUsedAt", a.id || '/' || l.id as after
   from assets a cross join lateral (
     select * from asset_links where asset_id = a.id and id > case when a.id = ${afterId(part(1))} then ${afterId(part(2))} else ${NIL} end
     order by id limit $limit
   ) l
   where a.owner_id = $user and a.id >= ${afterId(part(1))}
   order by a.id, l.id limit $limit`,
)

export const readAuditEntries = listById(
  'audit',
  { id: uuid, action: text, subject: orNull(text), address: orNull(text), reason: orNull(text), createdAt: timestamp },
  'id, action, subject, address, reason, created_at as "createdAt"',
  'from audit_entries where user_id = $user',
)

/** Pictures as WebP in base64. */
export const readPictures = listByTime(
  'pictures',
  { id: uuid, kind: text, picture: text, createdAt: timestamp },
  `id, kind::text, translate(encode(picture, 'base64'), E'\\n', '') as picture, created_at as "createdAt"`,
  'from pictures where user_id = $user',
)

/** The user's apps without their secrets. */
export const readNetworkApps = listByTime(
  'network_apps',
  {
    id: uuid,
    name: text,
    priceMode: text,
    price: text,
    webhookUrl: orNull(text),
    webhookDisabledAt: orNull(timestamp),
    deliveryFailurePolicy: text,
    deactivatedAt: orNull(timestamp),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  `id, name, price_mode::text as "priceMode", trim_scale(price)::text as price, webhook_url as "webhookUrl",
   webhook_disabled_at as "webhookDisabledAt", delivery_failure_policy::text as "deliveryFailurePolicy",
   deactivated_at as "deactivatedAt", created_at as "createdAt", updated_at as "updatedAt"`,
  'from network_apps where owner_id = $user',
)

/** The user's events. Older ones are deleted by retention. */
export const readEvents = list(
  'events',
  {
    id: uuid,
    sequence: int,
    type: text,
    orderId: orNull(uuid),
    commitId: orNull(uuid),
    deliveryId: orNull(uuid),
    transferId: orNull(uuid),
    createdAt: timestamp,
  },
  `select id, sequence, type, order_id as "orderId", commit_id as "commitId", delivery_id as "deliveryId", transfer_id as "transferId",
     created_at as "createdAt", sequence::text as after
   from events where owner_id = $user and sequence > coalesce(nullif($after, '')::int, 0)
   order by sequence limit $limit`,
)
