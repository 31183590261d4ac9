/** Deals with so many items at a time. Raises what the first of them raised that failed, or what `items` raised, once none is under way any more. */
export const eachOf = async <T>(
  items: Iterable<T> | AsyncIterable<T>,
  atOnce: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> => {
  const underWay = new Set<Promise<unknown>>()
  let failure: { error: unknown } | undefined
  try {
    for await (const item of items) {
      const working: Promise<unknown> = work(item)
        .catch((error: unknown) => {
          failure ??= { error }
        })
        .finally(() => underWay.delete(working))
      underWay.add(working)
      if (underWay.size >= atOnce) await Promise.race(underWay)
      if (failure) break
    }
  } finally {
    await Promise.all(underWay)
  }
  if (failure) throw failure.error
}
