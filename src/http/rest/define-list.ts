/** Declares the route of a list: a page of records, read in parts. */
import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { z } from 'zod'
import { MAX_COUNTED } from '../../shared/lists.ts'
import type { Connection, Description, ListSource, Order, Part, RestRequest, Route } from './define-route.ts'
import { DEFAULT_LIMIT, firstPart, MAX_LIMIT, pageFrom } from './pagination.ts'
import { optionalText, url } from './values.ts'

/** Maximum number of large records that one operation reads. */
export const LARGE_RECORDS = 100

interface List<
  Data,
  Variables extends Record<string, unknown>,
  Node,
  Item extends z.ZodType,
  Filters extends z.core.$ZodLooseShape,
> extends Omit<Description, 'query'>,
    Pick<Route, 'path' | 'action'>,
    Partial<Omit<ListSource<Data, Variables, Node>, 'order' | 'present'>> {
  record: Item
  /** Plural name of the records. The OpenAPI component of a page is named after it. */
  plural: string
  /** Description of the fields that `search` reads. Missing if the list has another search. */
  searched?: string
  filters?: Filters
  order: Order
  operation: TypedDocumentNode<Data, Variables>
  present: (node: Node) => z.output<Item>
}

/** Response of a list with other keys than the default. */
interface Body<Data> {
  key: string
  facts: (data: Data) => object
  shape: z.core.$ZodLooseShape
  description: string
}

/** Type of the records of an operation whose only field is a connection. */
type NodeOf<Data> =
  Data extends Record<string, unknown> ? (Data[keyof Data] extends Connection<infer Node> ? Node : never) : never

const partOf = (_request: RestRequest, part: Part) => part
const onlyField = <Data, Node>(data: Data) => Object.values(data as object)[0] as Connection<Node>

/** Defines the route of a list. */
export function defineList<
  Data,
  Variables extends Record<string, unknown>,
  Item extends z.ZodType,
  Filters extends z.core.$ZodLooseShape = Record<never, never>,
  Node = NodeOf<Data>,
>(source: List<Data, Variables, Node, Item, Filters>, body?: Body<Data>): Route {
  const { record, plural, searched, filters, order, present, ...others } = source
  const { variables = partOf, connectionOf = onlyField, ...rest } = others
  const { partSize = MAX_LIMIT, hasBoundedCount = false, cursorLinks = 'never', isEmpty, errors = [], ...route } = rest
  const count = hasBoundedCount ? boundedCount : pageLinks
  const answer = body
    ? z
        .object({ ...body.shape, ...pageLinks, ...count, [body.key]: z.array(record) })
        .meta({ id: plural, description: body.description })
    : pageRecord(plural, record, count)
  const key = body?.key ?? 'results'
  return {
    ...route,
    method: 'GET',
    query: pageQuery({
      ...(searched !== undefined && { search: searchParameter(searched) }),
      ...filters,
      ...(cursorLinks === 'far' && linkCursors),
    }),
    // A page number may not exist.
    errors: [...errors, 'NOT_FOUND'],
    variables: (request: RestRequest) => variables(request, firstPart(pageFrom(request, order), partSize)),
    answer,
    list: {
      ...{ key, order, partSize, hasBoundedCount, cursorLinks, variables, connectionOf, present },
      ...{ isEmpty, facts: body?.facts },
    },
  }
}

const pageLinks = {
  count: z.number().int().describe('Number of records on all pages.'),
  next: url.nullable().describe('URL of the next page. Null on the last page.'),
  previous: url.nullable().describe('URL of the previous page. Null on the first page.'),
}

/** Schema of a page of records. `name`: their plural name. */
const pageRecord = <Item extends z.ZodType>(name: string, item: Item, { count }: { count: z.ZodNumber } = pageLinks) =>
  z
    .object({ ...pageLinks, count, results: z.array(item) })
    .meta({ id: `PageOf${name}`, description: 'A page of a list.' })

/** `count` of a list whose records are counted up to a maximum. */
const boundedCount = {
  count: pageLinks.count.describe(
    `Number of records on all pages. From ${MAX_COUNTED} on there may be more: records far beyond the page are not counted.`,
  ),
}

/** Parameters of a list with cursors in the links beyond the maximum offset. */
const linkCursor = optionalText(
  'Position of a page that starts after more than 10,000 records, as in `next` and `previous`. Ignored elsewhere.',
)
const linkCursors = { after: linkCursor, before: linkCursor }

const searchParameter = (fields: string) =>
  optionalText(
    `Returns records with all of these words, separated by spaces or commas, in ${fields}. Case does not matter. At most 200 characters and 20 words.`,
  )

const wholeNumber = z.int().min(0).optional()

const pageQuery = <Shape extends z.core.$ZodLooseShape>(filters: Shape) =>
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
    ordering: optionalText(
      'Sorts by `created_at`, ascending, or by `-created_at`, descending. `updated_at` sorts by the last update, or by creation where a record has no time of update. Of several terms, separated by commas, the first known one counts.',
    ),
  })
