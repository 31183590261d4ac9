/**
 * Loaded before the scripts of package.json. Sends SIGTERM to this process when npm, which started it, ends: npm that is killed passes
 * no signal on. `annal.js` does the same for the package.
 */
import process from 'node:process'

/** Interval between two checks, in milliseconds. */
const CHECK_INTERVAL_MS = 250

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

const launchers = process.env.LAUNCHER_PIDS?.split(',').map(Number) ?? []
// The processes that this one starts have another launcher.
delete process.env.LAUNCHER_PIDS
if (launchers.length > 0) {
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
