import { MOST_COUNTED } from '../domain/total.ts'

/** Each connection counts when it is asked to, and only then. */
type Counted = { totalCount?: number | (() => number | Promise<number>) }

/** The description of every `totalCount`. */
export const totalCountDescription = 'How many there are on all pages. Counted when asked for.'

/** The same of lists of everybody's things. */
export const boundedCountDescription = `How many there are on all pages. Counted when asked for, and not far beyond the page: from ${MOST_COUNTED} on there may be more.`

/** How many items a connection has on all its pages. */
export function totalCountOf(connection: object): number | Promise<number> {
  const { totalCount } = connection as Counted
  return typeof totalCount === 'function' ? totalCount() : totalCount!
}
