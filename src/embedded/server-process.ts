/** Server processes that Annal starts and that can outlive it, and free ports for them. */
import { execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { readdir, readFile, rename, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { errorCode } from '../shared/operator-errors.ts'

const run = promisify(execFile)

const MAX_LOG_BYTES = 8 * 1024 * 1024

export interface ServerCommand {
  binary: string
  args: string[]
  env: Record<string, string>
  cwd: string
  /** File for the output. A pipe would break if Annal dies before the server. */
  logFile: string
  /** Default: the user of this process. */
  user?: { uid: number; gid: number }
}

/**
 * Starts a server in its own process group: Ctrl-C in a terminal signals the whole group of Annal, and Annal needs the server until it has stopped. The
 * server does not keep the event loop alive. `ended` resolves with the reason when the process has ended.
 */
export async function spawnServer(command: ServerCommand): Promise<{ pid: number; ended: Promise<string> }> {
  const { binary, args, cwd, env, logFile, user } = command
  const size = await stat(logFile).then(
    (file) => file.size,
    () => 0,
  )
  if (size > MAX_LOG_BYTES) await rename(logFile, `${logFile}.old`)
  const output = openSync(logFile, 'a', 0o600)
  try {
    const child = spawn(binary, args, { cwd, env, detached: true, stdio: ['ignore', output, output], ...user })
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`))
    })
    if (child.pid === undefined) throw new Error(`${binary} could not be started: ${await ended}`)
    child.unref()
    return { pid: child.pid, ended }
  } finally {
    closeSync(output)
  }
}

const isLinux = process.platform === 'linux'
const ps = (...args: string[]) =>
  run('ps', args).then(
    ({ stdout }) => stdout,
    () => '',
  )

/**
 * Returns true if `pid` is a living process that was started with `argument`. Signal 0 would also succeed for a reused process ID, and for a zombie in
 * a container without an init process.
 */
export async function isServerAlive(pid: number, argument: string): Promise<boolean> {
  if (!isLinux) return (await ps('-p', String(pid), '-o', 'command=')).includes(argument)
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return commandLine.split('\0').includes(argument)
}

/** Returns the living processes that were started with `argument`. */
export async function findServers(argument: string): Promise<number[]> {
  if (!isLinux) {
    const lines = (await ps('-A', '-o', 'pid=,command=')).split('\n')
    return lines.filter((line) => line.includes(argument)).map((line) => Number.parseInt(line, 10))
  }
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger)
  const found = await Promise.all(pids.map(async (pid) => ((await isServerAlive(pid, argument)) ? [pid] : [])))
  return found.flat()
}

/** Sends a signal to a process, unless it has already ended. */
export function signalServer(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error
  }
}

/** Kills a server that was started with `argument`, and waits until it has ended. */
export async function killServer(pid: number, argument: string): Promise<void> {
  signalServer(pid, 'SIGKILL')
  await waitFor(5_000, async () => ((await isServerAlive(pid, argument)) ? undefined : true))
}

/** Calls `check` every 10 ms until it returns something other than undefined, or until the time is over. */
export async function waitFor<T>(milliseconds: number, check: () => Promise<T | undefined>): Promise<T | undefined> {
  const deadline = performance.now() + milliseconds
  for (;;) {
    const result = await check()
    if (result !== undefined || performance.now() > deadline) return result
    await delay(10)
  }
}

/** Returns the last lines of a server's log, for an error message. */
export async function readLogTail(logFile: string, lines = 12): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '')
  return text.trimEnd().split('\n').slice(-lines).join('\n')
}

/** Returns a name that differs from that of a later process with the same ID. Undefined if the process does not exist. */
export async function identify(pid: number): Promise<string | undefined> {
  if (!isLinux) {
    const startedAt = (await ps('-p', String(pid), '-o', 'lstart=')).trim()
    return startedAt === '' ? undefined : `${pid}-${Date.parse(startedAt)}`
  }
  const fields = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name in parentheses, the state, 18 more fields, then the start time.
  const [state, ...rest] = fields.slice(fields.lastIndexOf(')') + 2).split(' ')
  return state === '' || state === 'Z' ? undefined : `${pid}-${rest[18]}`
}

const listenOnce = (port: number, host: string) =>
  new Promise<void>((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(port, host, () => probe.close(() => resolve()))
  })

/** Returns true if this system lets a server listen at an address. */
export const canListen = (host: string): Promise<boolean> =>
  listenOnce(0, host).then(
    () => true,
    () => false,
  )

/** Below the ephemeral ports of Linux (32768) and macOS (49152), so that no outgoing connection takes the port before it is used. */
const [FIRST_PORT, LAST_PORT] = [15_000, 29_999]
const PORTS_TO_TRY = 100

/** Returns a random free port on 127.0.0.1. */
export async function findFreePort(): Promise<number> {
  let cause: unknown
  for (let count = 0; count < PORTS_TO_TRY; count += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1)
    try {
      await listenOnce(port, '127.0.0.1')
      return port
    } catch (error) {
      cause = error
    }
  }
  throw new Error('There is no free port on 127.0.0.1.', { cause })
}
