/** Server processes that Annal starts, and that can outlive it. */
import { execFile, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readdir, readFile, rename, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { errorCode } from '../shared/operator-errors.ts'

const run = promisify(execFile)

const MAXIMUM_LOG_BYTES = 8 * 1024 * 1024

/** How a server is started. */
export interface ServerCommand {
  binary: string
  args: string[]
  env: Record<string, string>
  cwd: string
  /** File for the output. A pipe would break when Annal dies before the server does. */
  logFile: string
  /** The user to run as. Default: the user of this process. */
  user?: { uid: number; gid: number }
}

/** A server that was started. */
export interface DetachedServer {
  pid: number
  /** Resolves with the reason when the process has ended. Never rejects. */
  ended: Promise<string>
}

/**
 * Starts a server in its own process group: Ctrl-C in a terminal signals the whole group of Annal, and the server is needed until
 * Annal has stopped. The server does not keep the event loop alive.
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
 * Returns whether `pid` is a living process that was started with `argument`. Signal 0 would also succeed for a reused process ID, and
 * for a zombie in a container without an init process.
 */
export const isServerAlive = async (pid: number, argument: string): Promise<boolean> => {
  if (process.platform === 'linux') {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    return commandLine.split('\0').includes(argument)
  }
  const { stdout } = await run('ps', ['-p', String(pid), '-o', 'command=']).catch(() => ({ stdout: '' }))
  return stdout.includes(argument)
}

/** Returns the living processes that were started with `argument`. */
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

/** Sends a signal to a process, unless it has already ended. */
export const signalServer = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error
  }
}

/** Kills a server that was started with `argument`, and waits until it is gone. */
export const killServer = async (pid: number, argument: string): Promise<void> => {
  signalServer(pid, 'SIGKILL')
  await waitFor(5_000, async () => ((await isServerAlive(pid, argument)) ? undefined : true))
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

/** Returns the last lines of a server's log, for an error message. */
export const readLogTail = async (logFile: string, lines = 12) => {
  const text = await readFile(logFile, 'utf8').catch(() => '')
  return text.trimEnd().split('\n').slice(-lines).join('\n')
}

/** Returns a name that differs from that of a later process with the same number. Undefined when the process does not exist. */
export const identify = async (pid: number): Promise<string | undefined> => {
  if (process.platform === 'linux') {
    const fields = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    // The name in parentheses, the state, 18 more fields, then the start time.
    const [state, ...rest] = fields.slice(fields.lastIndexOf(')') + 2).split(' ')
    return state === '' || state === 'Z' ? undefined : `${pid}-${rest[18]}`
  }
  const { stdout } = await run('ps', ['-p', String(pid), '-o', 'lstart=']).catch(() => ({ stdout: '' }))
  return stdout.trim() === '' ? undefined : `${pid}-${Date.parse(stdout)}`
}

/** Returns whether the process is alive that `identify` gave this name. */
export const isAlive = async (identity: string) => (await identify(Number.parseInt(identity, 10))) === identity
