import type { Types } from '../sql.ts'

/** Something that must always hold, with the query that finds what contradicts it. */
export interface Invariant {
  id: string
  sentence: string
  /** Columns of a violation. Default: its subject and the problem. An ID has the form `<prefix>:<UUID>` here and is shown as a public ID. */
  columns?: Types
  query: string
}
