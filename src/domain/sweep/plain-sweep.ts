import type { Statement } from '../sql.ts'
import type { ItemRow, PageParameters, Sweep, SweepName } from './sweep.ts'

/** A sweep that finds its items by one statement, and deals with them by another, which returns those it dealt with. */
export const plainSweep = (
  name: SweepName,
  find: Statement<PageParameters, ItemRow>,
  dealWith: Statement<{ items: readonly string[] }, { item: string }>,
  page = 500,
): Sweep => ({
  name,
  find: (query, part) => query(find, part),
  page,
  carryOut: async (query, items) => ({ items: (await query(dealWith, { items })).map(({ item }) => item) }),
})
