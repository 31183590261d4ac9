/**
 * A database that the planner takes for one that has grown. It holds a small history, made like the large ones of the growth bench, and its
 * statistics, analysed as they are, are told as those of many times as much; its files are as long as they would be, with holes that take no
 * room. Plans are made as in a grown one; nothing can be read.
 */
import { chownSync, closeSync, openSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'

/** PostgreSQL cuts its files after a gigabyte. */
const SEGMENT_PAGES = 131_072
const PAGE = 8_192

interface Relation {
  name: string
  /** Below the server's data directory. */
  file: string
  pages: number
  rows: number
  allVisible: number
  /** Of an index, the one that it is on. */
  table: string
  isIndex: boolean
}

/** Tables of ours and indexes on them. Where there is nothing, the pages are zero. */
const relationsSql = `
  select c.relname as name, pg_relation_filepath(c.oid) as file, c.relpages as pages, c.reltuples as rows, c.relallvisible as "allVisible",
    coalesce(t.relname, c.relname) as "table", c.relkind = 'i' as "isIndex"
  from pg_class c left join pg_index i on i.indexrelid = c.oid left join pg_class t on t.oid = i.indrelid
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'i') order by c.oid`

interface Column {
  table: string
  column: string
  distinct: number
  rows: number
  /** The table whose rows it names, if it does. */
  target: string | null
}

const columnsSql = `
  select s.tablename as "table", s.attname as "column", s.n_distinct as distinct, c.reltuples as rows, k.target
  from pg_stats s join pg_class c on c.relname = s.tablename and c.relnamespace = 'public'::regnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attname = s.attname
    left join lateral (select confrelid::regclass::text as target from pg_constraint
      where conrelid = c.oid and contype = 'f' and conkey = array[a.attnum] limit 1) k on true
  where s.schemaname = 'public'`

/** Makes a file so many pages long. What is new of it takes no room. */
function lengthen(file: string, pages: number) {
  const { uid, gid } = statSync(file)
  for (let segment = 0; segment * SEGMENT_PAGES < pages; segment += 1) {
    const path = segment === 0 ? file : `${file}.${segment}`
    closeSync(openSync(path, 'a', 0o600))
    chownSync(path, uid, gid)
    truncateSync(path, Math.min(SEGMENT_PAGES, pages - segment * SEGMENT_PAGES) * PAGE)
  }
}

export interface Snapshot {
  directory: string
  relations: Relation[]
  columns: Column[]
}

/** What a seeded and analysed database holds, by its statistics. */
export async function takeSnapshot(client: pg.Client): Promise<Snapshot> {
  const { rows: places } = await client.query<{ data_directory: string }>('show data_directory')
  const { rows: relations } = await client.query<Relation>(relationsSql)
  const { rows: columns } = await client.query<Column>(columnsSql)
  return { directory: places[0]!.data_directory, relations, columns }
}

/** By how much each table grows: 1 is not at all. */
export type Growth = (table: string) => number

/**
 * Tells the planner that tables hold so many times what they do. Of what names rows of another table, as many rows name each as did before,
 * unless that table does not grow with this one: then each has so many more.
 */
export async function grow(
  client: pg.Client,
  { directory, relations, columns }: Snapshot,
  growth: Growth,
): Promise<void> {
  for (const { name, file, pages, rows, allVisible, table, isIndex } of relations) {
    const times = growth(table)
    const grown = Math.max(isIndex ? 2 : 1, Math.ceil(pages * times))
    lengthen(join(directory, file), grown)
    await client.query(
      `select pg_restore_relation_stats('schemaname', 'public', 'relname', $1::text, 'relpages', $2::int, 'reltuples', $3::real,
        'relallvisible', $4::int)`,
      [name, grown, Math.max(0, rows * times), Math.floor(allVisible * times)],
    )
    if (!isIndex) await client.query(`alter table "${name}" set (autovacuum_enabled = false)`)
  }
  for (const { table, column, distinct, rows, target } of columns) {
    const values = distinct < 0 ? -distinct * rows : distinct
    // A handful that come again and again are kinds of things, of which there are no more in a larger database.
    const times = target ? growth(target) : distinct < 0 || values > KINDS ? growth(table) : 1
    await client.query(
      `select pg_restore_attribute_stats('schemaname', 'public', 'relname', $1::text, 'attname', $2::text, 'inherited', false, 'n_distinct', $3::real)`,
      [table, column, Math.max(-1, -(values * times) / Math.max(1, rows * growth(table)))],
    )
  }
}
const KINDS = 20
