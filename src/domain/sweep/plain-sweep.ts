import type { Statement } from '../ports.ts'
import type { ItemRow, Sweep, SweepName } from './sweep.ts'

/** A sweep that deals with its items by one statement: $1 the items; it returns those it dealt with. */
export const plainSweep = (
  name: SweepName,
  find: Statement<ItemRow>,
  statement: Statement<{ item: string }>,
  page = 500,
): Sweep => ({
  name,
  find,
  page,
  carryOut: async (query, items) => ({ items: (await query(statement, [items])).map(({ item }) => item) }),
})
