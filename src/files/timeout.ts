/** Deadlines for a server that may hang: they count the time that it takes, never that of whoever reads or writes. */

/** What a server is given up with. */
export const tooSlow = (milliseconds: number) => new Error(`no answer within ${milliseconds} ms`)

/** A clock that gives up when it is not stopped in time. */
export const createPatience = (milliseconds: number) => {
  const giveUp = new AbortController()
  let timer: NodeJS.Timeout | undefined
  return {
    signal: giveUp.signal,
    /** It is the server's turn. */
    start() {
      clearTimeout(timer)
      timer = setTimeout(() => giveUp.abort(tooSlow(milliseconds)), milliseconds)
    },
    stop: () => clearTimeout(timer),
  }
}

/** What `open` yields, each within so many milliseconds. `open` is told by the signal that nobody waits any more. */
export async function* eachWithin<T>(
  milliseconds: number,
  open: (signal: AbortSignal) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const { signal, start, stop } = createPatience(milliseconds)
  const left = new AbortController()
  const iterator = open(AbortSignal.any([signal, left.signal]))[Symbol.asyncIterator]()
  const impatient = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  impatient.catch(() => undefined)
  try {
    for (;;) {
      start()
      const next = await Promise.race([iterator.next(), impatient])
      stop()
      if (next.done) return
      yield next.value
    }
  } finally {
    stop()
    left.abort()
  }
}
