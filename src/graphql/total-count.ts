import { MAX_COUNTED } from '../domain/total.ts'

/** A connection counts only when the field is requested. */
type Counted = { totalCount?: number | (() => number | Promise<number>) }

/** The description of every `totalCount`. */
export const totalCountDescription = 'Number of items on all pages. Counted only when requested.'

/** The description of a `totalCount` that stops at a maximum. */
export const boundedCountDescription = `Number of items on all pages. Counted only when requested. It stops at ${MAX_COUNTED} or shortly after the page: there may be more.`

/** Returns the number of items of a connection on all pages. */
export function totalCountOf(connection: object): number | Promise<number> {
  const { totalCount } = connection as Counted
  return typeof totalCount === 'function' ? totalCount() : totalCount!
}
