/** Declares the route of a list: a page of records, read in parts. */
import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { z } from 'zod'
import type { Connection, Description, Part, RestRequest, Route } from './define-route.ts'
import { boundedCount, linkCursors, pageLinks, pageQuery, pageRecord, searchParameter } from './page-record.ts'
import { MAX_LIMIT, type Order, pageFrom } from './pagination.ts'
import { firstPart } from './read-page.ts'

/** Maximum number of large records that one operation reads. */
export const LARGE_RECORDS = 100

interface List<
  Data,
  Variables extends Record<string, unknown>,
  Node,
  Item extends z.ZodType,
  Filters extends z.core.$ZodLooseShape,
> extends Omit<Description, 'query'>,
    Pick<Route, 'path' | 'action'> {
  /** A record of the list. */
  record: Item
  /** Name of the records in the plural. The component of a page is named after it. */
  plural: string
  /** The fields in which `search` looks for words. Left out when the list has a search of its own. */
  searched?: string
  /** Parameters that narrow the list. */
  filters?: Filters
  /** The order of the connection by creation time. */
  order: Order
  operation: TypedDocumentNode<Data, Variables>
  variables: (request: RestRequest, part: Part) => Variables
  connectionOf: (data: Data, part: Part) => Connection<Node>
  present: (node: Node) => z.output<Item>
  /** Maximum number of records that one operation reads; the maximum page length when left out. */
  partSize?: number
  /** True when the count of the connection stops at a maximum. */
  hasBoundedCount?: boolean
  cursorLinks?: 'far' | 'always'
  /** Returns whether no record can match the request, so that nothing is read. */
  isEmpty?: (query: URLSearchParams) => boolean
}

/** A list whose response has other keys than the usual ones. */
interface Body<Data> {
  key: string
  facts: (data: Data) => object
  shape: z.core.$ZodLooseShape
  description: string
}

/** The route of a list. */
export function defineList<
  Data,
  Variables extends Record<string, unknown>,
  Node,
  Item extends z.ZodType,
  Filters extends z.core.$ZodLooseShape = Record<never, never>,
>(source: List<Data, Variables, Node, Item, Filters>, body?: Body<Data>): Route {
  const { record, plural, searched, filters, order, variables, connectionOf, present, ...rest } = source
  const { partSize = MAX_LIMIT, hasBoundedCount = false, cursorLinks = 'never', isEmpty, errors = [], ...route } = rest
  const count = hasBoundedCount ? boundedCount : pageLinks
  const answer = body
    ? z
        .object({ ...body.shape, ...pageLinks, ...count, [body.key]: z.array(record) })
        .meta({ id: plural, description: body.description })
    : pageRecord(plural, record, count)
  const key = body?.key ?? 'results'
  const listed = {
    ...route,
    method: 'GET' as const,
    query: pageQuery({
      ...(searched !== undefined && { search: searchParameter(searched) }),
      ...filters,
      ...(cursorLinks === 'far' && linkCursors),
    }),
    // A page number can be out of range.
    errors: [...errors, 'NOT_FOUND' as const],
    variables: (request: RestRequest) => variables(request, firstPart(pageFrom(request, order), partSize)),
    answer,
    list: {
      ...{ key, order, partSize, hasBoundedCount, cursorLinks, variables, connectionOf, present },
      ...{ isEmpty, facts: body?.facts },
    },
  }
  return listed as unknown as Route
}
