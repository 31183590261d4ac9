/** SQL that is made while a proof runs, or asked once: its parameters go by place, it has no name, and what its rows hold is claimed. */
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
