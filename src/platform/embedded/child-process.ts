/** Servers that we start beside us and that may outlive us. */
import { execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { errorCode } from './error-code.ts'

const run = promisify(execFile)

const MAXIMUM_LOG_BYTES = 8 * 1024 * 1024

/** How a server is started. */
export interface ServerCommand {
  binary: string
  args: string[]
  env: Record<string, string>
  cwd: string
  /** Where its output goes. A pipe would break when we die before it does. */
  logFile: string
  /** The user to run as; ours when missing. */
  user?: { uid: number; gid: number }
}

/** A server that was started. */
export interface DetachedServer {
  pid: number
  /** Fulfilled with the reason when the process has ended. Never rejected. */
  ended: Promise<string>
}

/**
 * Starts a server in a process group of its own: Ctrl-C in a terminal signals our whole group, and draining still needs
 * the server. It does not keep our event loop alive.
 */
export const spawnServer = async (command: ServerCommand): Promise<DetachedServer> => {
  const { logFile } = command
  const size = await stat(logFile).then(
    (found) => found.size,
    () => 0,
  )
  if (size > MAXIMUM_LOG_BYTES) await rename(logFile, `${logFile}.old`)
  const output = openSync(logFile, 'a', 0o600)
  try {
    const child = spawn(command.binary, command.args, {
      cwd: command.cwd,
      env: command.env,
      detached: true,
      stdio: ['ignore', output, output],
      ...command.user,
    })
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`))
    })
    if (child.pid === undefined) throw new Error(`${command.binary} could not be started: ${await ended}`)
    child.unref()
    return { pid: child.pid, ended }
  } finally {
    closeSync(output)
  }
}

/**
 * Whether `pid` is a living process that was started with `argument`. A bare signal 0 would take a reused pid or a
 * zombie, which nobody reaps in a container without an init, for the server.
 */
export const isServerAlive = async (pid: number, argument: string): Promise<boolean> => {
  if (process.platform === 'linux') {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    return commandLine.split('\0').includes(argument)
  }
  const { stdout } = await run('ps', ['-p', String(pid), '-o', 'command=']).catch(() => ({ stdout: '' }))
  return stdout.includes(argument)
}

/** The living processes that were started with `argument`. */
export const findServers = async (argument: string): Promise<number[]> => {
  if (process.platform === 'linux') {
    const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger)
    const found = await Promise.all(pids.map(async (pid) => ((await isServerAlive(pid, argument)) ? [pid] : [])))
    return found.flat()
  }
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,command='])
  const lines = stdout.split('\n').filter((line) => line.includes(argument))
  return lines.map((line) => Number.parseInt(line, 10))
}

/** Kills a server that was started with `argument`, and waits until it is gone. */
export const killServer = async (pid: number, argument: string): Promise<void> => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // It has ended by itself.
    if (errorCode(error) !== 'ESRCH') throw error
  }
  await waitFor(5_000, async () => ((await isServerAlive(pid, argument)) ? undefined : true))
}

/** Raises the system's error when no server can listen there now. */
const tryListening = (port: number, host: string) =>
  new Promise<void>((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(port, host, () => probe.close(() => resolve()))
  })

/** Whether this system lets a server listen at an address. */
export const canListen = (host: string): Promise<boolean> =>
  tryListening(0, host).then(
    () => true,
    () => false,
  )

/** What systems say of a port that somebody else has, or that is kept from everybody. */
const taken = new Set(['EADDRINUSE', 'EACCES'])

const isFree = (port: number) =>
  tryListening(port, '127.0.0.1').then(
    () => true,
    (error: unknown) => {
      if (taken.has(errorCode(error) ?? '')) return false
      throw error
    },
  )

/** Below what Linux (32768) and the others (49152) give to outgoing connections: none of these takes it before it is used. */
const [FIRST_PORT, LAST_PORT] = [15_000, 29_999]
const PORTS_TO_TRY = 100

/** A port on 127.0.0.1 that nobody listens on at this moment. Raises an Error when none of a hundred is free, and what the system says when none can be had at all. */
export async function findFreePort(): Promise<number> {
  for (let count = 0; count < PORTS_TO_TRY; count += 1) {
    // By chance: who looks for one at the same moment finds another.
    const port = randomInt(FIRST_PORT, LAST_PORT + 1)
    if (await isFree(port)) return port
  }
  throw new Error('No free port.')
}

/** Calls `check` every 10 ms until it returns something other than undefined, or until `milliseconds` are over. */
export const waitFor = async <T>(milliseconds: number, check: () => Promise<T | undefined>): Promise<T | undefined> => {
  const deadline = performance.now() + milliseconds
  for (;;) {
    const result = await check()
    if (result !== undefined || performance.now() > deadline) return result
    await delay(10)
  }
}

/** The end of a server's log, for an error message. */
export const readLogTail = async (logFile: string, lines = 12) => {
  const text = await readFile(logFile, 'utf8').catch(() => '')
  return text.trimEnd().split('\n').slice(-lines).join('\n')
}

/** Tells a process from a later one with the same number. Undefined when there is none. */
export const identify = async (pid: number): Promise<string | undefined> => {
  if (process.platform === 'linux') {
    const fields = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    // After the name in parentheses: the state, then 18 fields, then when it started.
    const [state, ...rest] = fields.slice(fields.lastIndexOf(')') + 2).split(' ')
    return state === '' || state === 'Z' ? undefined : `${pid}-${rest[18]}`
  }
  const { stdout } = await run('ps', ['-p', String(pid), '-o', 'lstart=']).catch(() => ({ stdout: '' }))
  return stdout.trim() === '' ? undefined : `${pid}-${Date.parse(stdout)}`
}

/** Whether the process lives that `identify` gave this for. */
export const isAlive = async (identity: string) => (await identify(Number.parseInt(identity, 10))) === identity

/** One user of a server among several. */
export interface Presence {
  /** Whether we came first of all that live and are not frozen. */
  isFirst(): Promise<boolean>
  /** Leaves; true when nobody else is there. */
  leave(): Promise<boolean>
}

let entries = 0

/** Milliseconds between two signs of life, and without one until somebody counts as frozen. */
const BEAT_MS = 1_000
const SILENT_MS = 5_000

/**
 * Who uses a server: one file for each user in `folder`, named so that the first comes first. The files of processes
 * that were killed count no more; one that is frozen is there, and first of nobody.
 */
export const enterPresence = async (folder: string): Promise<Presence> => {
  await mkdir(folder, { recursive: true })
  entries += 1
  const entry = entries
  const identity = await identify(process.pid)
  const nameAt = (time: bigint) => `${String(time).padStart(20, '0')}.${identity}.${entry}`
  // Nobody is first while somebody is still about to take a time: it could be the earlier one (Lamport's bakery).
  const choosing = nameAt(0n)
  await writeFile(join(folder, choosing), '')
  const name = nameAt(process.hrtime.bigint())
  await rename(join(folder, choosing), join(folder, name))
  const living = async () => {
    const names = (await readdir(folder)).sort()
    const checks = names.map(async (candidate) => {
      if (await isAlive(candidate.split('.')[1] ?? '')) return candidate
      await rm(join(folder, candidate), { force: true })
      return undefined
    })
    return (await Promise.all(checks)).filter((candidate) => candidate !== undefined)
  }
  const beat = setInterval(() => {
    const now = new Date()
    // Without it others do our work; that is all.
    utimes(join(folder, name), now, now).catch(() => undefined)
  }, BEAT_MS).unref()
  const isAwake = async (candidate: string) => {
    const { mtimeMs } = await stat(join(folder, candidate)).catch(() => ({ mtimeMs: 0 }))
    return candidate === name || Date.now() - mtimeMs < SILENT_MS
  }
  return {
    async isFirst() {
      for (const candidate of await living()) if (await isAwake(candidate)) return candidate === name
      return false
    },
    leave: async () => {
      clearInterval(beat)
      await rm(join(folder, name), { force: true })
      return (await living()).length === 0
    },
  }
}
