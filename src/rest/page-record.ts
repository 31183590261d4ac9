import { z } from 'zod'
import { MAX_COUNTED } from '../domain/total.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from './pagination.ts'
import { url } from './values.ts'

/** The keys of a page besides its records. */
export const pageLinks = {
  count: z.number().int().describe('Number of records on all pages.'),
  next: url.nullable().describe('URL of the next page. Null on the last page.'),
  previous: url.nullable().describe('URL of the previous page. Null on the first page.'),
}

/** The schema of a page of records. `name` is the name of the records in the plural. */
export const pageRecord = <Item extends z.ZodType>(
  name: string,
  item: Item,
  { count }: { count: z.ZodNumber } = pageLinks,
) =>
  z
    .object({ ...pageLinks, count, results: z.array(item) })
    .meta({ id: `PageOf${name}`, description: 'A page of a list.' })

/** The `count` of a list whose records are counted up to a maximum. */
export const boundedCount = {
  count: pageLinks.count.describe(
    `Number of records on all pages. From ${MAX_COUNTED} on there may be more: records far beyond the page are not counted.`,
  ),
}

/** Parameters of a list whose links continue by cursor where positions are not accepted any more. */
export const linkCursors = Object.fromEntries(
  ['after', 'before'].map((name) => [
    name,
    z
      .string()
      .optional()
      .describe(
        'Position of a page that starts after more than 10,000 records, as in `next` and `previous`. Ignored elsewhere.',
      ),
  ]),
)

/** The parameter `search` of a list. `fields` names the fields that are searched. */
export const searchParameter = (fields: string) =>
  z
    .string()
    .optional()
    .describe(
      `Only records with all of these words, separated by spaces or commas, in ${fields}. Case does not matter. At most 200 characters and 20 words.`,
    )

const wholeNumber = z.int().min(0).optional()

/** The query parameters of a list, with those that narrow it. */
export const pageQuery = <Shape extends z.core.$ZodLooseShape>(filters: Shape) =>
  z.object({
    ...filters,
    limit: wholeNumber.describe(
      `Number of records on the page, at most ${MAX_LIMIT}. ${DEFAULT_LIMIT} when it is 0, missing or not a number.`,
    ),
    offset: wholeNumber.describe('Number of records before the page. 0 when it is missing or not a number.'),
    page: z
      .string()
      .regex(/^([1-9]\d*|last)$/)
      .optional()
      .describe(
        'Number of the page, from 1, or `last`. Use it instead of `limit` and `offset`. A page that does not exist returns 404.',
      ),
    page_size: wholeNumber.describe(
      `Number of records on a page that is chosen by its number, at most ${MAX_LIMIT}. ${DEFAULT_LIMIT} when it is 0, missing or not a number.`,
    ),
    ordering: z
      .string()
      .optional()
      .describe(
        'Sorts by `created_at`, ascending, or by `-created_at`, descending. `updated_at` sorts by the last update, or by creation where a record has no time of update. Of several terms, separated by commas, the first known one counts.',
      ),
  })
