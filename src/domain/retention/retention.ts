/**
 * How long everything that the database holds is kept, and what removes it: one row for each table. The sweeps, `docs/retention.md` and the
 * test that no table is forgotten come from here.
 */
import { float, int, statement, text } from '../sql.ts'
import type { RoundName, Sweep, SweepName } from '../sweep/sweep.ts'
import { agedSweep } from './aged-rows.ts'
import {
  endedOneTimeTokens,
  endedTokens,
  idleTokens,
  oldDeliveries,
  oldEvents,
  oldKeys,
} from './retention-statements.ts'

/** Days that an operator chooses; `sessionIdleDays` may be 0: for ever. */
export interface RetentionDays {
  eventDays: number
  idempotencyKeyDays: number
  sessionIdleDays: number
}

/** Milliseconds: those who watch wait no longer. */
const SCRAPE_MS = 2_000

/** Days that nobody chooses: a request whose mail comes late must not replace a newer one's secret. */
const ONE_TIME_TOKEN_DAYS = 7

/** What is kept of a table, and why. Sentences for operators, without a full stop. */
export interface Retention {
  /** What adds a row. */
  readonly grows: string
  /** How long a row stays; `ever` where nothing removes it. */
  readonly kept: 'ever' | string
  /** Why so long, or why no longer. */
  readonly why: string
  /** Who removes it: sweeps by their names, or what does it by the way. */
  readonly by?: readonly (SweepName | RoundName)[] | string
}

const BOOKS = 'it is money: the books are never rewritten (I7)'
const HISTORY = 'it is the history of a work, which anybody may check (I6, I7)'
const CHAIN = 'it says where a commit stands on the chain, and is sent again where the chain loses it'
const COINS = 'it says where coins went on the chain'
const OWN = 'with what it belongs to'
const QUEUE = 'the queue made it'
const UPKEEP = 'the queue’s upkeep, every five minutes'

