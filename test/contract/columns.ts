/**
 * Every column of the database: whether it tells of a person, and then what a deletion does with it and whether an export
 * has it. `columns.test.ts` holds this against the database, a deletion and an export.
 */

import { type MetadataField, metadataFields, registrationFields } from '../../src/modules/assets/metadata.ts'

export interface Personal {
  erased: true | string
  exported: true | string
}
export type Declared = Personal | string

type Names = Record<string, Declared>
const each = (declared: Declared, names: string): Names =>
  Object.fromEntries(names.split(' ').map((name) => [name, declared]))
const table = (...parts: Names[]): Names => Object.assign({}, ...parts)

const row = (names: string) => each('names a row, or what it belongs to', names)
const moment = (names: string) => each('when something happened or is due', names)
const count = (names: string) => each('counts, or says how far something is', names)
const kind = (names: string) => each('one of a few words of ours', names)
const money = (names: string) => each('an amount: the books stay whole, and name nobody after a deletion', names)
const chain = (names: string) => each('stands on the public chain', names)
const ours = (names: string) => each('of the installation, not of a person', names)

const yours: Personal = { erased: true, exported: true }
const secret: Personal = { erased: true, exported: 'a secret, or made from one: it would help a thief and nobody else' }
const copy: Personal = { erased: true, exported: 'repeats what stands elsewhere' }

const metadata = Object.values<MetadataField>({ ...metadataFields, ...registrationFields })

