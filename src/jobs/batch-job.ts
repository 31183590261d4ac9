/**
 * Batch jobs: recurring background work on rows, such as expiring, erasing and deleting them. A job handles items in
 * bounded pages. A failed item is retried with exponential backoff and does not affect other items. `annal jobs`
 * lists failed items, and `run-batch-job.ts` runs the jobs.
 */

import type { Database } from '../db/database-types.ts'
import { int, orNull, type ParametersOf, type RowOf, type Statement, text } from '../db/sql.ts'
import { type IdPrefix, NIL_UUID } from '../shared/ids.ts'

/**
 * Names of all batch jobs, as operators see them, with the kind of their items. Items of kind `text` are hashes or
 * transaction references.
 */
export const batchJobItems = {
  'expire-orders': 'order',
  'ask-for-thumbnails': 'asset',
  'erase-arguments': 'order',
  'erase-arguments-of-deleted': 'order',
  'erase-webhooks-of-deleted': 'app',
  'erase-addresses-of-deleted': 'audit',
  'erase-answers-of-deleted': 'delivery',
  'erase-deleted-assets': 'asset',
  'forfeit-left-over': 'user',
  'forget-idempotency-keys': 'text',
  'forget-tokens': 'session',
  'forget-idle-sessions': 'session',
  'forget-one-time-tokens': 'text',
  'forget-deliveries': 'delivery',
  'forget-events': 'event',
  'credit-deposits': 'text',
} as const satisfies Record<string, IdPrefix | 'asset' | 'text'>
/** Name of a batch job. */
export type BatchJobName = keyof typeof batchJobItems
/** Names of all batch jobs. */
export const batchJobNames = Object.keys(batchJobItems) as BatchJobName[]

/** Name of a scan of all files. Its items are files, and each run tries all of them. */
export type FileScanName = 'collect-garbage' | 'empty-uploads' | 'list-blocks'

/**
 * Parameters and columns of a statement that finds a page of items. `after` is the position of the previous page's
 * last item, or null. `item` is an item's ID, and `place` its position in the order of the job.
 */
export const pageShape = { parameters: { after: orNull(text), limit: int }, columns: { item: text, place: text } }
/** Parameters that select a page of items. */
export type PageParameters = ParametersOf<typeof pageShape.parameters>
/** An item of a page. */
export type ItemRow = RowOf<typeof pageShape.columns>

/** Result of processing items. */
export interface Handled {
  /** Processed items. Excludes items that another transaction locks. */
  items: string[]
  /** True if items need further statements. The job runs again. */
  hasMore?: boolean
  /** Users whose event feeds have grown. */
  owners?: string[]
}

/** A background task that finds items page by page and handles each of them. */
export interface BatchJob {
  name: BatchJobName
  /** Finds due items that are not backed off (`isNotBackedOffSql`), in the order of their positions. */
  find(query: Database['query'], page: PageParameters): Promise<ItemRow[]>
  /** Items per page. */
  page: number
  /** Maximum number of pages per run. Default: unlimited. */
  maxPages?: number
  /** Processes items in a transaction. The work per item is bounded. */
  handle(query: Database['query'], items: readonly string[]): Promise<Handled>
}

/** Creates a batch job from one statement that finds items and one that processes them. */
export const simpleBatchJob = (
  name: BatchJobName,
  find: Statement<PageParameters, ItemRow>,
  handle: Statement<{ items: readonly string[] }, { item: string }>,
): BatchJob => ({
  name,
  find: (query, part) => query(find, part),
  page: 500,
  handle: async (query, items) => ({ items: (await query(handle, { items })).map(({ item }) => item) }),
})

/**
 * Returns an SQL condition: the item is not waiting for its next attempt. `item` is an SQL expression of the item's
 * ID.
 */
export const isNotBackedOffSql = (name: BatchJobName, item: string): string =>
  `not exists (select from job_failures s where s.job = '${name}' and s.item = ${item} and s.next_attempt_at > now())`

type PlaceType = 'timestamptz' | 'uuid' | 'text'
const LOWEST: Record<PlaceType, string> = {
  timestamptz: `'-infinity'`,
  uuid: `'${NIL_UUID}'`,
  text: `''`,
}

/**
 * Returns SQL for positions in the order of two columns: a row's position, and whether a row comes after `$after`.
 */
export const placeSql = (
  first: string,
  second: string,
  types: readonly [PlaceType, PlaceType] = ['timestamptz', 'uuid'],
) => {
  const part = (index: 0 | 1) =>
    `coalesce(split_part($after, '|', ${index + 1})::${types[index]}, ${LOWEST[types[index]]})`
  return {
    place: `${first}::text || '|' || ${second}::text`,
    isAfter: `(${first}, ${second}) > (${part(0)}, ${part(1)})`,
  }
}

/** Returns SQL for positions in the order of a UUID column. */
export const idPlaceSql = (id: string) => ({
  place: `${id}::text`,
  isAfter: `${id} > coalesce($after::uuid, ${LOWEST.uuid})`,
})
