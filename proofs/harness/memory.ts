/** Memory of another process. */
import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Returns the resident memory in MiB. */
export async function residentMemory(pid: number): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)])
  return Number(stdout) / 1_024
}

/** Samples the memory every 250 milliseconds until `stop`, which returns the maximum in MiB. */
export function watchMemory(pid: number): { stop(): Promise<number> } {
  let isOver = false
  let most = 0
  const watching = (async () => {
    while (!isOver) {
      most = Math.max(most, await residentMemory(pid).catch(() => 0))
      await delay(250)
    }
  })()
  return {
    async stop() {
      isOver = true
      await watching
      return most
    },
  }
}
