/**
 * Recurring background work on items: erasing, expiring and deleting rows. Items are handled in bounded pages. An item that fails is
 * retried with exponential backoff, the others are not affected, and `annal jobs` lists it. `sweeper.ts` runs sweeps.
 */

import type { Database } from '../db/database-types.ts'
import { int, orNull, type ParametersOf, type RowOf, type Statement, text } from '../db/sql.ts'
import { type IdPrefix, NIL_UUID } from '../shared/ids.ts'

/** All sweeps by the name that operators see, with the kind of their items. Items of kind `text` are hashes or transaction references. */
export const sweepItems = {
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
/** Name of a sweep. */
export type SweepName = keyof typeof sweepItems
/** The names of all sweeps. */
export const sweepNames = Object.keys(sweepItems) as SweepName[]

/** Name of a scan that goes through all files. Its items are files, and each run tries all of them. */
export type FileScanName = 'collect-garbage' | 'empty-uploads' | 'list-blocks'

/**
 * Parameters and columns of a statement that finds a page of items. `after` is the place of the last item of the previous page, or null.
 * `item` is the identifier of an item, and `place` its position in the order of the sweep.
 */
export const sweepPage = { parameters: { after: orNull(text), limit: int }, columns: { item: text, place: text } }
/** Parameters that select a page of items. */
export type PageParameters = ParametersOf<typeof sweepPage.parameters>
/** An item of a page. */
export type ItemRow = RowOf<typeof sweepPage.columns>

/** Result of handling items. */
export interface Handled {
  /** Items that were handled. Items that another transaction locks are left out. */
  items: string[]
  /** True when items need further statements. The sweep runs again. */
  hasMore?: boolean
  /** Users whose event feeds have grown. */
  owners?: string[]
}

/** A background task that finds items page by page and handles each of them. */
export interface Sweep {
  name: SweepName
  /** Finds items that are due and not backed off (`isAwakeSql`), in the order of their places. */
  find(query: Database['query'], page: PageParameters): Promise<ItemRow[]>
  /** Items per page. */
  page: number
  /** Maximum pages of one run. Default: unlimited. */
  mostPages?: number
  /** Handles items in a transaction. Work per item is bounded. */
  handle(query: Database['query'], items: readonly string[]): Promise<Handled>
}

/** A sweep with one statement that finds items and one that handles them. */
export const plainSweep = (
  name: SweepName,
  find: Statement<PageParameters, ItemRow>,
  handle: Statement<{ items: readonly string[] }, { item: string }>,
): Sweep => ({
  name,
  find: (query, part) => query(find, part),
  page: 500,
  handle: async (query, items) => ({ items: (await query(handle, { items })).map(({ item }) => item) }),
})

/** SQL: true when an item is not waiting for its next attempt. `item` is an SQL expression of its identifier. */
export const isAwakeSql = (name: SweepName, item: string): string =>
  `not exists (select from setbacks s where s.sweep = '${name}' and s.item = ${item} and s.next_attempt_at > now())`

type PlaceType = 'timestamptz' | 'uuid' | 'text'
const LOWEST: Record<PlaceType, string> = {
  timestamptz: `'-infinity'`,
  uuid: `'${NIL_UUID}'`,
  text: `''`,
}

/** SQL of places in the order of two columns: the place of a row, and whether a row comes after the place `$after`. */
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

/** SQL of places in the order of a UUID column. */
export const idPlaceSql = (id: string) => ({
  place: `${id}::text`,
  isAfter: `${id} > coalesce($after::uuid, ${LOWEST.uuid})`,
})
