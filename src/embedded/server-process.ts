/** Servers of the embedded parts. One process at a time owns, supervises and stops each server. A server can outlive its owner. */
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { chown, lstat, mkdir, readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Log } from '../shared/log.ts'
import { errorCode, FixableError, ifMissing } from '../shared/operator-errors.ts'

export interface EmbeddedOptions {
  dir: string
  log: Log
  /** True for a service: commands use its server, and another service is refused. False for a command. */
  isService?: boolean
}

/** Time limit for waiting until a command that owns the server ends, in milliseconds. */
const WAIT_MS = 30_000
const SQLITE_BUSY = 5
/** Time limit of a start, in milliseconds. PostgreSQL's recovery after a crash reads up to 2 GB of write-ahead log. */
const START_MS = 30 * 60_000
const MAX_LOG_BYTES = 8 * 1024 * 1024

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
export async function ownOrUse<Server extends object>(
  path: string,
  isService: boolean,
  start: () => Promise<Server & { stop(): Promise<void> }>,
  find: () => Promise<Server | undefined>,
): Promise<Server & { stop(): Promise<void> }> {
  for (const deadline = performance.now() + WAIT_MS; ; await delay(50)) {
    const unlock = lock(`${path}.lock`)
    if (unlock) {
      writeFileSync(path, `${isService ? 'service' : 'command'} ${process.pid}`)
      const server = await start().catch((error: unknown) => {
        unlock()
        throw error
      })
      let stopped: Promise<void> | undefined
      return { ...server, stop: () => (stopped ??= server.stop().finally(unlock)) }
    }
    const [kind, pid] = ((await readFile(path, 'utf8').catch(ifMissing)) ?? '').split(' ')
    const found = kind === 'service' && !isService ? await find() : undefined
    if (found) return { ...found, stop: async () => undefined }
    if (kind === 'service' ? isService : performance.now() > deadline)
      throw new FixableError(
        `Another Annal ${kind} (process ${pid}) uses ${dirname(path)}.`,
        'Stop it first. To run several services, set DATABASE_URL and CHAIN_RPC_URL.',
      )
  }
}

/**
 * Starts a server with its log in `folder`, in its own process group: Ctrl-C in a terminal signals the whole group of Annal. Returns when `isReady` returns
 * true. `failure` is set when the process has ended. Throws an Error with the end of the log if the server ends or takes half an hour.
 */
export async function startServer(
  name: string,
  folder: string,
  [binary = '', ...args]: string[],
  env: Record<string, string>,
  isReady: (pid: number) => Promise<boolean>,
) {
  const logFile = join(folder, `${name}.log`)
  if ((statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(logFile, `${logFile}.old`)
  // A pipe for the output would break if Annal dies before the server.
  const output = openSync(logFile, 'a', 0o600)
  const child = spawn(binary, args, { cwd: folder, env, detached: true, stdio: ['ignore', output, output] })
  closeSync(output)
  if (child.pid === undefined) throw new Error(`${binary} could not be started: ${await once(child, 'error')}`)
  const server: { pid: number; failure?: string } = { pid: child.pid }
  child.once('exit', (code, signal) => {
    server.failure = signal ? `signal ${signal}` : `exit code ${code}`
  })
  child.unref()
  const check = async () => (server.failure === undefined ? (await isReady(server.pid)) || undefined : false)
  if (await waitFor(START_MS, check)) return server
  child.kill('SIGQUIT')
  const tail = (await readFile(logFile, 'utf8')).trimEnd().split('\n').slice(-12).join('\n')
  throw new Error(
    `The embedded ${name} did not start (${server.failure ?? 'too slow'}). The end of ${logFile}:\n${tail}`,
  )
}

/** Returns the living processes that were started with `argument`. A stored process ID could belong to another program by now. */
export async function findServers(argument: string): Promise<number[]> {
  if (process.platform !== 'linux') {
    const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,command='])
    return stdout.split('\n').flatMap((line) => (line.includes(argument) ? [Number.parseInt(line, 10)] : []))
  }
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger)
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return pids.filter((_, index) => commands[index]!.split('\0').includes(argument))
}

/** Signals the processes that were started with `argument`. Returns true when they have ended, and false if that takes too long. */
export async function endServers(argument: string, signal: NodeJS.Signals, milliseconds: number): Promise<boolean> {
  for (const pid of await findServers(argument)) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if (errorCode(error) !== 'ESRCH') throw error
    }
  }
  return (await waitFor(milliseconds, async () => (await findServers(argument)).length === 0 || undefined)) ?? false
}

/** Calls `check` every 20 ms until it returns something other than undefined, or until the time is over. */
export async function waitFor<T>(milliseconds: number, check: () => Promise<T | undefined>): Promise<T | undefined> {
  for (const deadline = performance.now() + milliseconds; ; await delay(20)) {
    const result = await check()
    if (result !== undefined || performance.now() > deadline) return result
  }
}

/** Maximum length of a socket path, in bytes: 104 on macOS and 108 on Linux, with the final zero. */
const MAX_SOCKET_PATH = 103

/** Returns the folder for a server's socket: `folder`, or a private temporary folder of the user `uid` if the path would be too long. */
export async function placeSocket(folder: string, name: string, uid = process.getuid?.() ?? 0): Promise<string> {
  if (Buffer.byteLength(join(folder, name)) <= MAX_SOCKET_PATH) return folder
  const temporary = join(tmpdir(), `annal-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`)
  if (await mkdir(temporary, { recursive: true, mode: 0o700 })) await chown(temporary, uid, -1)
  const found = await lstat(temporary)
  if (found.uid === uid && (found.mode & 0o077) === 0) return temporary
  throw new Error(`${temporary} belongs to another user. Remove it.`)
}

/** Returns the path of a module in `name`, an optional dependency of the package `parent`. Throws an Error with instructions if it is not installed. */
export function resolveProgram(parent: string, name: string, variable: string, module = name): string {
  try {
    return createRequire(import.meta.resolve(parent)).resolve(module)
  } catch (cause) {
    throw new Error(`The package ${name} is not installed. Run npm ci, or set ${variable}.`, { cause })
  }
}

/** Returns true if this system lets a server listen at an address. Default port: any. */
export const canListen = (host: string, port = 0) =>
  new Promise<boolean>((resolve) => {
    const probe = createServer().once('error', () => resolve(false))
    probe.listen(port, host, () => probe.close(() => resolve(true)))
  })
