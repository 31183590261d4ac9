/** REST lists: definition of their routes, and reading of pages with bounded memory. */

import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { z } from 'zod'
import type { Context } from '../../context.ts'
import { type Executor, executeOperation } from '../../graphql/execute.ts'
import { DomainError, validationFailed } from '../../shared/errors.ts'
import { MAX_COUNTED, MAX_FOREIGN_OFFSET, MAX_OFFSET } from '../../shared/lists.ts'
import type * as routes from './define-route.ts'
import { optionalText, url, writeJson } from './fields.ts'

export const DEFAULT_LIMIT = 200
export const MAX_LIMIT = 1000

interface Page {
  /** Page number from 1. Undefined if the request uses `limit` and `offset`. */
  page: number | 'last' | undefined
  limit: number
  /** Number of items before the page. 0 for the page `last`, whose offset is unknown. */
  offset: number
  /** True if the page is read from the end of the list towards its start. */
  isReversed: boolean
  search: string | undefined
}

const wholeNumber = (text: string | undefined) =>
  text !== undefined && /^\d+$/.test(text) ? Math.min(Number(text), MAX_OFFSET) : 0

const invalidPage = () => new DomainError('NOT_FOUND', 'Invalid page.')
type OrderingTime = 'CREATED_AT' | 'UPDATED_AT'

const orderingTimes = new Map<string, OrderingTime>([
  ['created_at', 'CREATED_AT'],
  ['uploaded_at', 'CREATED_AT'],
  ['updated_at', 'UPDATED_AT'],
])

/** Returns the first known term of `ordering`. Throws VALIDATION_FAILED for contradicting directions. */
export function orderingFrom(query: URLSearchParams): { time: OrderingTime; order: routes.Order } | undefined {
  const known = new Map<OrderingTime, routes.Order>()
  for (const term of (query.get('ordering') ?? '').split(',')) {
    const [, minus, name = ''] = /^(-?)(\w+)$/.exec(term.trim()) ?? []
    const time = orderingTimes.get(name)
    if (time === undefined) continue
    const order = minus ? 'newest' : 'oldest'
    if ((known.get(time) ?? order) !== order) {
      throw validationFailed({ ordering: ['Sort a field either in ascending or in descending order, not in both.'] })
    }
    known.set(time, order)
  }
  const [first] = known
  return first && { time: first[0], order: first[1] }
}

export const orderByFrom = (query: URLSearchParams): OrderingTime | undefined => orderingFrom(query)?.time

/** Parses the page parameters. `order`: default order. Throws VALIDATION_FAILED, and NOT_FOUND for an invalid page number. */
export function pageFrom({ query }: { query: URLSearchParams }, order: routes.Order): Page {
  const [limit, offset, page, pageSize, search] = ['limit', 'offset', 'page', 'page_size', 'search'].map(
    (name) => query.get(name) || undefined,
  )
  const isReversed = (orderingFrom(query)?.order ?? order) !== order
  const isByNumber = page !== undefined || pageSize !== undefined
  if (isByNumber && (limit !== undefined || offset !== undefined)) {
    const field = page === undefined ? 'page_size' : 'page'
    throw validationFailed({ [field]: ['Use either limit and offset, or page and page_size.'] })
  }
  const length = Math.min(wholeNumber(isByNumber ? pageSize : limit) || DEFAULT_LIMIT, MAX_LIMIT)
  if (!isByNumber) return { page: undefined, limit: length, offset: wholeNumber(offset), isReversed, search }
  const number = page === undefined ? 1 : page === 'last' ? page : wholeNumber(page.trim())
  if (number === 0) throw invalidPage()
  const before = number === 'last' ? 0 : Math.min((number - 1) * length, MAX_OFFSET)
  return { page: number, limit: length, offset: before, isReversed, search }
}

