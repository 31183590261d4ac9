/** Timeouts for servers that may hang. They measure the time of the server, not of the reader or writer. */

/** Returns the error of a server that did not answer in time. */
export const timeoutError = (milliseconds: number) => new Error(`no answer within ${milliseconds} ms`)

/** Creates a timer that aborts its signal unless it is stopped in time. */
export const createDeadline = (milliseconds: number) => {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  return {
    signal: controller.signal,
    /** Starts or restarts the timer. */
    start() {
      clearTimeout(timer)
      timer = setTimeout(() => controller.abort(timeoutError(milliseconds)), milliseconds)
    },
    stop: () => clearTimeout(timer),
  }
}

/** Yields the items of `open`, each within the timeout. The signal aborts when the timeout ends or the consumer stops. */
export async function* withItemTimeout<T>(
  milliseconds: number,
  open: (signal: AbortSignal) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const { signal, start, stop } = createDeadline(milliseconds)
  const stopped = new AbortController()
  const iterator = open(AbortSignal.any([signal, stopped.signal]))[Symbol.asyncIterator]()
  const expired = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  expired.catch(() => undefined)
  try {
    for (;;) {
      start()
      const next = await Promise.race([iterator.next(), expired])
      stop()
      if (next.done) return
      yield next.value
    }
  } finally {
    stop()
    stopped.abort()
  }
}
