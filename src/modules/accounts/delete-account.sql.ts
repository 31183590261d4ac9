/**
 * Statements of the deletion of an account. All statements lock rows in the same order, to prevent deadlocks: orders,
 * assets, relay rows, wallet, apps, user. Once the wallet is locked, no request can add anything to the account. If a
 * request added something while the other rows were being locked, the deletion starts again.
 */

import {
  arrayOf,
  boolean,
  bytes,
  int,
  nothing,
  numeric,
  orNull,
  type RowOf,
  smallint,
  statement,
  text,
  timestamp,
  uuid,
} from '../../db/sql.ts'
import { enqueueSql } from '../../jobs/queues.ts'
import { sentBySql } from '../../shared/idempotency.ts'
import { emptyAssetsSql } from '../assets/delete-asset.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { eventSql } from '../events/events.sql.ts'
import { eraseArgumentsSql, ORDERS_AT_ONCE } from '../store/orders.sql.ts'
import { nextTransferSql, postTransferSql } from '../wallet/ledger-sql.ts'

const user = { user: uuid }
const [ordersSql, assetsSql, appsSql] = [
  "from orders where buyer_id = $user and status = 'CREATED'",
  'from assets where owner_id = $user and deleted_at is null',
  'from network_apps where owner_id = $user',
]

/** SQL of a user's unsigned commits. Starts at pending relay rows, because nearly every commit is settled. */
const unsignedSql = `from commit_relays r
   join commits c on c.id = r.commit_id join user_keys k on k.user_id = c.author_id
   where r.status = 'PENDING' and r.lane is null and r.tree_signature is null and c.author_id = $user`

export const findUnsignedCommits = statement(
  'deletion_unsigned',
  {
    parameters: user,
    columns: {
      ...{ commitId: uuid, treeSha256: text },
      ...{ version: smallint, vaultKeyId: text, wrappedDataKey: bytes, sealedPrivateKey: bytes },
    },
  },
  `select r.commit_id as "commitId", c.tree_sha256 as "treeSha256", k.version, k.vault_key_id as "vaultKeyId",
     k.wrapped_data_key as "wrappedDataKey", k.sealed_private_key as "sealedPrivateKey" ${unsignedSql}`,
)

/** Waits for a deletion of the same account in another process. */
export const waitForDeletionTurn = statement(
  'deletion_advisory_lock',
  { parameters: { user: text }, columns: { pg_advisory_xact_lock: nothing } },
  `select pg_advisory_xact_lock(hashtextextended('deletion:' || $user, 0))`,
)

const lock = (name: string, from: string, options = '') =>
  statement(
    name,
    { parameters: user, columns: { id: uuid } },
    `select id ${from} order by id for no key update ${options}`,
  )
export const lockOpenOrders = lock('deletion_orders', ordersSql)
export const lockAssets = lock('deletion_assets', assetsSql)
/** Locks the same and newer orders. Skips locked rows, because waiting with the wallet locked could deadlock. */
export const lockMoreOrders = lock('deletion_more_orders', ordersSql, 'skip locked')
export const lockMoreAssets = lock('deletion_more_assets', assetsSql, 'skip locked')
/** Locks the apps of a user. Changes of apps also lock the app before the user. */
export const lockApps = lock('deletion_apps', appsSql)

/** Stores the signatures of commits (parallel arrays). Skips commits that the relay is signing. */
export const storeSignatures = statement(
  'deletion_signatures',
  { parameters: { commits: arrayOf(uuid), signatures: arrayOf(text) } },
  `with locked_relays as materialized (
     select r.commit_id, item.signature from unnest($commits, $signatures) as item (commit_id, signature)
       join commit_relays r using (commit_id)
     where r.tree_signature is null for no key update of r skip locked
   )
   update commit_relays r set tree_signature = locked_relays.signature, updated_at = now()
   from locked_relays where r.commit_id = locked_relays.commit_id`,
)

/** Locks a wallet. Afterwards, requests cannot add orders, assets or money to the account. */
export const lockWallet = statement(
  'deletion_wallet',
  { parameters: user },
  'select from wallets where user_id = $user for no key update',
)

