/** Rows that are forgotten once they are old enough: how a page of them is found, how it is deleted, and how late that is. */
import { arrayOf, int, type Statement, statement, text } from '../sql.ts'
import {
  type ItemRow,
  idPlaceSql,
  isAwakeSql,
  type PageParameters,
  placeSql,
  type Sweep,
  type SweepName,
  sweepPage,
} from '../sweep/sweep.ts'

/** Rows of one table, which SQL calls `r`. It may name `$days`, how long they are kept. */
export interface AgedRows {
  sweep: SweepName
  /** What the statements are called, before `_over` and `_forget`. */
  name: string
  table: string
  /** The column that identifies a row: a UUID in the order of time, or bytes. */
  key: { uuid: string } | { bytes: string }
  /** The column in whose order they are found, by an index that goes on with the key; the key itself when left out. */
  by?: string
  /** Which rows are old enough. */
  isOver: string
  /** Since when a row is. */
  overSince: string
  /** Further parts of the statement that deletes them. The part `over_rows` is the rows that are old enough, and held. */
  parts?: string
  /** Which of them stay nevertheless. */
  unless?: string
}

interface Days {
  days: number
}

/** What is asked for such rows. */
export interface ForgottenRows {
  sweep: SweepName
  /** A page of a sweep. */
  find: Statement<PageParameters & Days, ItemRow>
  /** Deletes those of these that are old enough, but for what somebody holds at this moment. */
  forget: Statement<{ items: readonly string[] } & Days, { item: string }>
  /** SQL: for how many seconds the oldest that does not rest is old enough; null without one. `days`: SQL of how long they are kept. */
  overdueSql(days: string): string
}

/** Both for the kind of key: the text that stands for one, and which rows `$items` are. */
const keySql = (key: AgedRows['key']) =>
  'uuid' in key
    ? { column: key.uuid, item: `r.${key.uuid}::text`, isNamed: `r.${key.uuid} = any ($items::uuid[])` }
    : {
        column: key.bytes,
        item: `encode(r.${key.bytes}, 'hex')`,
        isNamed: `r.${key.bytes} = any (array(select decode(item, 'hex') from unnest($items) item))`,
      }

/** The statements for rows that go by age. */
export function forgottenRows(rows: AgedRows): ForgottenRows {
  const { sweep, name, table, key, by, isOver, overSince, parts, unless } = rows
  const { column, item, isNamed } = keySql(key)
  const second = 'uuid' in key ? `r.${column}` : item
  const place = by
    ? placeSql(`r.${by}`, second, ['timestamptz', 'uuid' in key ? 'uuid' : 'text'])
    : idPlaceSql(`r.${column}`)
  const order = by ? `r.${by}, ${second}` : `r.${column}`
  const overSql = `from ${table} r where ${isOver} and ${isAwakeSql(sweep, item)}`
  return {
    sweep,
    find: statement(
      `${name}_over`,
      { parameters: { ...sweepPage.parameters, days: int }, columns: sweepPage.columns },
      `select ${item} as item, ${place.place} as place ${overSql} and ${place.isAfter} order by ${order} limit $limit`,
    ),
    forget: statement(
      `${name}_forget`,
      { parameters: { items: arrayOf(text), days: int }, columns: { item: text } },
      `with over_rows as materialized (
         select r.* from ${table} r where ${isNamed} and ${isOver} for update skip locked
       )${parts ? `,\n${parts}` : ''}
       delete from ${table} r using over_rows
       where r.${column} = over_rows.${column}${unless ? ` and not (${unless})` : ''} returning ${item} as item`,
    ),
    overdueSql: (days) =>
      `(select greatest(0, extract(epoch from now() - (${overSince})))::float8 ${overSql} order by ${order} limit 1)`.replaceAll(
        '$days',
        days,
      ),
  }
}

/** How rows are swept that are kept for so many days. */
export const agedSweep = ({ sweep, find, forget }: ForgottenRows, days: number, page = 500): Sweep => ({
  name: sweep,
  find: (query, part) => query(find, { ...part, days }),
  page,
  carryOut: async (query, items) => ({ items: (await query(forget, { items, days })).map(({ item }) => item) }),
})
