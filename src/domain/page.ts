/** Rules of lists that are read by position. */
import { validationFailed } from './errors.ts'
import type { Database, ReadClient } from './ports.ts'

/** A page may end early: see `Database.readCut`. */
export interface Cuttable {
  cutsPages?: boolean | undefined
}

/** The reader that cuts pages whose texts are too much for one answer, where that is wanted. */
export const readOf = (
  { read, readCut }: Pick<Database, 'read' | 'readCut'>,
  cutsPages: boolean | undefined,
): ReadClient => (cutsPages ? readCut : read)

/** How far into a list that is not their own callers come by position. */
export const MAX_FOREIGN_OFFSET = 10_000

/** Refuses positions too far into somebody else's list. Raises VALIDATION_FAILED. */
export function assertOffset(offset: number): void {
  if (offset <= MAX_FOREIGN_OFFSET) return
  const problem = `Ensure this value is ${MAX_FOREIGN_OFFSET} or less. Go on by the cursors of GraphQL, or narrow the list.`
  throw validationFailed({ offset: [problem] })
}
