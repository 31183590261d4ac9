/**
 * What is tidied again and again, item by item. One shape for all: pages that are bounded, items that fail rest ever longer
 * while all others go on, and an operator sees them. What carries a sweep out is `sweeper.ts`.
 */
import { NIL_UUID } from '../ids.ts'
import type { Database } from '../ports/database.ts'
import { int, orNull, type ParametersOf, type RowOf, text } from '../sql.ts'

/** Every sweep, by the name that operators see. */
export const sweepNames = [
  'expire-orders',
  'ask-for-thumbnails',
  'erase-arguments',
  'erase-arguments-of-deleted',
  'erase-webhooks-of-deleted',
  'erase-addresses-of-deleted',
  'erase-answers-of-deleted',
  'erase-deleted-assets',
  'forfeit-left-over',
  'forget-idempotency-keys',
  'forget-tokens',
  'forget-idle-sessions',
  'forget-one-time-tokens',
  'forget-deliveries',
  'forget-events',
  'credit-deposits',
] as const
/** A sweep. */
export type SweepName = (typeof sweepNames)[number]

/** What goes through everything there is, and has no rows of its own: its items are files, and each run tries all of them. */
export type RoundName = 'collect-garbage' | 'empty-uploads' | 'list-blocks'

/**
 * What a statement that finds a page of items takes and returns. `after`: the place of the last item of the page before, null
 * for the first; `item`: its identifier; `place`: where it stands in the order of its sweep.
 */
export const sweepPage = { parameters: { after: orNull(text), limit: int }, columns: { item: text, place: text } }
/** Which page of items is wanted. */
export type PageParameters = ParametersOf<typeof sweepPage.parameters>
/** An item that a sweep is to deal with. */
export type ItemRow = RowOf<typeof sweepPage.columns>

/** What came of dealing with some items. */
export interface Done {
  /** The items that something was done with; what somebody else holds at this moment is left out. */
  items: string[]
  /** Those of them that have more to be done than one statement does. */
  unfinished?: string[]
  /** Whose feeds of events have grown. */
  owners?: string[]
}

/** How items are found that wait for something, and how they are dealt with. */
export interface Sweep {
  name: SweepName
  /** What is to be dealt with, and does not rest (`isAwakeSql`), in the order of places. */
  find(query: Database['query'], page: PageParameters): Promise<ItemRow[]>
  /** Items of a page. */
  page: number
  /** Pages of one run; all of them when left out. */
  mostPages?: number
  /** Each in a transaction of its own. */
  isOneByOne?: boolean
  /** Deals with these items, a bounded part of each, in a transaction that `query` asks in. */
  carryOut(query: Database['query'], items: readonly string[]): Promise<Done>
}

/** SQL: whether an item is not waiting for its next attempt. `item` is an expression for its text. */
export const isAwakeSql = (name: SweepName, item: string): string =>
  `not exists (select from setbacks s where s.sweep = '${name}' and s.item = ${item} and s.next_attempt_at > now())`

type PlaceType = 'timestamptz' | 'uuid' | 'text'
const LOWEST: Record<PlaceType, string> = {
  timestamptz: `'-infinity'`,
  uuid: `'${NIL_UUID}'`,
  text: `''`,
}

/** SQL of places in the order of two columns: a row's own, and whether it comes after the place `$after`. */
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

/** SQL of places in the order of a UUID. */
export const idPlaceSql = (id: string) => ({
  place: `${id}::text`,
  isAfter: `${id} > coalesce($after::uuid, ${LOWEST.uuid})`,
})
