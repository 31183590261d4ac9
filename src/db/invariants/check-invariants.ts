/** Checks the database's invariants. Each invariant is a query that returns no rows. */
import { accountInvariants } from '../../modules/accounts/account-invariants.ts'
import { historyInvariants } from '../../modules/commits/commits.sql.ts'
import { orderInvariants } from '../../modules/store/orders.sql.ts'
import { bookInvariants } from '../../modules/wallet/ledger-sql.ts'
import { publicReference } from '../../modules/wallet/statement.ts'
import { type Database, type Finding, findingOf, type Invariant, MOST_ROWS } from '../database-types.ts'
import { arrayOf, statement, text } from '../sql.ts'
import parts from './parts-of-tables.json' with { type: 'json' }

/** Selects all keys, references, checks, indexes and triggers, each as `table.name`. */
export const partsSql = `
  select c.relname || '.' || part.name as name
  from pg_class c cross join lateral (
    select conname as name from pg_constraint where conrelid = c.oid and contype in ('p', 'u', 'x', 'f', 'c')
    union select i.relname from pg_index x join pg_class i on i.oid = x.indexrelid where x.indrelid = c.oid
    union select tgname from pg_trigger where tgrelid = c.oid and not tgisinternal) part
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'`

/** Finds missing `parts` (each `table.name`) and invalid indexes. Includes the tables of the job queue. */
const findTableProblems = statement(
  'tables_find_problems',
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

/** Compares the tables with the result of the migrations. */
export const checkTables = async (database: Pick<Database, 'query'>) =>
  findingOf(
    'T1',
    'The tables have all their keys, references, checks, indexes and triggers, and every index is valid.',
    await database.query(findTableProblems, { parts }),
  )

/** Each query reads one snapshot, so the check can run while the service is busy. */
export const invariants: Invariant[] = [
  ...bookInvariants,
  ...orderInvariants,
  ...historyInvariants,
  ...accountInvariants,
]

/** Statement timeout of the check, in milliseconds. It exceeds the request timeout, to scan the whole ledger. */
const STATEMENT_TIMEOUT_MS = 3_600_000
const extendStatementTimeout = statement(
  'invariant_timeout',
  { columns: { timeout: text } },
  `select set_config('statement_timeout', '${STATEMENT_TIMEOUT_MS}', true) as timeout`,
)

const checks = invariants.map((invariant) => ({
  invariant,
  firstRows: statement(
    `invariant_${invariant.id}`,
    { columns: invariant.columns ?? { subject: text, problem: text }, patience: STATEMENT_TIMEOUT_MS },
    `select * from (${invariant.query}) as wrong limit ${MOST_ROWS + 1}`,
  ),
}))

const withPublicIds = (row: object) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? publicReference(value) : value]),
  )

/** Maximum number of concurrent queries. PostgreSQL uses one processor for each of them. */
const MAX_CONCURRENT = 2

/**
 * Checks every invariant, two at a time if the pool has at least two `connections`. Takes no locks. Throws the error of
 * the first query that fails.
 */
export async function checkInvariants(database: Database, { connections = 1 } = {}): Promise<Finding[]> {
  const findings: Finding[] = []
  const entries = checks.entries()
  const work = async () => {
    for (const [index, { invariant, firstRows }] of entries) {
      const rows = await database.transaction(async (query) => {
        await query(extendStatementTimeout)
        return query(firstRows)
      })
      findings[index] = { invariant, rows: rows.slice(0, MOST_ROWS).map(withPublicIds), isCut: rows.length > MOST_ROWS }
    }
  }
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT, connections) }, work))
  return findings
}
