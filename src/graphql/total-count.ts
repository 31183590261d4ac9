/** Each connection counts when it is asked to, and only then. */
type Counted = { totalCount?: number | (() => number | Promise<number>) }

/** The description of every `totalCount`. */
export const totalCountDescription = 'How many there are on all pages. Counted when asked for.'

/** How many items a connection has on all its pages. */
export function totalCountOf(connection: object): number | Promise<number> {
  const { totalCount } = connection as Counted
  return typeof totalCount === 'function' ? totalCount() : totalCount!
}