/** Of every table of ours; below `jobs.` of the queue. */
export const retentions = {
  users: { grows: 'a sign-up', kept: 'ever', why: 'a deleted account leaves a tombstone that names nobody (I9)' },
  wallets: { grows: 'a sign-up', kept: 'ever', why: BOOKS },
  user_keys: {
    grows: 'a sign-up',
    kept: 'while the account is there',
    why: 'it signs',
    by: 'the deletion of the account',
  },
  pictures: {
    grows: 'a picture on a profile, two at most',
    kept: 'while it is on the profile',
    why: 'it is shown there',
    by: 'whoever changes it, or the deletion of the account',
  },
  access_tokens: {
    grows: 'a sign-in',
    kept: 'until it is signed out, ends (ACCESS_TOKEN_DAYS), or nobody used it for SESSION_IDLE_DAYS days',
    why: 'a lost device must not stay signed in',
    by: ['forget-tokens', 'forget-idle-sessions'],
  },
  admin_sessions: {
    grows: 'a sign-in to the pages for administrators',
    kept: '8 hours, or 30 minutes without use',
    why: 'what it opens is dangerous',
    by: 'the next sign-in there',
  },
  one_time_tokens: {
    grows: 'a mail with a link, two of an account at most',
    kept: `${ONE_TIME_TOKEN_DAYS} days after it ended`,
    why: 'a request whose mail comes late must not replace a newer one',
    by: ['forget-one-time-tokens'],
  },
  audit_entries: {
    grows: 'a sign-in, and whatever changes an account or is done by an administrator',
    kept: 'ever',
    why: 'a trail that loses entries proves nothing; the deletion of an account erases its addresses (I9), and not why an administrator locked it or an operator took or deleted it',
  },
  api_keys: { grows: 'an operator who issues one', kept: 'ever', why: 'the trail names it, revoked or not' },

  assets: { grows: 'a registration', kept: 'ever', why: 'a deleted one is emptied, and holds its commits together' },
  asset_links: {
    grows: 'a link to a page, 200 of an asset at most',
    kept: '30 days after it ended',
    why: 'its owner sees which ended lately',
    by: 'the next link to the asset, or its deletion',
  },
  pins: {
    grows: 'a file, a tree, a thumbnail or a copy with Content Credentials',
    kept: OWN,
    why: 'what it names is read',
    by: ['erase-deleted-assets'],
  },
  asset_blocks: {
    grows: 'a block of a file of several',
    kept: OWN,
    why: 'clients of the file network read block by block',
    by: ['list-blocks'],
  },
  commits: { grows: 'a commit', kept: 'ever', why: `${HISTORY}; the deletion of the asset erases what it told` },
  commit_relays: { grows: 'a commit', kept: 'ever', why: CHAIN },
  chain_transactions: { grows: 'a transaction for commits', kept: 'ever', why: CHAIN },
  chain_transaction_members: { grows: 'a further commit in a transaction', kept: 'ever', why: CHAIN },

  transfers: {
    grows: 'a charge, a refund, a grant, a deposit, coins that move',
    kept: 'ever',
    why: `${BOOKS}; the deletion of the account erases the reason of a grant`,
  },
  entries: { grows: 'a transfer, two to four', kept: 'ever', why: BOOKS },
  statement_balances: { grows: 'every 256th transfer of a wallet or so', kept: 'ever', why: BOOKS },
  lying_coins: { grows: 'a wallet where coins come in', kept: 'ever', why: COINS },
  coin_balances: { grows: 'nothing: one row', kept: 'ever', why: 'it says where the coins of all lie' },
  deposits: { grows: 'a deposit', kept: 'ever', why: BOOKS },
  coin_moves: { grows: 'coins that are gathered or withdrawn', kept: 'ever', why: BOOKS },
  coin_transactions: {
    grows: 'coins that are gathered or withdrawn, some at rising prices of gas',
    kept: 'ever',
    why: COINS,
  },
  withdrawals: { grows: 'a withdrawal', kept: 'ever', why: BOOKS },

  network_apps: { grows: 'an administrator who registers one', kept: 'ever', why: 'its orders name it' },
  orders: {
    grows: 'an order, paid or not',
    kept: 'ever',
    why: `${BOOKS}; its arguments go ORDER_ARGUMENTS_DAYS days after it is over`,
  },
  refunds: { grows: 'a refund', kept: 'ever', why: BOOKS },
  events: {
    grows: 'a commit (two), an order (two to five), a deposit, a grant …',
    kept: 'EVENT_DAYS days',
    why: 'whoever follows a feed reads what it missed in that time',
    by: ['forget-events'],
  },
  webhook_deliveries: {
    grows: 'a sale or a refund of an app with a webhook, and a test',
    kept: 'EVENT_DAYS days after it is settled',
    why: 'it is looked at, and called again, when a receiver was down',
    by: ['forget-deliveries'],
  },
  webhook_attempts: {
    grows: 'an attempt to deliver, ten at most without being asked',
    kept: OWN,
    why: 'it says what the receiver answered, which goes within the hour when the buyer deletes their account, unless the call is replayed a week later',
    by: ['forget-deliveries'],
  },

  idempotency_keys: {
    grows: 'a request with a key, with its answer over REST',
    kept: 'IDEMPOTENCY_KEY_DAYS days',
    why: 'a caller that repeats a request does it by then',
    by: ['forget-idempotency-keys'],
  },
  limits: {
    grows: 'an address, account or token that a limit counts',
    kept: 'a minute after its window ended',
    why: 'it counts no more',
    by: 'the hourly tidying',
  },
  concurrency_counters: {
    grows: 'an address or account with open streams or uploads',
    kept: 'a minute after its last renewal',
    why: 'the process that held it is gone',
    by: 'the hourly tidying',
  },
  processes: {
    grows: 'a process that starts',
    kept: 'an hour after its last sign of life',
    why: 'it counts no more',
    by: 'the signs of life of the others',
  },
  leases: { grows: 'nothing: one for each lane and watch', kept: 'ever', why: 'its epoch refuses what is late' },
  setbacks: {
    grows: 'an item that a sweep cannot deal with',
    kept: 'until it is dealt with, or a day after nobody tries it any more',
    why: 'an operator sees it',
    by: 'the hourly tidying',
  },
  settings: { grows: 'nothing: a few facts', kept: 'ever', why: 'they are needed' },
  _prisma_migrations: { grows: 'a release that changes the tables', kept: 'ever', why: 'it says which are applied' },

  'jobs.job': {
    grows: 'a mail, a webhook call, a thumbnail, a deletion',
    kept: 'an hour after it is done (mails about accounts a minute); undone ten years, but 30 days of a mail; a year after it was given up',
    why: 'an operator looks at what was given up; what is owed is done however long the service stood still',
    by: UPKEEP,
  },
  'jobs.job_dependency': { grows: 'nothing: no job waits for another', kept: OWN, why: QUEUE, by: UPKEEP },
  'jobs.queue': { grows: 'nothing: one for each queue', kept: 'ever', why: QUEUE },
  'jobs.queue_stats': { grows: 'nothing: figures of queues are not kept', kept: OWN, why: QUEUE, by: UPKEEP },
  'jobs.schedule': { grows: 'nothing: no job is scheduled so', kept: 'ever', why: QUEUE },
  'jobs.subscription': { grows: 'nothing: nobody subscribes', kept: 'ever', why: QUEUE },
  'jobs.warning': { grows: 'nothing: warnings go to the log', kept: 'ever', why: QUEUE },
  'jobs.version': { grows: 'nothing: one row', kept: 'ever', why: QUEUE },
  'jobs.bam': { grows: 'a release of the queue that changes its indexes', kept: 'ever', why: QUEUE },
} as const satisfies Record<string, Retention>

