/** Pages of lists. A page is never shorter than asked for while records remain, and memory stays bounded. */

import type { Context } from '../../context.ts'
import { type Executor, executeOperation } from '../../graphql/execute.ts'
import { DomainError, validationFailed } from '../../shared/errors.ts'
import { MAX_FOREIGN_OFFSET, MAX_OFFSET } from '../../shared/lists.ts'
import { writeJson } from '../send.ts'
import type { Answer, ListSource, Order, Part, RestRequest, Route } from './define-route.ts'

export const DEFAULT_LIMIT = 200
export const MAX_LIMIT = 1000

export interface AskedPage {
  /** Set when the caller pages by number. Starts at 1. */
  page: number | 'last' | undefined
  limit: number
  /** Number of items before the page. Unknown, and 0 here, for the last page. */
  offset: number
  /** True when the page is read from the end of the list towards its start. */
  isReversed: boolean
  search: string | undefined
}

const wholeNumber = (text: string | undefined) =>
  text !== undefined && /^\d+$/.test(text) ? Math.min(Number(text), MAX_OFFSET) : 0

/** The error for a page number that does not exist, with the message of Django REST framework. */
export const invalidPage = () => new DomainError('NOT_FOUND', 'Invalid page.')

/** Throws NOT_FOUND for anything but a positive whole number or `last`, as Django REST framework does. */
function pageNumberFrom(text: string): number | 'last' {
  if (text === 'last') return text
  const number = wholeNumber(text.trim())
  if (number === 0) throw invalidPage()
  return number
}

type OrderingTime = 'CREATED_AT' | 'UPDATED_AT'

/** Times that `ordering` accepts, by name. A time that a list does not record is its creation time. */
const orderingTimes = new Map<string, OrderingTime>([
  ['created_at', 'CREATED_AT'],
  ['uploaded_at', 'CREATED_AT'],
  ['updated_at', 'UPDATED_AT'],
])

/**
 * Returns the first known term of `ordering`, or undefined. Ignores unknown terms, as in Django REST framework. Throws
 * VALIDATION_FAILED for a list that is to be sorted both ways.
 */
export function orderingFrom(query: URLSearchParams): { time: OrderingTime; order: Order } | undefined {
  const known = new Map<OrderingTime, Order>()
  for (const term of (query.get('ordering') ?? '').split(',')) {
    const [, minus, name = ''] = /^(-?)(\w+)$/.exec(term.trim()) ?? []
    const time = orderingTimes.get(name)
    if (time === undefined) continue
    const order = minus ? 'newest' : 'oldest'
    if ((known.get(time) ?? order) !== order) {
      throw validationFailed({ ordering: ['Sort a field in one direction, ascending or descending.'] })
    }
    known.set(time, order)
  }
  const [first] = known
  return first && { time: first[0], order: first[1] }
}

/** Returns the time by which the caller sorts, or undefined. Throws VALIDATION_FAILED. */
export const orderByFrom = (query: URLSearchParams): OrderingTime | undefined => orderingFrom(query)?.time

/**
 * Returns the page that a request asks for. `order`: order of the list by default. An invalid size means the default. Throws
 * VALIDATION_FAILED for parameters that contradict each other, and NOT_FOUND for an invalid page number.
 */
export function pageFrom({ query }: { query: URLSearchParams }, order: Order): AskedPage {
  const given = (name: string) => query.get(name) || undefined
  const limit = given('limit')
  const offset = given('offset')
  const page = given('page')
  const pageSize = given('page_size')
  const isReversed = (orderingFrom(query)?.order ?? order) !== order
  const search = given('search')
  const isByNumber = page !== undefined || pageSize !== undefined
  if (isByNumber && (limit !== undefined || offset !== undefined)) {
    const field = page === undefined ? 'page_size' : 'page'
    throw validationFailed({ [field]: ['Use either limit and offset, or page and page_size.'] })
  }
  const length = Math.min(wholeNumber(isByNumber ? pageSize : limit) || DEFAULT_LIMIT, MAX_LIMIT)
  if (!isByNumber) return { page: undefined, limit: length, offset: wholeNumber(offset), isReversed, search }
  const number = page === undefined ? 1 : pageNumberFrom(page)
  const before = number === 'last' ? 0 : Math.min((number - 1) * length, MAX_OFFSET)
  return { page: number, limit: length, offset: before, isReversed, search }
}

/**
 * Returns a link to the page that starts after `offset` items. It keeps the other parameters of the request. The cursor `place` is set
 * only where positions are not accepted any more.
 */
export function linkTo(
  request: { query: URLSearchParams; url: string },
  { page, limit }: Pick<AskedPage, 'page' | 'limit'>,
  offset: number,
  place?: { name: 'after' | 'before'; cursor: string | null },
): string {
  const query = new URLSearchParams(request.query)
  if (page !== undefined) query.set('page', String(Math.floor(offset / limit) + 1))
  else {
    query.set('limit', String(limit))
    query.delete('offset')
    if (offset > 0) query.set('offset', String(offset))
  }
  if (place) {
    for (const name of ['after', 'before']) query.delete(name)
    if (offset > MAX_FOREIGN_OFFSET && place.cursor !== null) query.set(place.name, place.cursor)
  }
  return `${request.url}?${query}`
}

