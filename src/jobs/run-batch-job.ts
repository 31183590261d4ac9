/** Runs batch jobs. Several processes may run the same job concurrently. */

import type { Database } from '../db/database-types.ts'
import { arrayOf, statement, text, uuid } from '../db/sql.ts'
import type { FeedNotifications } from '../modules/events/notification-types.ts'
import { forEachSettled } from '../shared/async.ts'
import { DomainError, isUnavailable } from '../shared/errors.ts'
import { toId, UUID } from '../shared/ids.ts'
import type { Log, OnError } from '../shared/log.ts'
import { type Meter, noopMeter } from '../telemetry/telemetry-types.ts'
import { type FileScanName, type ItemRow, type Sweep, type SweepName, sweepItems } from './batch-job.ts'
import { forgetOtherSetbacks, forgetSetbacks, noteSetbacks } from './recorded-failures.sql.ts'

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
export async function withPublicItems<Row extends { sweep: string; item: string }>(
  { query }: Pick<Database, 'query'>,
  rows: readonly Row[],
): Promise<Row[]> {
  const kindOf = ({ sweep, item }: Row) => (UUID.test(item) ? sweepItems[sweep as SweepName] : undefined)
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

/** Creates a runner of batch jobs. It records failed items in the table `setbacks`. */
export function createSweeper({ database, log, notifications, meter = noopMeter }: Dependencies) {
  /** Records failures and logs the items that failed for the first time. */
  async function noteFailures(sweep: SweepName | FileScanName, failures: ReadonlyMap<string, unknown>): Promise<void> {
    if (failures.size === 0) return
    const items = [...failures.keys()]
    const noted = await database.query(noteSetbacks, { sweep, items, lastErrors: [...failures.values()].map(reasonOf) })
    const fresh = noted.filter(({ attempts }) => attempts === 1).map(({ item }) => ({ sweep, item }))
    if (fresh.length === 0) return
    const named = (await withPublicItems(database, fresh.slice(0, NAMED))).map(({ item }) => item)
    log.error(
      { err: failures.get(fresh[0]!.item), sweep, count: fresh.length, items: named },
      'Sweep failed for some items; retrying ("annal jobs" lists them)',
    )
  }

  const handle = async (sweep: Sweep, items: readonly string[]) => {
    const handled = await database.transaction((query) => sweep.handle(query, items))
    meter.count('annal_batch_items_total', { batch_job: sweep.name }, handled.items.length)
    for (const owner of new Set(handled.owners)) notifications?.notify(owner)
    return handled
  }

  /** Processes a page. If it fails, processes each item separately to find those that fail. */
  async function handlePage(sweep: Sweep, items: readonly string[]) {
    const failures = new Map<string, unknown>()
    const all = await handle(sweep, items).catch((error: unknown) => {
      if (isOutage(error)) throw error
      if (items.length === 1) failures.set(items[0]!, error)
    })
    const results = all ? [all] : []
    for (const item of all || items.length === 1 ? [] : items) {
      await handle(sweep, [item]).then(
        (result) => results.push(result),
        (error: unknown) => {
          if (isOutage(error)) throw error
          failures.set(item, error)
        },
      )
    }
    await noteFailures(sweep.name, failures)
    const done = results.flatMap((result) => result.items)
    if (done.length > 0) await database.query(forgetSetbacks, { sweep: sweep.name, items: done })
    return { done, hasMore: results.some(({ hasMore }) => hasMore === true) }
  }

  /**
   * Processes all due items and returns their number. `cancel` stops the run between two pages. Throws UNAVAILABLE.
   */
  async function run(sweep: Sweep, cancel?: AbortSignal): Promise<number> {
    let total = 0
    let after: string | null = null
    let hasMore = false
    for (let pages = 0; pages < (sweep.mostPages ?? Number.POSITIVE_INFINITY); pages += 1) {
      cancel?.throwIfAborted()
      const page: ItemRow[] = await sweep.find(database.query, { after, limit: sweep.page })
      if (page.length > 0) {
        const items = page.map(({ item }) => item)
        const handled = await handlePage(sweep, items)
        total += handled.done.length
        hasMore ||= handled.hasMore
        after = page.at(-1)!.place
      }
      if (page.length === sweep.page) continue
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
    async runAll(sweeps: readonly Sweep[], cancel?: AbortSignal): Promise<void> {
      await forEachSettled(sweeps, (sweep) => run(sweep, cancel), cancel)
    },

    /** Runs a scan of all files and records the files that it reports as failed. Throws the errors of `work`. */
    async runFileScan<T>(sweep: FileScanName, work: (onError: OnError) => Promise<T>): Promise<T> {
      const failures = new Map<string, unknown>()
      const onError: OnError = (item, error) => {
        if (failures.size < NOTED_OF_SCAN) failures.set(item, error)
      }
      const result = await work(onError).finally(() => noteFailures(sweep, failures))
      await database.query(forgetOtherSetbacks, { sweep, items: [...failures.keys()] })
      return result
    },
  }
}
