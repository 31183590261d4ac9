/** Where the files of a test run lie. */
import { accessSync, constants, statfsSync } from 'node:fs'

const MEMORY = '/dev/shm'
const ENOUGH = 4 * 2 ** 30

/**
 * The folder that is kept in memory, on machines that have one with room: each test file copies a database and drops it, and a disk
 * would spend a third of the run on that. Undefined elsewhere; then the run takes longer.
 */
export function findMemoryFolder(): string | undefined {
  try {
    accessSync(MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ENOUGH ? MEMORY : undefined
  } catch {
    return undefined
  }
}
