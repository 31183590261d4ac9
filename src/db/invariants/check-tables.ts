/** Whether the tables have all that holds their rows together. A restore that broke off brings rows first, and the rest only at its end. */
import type { Database } from '../database-types.ts'
import { arrayOf, statement, text } from '../sql.ts'
import { type Finding, findingOf, MOST_ROWS } from './finding.ts'
import parts from './parts-of-tables.json' with { type: 'json' }

/** Keys, references, checks, indexes and triggers, each as `table.name`. */
export const partsSql = `
  select c.relname || '.' || part.name as name
  from pg_class c cross join lateral (
    select conname as name from pg_constraint where conrelid = c.oid and contype in ('p', 'u', 'x', 'f', 'c')
    union select i.relname from pg_index x join pg_class i on i.oid = x.indexrelid where x.indrelid = c.oid
    union select tgname from pg_trigger where tgrelid = c.oid and not tgisinternal) part
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'`

/** What of `parts` (each `table.name`) is missing, and which index is not whole, of the job queue's, too. */
const findTrouble = statement(
  'tables_find_trouble',
  { parameters: { parts: arrayOf(text) }, columns: { subject: text, problem: text } },
  `select wanted.name as subject, 'is missing' as problem
   from unnest($parts) wanted (name) where wanted.name not in (${partsSql})
   union all
   select t.relname || '.' || i.relname, 'is an index that was not finished'
   from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
     join pg_namespace n on n.oid = i.relnamespace
   where not x.indisvalid and n.nspname in (current_schema(), 'jobs')
   limit ${MOST_ROWS + 1}`,
)

/** Holds the tables to what the migrations make. */
export const checkTables = async (
  database: Pick<Database, 'query'>,
): Promise<Finding & { rows: { subject: string; problem: string }[] }> =>
  findingOf(
    'T1',
    'The tables have their keys, references, checks, indexes and triggers, and every index is whole.',
    await database.query(findTrouble, { parts }),
  )
