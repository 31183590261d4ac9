/** Each connection counts when it is asked to, and only then. */
type Counted = { totalCount?: number | (() => number | Promise<number>) }

export const totalCountDescription = 'How many there are on all pages. Counted when asked for.'

export function totalCountOf(connection: object): number | Promise<number> {
  const { totalCount } = connection as Counted
  return typeof totalCount === 'function' ? totalCount() : totalCount!
}
