/**
 * Where rows would live if people were spread over several databases, each with a part of the accounts (docs/scaling.md, "Past one
 * PostgreSQL"). `shard-keys.test.ts` derives from this where each statement is carried out, and holds what cannot be derived to the
 * lists below.
 */

/**
 * `owner`: with the account that this column names. `of`: with the row that this column names, whose owner is another table's to tell.
 * `reference`: a copy in each database, written at one place. `own`: each database has its own.
 */
export type Home = { owner: string } | { of: string } | 'reference' | 'own'

/** Every table, also of queues and of the server itself. */
export const homes: Record<string, Home> = {
  users: { owner: 'id' },
  wallets: { owner: 'user_id' },
  user_keys: { owner: 'user_id' },
  access_tokens: { owner: 'user_id' },
  admin_sessions: { owner: 'user_id' },
  one_time_tokens: { owner: 'user_id' },
  pictures: { owner: 'user_id' },
  audit_entries: { owner: 'user_id' },
  assets: { owner: 'owner_id' },
  orders: { owner: 'buyer_id' },
  events: { owner: 'owner_id' },
  point_grants: { owner: 'wallet_id' },
  withdrawals: { owner: 'wallet_id' },
  deposits: { owner: 'wallet_id' },
  spendings: { owner: 'wallet_id' },
  balance_marks: { owner: 'wallet_id' },
  // Lines of books stand beside the lines of the wallet that they balance.
  entries: { owner: 'wallet_id' },
  statement_balances: { owner: 'wallet_id' },
  lying_coins: { owner: 'wallet_id' },
  transfers: { of: 'id' },
  commits: { of: 'asset_id' },
  commit_relays: { of: 'commit_id' },
  pins: { of: 'asset_id' },
  asset_blocks: { of: 'asset_id' },
  asset_links: { of: 'asset_id' },
  grant_uses: { of: 'grant_id' },
  refunds: { of: 'order_id' },
  webhook_deliveries: { of: 'event_id' },
  webhook_attempts: { of: 'delivery_id' },
  // A scope begins with the UUID of who sent the key.
  idempotency_keys: { of: 'scope' },
  network_apps: 'reference',
  api_keys: 'reference',
  // Relay accounts, the treasury and what is read of the chain: a set for each database, so that its lanes carry its own commits.
  chain_transactions: 'own',
  chain_transaction_members: 'own',
  coin_moves: 'own',
  coin_transactions: 'own',
  watched_assets: 'own',
  foreign_commits: 'own',
  settings: 'own',
  leases: 'own',
  limits: 'own',
  setbacks: 'own',
  kept_figures: 'own',
  coin_balances: 'own',
  _prisma_migrations: 'own',
  processes: 'own',
  // Of the database's own log: each has its own, and replicas of its own.
  read_positions: 'own',
  withdrawals_of_sight: 'own',
  timelines: 'own',
  held_places: 'own',
  unpaid_bytes: 'own',
  'jobs.job': 'own',
  'jobs.job_common': 'own',
  'jobs.queue': 'own',
  'pg_catalog.pg_class': 'own',
  'pg_catalog.pg_constraint': 'own',
  'pg_catalog.pg_index': 'own',
  'pg_catalog.pg_namespace': 'own',
  'pg_catalog.pg_trigger': 'own',
}

/** What a statement would become that cannot stay as it is, and those of which that is true. */
export const crossing: Record<string, { becomes: string; statements: string[] }> = {
  sale: {
    becomes:
      'two statements: the buyer’s database takes the money, posts it against the book CLEARING and writes down what the seller is to get; the seller’s, by the order’s identifier and once, posts the other half (test/contract/two-shards.test.ts)',
    statements: ['order_pay', 'order_pay_together'],
  },
  'a refund': {
    becomes:
      'the same in the other direction: the seller’s database gives back first, as far as it can, then the buyer’s',
    statements: ['refund_order', 'delivery_given_up', 'delivery_delivered'],
  },
  'a look at the seller': {
    becomes:
      'a look at the copy of network_apps, which says besides whether its owner is still there, or a question to the seller’s database where the answer is only told',
    statements: ['order_offer', 'order_state', 'webhook_events', 'delivery_due', 'webhook_test', 'deletion_foreseen'],
  },
  'an entry in an administrator’s trail': {
    becomes:
      'two statements: what was done with its entry for the person, and the administrator’s entry by a job that it leaves behind',
    statements: ['grant_insert', 'user_lock', 'user_unlock'],
  },
  'what is sold': {
    becomes:
      'a write of the reference tables at their one place, and the administrator’s entry by a job that it leaves behind',
    statements: [
      'api_key_insert',
      'api_key_revoke',
      'network_app_insert',
      'network_app_update',
      'network_app_rotate_secret',
      'network_app_deactivate',
      'deletion_webhooks',
      'deletion_find_webhooks',
      'deletion_erase',
    ],
  },
}

