import type { Types } from '../sql.ts'

/** A condition that must always hold, with a query that finds its violations. */
export interface Invariant {
  id: string
  sentence: string
  /** Columns of a violation. Default: `subject` and `problem`. IDs of the form `<prefix>:<UUID>` become public IDs. */
  columns?: Types
  query: string
}

/** Violations of one invariant. Empty if it holds. */
export interface Finding {
  invariant: Pick<Invariant, 'id' | 'sentence'>
  /** At most `MOST_ROWS` rows. */
  rows: object[]
  /** True if there are more rows than returned. */
  isCut: boolean
  /** True for an informational finding: its rows are not errors. */
  isNote?: boolean
}

/** Returns a finding with at most `MOST_ROWS` of the given rows. Used for checks that are not a single query. */
export const findingOf = <Row extends object>(
  id: string,
  sentence: string,
  rows: Row[],
  isNote = false,
): Finding & { rows: Row[] } => ({
  invariant: { id, sentence },
  rows: rows.slice(0, MOST_ROWS),
  isCut: rows.length > MOST_ROWS,
  isNote,
})

/** Maximum number of rows shown per finding. */
export const MOST_ROWS = 100
