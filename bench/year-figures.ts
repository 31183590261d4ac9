/** What a simulated year leaves behind: the size of every table on the disk as the days pass, and what follows from it. */
import { type Retention, tableRetentions } from '../test/support/retention-page.ts'

/** Of one table on one day. Bytes with its indexes, its large values and its free room. */
export interface TableSize {
  name: string
  rows: number
  bytes: number
}

/** All tables on one day. */
export interface Sample {
  day: number
  tables: ReadonlyMap<string, TableSize>
  /** Milliseconds and rows of the sweeps of that day. */
  sweepMs: number
  removed: number
  commits: number
}

/** SQL: every table of ours, with all its partitions. */
export const sizesSql = `
  select case n.nspname when 'public' then '' else n.nspname || '.' end || c.relname as name,
    sum(pg_total_relation_size(part.oid))::float8 as bytes, sum(greatest(part.reltuples, 0))::float8 as rows
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_class part on part.oid = c.oid or part.oid in (select relid from pg_partition_tree(c.oid) where isleaf)
  where n.nspname in ('public', 'jobs') and c.relkind in ('r', 'p') and not c.relispartition group by n.nspname, c.relname`

/** Days at the end of the year by which it is judged, where it is not shorter than twice that. */
const MOST_LAST_DAYS = 120
const lastDays = (samples: readonly Sample[]) => Math.min(MOST_LAST_DAYS, samples.at(-1)!.day / 2)
/** How much of itself a table may grow in them that is to grow no more, and a page of each index besides. */
const MOST_GROWTH = 0.05
const ROOM_BYTES = 65_536
/** By how much bytes for each row may rise while a table grows. */
const MOST_DRIFT = 0.15

/** Returns true if the rows of a table are deleted after some time, so that the table stops growing. */
const hasEnd = ({ kept, reason }: Retention) =>
  /(DAYS|\bdays?|\bhours?|\bminutes?)\b/.test(kept) || reason.startsWith('`delete-')

const within = (samples: readonly Sample[], from: number) => samples.filter(({ day }) => day >= from)
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

/** What became of one table. */
export interface Verdict {
  name: string
  hasEnd: boolean
  rows: number
  bytes: number
  /** Bytes a row in the end. */
  each: number
  /** Bytes a day over the last days. */
  growth: number
  isRight: boolean
}

/** Judges every table by what is said of it: what has an end grows no more, what has none grows as its rows do. */
export function judge(samples: readonly Sample[]): Verdict[] {
  const last = samples.at(-1)!
  const days = lastDays(samples)
  const judged = within(samples, last.day - days)
  const half = last.day - days / 2
  const sizes = (part: readonly Sample[], name: string) => part.map(({ tables }) => tables.get(name)!)
  return [...last.tables.values()]
    .map(({ name, rows, bytes }): Verdict => {
      const isBounded = hasEnd(tableRetentions.get(name)!)
      const early = sizes(
        judged.filter(({ day }) => day <= half),
        name,
      )
      const late = sizes(within(judged, half), name)
      const first = sizes(judged, name)[0]!
      const growth = (bytes - first.bytes) / days
      const isFlat =
        mean(late.map((size) => size.bytes)) <= mean(early.map((size) => size.bytes)) * (1 + MOST_GROWTH) + ROOM_BYTES
      const each = (size: TableSize) => size.bytes / Math.max(1, size.rows)
      const isInProportion = rows < 500 || each(last.tables.get(name)!) <= each(first) * (1 + MOST_DRIFT)
      return {
        name,
        hasEnd: isBounded,
        rows,
        bytes,
        each: bytes / Math.max(1, rows),
        growth,
        isRight: isBounded ? isFlat : isInProportion,
      }
    })
    .sort((one, other) => other.bytes - one.bytes)
}

/** Whether sweeps take as long in the end as before, a day. Milliseconds in the two halves of what is judged. */
export function judgeJobs(samples: readonly Sample[]) {
  const last = samples.at(-1)!.day
  const days = lastDays(samples)
  const judged = within(samples, last - days)
  const early = judged.filter(({ day }) => day <= last - days / 2)
  const late = within(judged, last - days / 2)
  const of = (part: readonly Sample[], value: (sample: Sample) => number) => mean(part.map(value))
  return {
    before: { ms: of(early, ({ sweepMs }) => sweepMs), rows: of(early, ({ removed }) => removed) },
    after: { ms: of(late, ({ sweepMs }) => sweepMs), rows: of(late, ({ removed }) => removed) },
  }
}