export const columns: Record<string, Names> = {
  access_tokens: table(
    row('id user_id'),
    moment('created_at expires_at last_used_at'),
    each(yours, 'name'),
    each(secret, 'hash'),
  ),
  admin_sessions: table(row('id user_id'), each(secret, 'hash password_digest'), moment('created_at last_used_at')),
  api_keys: table(row('id'), ours('name prefix hash'), moment('created_at revoked_at')),
  asset_links: table(row('id asset_id'), each(yours, 'label'), moment('created_at expires_at revoked_at last_used_at')),
  assets: table(
    row('id owner_id creator_id head_commit_id'),
    each(yours, 'file_name custom'),
    ...metadata.map(({ kind: form, column }) => (form === 'flag' ? kind(column) : each(yours, column))),
    each({ erased: 'the identifier of a history that is on the chain', exported: true }, 'nid'),
    each({ erased: 'stands on the chain, in the tree', exported: true }, 'sha256'),
    each({ erased: 'what kind of file it was tells nothing of anybody', exported: true }, 'mime_type'),
    each(copy, 'thumbnail_cid c2pa_cid c2pa_version content_credentials'),
    kind('thumbnail_requested'),
    count('file_size head_sequence erased_through'),
    moment('uploaded_at updated_at deleted_at'),
  ),
  asset_blocks: table(row('asset_id'), each('hashes of parts of a file; forgotten once the file is deleted', 'cid')),
  audit_entries: table(
    row('id user_id'),
    kind('action'),
    each({ erased: 'names a row of ours', exported: true }, 'subject'),
    each(yours, 'address'),
    each({ erased: 'what an administrator wrote about running the service', exported: true }, 'reason'),
    moment('created_at'),
  ),

  chain_transactions: table(
    row('commit_id'),
    chain('hash raw max_fee_per_gas max_priority_fee_per_gas'),
    moment('created_at'),
  ),
  coin_transfers: table(
    row('id wallet_id'),
    chain('sender nonce recipient transaction_hash block_number block_hash'),
    kind('kind status'),
    money('amount arrived fee'),
    count('settlements'),
    moment('suspended_at created_at updated_at'),
  ),
  coin_transactions: table(row('coin_transfer_id'), chain('hash raw gas_price'), money('value'), moment('created_at')),
  chain_transaction_members: table(row('commit_id'), chain('hash position')),
  commit_relays: table(
    row('commit_id'),
    chain('tree_signature lane nonce position transaction_hash block_number block_hash gas_used fee_paid'),
    kind('status'),
    each('what the chain or the vault said', 'failure last_error'),
    count('attempts'),
    each('random numbers that name a trace of the operator', 'trace'),
    moment('next_attempt_at updated_at'),
  ),
  commits: table(
    row('id asset_id author_id'),
    count('sequence'),
    each({ erased: 'once they are on the chain for good, which was paid for', exported: true }, 'message changes tree'),
    chain('tree_cid tree_sha256'),
    moment('created_at'),
  ),
  deposits: table(
    row('id reference wallet_id swept_by'),
    kind('kind status'),
    chain('transaction_hash block_number block_hash'),
    money('amount shortfall written_off'),
    count('freezes'),
    moment('created_at credited_at frozen_at'),
  ),
  entries: table(row('transfer_id wallet_id'), count('position'), kind('book currency'), money('amount')),
  events: table(
    row('id owner_id order_id commit_id delivery_id transfer_id'),
    count('sequence'),
    kind('type'),
    moment('created_at'),
  ),
  idempotency_keys: table(each(secret, 'scope payload_hash'), each(copy, 'result answer'), moment('created_at')),
  concurrency_counters: table(
    each(
      'the account or address with open streams or uploads: of a minute, and gone with the hourly tidying',
      'subject',
    ),
    count('holders'),
    moment('until'),
  ),
  leases: ours('name holder epoch expires_at'),
  limits: table(each('a digest with a window of an hour at most', 'key'), count('count'), moment('window_end')),
  network_apps: table(
    row('id owner_id'),
    each({ erased: 'buyers’ orders speak of it, and it was published', exported: true }, 'name'),
    each(yours, 'webhook_url'),
    each(secret, 'webhook_secret previous_secret'),
    kind('price_mode delivery_failure_policy'),
    money('price'),
    moment('previous_secret_expires_at webhook_disabled_at deactivated_at created_at updated_at'),
  ),
  one_time_tokens: table(
    row('user_id request_id'),
    kind('purpose'),
    each(secret, 'hash'),
    each(copy, 'email'),
    moment('created_at expires_at used_at'),
  ),
  orders: table(
    row('id buyer_id network_app_id transfer_id'),
    each('the name of what is sold', 'network_app_name'),
    kind('status'),
    each(yours, 'action_args'),
    money('price quoted_points quoted_num points_paid num_paid points_refunded num_refunded'),
    moment('created_at expires_at paid_at settled_at action_args_erased_at'),
  ),
  pictures: table(
    row('id user_id'),
    kind('kind'),
    each(yours, 'picture'),
    each(copy, 'thumbnail'),
    moment('created_at'),
  ),
  pins: table(row('asset_id'), each(copy, 'cid'), kind('kind')),
  refunds: table(
    row('id order_id transfer_id refunded_by'),
    money('points num points_before num_before'),
    each(yours, 'reason'),
    moment('created_at'),
  ),
  job_failures: table(
    ours('job'),
    row('item'),
    each('what the database or a part said', 'last_error'),
    count('attempts'),
    moment('since next_attempt_at'),
  ),
  processes: ours('id name roles started_at seen_at'),
  key_values: ours('key value'),
  statement_balances: table(row('wallet_id transfer_id'), money('num points')),
  transfers: table(row('id reference'), each(yours, 'reason'), moment('created_at')),
  user_keys: table(
    row('user_id vault_key_id'),
    each(secret, 'wrapped_data_key sealed_private_key'),
    count('version'),
    moment('created_at'),
  ),
  users: table(
    row('id'),
    each(yours, 'username email display_name description default_tag referral_code pending_email'),
    each(copy, 'username_key'),
    each(secret, 'password_hash'),
    each({ erased: true, exported: true }, 'language'),
    kind('role email_verified email_held allow_c2pa_download'),
    count('asset_count'),
    moment('created_at locked_at deleted_at'),
  ),
  wallets: table(
    row('user_id'),
    each({ erased: 'stands on the chain with every commit', exported: true }, 'address'),
    money('num points'),
    count('event_sequence open_orders'),
    moment('closed_at'),
  ),
  withdrawals: table(
    row('id wallet_id coin_transfer_id'),
    each({ erased: 'says where coins went, as the chain does', exported: true }, 'recipient'),
    money('amount fee'),
    count('gas_limit'),
    kind('status'),
    each('what the chain said', 'failure'),
    moment('created_at due_at settled_at'),
  ),
  webhook_attempts: table(
    row('delivery_id'),
    count('number duration status_code'),
    each('what the receiver answered; gone with the buyer, and with the log', 'failure response'),
    moment('started_at'),
  ),
  webhook_deliveries: table(
    row('id event_id network_app_id order_id'),
    kind('status'),
    count('attempt_count'),
    moment('next_attempt_at created_at settled_at'),
  ),
}
