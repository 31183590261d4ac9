/** Rules of lists that are read by position or by cursors. */

import type { Database, ReadClient } from '../db/database-types.ts'
import { LARGEST_INT } from '../db/sql.ts'
import { validationFailed } from './errors.ts'
import { fromId, type IdPrefix } from './ids.ts'

/** A page that long texts may end early: see `Database.readCut`. */
export interface Cuttable {
  cutsPages?: boolean | undefined
}

/** The reader that ends pages with long texts early, if `cutsPages` is set. */
export const readOf = (
  { read, readCut }: Pick<Database, 'read' | 'readCut'>,
  cutsPages: boolean | undefined,
): ReadClient => (cutsPages ? readCut : read)

/** The time by which a list is sorted. */
export type ListOrder = 'CREATED_AT' | 'UPDATED_AT'

/** The largest position in a list that can be asked for. No list is as long. */
export const MAX_OFFSET = LARGEST_INT

/** How far into a list that is not their own callers come by position. */
export const MAX_FOREIGN_OFFSET = 10_000

/** Refuses positions too far into somebody else's list. Raises VALIDATION_FAILED. */
export function assertOffset(offset: number): void {
  if (offset <= MAX_FOREIGN_OFFSET) return
  const problem = `Ensure this value is ${MAX_FOREIGN_OFFSET} or less. Go on by the cursors of GraphQL, or narrow the list.`
  throw validationFailed({ offset: [problem] })
}

/** The UUID behind a cursor; null where none is given. Raises VALIDATION_FAILED for a cursor that no page gave out. */
export function cursorUuid(name: 'after' | 'before', cursor: string | undefined, prefix: IdPrefix): string | null {
  if (cursor === undefined) return null
  const found = fromId(cursor, prefix)
  if (!found) throw validationFailed({ [name]: ['Not a cursor of this connection.'] })
  return found.uuid
}
