/** Runs batch jobs. Several processes may run the same job concurrently. */

import type { Database } from '../db/database-types.ts'
import { arrayOf, statement, text, uuid } from '../db/sql.ts'
import type { FeedNotifications } from '../modules/events/notification-types.ts'
import { forEachSettled } from '../shared/async.ts'
import { DomainError, isUnavailable } from '../shared/errors.ts'
import { toId, UUID } from '../shared/ids.ts'
import type { Log, OnError } from '../shared/log.ts'
import { type Meter, noopMeter } from '../telemetry/telemetry-types.ts'
import { type BatchJob, type BatchJobName, batchJobItems, type FileScanName, type ItemRow } from './batch-job.ts'
import { deleteJobFailures, deleteOtherJobFailures, recordJobFailures } from './recorded-failures.sql.ts'

/** Maximum number of items named in a log line. */
const NAMED = 5
/** Maximum number of recorded failures per file scan. More failures usually have a common cause outside the files. */
const NOTED_OF_SCAN = 100
/** Maximum length of a recorded error message, in characters. */
const LONGEST_REASON = 300
const STATEMENT_TIMEOUT = '57014'

/** Returns true if an error affects all items. A statement timeout affects only the items of its statement. */
export const isOutage = (error: unknown) => {
  if (!isUnavailable(error)) return false
  return !(error.cause instanceof Error && 'code' in error.cause && error.cause.code === STATEMENT_TIMEOUT)
}

/** Returns the message of the underlying error, which is more specific than UNAVAILABLE. */
const reasonOf = (error: unknown) => {
  const root = error instanceof DomainError && error.cause instanceof Error ? error.cause : error
  return (root instanceof Error ? root.message : String(root)).slice(0, LONGEST_REASON)
}

const findNids = statement(
  'public_items_nids',
  { parameters: { assets: arrayOf(uuid) }, columns: { id: text, nid: text } },
  'select id::text, nid from assets where id = any ($assets)',
)

/** Returns the rows with public IDs. Throws UNAVAILABLE. */
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
  /** Required by batch jobs that write events. */
  notifications?: Pick<FeedNotifications, 'notify'>
  meter?: Pick<Meter, 'count'>
}

/** Creates a runner of batch jobs. It records failed items in the table `job_failures`. */
export function createBatchJobRunner({ database, log, notifications, meter = noopMeter }: Dependencies) {
  /** Records failures and logs the items that failed for the first time. */
  async function noteFailures(job: BatchJobName | FileScanName, failures: ReadonlyMap<string, unknown>): Promise<void> {
    if (failures.size === 0) return
    const items = [...failures.keys()]
    const noted = await database.query(recordJobFailures, {
      job,
      items,
      lastErrors: [...failures.values()].map(reasonOf),
    })
    const fresh = noted.filter(({ attempts }) => attempts === 1).map(({ item }) => ({ job, item }))
    if (fresh.length === 0) return
    const named = (await withPublicItems(database, fresh.slice(0, NAMED))).map(({ item }) => item)
    log.error(
      { err: failures.get(fresh[0]!.item), job, count: fresh.length, items: named },
      'Batch job failed for some items; retrying ("annal jobs" lists them)',
    )
  }

  const handle = async (job: BatchJob, items: readonly string[]) => {
    const handled = await database.transaction((query) => job.handle(query, items))
    meter.count('annal_batch_items_total', { batch_job: job.name }, handled.items.length)
    for (const owner of new Set(handled.owners)) notifications?.notify(owner)
    return handled
  }

  /** Processes a page. If it fails, processes each item separately to find those that fail. */
  async function handlePage(job: BatchJob, items: readonly string[]) {
    const failures = new Map<string, unknown>()
    const all = await handle(job, items).catch((error: unknown) => {
      if (isOutage(error)) throw error
      if (items.length === 1) failures.set(items[0]!, error)
    })
    const results = all ? [all] : []
    for (const item of all || items.length === 1 ? [] : items) {
      await handle(job, [item]).then(
        (result) => results.push(result),
        (error: unknown) => {
          if (isOutage(error)) throw error
          failures.set(item, error)
        },
      )
    }
    await noteFailures(job.name, failures)
    const done = results.flatMap((result) => result.items)
    if (done.length > 0) await database.query(deleteJobFailures, { job: job.name, items: done })
    return { done, hasMore: results.some(({ hasMore }) => hasMore === true) }
  }

  /**
   * Processes all due items and returns their number. `cancel` stops the run between two pages. Throws UNAVAILABLE.
   */
  async function run(job: BatchJob, cancel?: AbortSignal): Promise<number> {
    let total = 0
    let after: string | null = null
    let hasMore = false
    for (let pages = 0; pages < (job.maxPages ?? Number.POSITIVE_INFINITY); pages += 1) {
      cancel?.throwIfAborted()
      const page: ItemRow[] = await job.find(database.query, { after, limit: job.page })
      if (page.length > 0) {
        const items = page.map(({ item }) => item)
        const handled = await handlePage(job, items)
        total += handled.done.length
        hasMore ||= handled.hasMore
        after = page.at(-1)!.place
      }
      if (page.length === job.page) continue
      if (!hasMore) break
      // Items with remaining work continue after every other item had a turn.
      hasMore = false
      after = null
    }
    return total
  }

  return {
    run,

    /** Runs several batch jobs. An error in one does not stop the others. Throws the first error at the end. */
    async runAll(batchJobs: readonly BatchJob[], cancel?: AbortSignal): Promise<void> {
      await forEachSettled(batchJobs, (job) => run(job, cancel), cancel)
    },

    /** Runs a scan of all files and records the files that it reports as failed. Throws the errors of `work`. */
    async runFileScan<T>(job: FileScanName, work: (onError: OnError) => Promise<T>): Promise<T> {
      const failures = new Map<string, unknown>()
      const onError: OnError = (item, error) => {
        if (failures.size < NOTED_OF_SCAN) failures.set(item, error)
      }
      const result = await work(onError).finally(() => noteFailures(job, failures))
      await database.query(deleteOtherJobFailures, { job, items: [...failures.keys()] })
      return result
    },
  }
}
