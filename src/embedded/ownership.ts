/** Ownership of an embedded server: one process at a time starts, supervises and stops it. */
import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { FixableError, ifMissing } from '../shared/operator-errors.ts'
import { createFile } from '../shared/private-files.ts'
import { identify } from './server-process.ts'

/** Time limit for a start to wait for a command that owns the server, in milliseconds. */
const WAIT_MS = 30_000

/**
 * Returns the numbers of all owner files, and the living owner. The file with the highest number counts. A stale file gets a successor instead of being
 * replaced, so two processes that find it at the same time cannot both become the owner.
 */
async function readOwners(path: string) {
  const prefix = `${basename(path)}.`
  const names = (await readdir(dirname(path))).filter((name) => name.startsWith(prefix))
  const numbers = names.map((name) => Number(name.slice(prefix.length))).filter(Number.isInteger)
  const newest = Math.max(0, ...numbers)
  const text = await readFile(`${path}.${newest}`, 'utf8').catch(ifMissing)
  if (text === undefined) return { numbers, newest }
  const { identity, isService } = JSON.parse(text) as { identity: string; isService: boolean }
  const pid = Number.parseInt(identity, 10)
  return (await identify(pid)) === identity ? { numbers, newest, owner: { pid, isService } } : { numbers, newest }
}

/** Makes this process the owner, and returns how to release the ownership. Undefined if another process was faster. */
async function claim(path: string, number: number, isService: boolean): Promise<(() => Promise<void>) | undefined> {
  const file = `${path}.${number}`
  if (!(await createFile(file, JSON.stringify({ identity: await identify(process.pid), isService })))) return undefined
  const release = () => rm(file, { force: true })
  const { numbers, newest } = await readOwners(path)
  if (newest !== number) return release().then(() => undefined)
  for (const stale of numbers) if (stale < number) await rm(`${path}.${stale}`, { force: true })
  return release
}

/**
 * Starts a server as its owner. A command uses the server of the running service instead, which `find` returns when it is ready. `path`: owner file
 * without its number. Waits while a command is the owner. Throws FixableError if another service is the owner, or if the wait takes too long.
 */
export async function ownOrUse<Server extends { stop(): Promise<void> }>(
  { path, isService }: { path: string; isService: boolean },
  start: () => Promise<Server>,
  find: () => Promise<Omit<Server, 'stop'> | undefined>,
): Promise<Omit<Server, 'stop'> & { stop(): Promise<void> }> {
  for (const deadline = performance.now() + WAIT_MS; ; await delay(50)) {
    const { newest, owner } = await readOwners(path)
    if (owner?.isService && isService)
      throw new FixableError(
        `Another Annal service (process ${owner.pid}) uses ${dirname(path)}.`,
        'Stop it first. To run several services, set DATABASE_URL and CHAIN_RPC_URL.',
      )
    if (owner?.isService) {
      const found = await find()
      if (found) return { ...found, stop: async () => undefined }
    } else if (owner && performance.now() > deadline)
      throw new FixableError(
        `An Annal command (process ${owner.pid}) uses ${dirname(path)}.`,
        'Wait until it ends. Several commands at once need a running service.',
      )
    const release = owner ? undefined : await claim(path, newest + 1, isService)
    if (!release) continue
    try {
      const server = await start()
      let stopped: Promise<void> | undefined
      return { ...server, stop: () => (stopped ??= server.stop().finally(release)) }
    } catch (error) {
      await release()
      throw error
    }
  }
}
