/** `limit`/`offset` lists as old callers page through them. */
import type { RestRequest } from './define-route.ts'

export const DEFAULT_LIMIT = 200
/** Published maximum. */
export const MAX_LIMIT = 1000

const whole = (text: string | null) => (text !== null && /^\d{1,9}$/.test(text) ? Number(text) : 0)

/** Zero or rubbish is the default; more than the maximum is the maximum. */
export function pageOf({ query }: RestRequest): { limit: number; offset: number } {
  return {
    limit: Math.min(whole(query.get('limit')) || DEFAULT_LIMIT, MAX_LIMIT),
    offset: whole(query.get('offset')),
  }
}

export function presentPage(request: RestRequest, count: number, results: unknown[]) {
  const { limit, offset } = pageOf(request)
  const link = (to: number) => {
    const query = new URLSearchParams(request.query)
    query.set('limit', String(limit))
    query.delete('offset')
    if (to > 0) query.set('offset', String(to))
    return `${request.url}?${query}`
  }
  return {
    count,
    next: offset + limit < count ? link(offset + limit) : null,
    previous: offset > 0 ? link(Math.max(offset - limit, 0)) : null,
    results,
  }
}