export const lockUser = statement(
  'deletion_user',
  { parameters: user, columns: { deleted: boolean } },
  'select deleted_at is not null as deleted from users where id = $user for no key update',
)

const tokensSql = `(
     select trim_scale(coalesce(sum(amount), 0)) from deposits
     where wallet_id = $user and kind = 'TOKEN' and status = 'CREDITED') as tokens`

/** `some` is true if the user has an unsigned commit, or an order or asset that is not locked. */
export const findNewItems = statement(
  'deletion_find_new_items',
  {
    parameters: { user: uuid, orders: arrayOf(uuid), assets: arrayOf(uuid) },
    columns: { some: boolean, tokens: numeric },
  },
  `select exists (select ${unsignedSql})
     or exists (select id ${ordersSql} except select unnest($orders))
     or exists (select id ${assetsSql} except select unnest($assets)) as some, ${tokensSql}`,
)

/** Deletes some assets of a user. One statement for all assets could exceed the statement timeout. */
export const emptyAssets = statement(
  'deletion_empty_assets',
  { parameters: { user: uuid, assets: arrayOf(uuid) } },
  `with ${emptyAssetsSql('owner_id = $user and id = any ($assets)')} select from deleted_assets limit 0`,
)

/** SQL of the transfer of a wallet's whole balance. The CTE `from` returns `(transfer_id, user_id, num, points)`. */
export const forfeitSql = (from: string, reference: string) =>
  postTransferSql({
    from,
    reference,
    when: '(num > 0 or points > 0)',
    omitsZeros: true,
    lines: [
      { wallet: 'user_id', currency: 'POINTS', amount: '-points' },
      { wallet: 'user_id', currency: 'NUM', amount: '-num' },
      { book: 'FORFEITED', currency: 'POINTS', amount: 'points' },
      { book: 'FORFEITED', currency: 'NUM', amount: 'num' },
    ],
  })

export const closeWallet = statement(
  'deletion_close',
  { parameters: user },
  `with cancelled_orders as (
     update orders set status = 'CANCELLED', settled_at = now(), ${eraseArgumentsSql('orders')}
     where buyer_id = $user and status = 'CREATED' returning id, created_at
   ),
   closed_wallet as (
     update wallets w set num = 0, points = 0, open_orders = 0, closed_at = now(),
       event_sequence = w.event_sequence + (select count(*)::int from cancelled_orders)
     where w.user_id = $user
     returning w.user_id, ${nextTransferSql('w')} as transfer_id, old.num, old.points, old.event_sequence as before
   ),
   ${eventSql({
     from: 'cancelled_orders, closed_wallet',
     owner: 'closed_wallet.user_id',
     sequence: 'closed_wallet.before + row_number() over (order by cancelled_orders.created_at, cancelled_orders.id)',
     type: 'order.cancelled',
     order: 'cancelled_orders.id',
   })},
   ${forfeitSql('closed_wallet', `'forfeit:' || user_id`)}
   select from closed_wallet limit 0`,
)

/** Erases personal data. The row stays for the ledger. `username` and `email` are random, so no account has them. */
export const eraseAccount = statement(
  'deletion_erase',
  { parameters: { user: uuid, username: text, email: text, reason: orNull(text) }, columns: { jobs: int } },
  `with erased_user as (
     update users set deleted_at = now(), username = $username, email = $email, password_hash = '', display_name = 'Deleted account',
       description = '', default_tag = '', referral_code = '', language = 'en-us', email_verified = false,
       pending_email = null, role = 'USER', allow_c2pa_download = true, asset_count = 0
     where id = $user returning id
   ),
   deleted_keys as (delete from user_keys using erased_user where user_id = erased_user.id),
   deleted_admin_sessions as (delete from admin_sessions using erased_user where user_id = erased_user.id),
   deleted_tokens as (delete from access_tokens using erased_user where user_id = erased_user.id),
   deleted_pictures as (delete from pictures using erased_user where user_id = erased_user.id),
   deleted_one_time_tokens as (delete from one_time_tokens using erased_user where user_id = erased_user.id),
   deactivated_apps as (
     update network_apps set deactivated_at = coalesce(deactivated_at, now()), updated_at = now()
     from erased_user where owner_id = erased_user.id
   ),
   erased_reasons as (
     update refunds r set reason = '' from orders o, erased_user
     where o.buyer_id = erased_user.id and r.order_id = o.id and r.reason <> ''
   ),
   erased_grant_reasons as (
     update transfers t set reason = null from erased_user
     where t.reason is not null and exists (select from entries e where e.transfer_id = t.id and e.wallet_id = erased_user.id)
   ),
   ${auditSql({ from: 'erased_user', user: 'erased_user.id', action: 'account.deleted', reason: '$reason' })},
   ${enqueueSql('enqueued_jobs', { queue: 'forget-key', from: 'erased_user', data: { userId: 'id' } })}
   select count(*)::int as jobs from enqueued_jobs`,
)

