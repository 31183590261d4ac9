import { z } from 'zod'
import { MOST_COUNTED } from '../domain/total.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from './pagination.ts'
import { url } from './values.ts'

/** What a page tells besides its items. */
export const pageLinks = {
  count: z.number().int().describe('How many there are on all pages.'),
  next: url.nullable().describe('Where the next page is; null on the last one.'),
  previous: url.nullable().describe('Where the page before is; null on the first one.'),
}

/** A page of records as it is answered. `name`: of one record, in the plural. */
export const pageRecord = <Item extends z.ZodType>(
  name: string,
  item: Item,
  { count }: { count: z.ZodNumber } = pageLinks,
) =>
  z
    .object({ ...pageLinks, count, results: z.array(item) })
    .meta({ id: `PageOf${name}`, description: 'A page of a list.' })

/** The `count` of a list that is not counted to its end. */
export const boundedCount = {
  count: pageLinks.count.describe(
    `How many there are on all pages. Not counted far beyond the page: from ${MOST_COUNTED} on there may be more.`,
  ),
}

/** The query of a page: what it is narrowed to, and where it stands. */
export const pageQuery = <Shape extends z.core.$ZodLooseShape>(filters: Shape, max = MAX_LIMIT) =>
  z.object({
    ...filters,
    limit: z
      .int()
      .min(0)
      .optional()
      .describe(
        `How many records a page has, at most ${max}; ${Math.min(DEFAULT_LIMIT, max)} when it is 0, left out or no number.`,
      ),
    offset: z
      .int()
      .min(0)
      .optional()
      .describe('How many records come before the page; none when it is left out or no number.'),
  })
