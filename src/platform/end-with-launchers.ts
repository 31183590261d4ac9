/** Interval between two checks of the launchers, in milliseconds. */
const CHECK_INTERVAL_MS = 250

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Sends SIGTERM to this process when one of the processes in `LAUNCHER_PIDS` ends, such as npm. A launcher that is killed passes no
 * signal on. `bin/annal.js` does the same for the package.
 */
export function endWithLaunchers(): void {
  const launchers = process.env.LAUNCHER_PIDS?.split(',').map(Number)
  delete process.env.LAUNCHER_PIDS
  if (!launchers) return
  const parent = process.ppid
  const check = setInterval(() => {
    if (process.ppid === parent && launchers.every(isAlive)) return
    clearInterval(check)
    // Under `node --watch` the parent would start this process again at the next change.
    const isWatched = process.env.WATCH_REPORT_DEPENDENCIES !== undefined && process.ppid === parent
    process.kill(isWatched ? parent : process.pid, 'SIGTERM')
  }, CHECK_INTERVAL_MS)
  check.unref()
}