export const recordOperatorDeletion = statement(
  'deletion_record',
  { parameters: { subject: text, reason: text } },
  `with ${auditSql({ from: '(values (1)) as deletion', user: 'null', action: 'account.deleted', subject: '$subject', reason: '$reason' })}
   select limit 0`,
)

const previewColumns = {
  ...{ id: uuid, username: text, email: text, deletedAt: orNull(timestamp), num: numeric, points: numeric },
  /** ERC-20 tokens at the deposit address, which are lost. */
  tokens: numeric,
  ...{ assets: int, openOrders: int, networkApps: int },
  /** Number of unsettled withdrawals. `withdrawn` is the sum of these withdrawals. */
  ...{ withdrawals: int, withdrawn: numeric },
}

export type DeletionPreview = RowOf<typeof previewColumns>

export const readDeletionPreview = statement(
  'deletion_preview',
  { parameters: user, columns: previewColumns },
  `select u.id, u.username, u.email, u.deleted_at as "deletedAt", trim_scale(w.num) as num,
     trim_scale(w.points) as points, ${tokensSql}, u.asset_count as assets,
     (select count(*)::int ${ordersSql}) as "openOrders",
     (select count(*)::int ${appsSql} and deactivated_at is null) as "networkApps",
     in_transit.count as withdrawals, in_transit.amount as withdrawn
   from users u join wallets w on w.user_id = u.id cross join lateral (
     select count(*)::int, trim_scale(coalesce(sum(amount), 0)) as amount from withdrawals
     where wallet_id = $user and status in ('WAITING', 'SENDING')
   ) in_transit
   where u.id = $user`,
)

/** Erases network addresses in 5,000 audit entries of the user. Returns the last ID, or null at the end. */
export const eraseAuditAddresses = statement(
  'deletion_audit_addresses',
  { parameters: { user: uuid, after: uuid }, columns: { last: orNull(uuid) } },
  `with page as materialized (
     select id from audit_entries where user_id = $user and id > $after and address is not null order by id limit 5000
   ),
   updated_audit_entries as (update audit_entries a set address = null from page where a.id = page.id)
   select (select id from page order by id desc limit 1) as last`,
)

/** Deletes idempotency keys with their responses, and erases addresses from mails in the dead-letter queue. */
export const eraseResponses = statement(
  'deletion_idempotency_keys',
  { parameters: user },
  `with deleted_keys as (delete from idempotency_keys where ${sentBySql('$user')})
   update jobs.job set data = data - array['email', 'newEmail'] || '{"isCut": true}'
   where name = 'dead-letter' and data->>'userId' = $user::text and data ?| array['email', 'newEmail']`,
)

/** Erases the arguments of some settled orders. Skips orders that are being settled; a job erases them later. */
export const eraseArguments = statement(
  'deletion_arguments',
  { parameters: user, columns: { id: uuid } },
  `with settled_orders as materialized (
     select id from orders
     where buyer_id = $user and action_args is not null and status not in ('CREATED', 'PENDING')
     limit ${ORDERS_AT_ONCE} for no key update skip locked
   )
   update orders o set ${eraseArgumentsSql('o')} from settled_orders where o.id = settled_orders.id returning o.id`,
)