/** Of what lies below `ANNAL_DIR`. */
export const fileRetentions = {
  blocks: {
    grows: 'a file, a tree of each commit, a thumbnail, a copy with Content Credentials',
    kept: 'while an asset pins it, and GARBAGE_GRACE_MINUTES more',
    why: 'it is read; with IPFS_API_URL it lies there instead',
    by: ['collect-garbage'],
  },
  uploads: {
    grows: 'a request with a file',
    kept: 'as long as the request',
    why: 'it has no name, so nothing of it stays',
    by: ['empty-uploads'],
  },
  keys: {
    grows: 'a sign-up: the key share of an account',
    kept: 'while the account is there; of a deleted one a mark stays for ever',
    why: 'a restored backup must not bring it back',
    by: 'the deletion of the account',
  },
  mail: {
    grows: 'a mail, where SMTP_URL is not set',
    kept: 'ever',
    why: 'it is for development: remove what you like',
  },
  chain: {
    grows: 'a block of the embedded chain',
    kept: 'ever',
    why: 'what was committed must stay to be checked; with CHAIN_RPC_URL it lies there instead',
  },
  'postgres.log': {
    grows: 'a fault of the embedded PostgreSQL, and a row that it refuses, of which nothing is told',
    kept: 'ever',
    why: 'an operator reads it, and removes it while nothing runs',
  },
} as const satisfies Record<string, Retention>

/** The sweeps of what goes by age. */
export const createRetentionSweeps = ({ eventDays, idempotencyKeyDays, sessionIdleDays }: RetentionDays): Sweep[] => [
  agedSweep(oldKeys, idempotencyKeyDays, 1_000),
  agedSweep(endedTokens, 0),
  ...(sessionIdleDays === 0 ? [] : [agedSweep(idleTokens, sessionIdleDays)]),
  agedSweep(endedOneTimeTokens, ONE_TIME_TOKEN_DAYS),
  // Before the events that they tell.
  agedSweep(oldDeliveries, eventDays),
  agedSweep(oldEvents, eventDays),
]

/** What goes by age, with SQL of its days. Idle sessions are left out: to find one takes a look at all that are as old and in use. */
const dueRows = [
  [oldKeys, '$idempotencyKeyDays'],
  [endedTokens, '0'],
  [endedOneTimeTokens, `${ONE_TIME_TOKEN_DAYS}`],
  [oldDeliveries, '$eventDays'],
  [oldEvents, '$eventDays'],
] as const

/** For how many seconds the oldest row of each is due. */
export const readOverdue = statement(
  'retention_overdue',
  {
    patience: SCRAPE_MS,
    parameters: { eventDays: int, idempotencyKeyDays: int },
    columns: { sweep: text, seconds: float },
  },
  `select sweep, coalesce(seconds, 0) as seconds from (values
     ${dueRows.map(([{ sweep, overdueSql }, days]) => `('${sweep}', ${overdueSql(days)})`).join(',\n     ')}
   ) as due (sweep, seconds)`,
)
