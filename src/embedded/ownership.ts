/** Ownership of an embedded server: one process at a time starts, drives and stops it. */
import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { FixableError, ifMissing } from '../shared/operator-errors.ts'
import { createFile } from '../shared/private-files.ts'
import { identify, isAlive, waitFor } from './child-process.ts'

interface Owner {
  /** See `identify`. A process with a reused ID has another one. */
  identity: string
  /** True for a service, false for a command. */
  isService: boolean
}

/** The server belongs to this process until it is released. */
interface Ownership {
  release(): Promise<void>
}

/** Milliseconds that a start waits for a command that owns the server. */
const WAIT_MS = 30_000
/** Milliseconds that a command waits for the service to start its server. A long recovery takes minutes. */
const START_MS = 30 * 60_000

/**
 * Owner files have rising numbers, and the highest one counts. A stale file is outnumbered instead of replaced, so two processes that
 * find it at the same time cannot both become the owner.
 */
const numbersOf = async (path: string): Promise<number[]> => {
  const names = (await readdir(dirname(path))).filter((name) => name.startsWith(`${basename(path)}.`))
  return names.map((name) => Number(name.slice(basename(path).length + 1))).filter(Number.isInteger)
}

const findNewest = async (path: string) => Math.max(0, ...(await numbersOf(path)))

const readOwner = async (path: string, number: number): Promise<Owner | undefined> => {
  const text = await readFile(`${path}.${number}`, 'utf8').catch(ifMissing)
  const owner = text === undefined ? undefined : (JSON.parse(text) as Owner)
  return owner && (await isAlive(owner.identity)) ? owner : undefined
}

const hasOwner = async (path: string): Promise<boolean> => (await readOwner(path, await findNewest(path))) !== undefined

/** Makes this process the owner. Returns undefined for a command while a service is the owner. */
async function claimServer(path: string, isService: boolean): Promise<Ownership | undefined> {
  const own: Owner = { identity: (await identify(process.pid))!, isService }
  for (const deadline = performance.now() + WAIT_MS; ; ) {
    const newest = await findNewest(path)
    const owner = await readOwner(path, newest)
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
    const number = newest + 1
    if (!(await createFile(`${path}.${number}`, JSON.stringify(own)))) continue
    const release = () => rm(`${path}.${number}`, { force: true })
    if ((await findNewest(path)) === number) {
      for (const stale of await numbersOf(path)) if (stale < number) await rm(`${path}.${stale}`, { force: true })
      return { release }
    }
    await release()
  }
}

/**
 * Starts a server as its owner. A command uses the server of the running service instead, which `find` returns once it is ready. `path` is the
 * owner file without its number. Waits while a command is the owner. Throws FixableError when another service is the owner, or when the wait
 * takes too long.
 */
export async function ownOrUse<Server extends { stop(): Promise<void> }>(
  { path, isService }: { path: string; isService: boolean },
  start: () => Promise<Server>,
  find: () => Promise<Omit<Server, 'stop'> | undefined>,
): Promise<Omit<Server, 'stop'> & { stop(): Promise<void> }> {
  for (;;) {
    const ownership = await claimServer(path, isService)
    if (ownership) {
      try {
        const server = await start()
        let stopped: Promise<void> | undefined
        return { ...server, stop: () => (stopped ??= server.stop().finally(ownership.release)) }
      } catch (error) {
        await ownership.release()
        throw error
      }
    }
    const found = await waitFor(START_MS, async () => (await find()) ?? ((await hasOwner(path)) ? undefined : null))
    if (found) return { ...found, stop: async () => undefined }
  }
}
