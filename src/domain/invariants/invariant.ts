import type { Types } from '../sql.ts'

/** Something that must always hold, with the query that finds what contradicts it. */
export interface Invariant {
  id: string
  sentence: string
  /** Of what it finds: whom or what it is about and what is wrong, when left out. */
  columns?: Types
  query: string
}
