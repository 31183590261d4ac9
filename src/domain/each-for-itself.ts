/** One after the other, each for itself: one that fails keeps none of the others from its turn. At the end raises what the first of those raised. */
export async function eachForItself<T>(
  items: AsyncIterable<T> | Iterable<T>,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const troubles: unknown[] = []
  for await (const item of items) await work(item).catch((error: unknown) => troubles.push(error))
  if (troubles.length > 0) throw troubles[0]
}
