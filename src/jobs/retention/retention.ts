/** Retention periods of all tables and of the files below ANNAL_DIR. `docs/reference/retention.md` is generated from them. */
import type { BatchJobName, FileScanName } from '../batch-job.ts'
import { ONE_TIME_TOKEN_DAYS } from './aged-rows.ts'

/** Retention of a table or folder, in phrases for operators. */
export interface Retention {
  /** Event that adds a row or file. */
  readonly grows: string
  /** Retention period. */
  readonly kept: string
  /** Names of the batch jobs and file scans that delete it, or a phrase. Undefined if it is kept indefinitely. */
  readonly by?: readonly (BatchJobName | FileScanName)[] | string
  /** Reason for keeping it indefinitely, or the parts that are erased earlier. */
  readonly why?: string
}

const INDEFINITELY = 'indefinitely'
const forever = (grows: string, why: string): Retention => ({ grows, kept: INDEFINITELY, why })
const until = (grows: string, kept: string, by: NonNullable<Retention['by']>, why?: string): Retention => ({
  grows,
  kept,
  by,
  ...(why !== undefined && { why }),
})

const LEDGER = 'ledger entries never change (I7)'
const CHAIN = 'the relay sends it again when the chain loses it'
const PG_BOSS = 'a table of pg-boss'
const PG_BOSS_UPKEEP = 'pg-boss, every five minutes'
const WITH_PARENT = 'with the row it belongs to'
const ACCOUNT_DELETION = 'the deletion of the account'
const HOURLY = 'the hourly maintenance'

/** Retention of every table. Tables of pg-boss start with `jobs.`. */
export const retentions: Readonly<Record<string, Retention>> = {
  users: forever('a sign-up', 'a deleted account keeps an anonymous row (I9)'),
  wallets: forever('a sign-up', LEDGER),
  user_keys: until('a sign-up', 'while the account exists', ACCOUNT_DELETION),
  pictures: until('a profile picture', 'while it is on the profile', `its replacement, or ${ACCOUNT_DELETION}`),
  access_tokens: until('a sign-in', 'until sign-out, ACCESS_TOKEN_DAYS, or 365 days without use', [
    'forget-tokens',
    'forget-idle-sessions',
  ]),
  admin_sessions: until('a sign-in to the admin pages', '8 hours, or 30 minutes without use', 'the next sign-in there'),
  one_time_tokens: until('a mail with a link', `${ONE_TIME_TOKEN_DAYS} days after it expired`, [
    'forget-one-time-tokens',
  ]),
  audit_entries: forever(
    'a sign-in, and changes of an account',
    'the audit log must be complete; the deletion of the account erases addresses (I9)',
  ),
  api_keys: forever('an issued API key', 'the audit log names it'),

  assets: forever('a registration', 'a deleted asset keeps an empty row for its commits'),
  asset_links: until(
    'a link to an asset page',
    '30 days after it expired',
    'the next link, or the deletion of the asset',
  ),
  pins: until('a stored file, tree, thumbnail or signed copy', WITH_PARENT, ['erase-deleted-assets']),
  asset_blocks: until('a file of several blocks', WITH_PARENT, ['list-blocks']),
  commits: forever('a commit', 'it is the history of a work (I6, I7); the deletion of the asset erases its contents'),
  commit_relays: forever('a commit', CHAIN),
  chain_transactions: forever('a transaction with commits', CHAIN),
  chain_transaction_members: forever('a further commit in a transaction', CHAIN),

  transfers: forever(
    'a charge, refund, grant, deposit or withdrawal',
    `${LEDGER}; the deletion of the account erases the reason of a grant`,
  ),
  entries: forever('a transfer, two to four', LEDGER),
  statement_balances: forever('about every 256th transfer of a wallet', LEDGER),
  deposits: forever('a deposit', LEDGER),
  coin_transfers: forever('a treasury sweep or a withdrawal', LEDGER),
  coin_transactions: forever('a transaction of a treasury sweep or withdrawal', 'it records coins on the chain'),
  withdrawals: forever('a withdrawal', LEDGER),

  network_apps: forever('a registered app', 'its orders refer to it'),
  orders: forever('an order', `${LEDGER}; arguments are erased after 30 days`),
  refunds: forever('a refund', LEDGER),
  events: until('a commit, an order, a deposit or a grant', '90 days', ['forget-events']),
  webhook_deliveries: until('a sale or refund of an app with a webhook', '90 days after it is settled', [
    'forget-deliveries',
  ]),
  webhook_attempts: until(
    'an attempt to deliver',
    WITH_PARENT,
    ['forget-deliveries'],
    'the response is erased within an hour after the buyer deletes the account, or a week after a replay',
  ),

  idempotency_keys: until('a request with a key', '7 days', ['forget-idempotency-keys']),
  limits: until('a caller that a rate limit counts', 'a minute after its window', HOURLY),
  concurrency_counters: until('a caller with open streams or uploads', 'a minute after its last renewal', HOURLY),
  processes: until('a process that starts', 'an hour after its last heartbeat', 'heartbeats of other processes'),
  leases: forever('nothing: one row for each lease', 'its epoch rejects late writes'),
  job_failures: until(
    'an item that a batch job failed to handle',
    'until it is handled, or a day after its last try',
    HOURLY,
  ),
  key_values: forever('nothing: a few facts', 'Annal needs them'),
  _prisma_migrations: forever('a release that changes the schema', 'it lists the applied migrations'),

  'jobs.job': until(
    'a mail, a webhook delivery, a thumbnail, a deletion',
    'an hour after success (account mails: a minute); dead letters a year; unfinished mails 30 days',
    PG_BOSS_UPKEEP,
  ),
  'jobs.job_dependency': until('nothing: no job depends on another', WITH_PARENT, PG_BOSS_UPKEEP),
  'jobs.queue': forever('nothing: one row for each queue', PG_BOSS),
  'jobs.queue_stats': until('nothing: statistics are off', WITH_PARENT, PG_BOSS_UPKEEP),
  'jobs.schedule': forever('nothing: one row for each scheduled task', PG_BOSS),
  'jobs.subscription': forever('nothing: there are no subscriptions', PG_BOSS),
  'jobs.warning': forever('nothing: warnings are logged', PG_BOSS),
  'jobs.version': forever('nothing: one row', PG_BOSS),
  'jobs.bam': forever('a new version of pg-boss', PG_BOSS),
}

/** Retention of the files below `ANNAL_DIR`. */
export const fileRetentions: Readonly<Record<string, Retention>> = {
  blocks: until('a file, tree, thumbnail or signed copy', 'while it is pinned, plus an hour', ['collect-garbage']),
  uploads: until('a request with a file', 'while the request runs', ['empty-uploads']),
  keys: until(
    'a sign-up',
    'while the account exists',
    ACCOUNT_DELETION,
    'a mark stays, so that no backup restores the key',
  ),
  mail: forever('a mail, without SMTP_URL', 'for development; delete it at any time'),
  chain: forever('a block of the embedded chain', 'commits must stay verifiable'),
  'postgres.log': forever('an error of the embedded PostgreSQL', 'delete it while nothing runs'),
}
