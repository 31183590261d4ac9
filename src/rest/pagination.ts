/** `limit`/`offset` lists as old callers page through them. */
import { MAX_FOREIGN_OFFSET } from '../domain/page.ts'
import type { RestRequest } from './define-route.ts'

/** Items of a page when nothing is asked for. */
export const DEFAULT_LIMIT = 200
/** Published maximum. */
export const MAX_LIMIT = 1000
/** Of lists whose items are large. */
export const MAX_LARGE_LIMIT = 100

/** The largest that the schema's `Int` holds: no list is as long. */
const MOST = 2_147_483_647
const whole = (text: string | null) => (text !== null && /^\d+$/.test(text) ? Math.min(Number(text), MOST) : 0)

/** Zero or rubbish is the default; more than the maximum is the maximum. */
export function pageOf({ query }: RestRequest, max = MAX_LIMIT): { limit: number; offset: number } {
  return {
    limit: Math.min(whole(query.get('limit')) || DEFAULT_LIMIT, max),
    offset: whole(query.get('offset')),
  }
}

/** Cursors of the first and the last item of a page, and whether items follow it. */
export interface Cursors {
  startCursor: string | null
  endCursor: string | null
  hasNextPage: boolean
}

/** A page's place in a list whose links are cursors where positions end; `offset` only tells it there. */
export function placeOf(request: RestRequest) {
  const { limit, offset } = pageOf(request)
  const after = request.query.get('after')
  const before = request.query.get('before')
  if (offset <= MAX_FOREIGN_OFFSET || !(after || before)) return { first: limit, offset }
  return after ? { first: limit, after } : { last: limit, before }
}

/** Where the pages before and after `length` items of `count` are; far into a list by its cursors, if it has some. */
export function linksOf(request: RestRequest, count: number, length: number, max = MAX_LIMIT, cursors?: Cursors) {
  const { limit, offset } = pageOf(request, max)
  const link = (to: number, name: 'after' | 'before', cursor: string | null | undefined) => {
    const query = new URLSearchParams(request.query)
    query.set('limit', String(limit))
    for (const place of cursors ? ['offset', 'after', 'before'] : ['offset']) query.delete(place)
    if (to > 0) query.set('offset', String(to))
    if (to > MAX_FOREIGN_OFFSET && cursor) query.set(name, cursor)
    return `${request.url}?${query}`
  }
  // What was removed before a cursor made the count smaller, and nothing that follows.
  const follows = cursors && 'after' in placeOf(request) ? cursors.hasNextPage : offset + length < count
  return {
    // A page of large items ends before the limit: see `Database.readCut`.
    next: length > 0 && follows ? link(offset + length, 'after', cursors?.endCursor) : null,
    previous: offset > 0 ? link(Math.max(offset - limit, 0), 'before', cursors?.startCursor) : null,
  }
}

/** A page as old callers read it; `count` is of all pages. */
export const presentPage = <Item>(
  request: RestRequest,
  count: number,
  results: Item[],
  max = MAX_LIMIT,
  cursors?: Cursors,
) => ({
  count,
  ...linksOf(request, count, results.length, max, cursors),
  results,
})
