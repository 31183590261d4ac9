/** Ownership of an embedded server: one process at a time starts, supervises and stops it. */
import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { FixableError, ifMissing } from '../shared/operator-errors.ts'
import { createFile } from '../shared/private-files.ts'
import { identify, waitFor } from './server-process.ts'

interface Owner {
  /** Identity from `identify`. It distinguishes processes that reuse the same process ID. */
  identity: string
  /** True for a service, false for a command. */
  isService: boolean
}

/** Time limit for a start to wait for a command that owns the server, in milliseconds. */
const WAIT_MS = 30_000
/** Time limit for a command to wait until the service has started its server, in milliseconds. A long recovery takes minutes. */
const START_MS = 30 * 60_000

/**
 * Returns the numbers of all owner files, and the living owner. The file with the highest number counts. A stale file gets a successor instead of being
 * replaced, so two processes that find it at the same time cannot both become the owner.
 */
async function readOwners(path: string): Promise<{ numbers: number[]; newest: number; owner: Owner | undefined }> {
  const prefix = `${basename(path)}.`
  const names = (await readdir(dirname(path))).filter((name) => name.startsWith(prefix))
  const numbers = names.map((name) => Number(name.slice(prefix.length))).filter(Number.isInteger)
  const newest = Math.max(0, ...numbers)
  const text = await readFile(`${path}.${newest}`, 'utf8').catch(ifMissing)
  const owner = text === undefined ? undefined : (JSON.parse(text) as Owner)
  const isAlive = owner && (await identify(Number.parseInt(owner.identity, 10))) === owner.identity
  return { numbers, newest, owner: isAlive ? owner : undefined }
}

/** Makes this process the owner, and returns how to release the ownership. Undefined for a command while a service is the owner. */
async function claim(path: string, isService: boolean): Promise<(() => Promise<void>) | undefined> {
  const own: Owner = { identity: (await identify(process.pid))!, isService }
  for (const deadline = performance.now() + WAIT_MS; ; ) {
    const { newest, owner } = await readOwners(path)
    if (owner) {
      const pid = Number.parseInt(owner.identity, 10)
      if (owner.isService && !isService) return undefined
      if (owner.isService) {
        throw new FixableError(
          `Another Annal service (process ${pid}) uses ${dirname(path)}.`,
          'Stop it first. To run several services, set DATABASE_URL and CHAIN_RPC_URL.',
        )
      }
      if (performance.now() > deadline) {
        throw new FixableError(
          `An Annal command (process ${pid}) uses ${dirname(path)}.`,
          'Wait until it ends. Several commands at once need a running service.',
        )
      }
      await delay(50)
      continue
    }
    const file = `${path}.${newest + 1}`
    if (!(await createFile(file, JSON.stringify(own)))) continue
    const release = () => rm(file, { force: true })
    const after = await readOwners(path)
    if (after.newest === newest + 1) {
      for (const stale of after.numbers) if (stale <= newest) await rm(`${path}.${stale}`, { force: true })
      return release
    }
    await release()
  }
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
  for (;;) {
    const release = await claim(path, isService)
    if (release) {
      try {
        const server = await start()
        let stopped: Promise<void> | undefined
        return { ...server, stop: () => (stopped ??= server.stop().finally(release)) }
      } catch (error) {
        await release()
        throw error
      }
    }
    const found = await waitFor(START_MS, async () => {
      const server = await find()
      // Null ends the wait: the service has ended, so this command may become the owner.
      return server ?? ((await readOwners(path)).owner ? undefined : null)
    })
    if (found) return { ...found, stop: async () => undefined }
  }
}
