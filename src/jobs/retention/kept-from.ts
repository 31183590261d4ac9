/** Since when feeds are whole. What rules say of events and deliveries holds of those that are younger. */
import { settingKeys } from '../../db/key-value-store.ts'

const KEY = `'${settingKeys.feedsKeptFrom}'`

/** SQL: a moment; what happened at it or before may be forgotten. */
export const keptFromSql = `coalesce((select value::timestamptz from settings where key = ${KEY}), '-infinity')`

/** The part of a statement that forgets what happened before a moment. */
export const noteKeptFromSql = (moment: string): string => `noted_moment as (
     insert into settings as s (key, value) select ${KEY}, (${moment})::text from over_rows limit 1
     on conflict (key) do update set value = greatest(s.value::timestamptz, excluded.value::timestamptz)::text
   )`
