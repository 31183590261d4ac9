/** Milliseconds. Ctrl-C under npm comes twice: the terminal sends it to everybody, and npm passes on what it got. */
const SAME_SIGNAL_MS = 1_000

/**
 * Fulfilled when we are told to stop. Whoever tells us once more after that does not want to wait. However it goes, we are
 * gone after `milliseconds`.
 */
export const stopSignal = (milliseconds: number): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let since: number | undefined
    const onSignal = (signal: NodeJS.Signals) => {
      if (since !== undefined) {
        if (performance.now() - since > SAME_SIGNAL_MS) process.exit(1)
        return
      }
      since = performance.now()
      setTimeout(() => process.exit(1), milliseconds).unref()
      resolve(signal)
    }
    // The last is of a terminal that is closed. Node takes it to heart under nohup, too.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal)
  })
