/** Maximum count of lists over many users' items. Counting all of them would take longer with every day of operation. */
import { LARGEST_INT } from '../db/sql.ts'

/** Smallest number at which a count may stop. */
export const MAX_COUNTED = 10_000
/** Maximum length of a page of such a list. */
export const MAX_PER_PAGE = 1_000

/** Returns how many rows are counted for a page at `offset`: at least one after the page, so that a count tells whether another page follows. */
export const countLimit = (offset: number | null | undefined): number =>
  Math.min(Math.max(MAX_COUNTED, (offset ?? 0) + MAX_PER_PAGE + 1), LARGEST_INT)
