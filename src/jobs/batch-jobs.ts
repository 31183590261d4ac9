/**
 * Batch jobs: recurring background work on rows. Several processes may run the same job concurrently. A failed item is recorded in
 * `job_failures`, is retried with exponential backoff, and does not affect other items.
 */
import type { Database } from '../db/database-types.ts'
import type { FeedNotifications } from '../db/processes.ts'
import { arrayOf, int, type ParametersOf, type Statement, statement, text, timestamp, uuid } from '../db/sql.ts'
import { forEachSettled } from '../shared/async.ts'
import { DomainError, isUnavailable } from '../shared/errors.ts'
import { type IdPrefix, toId, UUID } from '../shared/ids.ts'
import type { Log, OnError } from '../shared/log.ts'
import { type Meter, noopMeter } from '../telemetry/telemetry-types.ts'

/** Names of all batch jobs, with the kind of their items. Items of kind `text` are hashes or transaction references. */
export const batchJobItems = {
  'expire-orders': 'order',
  'request-thumbnails': 'asset',
  'erase-arguments': 'order',
  'erase-arguments-of-deleted': 'order',
  'erase-webhooks-of-deleted': 'app',
  'erase-addresses-of-deleted': 'audit',
  'erase-responses-of-deleted': 'delivery',
  'erase-deleted-assets': 'asset',
  'forfeit-balances': 'user',
  'delete-idempotency-keys': 'text',
  'delete-expired-sessions': 'session',
  'delete-idle-sessions': 'session',
  'delete-one-time-tokens': 'text',
  'delete-deliveries': 'delivery',
  'delete-events': 'event',
  'credit-deposits': 'text',
} as const satisfies Record<string, IdPrefix | 'asset' | 'text'>
export type BatchJobName = keyof typeof batchJobItems

/** Name of a scan of all files. The items of a scan are files, and each run processes all files. */
export type FileScanName = 'collect-garbage' | 'delete-uploads' | 'index-blocks'

/** Parameters and columns of a statement that finds items. `skip`: items that this run has already tried. */
export const pageShape = { parameters: { skip: arrayOf(text), limit: int }, columns: { item: text } }
export type PageParameters = ParametersOf<typeof pageShape.parameters>

/** Returns SQL that finds due items of a job. `item` is the SQL expression of an item's ID as text. */
export const findItemsSql = (job: BatchJobName, item: string, from: string, where: string, order: string) =>
  `select ${item} as item from ${from} where ${where} and ${item} <> all ($skip)
     and not exists (select from job_failures s where s.job = '${job}' and s.item = ${item} and s.next_attempt_at > now())
   order by ${order} limit $limit`

export interface BatchJob {
  name: BatchJobName
  find(query: Database['query'], page: PageParameters): Promise<{ item: string }[]>
  page?: number
  maxPages?: number
  /** Processes items in a transaction. Returns the items without locked ones, and the users with new events. */
  process(query: Database['query'], items: readonly string[]): Promise<{ items: string[]; owners?: string[] }>
}

export const simpleBatchJob = <Extra>(
  name: BatchJobName,
  find: Statement<PageParameters & Extra, { item: string }>,
  process: Statement<{ items: readonly string[] } & Extra, { item: string }>,
  extra: Extra,
  page?: number,
): BatchJob => ({
  name,
  find: (query, part) => query(find, { ...part, ...extra } as never),
  ...(page && { page }),
  process: async (query, items) => ({
    items: (await query(process, { items, ...extra } as never)).map(({ item }) => item),
  }),
})

const FIRST_PAUSE_SECONDS = 5
const MAX_PAUSE_SECONDS = 3_600

/** Records failures. `items` and `lastErrors` correspond by position. Returns the number of attempts of each item. */
const recordFailures = statement(
  'job_failures_record',
  {
    parameters: { job: text, items: arrayOf(text), lastErrors: arrayOf(text) },
    columns: { item: text, attempts: int },
  },
  `insert into job_failures as s (job, item, next_attempt_at, last_error)
   select $job, failed.item, now() + make_interval(secs => ${FIRST_PAUSE_SECONDS}), failed.last_error
   from unnest($items, $lastErrors) as failed (item, last_error)
   on conflict (job, item) do update set attempts = s.attempts + 1, last_error = excluded.last_error,
     next_attempt_at = now() + make_interval(secs => least(${FIRST_PAUSE_SECONDS} * 2 ^ least(s.attempts, 30), ${MAX_PAUSE_SECONDS}))
   returning item, attempts`,
)

const failedItems = { parameters: { job: text, items: arrayOf(text) } }
const deleteFailures = statement(
  'job_failures_delete',
  failedItems,
  'delete from job_failures where job = $job and item = any ($items)',
)
const deleteOtherFailures = statement(
  'job_failures_delete_others',
  failedItems,
  'delete from job_failures where job = $job and item <> all ($items)',
)

/** Deletes failures of deleted items: no job retried them within a day. Keeps failures of uncredited deposits. */
export const deleteStaleJobFailures = statement(
  'job_failures_delete_stale',
  {},
  `delete from job_failures s where s.next_attempt_at < now() - interval '1 day'
     and not (s.job = 'credit-deposits' and exists (select from deposits d where d.reference = s.item and d.status <> 'CREDITED'))`,
)

export const findJobFailures = statement(
  'job_failures_find',
  {
    parameters: { limit: int },
    columns: { job: text, item: text, attempts: int, since: timestamp, next_attempt_at: timestamp, last_error: text },
  },
  'select job, item, attempts, since, next_attempt_at, last_error from job_failures order by since, job, item limit $limit',
)