/** Returns the URL of the page after `offset` items. `position`: cursor that replaces an offset beyond the maximum. */
function linkTo(
  request: Pick<routes.RestRequest, 'query' | 'url'>,
  { page, limit }: Page,
  offset: number,
  position?: { name: 'after' | 'before'; cursor: string | null },
): string {
  const query = new URLSearchParams(request.query)
  if (page !== undefined) query.set('page', String(Math.floor(offset / limit) + 1))
  else {
    query.set('limit', String(limit))
    query.delete('offset')
    if (offset > 0) query.set('offset', String(offset))
  }
  if (position) {
    for (const name of ['after', 'before']) query.delete(name)
    if (offset > MAX_FOREIGN_OFFSET && position.cursor !== null) query.set(position.name, position.cursor)
  }
  return `${request.url}?${query}`
}

interface Items {
  data: unknown
  count: number
  nodes: unknown[]
  /** Cursor of the first item. `end` is the cursor of the last item. Both are null if there are no items. */
  start: string | null
  end: string | null
}

type Read = (part: routes.Part) => Promise<Items>

const noItems: Items = { data: undefined, count: 0, nodes: [], start: null, end: null }

/** `offset` items after the cursor. If `cursor` is null, the offset counts from the start. */
interface Position {
  cursor: string | null
  offset: number
}

/** Returns the connection arguments that select `size` items after a position, or before it if `isBackwards`. */
function partFrom(
  { isReversed, search }: Page,
  size: number,
  { cursor, offset }: Position,
  isBackwards = false,
): routes.Part {
  const from = cursor ?? undefined
  const shared = { ...(offset > 0 && { offset }), ...(search !== undefined && { search }) }
  return isBackwards === isReversed ? { first: size, after: from, ...shared } : { last: size, before: from, ...shared }
}

export const firstPart = (page: Page, partSize: number): routes.Part =>
  partFrom(page, Math.min(page.limit, partSize), { cursor: null, offset: page.offset })

/** Finds number and start of the requested page. Throws NOT_FOUND for a page beyond the end. */
async function locate(
  requested: Page,
  { hasBoundedCount, cursorLinks }: routes.ListSource,
  query: URLSearchParams,
  read: Read,
): Promise<[page: Page, start: Position]> {
  const { page, limit, offset } = requested
  const isFar = (position: number) => cursorLinks === 'far' && position > MAX_FOREIGN_OFFSET
  /** Returns the position after the last item before the page, so that the page can be read forwards. */
  const before = async (from: Position) => {
    const { end: cursor } = await read(partFrom(requested, 1, from, true))
    return { cursor, offset: 0 }
  }
  if (isFar(offset)) {
    const cursors = { after: query.get('after'), before: query.get('before') }
    if (cursors.after) return [requested, { cursor: cursors.after, offset: 0 }]
    if (cursors.before) return [requested, await before({ cursor: cursors.before, offset: limit })]
  }
  const found: [Page, Position] = [requested, { cursor: null, offset }]
  // For a page near the start, reading the page itself shows whether its number exists.
  if (page === undefined || (page !== 'last' && offset <= MAX_FOREIGN_OFFSET)) return found
  const end = { cursor: null, offset: hasBoundedCount ? MAX_OFFSET : 0 }
  const { count } = await read(partFrom(requested, 1, end))
  const pages = Math.max(1, Math.ceil(count / limit))
  if (page !== 'last') {
    if (page > pages) throw invalidPage()
    return found
  }
  const last = { ...requested, page: pages, offset: (pages - 1) * limit }
  const start = { cursor: null, offset: last.offset }
  return [last, isFar(last.offset) ? await before({ cursor: null, offset: count - last.offset }) : start]
}

