/** SQL: that a pin is none of a tree, of which an asset has as many as commits. Said so that an index finds them. */
export const isNoTreeSql = (kind: string): string => `${kind} in ('FILE', 'THUMBNAIL', 'C2PA')`
