/** Ownership of an embedded server: one process at a time starts, supervises and stops it. */
import { writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { FixableError, ifMissing } from '../shared/operator-errors.ts'

/** Time limit for a start to wait for a command that owns the server, in milliseconds. */
const WAIT_MS = 30_000
const SQLITE_BUSY = 5

/** Locks a file and returns how to unlock it. The operating system unlocks it when the process ends. Undefined if another process has the lock. */
function lock(path: string): (() => void) | undefined {
  const file = new DatabaseSync(path)
  try {
    file.exec('BEGIN EXCLUSIVE')
    return () => file.close()
  } catch (error) {
    file.close()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined
    throw error
  }
}

/**
 * Starts a server as its owner. A command uses the server of the running service instead, which `find` returns when it is ready. `path`: file that
 * names the owner. Waits while a command is the owner. Throws FixableError if another service is the owner, or if the wait takes too long.
 */
export async function ownOrUse<Server extends { stop(): Promise<void> }>(
  { path, isService }: { path: string; isService: boolean },
  start: () => Promise<Server>,
  find: () => Promise<Omit<Server, 'stop'> | undefined>,
): Promise<Omit<Server, 'stop'> & { stop(): Promise<void> }> {
  for (const deadline = performance.now() + WAIT_MS; ; await delay(50)) {
    const unlock = lock(`${path}.lock`)
    if (unlock) {
      try {
        writeFileSync(path, `${isService ? 'service' : 'command'} ${process.pid}`)
        const server = await start()
        let stopped: Promise<void> | undefined
        return { ...server, stop: () => (stopped ??= server.stop().finally(unlock)) }
      } catch (error) {
        unlock()
        throw error
      }
    }
    const [kind, pid] = ((await readFile(path, 'utf8').catch(ifMissing)) ?? '').split(' ')
    const finding = `Another Annal ${kind} (process ${pid}) uses ${dirname(path)}.`
    if (kind === 'service') {
      const fix = 'Stop it first. To run several services, set DATABASE_URL and CHAIN_RPC_URL.'
      if (isService) throw new FixableError(finding, fix)
      const found = await find()
      if (found) return { ...found, stop: async () => undefined }
    } else if (performance.now() > deadline)
      throw new FixableError(finding, 'Wait until it ends. Several commands at once need a running service.')
  }
}
