/** `limit`/`offset` lists as old callers page through them. */
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

/** Where the pages before and after `length` items of `count` are. */
export function linksOf(request: RestRequest, count: number, length: number, max = MAX_LIMIT) {
  const { limit, offset } = pageOf(request, max)
  const link = (to: number) => {
    const query = new URLSearchParams(request.query)
    query.set('limit', String(limit))
    query.delete('offset')
    if (to > 0) query.set('offset', String(to))
    return `${request.url}?${query}`
  }
  return {
    // A page of large items ends before the limit: see `Database.readCut`.
    next: length > 0 && offset + length < count ? link(offset + length) : null,
    previous: offset > 0 ? link(Math.max(offset - limit, 0)) : null,
  }
}

/** A page as old callers read it; `count` is of all pages. */
export const presentPage = <Item>(request: RestRequest, count: number, results: Item[], max = MAX_LIMIT) => ({
  count,
  ...linksOf(request, count, results.length, max),
  results,
})
