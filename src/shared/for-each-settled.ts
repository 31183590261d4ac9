/** One after the other, each for itself: one that fails keeps none of the others from its turn. At the end raises what the first of those raised; `cancel` ends it between two. */
export async function eachForItself<T>(
  items: AsyncIterable<T> | Iterable<T>,
  work: (item: T) => Promise<unknown>,
  cancel?: AbortSignal,
): Promise<void> {
  const errors: unknown[] = []
  for await (const item of items) {
    cancel?.throwIfAborted()
    await work(item).catch((error: unknown) => errors.push(error))
  }
  if (errors.length > 0) throw errors[0]
}
