/** Defines REST routes that return a page of a list. */
import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { z } from 'zod'
import { MAX_COUNTED } from '../../shared/lists.ts'
import type { Connection, Description, ListSource, Order, Part, RestRequest, Route } from './define-route.ts'
import { DEFAULT_LIMIT, firstPart, MAX_LIMIT, pageFrom } from './pagination.ts'
import { optionalText, url } from './values.ts'

/** Maximum number of large records, such as assets, that one GraphQL operation reads. */
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
  /** Description of the fields that the parameter `search` covers. Omitted if the list defines its own search. */
  searched?: string
  filters?: Filters
  order: Order
  operation: TypedDocumentNode<Data, Variables>
  present: (node: Node) => z.output<Item>
}

/** Response body of a list whose keys differ from the default `{count, next, previous, results}`. */
interface Body<Data> {
  key: string
  facts: (data: Data) => object
  shape: z.core.$ZodLooseShape
  description: string
}

/** Record type of a GraphQL operation whose only field is a connection. */
type NodeOf<Data> =
  Data extends Record<string, unknown> ? (Data[keyof Data] extends Connection<infer Node> ? Node : never) : never

const partOf = (_request: RestRequest, part: Part) => part
const onlyField = <Data, Node>(data: Data) => Object.values(data as object)[0] as Connection<Node>

/** Defines a REST route that returns a page of a list. */
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
    // A request for a page number that does not exist returns NOT_FOUND.
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

/** Returns the schema of a page of records. `name`: the plural name of the records. */
const pageRecord = <Item extends z.ZodType>(name: string, item: Item, { count }: { count: z.ZodNumber } = pageLinks) =>
  z
    .object({ ...pageLinks, count, results: z.array(item) })
    .meta({ id: `PageOf${name}`, description: 'One page of a list, with links to the next and previous page.' })

/** Schema of `count` for a list whose records are counted only up to a maximum. */
const boundedCount = {
  count: pageLinks.count.describe(
    `Number of records on all pages. A count of ${MAX_COUNTED} or more may be too low, because records far beyond the page are not counted.`,
  ),
}

/** Cursor parameter of a list whose links contain cursors beyond the maximum offset. */
const linkCursor = optionalText(
  'Cursor of a page that starts after more than 10,000 records, as in `next` and `previous`. Ignored on earlier pages.',
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
      `Number of records on the page, at most ${MAX_LIMIT}. Default: ${DEFAULT_LIMIT}, also for 0 or an invalid number.`,
    ),
    offset: wholeNumber.describe('Number of records before the page. Default: 0, also for an invalid number.'),
    page: z
      .string()
      .regex(/^([1-9]\d*|last)$/)
      .optional()
      .describe(
        'Page number, starting at 1, or `last`. Use `page` instead of `limit` and `offset`. A page that does not exist returns 404.',
      ),
    page_size: wholeNumber.describe(
      `Number of records per page if you use \`page\`, at most ${MAX_LIMIT}. Default: ${DEFAULT_LIMIT}, also for 0 or an invalid number.`,
    ),
    ordering: optionalText(
      'Field to sort by: `created_at` or `updated_at`. A leading `-` sorts in descending order. A record without an update time is sorted by its creation time. If you send several fields, separated by commas, only the first known field is used.',
    ),
  })
