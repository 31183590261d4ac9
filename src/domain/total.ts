/** How far lists of everybody's things are counted: all of them would take longer with every day that the service lives. */
import { LARGEST_INT } from './sql.ts'

/** From so many on a total only says that there are so many at least. */
export const MOST_COUNTED = 10_000
/** No page of such a list holds more. */
export const MOST_PER_PAGE = 1_000

/** How many rows are counted for a page that leaves out `offset`: always one beyond it, so that a total tells whether there is a next page. */
export const countedUpTo = (offset: number | null | undefined): number =>
  Math.min(Math.max(MOST_COUNTED, (offset ?? 0) + MOST_PER_PAGE + 1), LARGEST_INT)
