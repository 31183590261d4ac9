import type { Types } from '../sql.ts'

/** Something that must always hold, with the query that finds what contradicts it. */
export interface Invariant {
  id: string
  sentence: string
  /** Columns of a violation. Default: its subject and the problem. An ID has the form `<prefix>:<UUID>` here and is shown as a public ID. */
  columns?: Types
  query: string
}

/** What contradicts one invariant; nothing when it holds. */
export interface Finding {
  invariant: Pick<Invariant, 'id' | 'sentence'>
  /** At most `MOST_ROWS`. */
  rows: object[]
  /** Whether there are more rows than these. */
  isCut: boolean
  /** What its rows tell is worth knowing, and nothing is wrong. */
  isNote?: boolean
}

/** A look of another kind, told like an invariant: at most `MOST_ROWS` of the rows that it found. */
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

/** Rows of a finding that are shown. */
export const MOST_ROWS = 100
