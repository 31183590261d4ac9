/** The anvil process itself: find it, start it from its state file, or take over one that lives. */
import { createReadStream, createWriteStream } from 'node:fs'
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Log } from '../../domain/ports/log.ts'
import { LONGEST_WRITING_MS, removeAsides, replaceFile } from '../lasting-file.ts'
import {
  canListen,
  findServers,
  identify,
  isAlive,
  isServerAlive,
  killServer,
  readLogTail,
  spawnServer,
  waitFor,
} from './child-process.ts'
import { ifMissing } from './error-code.ts'
import { askLocalSocket, readLocalSocket } from './local-socket.ts'

/** The identifier of the embedded chain. */
export const chainId = 31337

const START_MS = 20_000
/** Milliseconds that a whole chain may take, there or back. */
export const WHOLE_CHAIN_MS = 10 * 60_000

/**
 * anvil always listens on TCP as well, asks nobody for a credential there, and does for any caller what it does for us: it
 * makes money, forges senders, turns back the chain. So it is given an address that can be listened on and never be
 * connected to: Linux lets a server bind a multicast address, and refuses every TCP connection to one.
 */
const unreachableHost = '224.0.0.1'
/** Where a system does not let it bind that: closed to web pages, not to the programs of this machine. */
const loopbackHost = '127.0.0.1'

/** A socket's path may have 103 bytes on some systems, and ours carries the number of its process at first. */
const LONGEST_SOCKET_PATH = 95

/** JSON-RPC over anvil's socket. Raises an Error with the method and the server's sentence. */
export type Rpc = <T>(method: string, params?: unknown[]) => Promise<T>

/** The same, and answers that are larger than what is to be held. */
export interface StreamingRpc extends Rpc {
  /** What is answered as hexadecimal digits, as it comes, until the signal says that it is not wanted any more. */
  bytes(method: string, signal: AbortSignal): AsyncIterable<Uint8Array>
}

interface Answer {
  result: unknown
  error?: { message: string }
}

function resultOf(method: string, text: string): unknown {
  const { result, error } = JSON.parse(text) as Answer
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}

const DIGITS_BEGIN = '"result":"0x'

/** The bytes of an answer whose result is hexadecimal digits. */
async function* bytesOf(method: string, answer: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  let text = ''
  let isInside = false
  for await (const part of answer) {
    text += part.toString('latin1')
    if (!isInside) {
      const begin = text.indexOf(DIGITS_BEGIN)
      if (begin < 0) continue
      isInside = true
      text = text.slice(begin + DIGITS_BEGIN.length)
    }
    const end = text.indexOf('"')
    const whole = end < 0 ? text.length - (text.length % 2) : end
    yield Buffer.from(text.slice(0, whole), 'hex')
    if (end >= 0) return
    text = text.slice(whole)
  }
  throw new Error(`${method}: answered ${typeof resultOf(method, text)} instead of bytes`)
}

/** Asks anvil over its socket. Raises an Error with its sentence, or when it does not answer in time. */
export function createRpc(socket: string, timeoutMilliseconds = 30_000): StreamingRpc {
  const requestOf = (method: string, params: unknown[]) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const ask = async <T>(method: string, params: unknown[] = []) => {
    const text = await askLocalSocket(socket, requestOf(method, params), AbortSignal.timeout(timeoutMilliseconds))
    return resultOf(method, text) as T
  }
  const bytes = (method: string, signal: AbortSignal) =>
    bytesOf(method, readLocalSocket(socket, requestOf(method, []), signal))
  return Object.assign(ask, { bytes })
}

/** The files of the embedded chain. */
export interface AnvilFiles {
  folder: string
  /** Socket and process number of the one that runs, or ran last. */
  record: string
  /** Compressed, as anvil dumps it. */
  state: string
  /** The same as earlier versions wrote it. */
  plainState: string
  /** The state file unpacked, while an anvil of this process reads it. */
  unpacked: string
  log: string
  users: string
}

/** These files below an installation's directory. */
export const anvilFiles = (dir: string): AnvilFiles => {
  const folder = join(dir, 'chain')
  return {
    folder,
    record: join(folder, 'anvil.json'),
    state: join(folder, 'state.json.gz'),
    plainState: join(folder, 'state.json'),
    unpacked: join(folder, `unpacked.${process.pid}.json`),
    log: join(folder, 'anvil.log'),
    users: join(folder, 'users'),
  }
}

/** An anvil that runs. */
export interface AnvilProcess {
  pid: number
  /** Path of the socket that it answers on, in a folder that only this account enters. */
  socket: string
  /** Whether only this account reaches it. */
  isPrivate: boolean
}

