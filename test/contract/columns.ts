/**
 * Every column of the database: whether it contains personal data, and then whether a deletion erases it and an export contains it.
 * `columns.test.ts` compares this with the database, a deletion and an export.
 */

import { type MetadataField, metadataFields, registrationFields } from '../../src/modules/assets/metadata.ts'

/** `true`, or the reason why a deletion keeps the value or an export omits it. */
export interface Personal {
  erased: true | string
  exported: true | string
}

type Names = Record<string, Personal | undefined>
const each = (declared: Personal | undefined, names: string): Names =>
  Object.fromEntries(names.split(' ').map((name) => [name, declared]))
const table = (...parts: Names[]): Names => Object.assign({}, ...parts)

/** IDs, times, counters, states, amounts and public chain data. */
const other = (names: string) => each(undefined, names)
const yours = (names: string) => each({ erased: true, exported: true }, names)
const secret = (names: string) => each({ erased: true, exported: 'a secret, or derived from one' }, names)
const copy = (names: string) => each({ erased: true, exported: 'repeats another column' }, names)
const kept = (erased: string, names: string) => each({ erased, exported: true }, names)

const metadata = Object.values<MetadataField>({ ...metadataFields, ...registrationFields })

export const columns: Record<string, Names> = {
  access_tokens: table(other('id user_id created_at expires_at last_used_at'), yours('name'), secret('hash')),
  admin_sessions: table(other('id user_id created_at last_used_at'), secret('hash password_digest')),
  api_keys: other('id name prefix hash created_at revoked_at'),
  asset_links: table(other('id asset_id created_at expires_at revoked_at last_used_at'), yours('label')),
  assets: table(
    other('id owner_id creator_id head_commit_id thumbnail_requested uploaded_at updated_at deleted_at'),
    other('file_size head_sequence erased_through'),
    yours('file_name custom'),
    ...metadata.map(({ kind, column }) => (kind === 'flag' ? other(column) : yours(column))),
    kept('is on the chain', 'nid sha256'),
    kept('does not identify a person', 'mime_type'),
    copy('thumbnail_cid c2pa_cid c2pa_version content_credentials'),
  ),
  // Deleted with the file.
  asset_blocks: other('asset_id cid'),
  audit_entries: table(
    other('id user_id action created_at'),
    kept('identifies a row', 'subject'),
    yours('address'),
    kept('describes how an administrator runs the service', 'reason'),
  ),
  chain_transactions: other('commit_id hash raw max_fee_per_gas max_priority_fee_per_gas created_at'),
  coin_transfers: table(
    other('id wallet_id sender nonce recipient transaction_hash block_number block_hash kind status'),
    other('amount arrived fee settlements suspended_at created_at updated_at'),
  ),
  coin_transactions: other('coin_transfer_id hash raw gas_price value created_at'),
  chain_transaction_members: other('commit_id hash position'),
  commit_relays: table(
    other('commit_id tree_signature lane nonce position transaction_hash block_number block_hash gas_used fee_paid'),
    other('status failure last_error attempts trace next_attempt_at updated_at'),
  ),
  commits: table(
    other('id asset_id author_id sequence tree_cid tree_sha256 created_at'),
    kept('is erased after the commit is final', 'message changes tree'),
  ),
  deposits: table(
    other('id reference wallet_id swept_by kind status transaction_hash block_number block_hash'),
    other('amount shortfall written_off freezes created_at credited_at frozen_at'),
  ),
  entries: other('transfer_id wallet_id position book currency amount'),
  events: other('id owner_id order_id commit_id delivery_id transfer_id sequence type created_at'),
  idempotency_keys: table(secret('scope payload_hash'), copy('result answer'), other('created_at')),
  // The subject is an account or address with open streams or uploads. Rows expire after a minute.
  concurrency_counters: other('subject holders until'),
  leases: other('name holder epoch expires_at'),
  limits: other('key count window_end'),
  network_apps: table(
    other('id owner_id price_mode delivery_failure_policy price previous_secret_expires_at'),
    other('webhook_disabled_at deactivated_at created_at updated_at'),
    kept('is shown in the orders of buyers, and was public', 'name'),
    yours('webhook_url'),
    secret('webhook_secret previous_secret'),
  ),
  one_time_tokens: table(
    other('user_id request_id purpose created_at expires_at used_at'),
    secret('hash'),
    copy('email'),
  ),
  orders: table(
    other('id buyer_id network_app_id transfer_id network_app_name status'),
    other('price quoted_points quoted_num points_paid num_paid points_refunded num_refunded'),
    other('created_at expires_at paid_at settled_at action_args_erased_at'),
    yours('action_args'),
  ),
  pictures: table(other('id user_id kind created_at'), yours('picture'), copy('thumbnail')),
  pins: table(other('asset_id kind'), copy('cid')),
  refunds: table(
    other('id order_id transfer_id refunded_by points num points_before num_before created_at'),
    yours('reason'),
  ),
  job_failures: other('job item last_error attempts since next_attempt_at'),
  processes: other('id name roles started_at seen_at'),
  key_values: other('key value'),
  statement_balances: other('wallet_id transfer_id num points'),
  transfers: table(other('id reference created_at'), yours('reason')),
  user_keys: table(other('user_id vault_key_id version created_at'), secret('wrapped_data_key sealed_private_key')),
  users: table(
    other('id role email_verified email_held allow_c2pa_download asset_count created_at locked_at deleted_at'),
    yours('username email display_name description default_tag referral_code pending_email language'),
    copy('username_key'),
    secret('password_hash'),
  ),
  wallets: table(
    other('user_id num points event_sequence open_orders closed_at'),
    kept('is on the chain with every commit', 'address'),
  ),
  withdrawals: table(
    other('id wallet_id coin_transfer_id amount fee gas_limit status failure created_at due_at settled_at'),
    kept('is on the chain', 'recipient'),
  ),
  // The failure and response are deleted with the buyer, and after the retention period.
  webhook_attempts: other('delivery_id number duration status_code failure response started_at'),
  webhook_deliveries: table(
    other('id event_id network_app_id order_id status attempt_count next_attempt_at created_at settled_at'),
  ),
}
