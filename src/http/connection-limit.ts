/**
 * How many connections a process takes. Whoever opens one says who they are later, if ever, and until then it costs a file, and memory for what
 * came of its headers: without a bound strangers leave neither to the database, the chain and the jobs.
 */
import { totalmem } from 'node:os'
import { report } from 'node:process'
import type { Log } from '../shared/log.ts'

/** The other files are the process's own: connections to its parts, uploads, blocks. */
const SHARE_OF_FILES = 1 / 2
/** Half of the memory for connections that each hold all the headers that may come, some 60 KB with what Node makes of them. */
const BYTES_EACH = 131_072

interface ResourceReport {
  userLimits?: { open_files?: { soft: number | string } }
}

/** How many files and connections this process may have open; Infinity where that is not limited, as on Windows. */
export function openFileLimit(): number {
  // It would ask for the name of each address that this process is connected to: five seconds where no name server answers.
  Object.assign(report, { excludeNetwork: true })
  const { userLimits } = report.getReport() as unknown as ResourceReport
  const limit = userLimits?.open_files?.soft
  return typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY
}

/** Memory that this process may use, of the machine or of its container. */
function memoryBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/** How many connections may be open at a port of this process. */
export const mostConnections = (files = openFileLimit(), bytes = memoryBytes()): number =>
  Math.floor(Math.min(files * SHARE_OF_FILES, bytes / BYTES_EACH))

const LOG_EVERY_MS = 10_000

/** Creates a function to call for each connection that was closed above the limit. It logs their number at most every ten seconds. */
export function createDropLogger(log: Pick<Log, 'warn'>, connections: number): () => void {
  let closed = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  return () => {
    closed += 1
    const now = performance.now()
    if (now - loggedAt < LOG_EVERY_MS) return
    log.warn({ connections, closed }, 'Connection limit reached; closed new connections')
    closed = 0
    loggedAt = now
  }
}