/** The platform's binary: the package's own command wraps it in a second Node process. */
const findBinary = () => {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const system = process.platform === 'win32' ? 'win32' : process.platform
  const name = `@foundry-rs/anvil-${system}-${arch}`
  try {
    const anvil = createRequire(import.meta.resolve('@foundry-rs/anvil/package.json'))
    return anvil.resolve(`${name}/bin/anvil${process.platform === 'win32' ? '.exe' : ''}`)
  } catch (cause) {
    throw new Error(
      `No embedded chain for this machine: the package ${name} is not installed. Run npm ci, or set CHAIN_RPC_URL.`,
      {
        cause,
      },
    )
  }
}

const answers = async (socket: string, timeoutMilliseconds: number) => {
  const id = await createRpc(socket, timeoutMilliseconds)<string>('eth_chainId').catch(() => undefined)
  return id === undefined ? undefined : Number(id) === chainId
}

const readRecord = async (files: AnvilFiles): Promise<Partial<AnvilProcess> | undefined> => {
  const text = await readFile(files.record, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as Partial<AnvilProcess>)
}

/** The one of ours that runs, if any. One that lives but does not answer is ended: what counts is in the state file. */
export const findRunning = async (files: AnvilFiles, log: Log): Promise<AnvilProcess | undefined> => {
  const { pid, socket, isPrivate = false } = (await readRecord(files)) ?? {}
  if (pid === undefined || !(await isServerAlive(pid, files.folder))) return undefined
  // Without a socket it is one that an earlier version started, open to everybody.
  if (socket && (await waitFor(5_000, () => answers(socket, 2_000)))) return { pid, socket, isPrivate }
  log.warn({ pid }, 'Embedded chain does not answer on its socket; starting a new one')
  await killServer(pid, files.folder)
  return undefined
}

/** Whether nobody else can enter the folder, nor could have put it there. */
const isOurs = async (folder: string) => {
  const found = await lstat(folder).catch(() => undefined)
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o077) === 0
}

/** Where the socket goes: the same path as before where that can be, so that others of our processes find it again. */
const placeSocket = async (files: AnvilFiles): Promise<string> => {
  const beside = join(files.folder, 'anvil.ipc')
  if (Buffer.byteLength(beside) <= LONGEST_SOCKET_PATH) return beside
  const previous = (await readRecord(files))?.socket
  if (previous && (await isOurs(dirname(previous)))) return previous
  return join(await mkdtemp(join(tmpdir(), 'annal-')), 'anvil.ipc')
}

const isThere = async (path: string) => (await stat(path).catch(ifMissing)) !== undefined

/**
 * The saved chain as anvil reads it; undefined when there is none. anvil would take it compressed over its socket, too, but reads a
 * line all over again with each piece that comes: 190 MB took longer than six minutes, where from a file they take three
 * seconds. Raises when it cannot be read.
 */
const unpackState = async (files: AnvilFiles): Promise<string | undefined> => {
  if (!(await isThere(files.state))) return (await isThere(files.plainState)) ? files.plainState : undefined
  const unpacked = createWriteStream(files.unpacked, { mode: 0o600 })
  await pipeline(createReadStream(files.state), createGunzip(), unpacked).catch((cause: Error) => {
    throw new Error(`The saved chain ${files.state} could not be unpacked (${cause.message}).`, { cause })
  })
  return files.unpacked
}

/** Before the identity of a process that starts an anvil; the file has that one's socket, and is there before it and until it answers. */
const STARTING = 'starting.'

/** Ends the anvils of processes that were ended before theirs answered: no record names those, their arguments name their socket. */
const endOrphans = async ({ folder }: AnvilFiles) => {
  for (const name of (await readdir(folder)).filter((each) => each.startsWith(STARTING))) {
    if (await isAlive(name.slice(STARTING.length))) continue
    const socket = await readFile(join(folder, name), 'utf8')
    // One that was ended before it had written the whole path had not started anything.
    if (socket !== '') {
      for (const orphan of await findServers(socket)) await killServer(orphan, socket)
      await rm(socket, { force: true })
    }
    await rm(join(folder, name), { force: true })
  }
}

/** What processes left that were ended in the middle of a save or of a start. */
const removeLeftovers = async ({ folder, state, record }: AnvilFiles) => {
  const isLeft = (name: string) => name.startsWith(`${basename(state)}.`) || name.startsWith('unpacked.')
  const left = (await readdir(folder)).filter(isLeft)
  await Promise.all(left.map((name) => rm(join(folder, name), { force: true })))
  await removeAsides(record, Date.now() - LONGEST_WRITING_MS)
}