/** Statements that no owner is known for when they are asked, and why that is. */
export const global: Record<string, { because: string; statements: string[] }> = {
  directory: {
    because:
      'a name, an address or the hash of a token leads to an account: one directory of them says which database to ask; it also makes usernames and addresses unique',
    statements: [
      'account_by_tokens',
      'account_credentials',
      'account_addressee_by_email',
      'account_sign_up',
      'event_standing',
      'event_ended',
    ],
  },
  'every database, put together': {
    because: 'operators and checks ask each database, and add up or join the answers',
    statements: [
      'metrics_books',
      'metrics_state',
      'figures_waiting',
      'keys_page',
      'keys_count_all',
      'sealed_page_action_args',
      'doctor_newest_final',
      'doctor_webhooks',
      'check_chain_first',
      'check_chain_deposits',
      'invariant_I1',
      'invariant_I2',
      'invariant_I3',
      'invariant_I4',
      'invariant_I5',
      'invariant_I6',
      'invariant_I8',
      'invariant_I9',
      'invariant_I10',
      'invariant_C1',
      'invariant_C3',
      'invariant_C4',
      'invariant_C5',
      'invariant_C6',
      'invariant_C9',
    ],
  },
  'the system’s trail': {
    because: 'what the system did is no account’s: it is written where the account is that it was done to',
    statements: ['deletion_note'],
  },
  'callers of one database': {
    because:
      'what joins the writes of several callers has a line for each database, so that a statement joins those of one',
    statements: ['asset_update_together', 'order_insert_together'],
  },
  'each database for itself': {
    because: 'background work goes over what its own database has, whoever owns it',
    statements: [
      'keys_count_wrapped',
      'keys_note_rotation',
      'account_awaiting',
      'session_end_all',
      'pins_after',
      'blocks_next',
      'blocks_forget',
      'token_forget',
      'idle_token_forget',
      'one_time_token_forget',
      'kept_pins',
      'event_feeds',
      'deposits_find_frozen',
      'deposits_freeze',
      'withdrawal_due',
      'withdrawal_due_sum',
      'withdrawal_waiting',
      'relay_unprepared',
      'relay_waiting',
      'relay_count',
      'relay_retry',
      'relay_has_open',
      'relay_open_lanes',
      'relay_all_lanes',
      'relay_newest_placed',
      'relay_mark_included',
      'relay_mark_final',
      'relay_store_costs',
      'gas_quote_gas',
    ],
  },
  'by what a scope begins with': {
    because: 'a key of idempotency lives with who sent it, whom its first sixteen bytes name',
    statements: [
      'idempotency_find',
      'idempotency_remember',
      'idempotency_forget',
      'password_reset_request',
      'account_verification_request',
      'deletion_answers',
    ],
  },
  'by items of a list': {
    because: 'the caller has the list from the same database',
    statements: ['deletion_signatures'],
  },
}

/** How what Prisma reads is found, by model: `owner` where who asks is the owner, else what leads to the database. */
export const reads: Record<string, 'owner' | 'reference' | 'thing' | { everywhere: string }> = {
  user: 'owner',
  order: 'owner',
  event: 'owner',
  deposit: 'owner',
  withdrawal: 'owner',
  auditEntry: 'owner',
  refund: 'thing',
  commit: 'thing',
  webhookDelivery: 'thing',
  networkApp: 'reference',
  apiKey: 'reference',
  asset: {
    everywhere:
      'a nid is unique over all owners and says nothing of its own: the directory says where it is; the list of all that is public is put together from every database, newest first',
  },
}

/** Reads of either door that no single database answers by what their text tells, by the operation or route that sends them first (`plans.test.ts`). */
export const readsApart: Record<string, { because: string; of: string[] }> = {
  everybody: {
    because:
      'administrators read of everybody: each database is asked for a page, and the pages are put together, newest first',
    of: [
      'Query.accountDeposits',
      'Query.accountWithdrawals',
      'Query.auditEntries',
      'Query.sales',
      'Query.webhookDeliveries',
      'GET store/webhook-deliveries',
      'GET /admin/orders',
      'GET /admin/webhooks',
      'GET /admin/audit',
    ],
  },
  'an app with who sells it': {
    because:
      'the copy of network_apps would tell of its owner what is shown beside it, or the seller’s database is asked',
    of: [
      'Query.networkApp',
      'Query.webhookDelivery',
      'GET /admin/apps',
      'GET /admin/apps/:id',
      'GET /admin/webhooks/:id',
    ],
  },
  'one account, named twice': {
    because: 'two parameters name whoever asks, once as the account and once as the owner of what is asked for',
    of: ['Query.me', 'User.assets'],
  },
}
