/** One source for several readers. */

/** Pieces of one source, handed to several readers. */
export interface Shared<T> {
  /** What each reader reads. */
  readers: AsyncIterable<T>[]
  /** A reader takes no more: the others do not wait for it. May be called again. */
  leave(reader: number): void
  /** No reader gets any more: each is raised this. */
  end(error: unknown): void
}

/**
 * Hands each piece of a source to so many readers, which go at the pace of the slowest of them: nothing is kept for anybody. What the
 * source raises is raised to all. The source is closed once nobody reads it any more.
 */
export const share = <T>(source: AsyncIterable<T>, count: number): Shared<T> => {
  const iterator = source[Symbol.asyncIterator]()
  const present = new Set(Array.from({ length: count }, (_, reader) => reader))
  const waiting = new Map<number, PromiseWithResolvers<IteratorResult<T>>>()
  let isPulling = false
  let ended: { error: unknown } | undefined

  const hand = (give: (to: PromiseWithResolvers<IteratorResult<T>>) => void) => {
    isPulling = false
    const all = [...waiting.values()]
    waiting.clear()
    for (const each of all) give(each)
  }
  const turn = () => {
    if (isPulling || waiting.size === 0 || waiting.size < present.size) return
    isPulling = true
    iterator.next().then(
      (result) => hand(({ resolve }) => resolve(result)),
      (error) => hand(({ reject }) => reject(error)),
    )
  }
  const leave = (reader: number) => {
    if (!present.delete(reader)) return
    waiting.get(reader)?.resolve({ done: true, value: undefined })
    waiting.delete(reader)
    if (present.size === 0) void Promise.resolve(iterator.return?.()).catch(() => undefined)
    else turn()
  }
  const reading = (reader: number): AsyncIterable<T> => ({
    [Symbol.asyncIterator]: () => ({
      next() {
        if (ended) return Promise.reject(ended.error)
        const next = Promise.withResolvers<IteratorResult<T>>()
        waiting.set(reader, next)
        turn()
        return next.promise
      },
      async return() {
        leave(reader)
        return { done: true, value: undefined }
      },
    }),
  })
  return {
    readers: [...present].map(reading),
    leave,
    end(error) {
      ended ??= { error }
      hand(({ reject }) => reject(error))
    },
  }
}