export const retryJobFailures = statement(
  'job_failures_retry',
  { columns: { count: int } },
  `with updated_job_failures as (
     update job_failures set next_attempt_at = date_trunc('milliseconds', now()) where next_attempt_at > now() returning 1
   )
   select count(*)::int as count from updated_job_failures`,
)

const MAX_NAMED_ITEMS = 5
/** Maximum number of recorded failures per file scan. More failures usually have a common cause outside the files. */
const MAX_SCAN_FAILURES = 100
const MAX_ERROR_LENGTH = 300
const STATEMENT_TIMEOUT = '57014'

/** Returns true if an error affects all items. A statement timeout affects only the items of its statement. */
export const isOutage = (error: unknown) => {
  if (!isUnavailable(error)) return false
  return !(error.cause instanceof Error && 'code' in error.cause && error.cause.code === STATEMENT_TIMEOUT)
}

const messageOf = (error: unknown) => {
  const root = error instanceof DomainError && error.cause instanceof Error ? error.cause : error
  return (root instanceof Error ? root.message : String(root)).slice(0, MAX_ERROR_LENGTH)
}

const findNids = statement(
  'public_items_nids',
  { parameters: { assets: arrayOf(uuid) }, columns: { id: text, nid: text } },
  'select id::text, nid from assets where id = any ($assets)',
)

export async function withPublicItems<Row extends { job: string; item: string }>(
  { query }: Pick<Database, 'query'>,
  rows: readonly Row[],
): Promise<Row[]> {
  const kindOf = ({ job, item }: Row) => (UUID.test(item) ? batchJobItems[job as BatchJobName] : undefined)
  const assets = rows.filter((row) => kindOf(row) === 'asset').map(({ item }) => item)
  const found = assets.length > 0 ? await query(findNids, { assets }) : []
  const nids = new Map(found.map(({ id, nid }) => [id, nid]))
  return rows.map((row) => {
    const kind = kindOf(row)
    if (kind === undefined || kind === 'text') return row
    return { ...row, item: kind === 'asset' ? (nids.get(row.item) ?? row.item) : toId(kind, row.item) }
  })
}

interface Dependencies {
  database: Database
  log: Pick<Log, 'error'>
  notifications?: Pick<FeedNotifications, 'notify'>
  meter?: Pick<Meter, 'count'>
}

export function createBatchJobRunner({ database, log, notifications, meter = noopMeter }: Dependencies) {
  /** Records failures and logs the items that failed for the first time. */
  async function record(job: BatchJobName | FileScanName, failures: ReadonlyMap<string, unknown>): Promise<void> {
    if (failures.size === 0) return
    const lastErrors = [...failures.values()].map(messageOf)
    const recorded = await database.query(recordFailures, { job, items: [...failures.keys()], lastErrors })
    const fresh = recorded.filter(({ attempts }) => attempts === 1).map(({ item }) => ({ job, item }))
    if (fresh.length === 0) return
    const named = (await withPublicItems(database, fresh.slice(0, MAX_NAMED_ITEMS))).map(({ item }) => item)
    const fields = { err: failures.get(fresh[0]!.item), job, count: fresh.length, items: named }
    log.error(fields, 'Batch job failed for some items; retrying ("annal jobs" lists them)')
  }

  /** Processes items in one transaction. Records a failure and returns undefined. Throws UNAVAILABLE. */
  async function processTogether(job: BatchJob, items: readonly string[], failures: Map<string, unknown>) {
    try {
      const processed = await database.transaction((query) => job.process(query, items))
      meter.count('annal_batch_items_total', { batch_job: job.name }, processed.items.length)
      for (const owner of new Set(processed.owners)) notifications?.notify(owner)
      return processed.items
    } catch (error) {
      if (isOutage(error)) throw error
      if (items.length === 1) failures.set(items[0]!, error)
      return undefined
    }
  }

  /** Processes a page of items. If the page fails, processes each item separately to find the failing items. */
  async function processPage(job: BatchJob, items: readonly string[]): Promise<string[]> {
    const failures = new Map<string, unknown>()
    const together = await processTogether(job, items, failures)
    const done = together ?? []
    for (const item of together || items.length === 1 ? [] : items)
      done.push(...((await processTogether(job, [item], failures)) ?? []))
    await record(job.name, failures)
    if (done.length > 0) await database.query(deleteFailures, { job: job.name, items: done })
    return done
  }

  /** Processes all due items and returns their number. `cancel` stops the run between two pages. Throws UNAVAILABLE. */
  async function run(job: BatchJob, cancel?: AbortSignal): Promise<number> {
    const { page: limit = 500, maxPages = Number.POSITIVE_INFINITY } = job
    const skip: string[] = []
    let total = 0
    for (let pages = 0; pages < maxPages; pages += 1) {
      cancel?.throwIfAborted()
      const items = (await job.find(database.query, { skip, limit })).map(({ item }) => item)
      if (items.length === 0) break
      const done = new Set(await processPage(job, items))
      total += done.size
      skip.push(...items.filter((item) => !done.has(item)))
    }
    return total
  }

  return {
    run,

    /** An error in one job does not stop the other jobs. Throws the first error at the end. */
    runAll: (batchJobs: readonly BatchJob[], cancel?: AbortSignal) =>
      forEachSettled(batchJobs, (job) => run(job, cancel), cancel),

    /** Runs a scan of all files and records the files that it reports as failed. Throws the errors of `work`. */
    async runFileScan<T>(job: FileScanName, work: (onError: OnError) => Promise<T>): Promise<T> {
      const failures = new Map<string, unknown>()
      const onError: OnError = (item, error) => {
        if (failures.size < MAX_SCAN_FAILURES) failures.set(item, error)
      }
      const result = await work(onError).finally(() => record(job, failures))
      await database.query(deleteOtherFailures, { job, items: [...failures.keys()] })
      return result
    },
  }
}
