/**
 * Runs SQL that is generated at run time or used once. Parameters are positional, statements are unnamed, and the row type is not checked.
 */
import type { Query, Statement } from '../../src/db/sql.ts'

export function runSql<Row>(
  { query }: { query: Query },
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const parameters = values.map((_, index) => ({ name: String(index), type: '' }))
  const unnamed: Statement<Record<string, unknown>, Row> = { name: '', text, parameters, columns: {} }
  return query(unnamed, { ...values })
}