/** Reads a page. If it needs several operations, the response is sent meanwhile, with `next` as its last key. */
export async function readPage(
  executor: Executor,
  { operation, list }: Pick<routes.Route, 'operation'> & { list: routes.ListSource },
  request: routes.RestRequest,
  context: Context,
): Promise<routes.RestResponse> {
  const { key, cursorLinks, partSize } = list
  const reading = { ...context, cutsPages: true }
  const requested = pageFrom(request, list.order)
  const read: Read = async (part) => {
    if (list.isEmpty?.(request.query)) return noItems
    const data = await executeOperation(executor, operation, list.variables(request, part), reading)
    const { totalCount: count, pageInfo, nodes } = list.connectionOf(data, part)
    const { startCursor, endCursor } = pageInfo
    return requested.isReversed
      ? { data, count, nodes: nodes.toReversed(), start: endCursor, end: startCursor }
      : { data, count, nodes, start: startCursor, end: endCursor }
  }

  const [page, position] = await locate(requested, list, request.query, read)
  const { page: number, limit, offset } = page
  const isByCursor = position.cursor !== null
  const first = await read(partFrom(page, Math.min(limit, partSize), position))
  const { count, start } = first
  if (typeof number === 'number' && number > 1 && !isByCursor && offset >= count) throw invalidPage()

  let { end } = first
  let delivered = first.nodes.length
  /** Returns whether items may follow the page. Ignores `count` after a cursor: previous items may be deleted. */
  const mayFollow = () => end !== null && (isByCursor || offset + delivered < count)
  const rest = (size: number) => read(partFrom(page, size, { cursor: end, offset: 0 }))

  const link = (to: number, name: 'after' | 'before', cursor: string | null) =>
    linkTo(request, page, to, cursorLinks === 'far' ? { name, cursor } : undefined)
  const previous = offset > 0 ? link(Math.max(offset - limit, 0), 'before', start) : null
  async function next(): Promise<string | null> {
    if (!mayFollow()) return null
    if (isByCursor && (await rest(1)).nodes.length === 0) return null
    if (cursorLinks !== 'always' || number !== undefined || offset > 0 || page.isReversed) {
      return link(offset + delivered, 'after', end)
    }
    const query = new URLSearchParams(request.query)
    query.set('after', end!)
    return linkTo({ ...request, query }, page, 0)
  }

  const facts = list.facts?.(first.data)
  const items = first.nodes.map(list.present)
  if (delivered >= limit || !mayFollow()) {
    return { status: 200, body: { ...facts, count, next: await next(), previous, [key]: items } }
  }

  async function* parts() {
    yield Buffer.from(`${writeJson({ ...facts, count, previous }).slice(0, -1)},"${key}":[${itemsAsText(items)}`)
    while (delivered < limit && mayFollow()) {
      const part = await rest(Math.min(limit - delivered, partSize))
      end = part.end
      delivered += part.nodes.length
      if (part.nodes.length > 0) yield Buffer.from(`,${itemsAsText(part.nodes.map(list.present))}`)
    }
    yield Buffer.from(`],"next":${JSON.stringify(await next())}}`)
  }
  return { status: 200, parts: parts() }
}

const itemsAsText = (items: unknown[]) => writeJson(items).slice(1, -1)
export const LARGE_RECORDS = 100

interface List<
  Data,
  Variables extends Record<string, unknown>,
  Node,
  Item extends z.ZodType,
  Filters extends z.core.$ZodLooseShape,
> extends Omit<routes.Description, 'query'>,
    Pick<routes.Route, 'path' | 'action'>,
    Partial<Omit<routes.ListSource<Data, Variables, Node>, 'order' | 'present'>> {
  record: Item
  /** Plural name of the records, in the name of the OpenAPI component. */
  plural: string
  /** Fields that `search` covers. Omitted if the list defines its own search. */
  searched?: string
  filters?: Filters
  order: routes.Order
  operation: TypedDocumentNode<Data, Variables>
  present: (node: Node) => z.output<Item>
}

/** Response body whose keys differ from `{count, next, previous, results}`. */
interface Body<Data> {
  key: string
  facts: (data: Data) => object
  shape: z.core.$ZodLooseShape
  description: string
}

