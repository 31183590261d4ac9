interface Keyset<Row, Key> {
  /** Less than every key. */
  first: Key
  /** Rows of a page at most. */
  limit: number
  /** The next rows, of which all have greater keys than `after`. */
  read: (after: Key, limit: number) => Promise<Row[]>
  keyOf: (row: Row) => Key
}

/** Rows in the order of a key, in pages that are each read when they are asked for; a shorter one is the last, and none is empty. Raises what `read` raises. */
export async function* keysetPages<Row, Key>({ first, limit, read, keyOf }: Keyset<Row, Key>): AsyncGenerator<Row[]> {
  for (let after = first; ; ) {
    const rows = await read(after, limit)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    if (rows.length < limit) return
    after = keyOf(last)
  }
}
