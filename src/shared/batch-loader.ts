/**
 * Joins look-ups that arrive in one turn of the event loop into one. A busy process asks the database once for all
 * requests that came in together; an idle one asks at once for each. Nothing is remembered.
 */
export function createBatch<Key, Value>(
  /** Values in the order of their keys. */
  load: (keys: Key[]) => Promise<Value[]>,
  maxSize = 64,
): (key: Key) => Promise<Value> {
  let waiting: { key: Key; resolve: (value: Value) => void; reject: (error: unknown) => void }[] = []

  async function flush() {
    const batch = waiting
    waiting = []
    if (batch.length === 0) return
    try {
      const values = await load(batch.map(({ key }) => key))
      for (const [index, { resolve }] of batch.entries()) resolve(values[index] as Value)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      const size = waiting.push({ key, resolve, reject })
      if (size === 1) setImmediate(() => void flush())
      else if (size === maxSize) void flush()
    })
}