/** Record of a GraphQL operation whose only field is a connection. */
type NodeOf<Data> =
  Data extends Record<string, unknown> ? (Data[keyof Data] extends routes.Connection<infer Node> ? Node : never) : never

const partOf = (_request: routes.RestRequest, part: routes.Part) => part
const onlyField = <Data, Node>(data: Data) => Object.values(data as object)[0] as routes.Connection<Node>

export function defineList<
  Data,
  Variables extends Record<string, unknown>,
  Item extends z.ZodType,
  Filters extends z.core.$ZodLooseShape = Record<never, never>,
  Node = NodeOf<Data>,
>(source: List<Data, Variables, Node, Item, Filters>, body?: Body<Data>): routes.Route {
  const { record, plural, searched, filters, order, present, ...others } = source
  const { variables = partOf, connectionOf = onlyField, ...rest } = others
  const { partSize = MAX_LIMIT, hasBoundedCount = false, cursorLinks = 'never', isEmpty, errors = [], ...route } = rest
  const { key = 'results', shape, description: bodyDescription, facts } = body ?? {}
  const bounded = hasBoundedCount && { count: boundedCount }
  const answer = z
    .object({ ...shape, ...pageLinks, ...bounded, [key]: z.array(record) })
    .meta(
      body ? { id: plural, description: bodyDescription! } : { id: `PageOf${plural}`, description: pageDescription },
    )
  return {
    ...route,
    method: 'GET',
    query: z.object({
      ...(searched !== undefined && { search: searchParameter(searched) }),
      ...filters,
      ...(cursorLinks === 'far' && { after: linkCursor, before: linkCursor }),
      ...pageParameters,
    }),
    // A request for a page number that does not exist returns NOT_FOUND.
    errors: [...errors, 'NOT_FOUND'],
    variables: (request: routes.RestRequest) => variables(request, firstPart(pageFrom(request, order), partSize)),
    answer,
    list: {
      ...{ key, order, partSize, hasBoundedCount, cursorLinks, variables, connectionOf, present },
      ...{ isEmpty, facts },
    },
  }
}

const pageLinks = {
  count: z.number().int().describe('Number of records on all pages.'),
  next: url.nullable().describe('URL of the next page. Null on the last page.'),
  previous: url.nullable().describe('URL of the previous page. Null on the first page.'),
}

const pageDescription = 'One page of a list, with links to the next and previous page.'

const boundedCount = pageLinks.count.describe(
  `Number of records on all pages. A count of ${MAX_COUNTED} or more may be too low, because records far beyond the page are not counted.`,
)

const linkCursor = optionalText(
  'Cursor of a page that starts after more than 10,000 records, as in `next` and `previous`. Ignored on earlier pages.',
)

const searchParameter = (fields: string) =>
  optionalText(
    `Returns records with all of these words, separated by spaces or commas, in ${fields}. Case does not matter. At most 200 characters and 20 words.`,
  )

const optionalNumber = z.int().min(0).optional()

const pageParameters = {
  limit: optionalNumber.describe(
    `Number of records on the page, at most ${MAX_LIMIT}. Default: ${DEFAULT_LIMIT}, also for 0 or an invalid number.`,
  ),
  offset: optionalNumber.describe('Number of records before the page. Default: 0, also for an invalid number.'),
  page: z
    .string()
    .regex(/^([1-9]\d*|last)$/)
    .optional()
    .describe(
      'Page number, starting at 1, or `last`. Use `page` instead of `limit` and `offset`. A page that does not exist returns 404.',
    ),
  page_size: optionalNumber.describe(
    `Number of records per page if you use \`page\`, at most ${MAX_LIMIT}. Default: ${DEFAULT_LIMIT}, also for 0 or an invalid number.`,
  ),
  ordering: optionalText(
    'Field to sort by: `created_at` or `updated_at`. A leading `-` sorts in descending order. A record without an update time is sorted by its creation time. If you send several fields, separated by commas, only the first known field is used.',
  ),
}