interface Launch {
  socket: string
  host: string
  /** Of how many of the newest blocks it tells balances and the like. */
  states: number
  /** The file that its chain is read from. */
  state: string | undefined
  /** The file that names its socket until a record names it. */
  starting: string
}

/** Raises with the reason when it ends before it answers, and ends it when it does not. */
const launch = async (files: AnvilFiles, { socket, host, states, state, starting }: Launch): Promise<number> => {
  // What a killed one left.
  await rm(socket, { force: true })
  await writeFile(starting, socket)
  const server = await spawnServer({
    binary: findBinary(),
    args: [
      ...['--ipc', socket, '--host', host, '--port', '0', '--no-cors'],
      // No account whose transactions it would sign for a caller.
      ...['--chain-id', String(chainId), '--accounts', '0'],
      // Ten times what public chains give a block: here nobody else is to keep up with it.
      ...['--gas-limit', '300000000'],
      // Blocks come from `mineWhenNeeded`. States stay in memory, and none goes to disk. Each is a copy of all that contracts hold: after
      // 54,000 commits 128 of them took a gigabyte.
      ...['--no-mining', '--prune-history', String(states)],
      ...(state === undefined ? [] : ['--load-state', state]),
      // Also tells our process from others, see `findRunning`.
      ...['--cache-path', files.folder],
      '--quiet',
    ],
    env: { HOME: files.folder },
    cwd: files.folder,
    logFile: files.log,
  })
  let failure: string | undefined
  void server.ended.then((reason) => {
    failure = reason
  })
  const started = await waitFor(state === undefined ? START_MS : WHOLE_CHAIN_MS, async () =>
    failure === undefined ? await answers(socket, 1_000) : false,
  )
  if (started && failure === undefined) return server.pid
  if (failure === undefined) process.kill(server.pid, 'SIGKILL')
  throw new Error(
    `The embedded chain did not start (${failure ?? 'too slow'}). The end of ${files.log}:\n${await readLogTail(files.log)}`,
  )
}

/**
 * Starts anvil from the state file, if there is one: then it is `isLoaded`. It tells balances and the like as of so many of the
 * newest blocks: `states`. Undefined when another process, which took over while this one stood still, has one by now.
 */
export const startAnvil = async (
  files: AnvilFiles,
  log: Log,
  states: number,
): Promise<(AnvilProcess & { isLoaded: boolean }) | undefined> => {
  await mkdir(files.folder, { recursive: true, mode: 0o700 })
  await chmod(files.folder, 0o700)
  await endOrphans(files)
  await removeLeftovers(files)
  const socket = await placeSocket(files)
  const isPrivate = await canListen(unreachableHost)
  if (!isPrivate) {
    log.warn({}, 'All programs on this machine can reach the embedded chain. Do not accept money over it')
  }
  const starting = join(files.folder, `${STARTING}${await identify(process.pid)}`)
  try {
    const state = await unpackState(files)
    // Nobody may find it before it is known to answer.
    const aside = `${socket}.${process.pid}`
    const host = isPrivate ? unreachableHost : loopbackHost
    const pid = await launch(files, { socket: aside, host, states, state, starting })
    if (await findRunning(files, log)) {
      process.kill(pid, 'SIGKILL')
      return undefined
    }
    await rename(aside, socket)
    const running = { pid, socket, isPrivate }
    await replaceFile(files.record, JSON.stringify(running))
    return { ...running, isLoaded: state !== undefined }
  } finally {
    await Promise.all([files.unpacked, starting].map((file) => rm(file, { force: true })))
  }
}

/**
 * Writes the chain's state, blocks, transactions and receipts to the state file, in one step; returns whether it did, and
 * raises when `signal` says so. anvil's own option writes the file every second even when nothing happened, and a kill in the
 * middle leaves half of it. The file stays as it is when `isCurrent` says that the chain went on: another process drives it
 * by now, and its file is newer.
 */
export const saveState = async (
  files: AnvilFiles,
  rpc: StreamingRpc,
  { signal, isCurrent }: { signal: AbortSignal; isCurrent: () => Promise<boolean> },
): Promise<boolean> => {
  const isReplaced = await replaceFile(files.state, rpc.bytes('anvil_dumpState', signal), isCurrent)
  if (isReplaced) await rm(files.plainState, { force: true })
  return isReplaced
}
