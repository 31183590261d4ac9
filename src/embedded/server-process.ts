/** Server processes that Annal starts and that can outlive it, and their sockets. */
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync, renameSync, statSync } from 'node:fs'
import { chown, lstat, mkdir, readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { errorCode } from '../shared/operator-errors.ts'

const MAX_LOG_BYTES = 8 * 1024 * 1024

/** A user of the operating system. */
export interface User {
  uid: number
  gid: number
}

interface ServerCommand {
  binary: string
  args: string[]
  env: Record<string, string>
  cwd: string
  /** File for the output. A pipe would break if Annal dies before the server. */
  logFile: string
  /** Default: the user of this process. */
  user?: User | undefined
}

/**
 * Starts a server in its own process group: Ctrl-C in a terminal signals the whole group of Annal, and Annal needs the server until it has stopped. The
 * server does not keep the event loop alive. `failure` is set when the process has ended.
 */
export async function spawnServer({ binary, args, cwd, env, logFile, user }: ServerCommand) {
  const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
  if (size > MAX_LOG_BYTES) renameSync(logFile, `${logFile}.old`)
  const output = openSync(logFile, 'a', 0o600)
  const child = spawn(binary, args, { cwd, env, detached: true, stdio: ['ignore', output, output], ...user })
  closeSync(output)
  if (child.pid === undefined) throw new Error(`${binary} could not be started: ${await once(child, 'error')}`)
  const server: { pid: number; failure?: string } = { pid: child.pid }
  child.once('exit', (code, signal) => {
    server.failure = signal ? `signal ${signal}` : `exit code ${code}`
  })
  child.unref()
  return server
}

const isLinux = process.platform === 'linux'
const ps = (...args: string[]) =>
  promisify(execFile)('ps', args).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  )

/** Returns true if `pid` is a living process started with `argument`. Signal 0 would also succeed for a reused process ID, and for a zombie. */
export async function isServerAlive(pid: number, argument: string): Promise<boolean> {
  if (!isLinux) return (await ps('-p', String(pid), '-o', 'command=')).includes(argument)
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').includes(argument)
}

/** Returns the living processes that were started with `argument`. */
export async function findServers(argument: string): Promise<number[]> {
  const lines = isLinux ? await readdir('/proc') : (await ps('-A', '-o', 'pid=,command=')).split('\n')
  const pids = lines.filter((line) => isLinux || line.includes(argument)).map((line) => Number.parseInt(line, 10))
  const found = await Promise.all(pids.filter(Number.isInteger).map((pid) => isServerAlive(pid, argument)))
  return pids.filter(Number.isInteger).filter((_, index) => found[index])
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
  await waitFor(5_000, async () => !(await isServerAlive(pid, argument)) || undefined)
}

/** Calls `check` every 10 ms until it returns something other than undefined, or until the time is over. */
export async function waitFor<T>(milliseconds: number, check: () => Promise<T | undefined>): Promise<T | undefined> {
  for (const deadline = performance.now() + milliseconds; ; await delay(10)) {
    const result = await check()
    if (result !== undefined || performance.now() > deadline) return result
  }
}

/** Returns the last lines of a server's log, for an error message. */
export async function readLogTail(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '')
  return text.trimEnd().split('\n').slice(-12).join('\n')
}

/** Maximum length of a socket path, in bytes: 104 on macOS and 108 on Linux, with the final zero. */
const MAX_SOCKET_PATH = 103

/**
 * Returns the folder for a server's socket: `folder`, or a private temporary folder if the path of the socket would be too long. `owner`: user of
 * the server. Default: the user of this process.
 */
export async function placeSocket(folder: string, name: string, owner?: User): Promise<string> {
  if (Buffer.byteLength(join(folder, name)) <= MAX_SOCKET_PATH) return folder
  const temporary = join(tmpdir(), `annal-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`)
  const isNew = (await mkdir(temporary, { recursive: true, mode: 0o700 })) !== undefined
  if (isNew && owner) await chown(temporary, owner.uid, owner.gid)
  const { uid, mode } = await lstat(temporary)
  if (uid === (owner?.uid ?? process.getuid?.()) && (mode & 0o077) === 0) return temporary
  throw new Error(`${temporary} belongs to another user. Remove it.`)
}

/** Returns the path of a module in `name`, an optional dependency of the package `parent`. Throws an Error with instructions if it is not installed. */
export function resolveProgram(parent: string, name: string, variable: string, module = name): string {
  try {
    return createRequire(import.meta.resolve(parent)).resolve(module)
  } catch (cause) {
    const message = `The embedded server is not available: the package ${name} is not installed. Run npm ci, or set ${variable}.`
    throw new Error(message, { cause })
  }
}

/** Returns true if this system lets a server listen at an address. Default port: any. */
export const canListen = (host: string, port = 0) =>
  new Promise<boolean>((resolve) => {
    const probe = createServer().once('error', () => resolve(false))
    probe.listen(port, host, () => probe.close(() => resolve(true)))
  })
