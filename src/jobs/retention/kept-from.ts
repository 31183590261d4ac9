/** Time since which feeds are complete. Invariants about events and deliveries apply only to newer ones. */
import { keyValueKeys } from '../../db/key-value-store.ts'

const KEY = `'${keyValueKeys.feedsKeptFrom}'`

/** SQL expression of a time. Events up to that time may already be deleted. */
export const keptFromSql = `coalesce((select value::timestamptz from key_values where key = ${KEY}), '-infinity')`

/** Returns the CTE that records that events up to a time were deleted. */
export const noteKeptFromSql = (moment: string): string => `noted_moment as (
     insert into key_values as s (key, value) select ${KEY}, (${moment})::text from over_rows limit 1
     on conflict (key) do update set value = greatest(s.value::timestamptz, excluded.value::timestamptz)::text
   )`
