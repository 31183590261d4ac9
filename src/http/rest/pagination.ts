/** Reads the paging parameters of a list request and makes the links from one page to the next. */
import { DomainError, validationFailed } from '../../shared/errors.ts'
import { MAX_FOREIGN_OFFSET, MAX_OFFSET } from '../../shared/lists.ts'

/** Page length when the caller does not set one. */
export const DEFAULT_LIMIT = 200
/** Published maximum page length. */
export const MAX_LIMIT = 1000

/** Direction in which a list is sorted by creation time. */
export type Order = 'newest' | 'oldest'

/** The page that a caller asks for. */
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

/** Raises NOT_FOUND for anything but a positive whole number or `last`, as Django REST framework does. */
function pageNumberFrom(text: string): number | 'last' {
  if (text === 'last') return text
  const number = wholeNumber(text.trim())
  if (number === 0) throw invalidPage()
  return number
}

/** Times that `ordering` accepts, by name. A time that a list does not record is its creation time. */
const orderingTimes = new Map([
  ['created_at', 'CREATED_AT'],
  ['uploaded_at', 'CREATED_AT'],
  ['updated_at', 'UPDATED_AT'],
] as const)
type OrderingTime = 'CREATED_AT' | 'UPDATED_AT'

/** The order of a list, as `ordering` gives it. */
interface Ordering {
  time: OrderingTime
  order: Order
}

/**
 * The first known term of `ordering`; undefined without one. Unknown terms are ignored, as in Django REST framework. Raises
 * VALIDATION_FAILED for a list that is to be sorted both ways.
 */
export function orderingFrom(query: URLSearchParams): Ordering | undefined {
  const known = new Map<OrderingTime, Order>()
  for (const term of (query.get('ordering') ?? '').split(',')) {
    const [, minus, name = ''] = /^(-?)(\w+)$/.exec(term.trim()) ?? []
    const time = orderingTimes.get(name as 'created_at')
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

/** The time that sorts a list which records both times; undefined when the caller gives no order. Raises VALIDATION_FAILED. */
export const orderByFrom = (query: URLSearchParams): OrderingTime | undefined => orderingFrom(query)?.time

/**
 * The page that a request asks for, of a list that is sorted in `order` unless the caller says otherwise. An invalid size is the default,
 * and a size above the maximum is the maximum. Raises VALIDATION_FAILED for parameters that contradict each other, NOT_FOUND for an invalid
 * page number.
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

/** The cursor parameter of a link into a list that is not read by position to its end. */
export interface LinkCursor {
  name: 'after' | 'before'
  cursor: string | null
}

/**
 * A link to the page that starts after `offset` items. It keeps the query of the request, except for its place in the list. The cursor is
 * set only where positions are not accepted any more.
 */
export function linkTo(
  request: { query: URLSearchParams; url: string },
  { page, limit }: Pick<AskedPage, 'page' | 'limit'>,
  offset: number,
  place?: LinkCursor,
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