/** A part of a list in the order of the page. */
interface Found {
  data: unknown
  count: number
  nodes: unknown[]
  /** Cursors of the first and the last item. Null without items. */
  start: string | null
  end: string | null
}

type Read = (part: Part) => Promise<Found>

const nothingFound: Found = { data: undefined, count: 0, nodes: [], start: null, end: null }

/** A position in a list: behind the item of a cursor, or at its start, and so many items further. */
interface Place {
  cursor: string | null
  offset: number
}

/** Returns the arguments for `size` items from a place on, in the direction of the page or against it. */
function partFrom(
  { isReversed, search }: AskedPage,
  size: number,
  { cursor, offset }: Place,
  isBackwards = false,
): Part {
  const place = cursor ?? undefined
  const shared = { ...(offset > 0 && { offset }), ...(search !== undefined && { search }) }
  return isBackwards === isReversed
    ? { first: size, after: place, ...shared }
    : { last: size, before: place, ...shared }
}

/** The arguments of the operation that reads the first part of a page. */
export const firstPart = (asked: AskedPage, partSize: number): Part =>
  partFrom(asked, Math.min(asked.limit, partSize), { cursor: null, offset: asked.offset })

/** Returns the page with its number, and the place where it starts. Throws NOT_FOUND for a page number beyond the end. */
async function locate(
  given: AskedPage,
  { hasBoundedCount, cursorLinks }: ListSource,
  query: URLSearchParams,
  read: Read,
): Promise<{ asked: AskedPage; place: Place }> {
  const { page, limit, offset } = given
  const isFar = (position: number) => cursorLinks === 'far' && position > MAX_FOREIGN_OFFSET
  /** The item that precedes the page, so that the page is read forwards. */
  const before = async (place: Place) => ({ cursor: (await read(partFrom(given, 1, place, true))).end, offset: 0 })
  const cursors = isFar(offset) ? query : undefined
  if (cursors?.get('after')) return { asked: given, place: { cursor: cursors.get('after'), offset: 0 } }
  if (cursors?.get('before')) {
    return { asked: given, place: await before({ cursor: cursors.get('before'), offset: limit }) }
  }
  // A page that is not far into the list is checked when it is read.
  if (page === undefined || (page !== 'last' && offset <= MAX_FOREIGN_OFFSET)) {
    return { asked: given, place: { cursor: null, offset } }
  }
  const { count } = await read(partFrom(given, 1, { cursor: null, offset: hasBoundedCount ? MAX_OFFSET : 0 }))
  const pages = Math.max(1, Math.ceil(count / limit))
  if (page !== 'last') {
    if (page > pages) throw invalidPage()
    return { asked: given, place: { cursor: null, offset } }
  }
  const asked = { ...given, page: pages, offset: (pages - 1) * limit }
  if (!isFar(asked.offset)) return { asked, place: { cursor: null, offset: asked.offset } }
  return { asked, place: await before({ cursor: null, offset: count - asked.offset }) }
}

/**
 * Reads a page. The parts of a page that one operation does not return are read while the page is sent. Its `next` is then the last key,
 * because it can depend on the last part. Throws VALIDATION_FAILED, NOT_FOUND for an unknown page number, and errors of the operation.
 */
export async function readPage(
  executor: Executor,
  { operation, list }: Pick<Route, 'operation'> & { list: ListSource },
  request: RestRequest,
  context: Context,
): Promise<Answer> {
  const { key, cursorLinks, partSize } = list
  const reading = { ...context, cutsPages: true }
  const given = pageFrom(request, list.order)
  const read: Read = async (part) => {
    if (list.isEmpty?.(request.query)) return nothingFound
    const data = await executeOperation(executor, operation, list.variables(request, part), reading)
    const { totalCount: count, pageInfo, nodes } = list.connectionOf(data, part)
    const { startCursor, endCursor } = pageInfo
    return given.isReversed
      ? { data, count, nodes: nodes.toReversed(), start: endCursor, end: startCursor }
      : { data, count, nodes, start: startCursor, end: endCursor }
  }

  const { asked, place } = await locate(given, list, request.query, read)
  const { page, limit, offset } = asked
  const isByCursor = place.cursor !== null
  const first = await read(partFrom(asked, Math.min(limit, partSize), place))
  const { count, start } = first
  if (typeof page === 'number' && page > 1 && !isByCursor && offset >= count) throw invalidPage()

  let { end } = first
  let delivered = first.nodes.length
  /** Returns whether items may follow. The count says nothing behind a cursor: items before it may have been removed since. */
  const mayFollow = () => end !== null && (isByCursor || offset + delivered < count)
  const rest = (size: number) => read(partFrom(asked, size, { cursor: end, offset: 0 }))

  const link = (to: number, name: 'after' | 'before', cursor: string | null) =>
    linkTo(request, asked, to, cursorLinks === 'far' ? { name, cursor } : undefined)
  const previous = offset > 0 ? link(Math.max(offset - limit, 0), 'before', start) : null
  async function next(): Promise<string | null> {
    if (!mayFollow()) return null
    if (isByCursor && (await rest(1)).nodes.length === 0) return null
    if (cursorLinks !== 'always' || page !== undefined || offset > 0 || asked.isReversed) {
      return link(offset + delivered, 'after', end)
    }
    const query = new URLSearchParams(request.query)
    query.set('after', end!)
    return linkTo({ ...request, query }, asked, 0)
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
