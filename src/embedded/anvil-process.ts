/** The anvil process of the embedded chain, and its files. */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { chmod, lstat, mkdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Log } from '../shared/log.ts'
import { ifMissing } from '../shared/operator-errors.ts'
import { removeTemporaryFiles, replaceFile } from '../shared/private-files.ts'
import { findServers, isServerAlive, killServer, readLogTail, spawnServer, waitFor } from './child-process.ts'
import { canListen } from './free-port.ts'
import { askLocalSocket, readLocalSocket } from './local-socket.ts'

/** Chain ID of the embedded chain. */
export const chainId = 31337

const START_MS = 20_000
/** Time limit for loading or dumping a whole chain, in milliseconds. */
export const WHOLE_CHAIN_MS = 10 * 60_000

/**
 * anvil always listens on TCP too, without authentication, and lets every caller create coins, forge senders and revert the chain. Linux
 * lets a server bind a multicast address but refuses TCP connections to it.
 */
const unreachableHost = '224.0.0.1'
/** The fallback where a multicast address cannot be bound. Web pages cannot reach it, but programs on this machine can. */
const loopbackHost = '127.0.0.1'

/** Some systems allow 103 bytes. */
const LONGEST_SOCKET_PATH = 103

/** JSON-RPC over anvil's socket. Throws an Error with the method and the server's message. */
export type Rpc = <T>(method: string, params?: unknown[]) => Promise<T>

/** JSON-RPC with streamed results, for results that are too large for memory. */
export interface StreamingRpc extends Rpc {
  /** Streams the bytes of a hexadecimal result until `signal` aborts. */
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

/** Decodes the hexadecimal result of an answer. */
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

/** Creates a JSON-RPC client for anvil's socket. Throws an Error with anvil's message, or when it does not answer in time. */
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
  /** Socket and process ID of the server that runs, or ran last. */
  record: string
  /** The saved chain, compressed as anvil dumps it. */
  state: string
  /** The saved chain, unpacked while anvil reads it. */
  unpacked: string
  log: string
  /** Owner file, see `ownOrUse`. */
  owner: string
}

/** Returns the paths of the files of the embedded chain. `dir` is the installation's folder. */
export const anvilFiles = (dir: string): AnvilFiles => {
  const folder = join(dir, 'chain')
  return {
    folder,
    record: join(folder, 'anvil.json'),
    state: join(folder, 'state.json.gz'),
    unpacked: join(folder, 'unpacked.json'),
    log: join(folder, 'anvil.log'),
    owner: join(folder, 'owner'),
  }
}

/** A running anvil. */
export interface AnvilProcess {
  pid: number
  /** Path of its socket, in a folder that only this user can enter. */
  socket: string
  /** True if only this user can reach it. */
  isPrivate: boolean
}

/** The argument by which processes of this folder are found. */
export const anvilArgument = ({ folder }: Pick<AnvilFiles, 'folder'>) => `--cache-path=${folder}`

/** Returns the platform's binary. The command of the package would wrap it in a second Node process. */
const findBinary = () => {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const name = `@foundry-rs/anvil-${process.platform}-${arch}`
  try {
    const anvil = createRequire(import.meta.resolve('@foundry-rs/anvil/package.json'))
    return anvil.resolve(`${name}/bin/anvil${process.platform === 'win32' ? '.exe' : ''}`)
  } catch (cause) {
    throw new Error(
      `No embedded chain for this machine: the package ${name} is not installed. Run npm ci, or set CHAIN_RPC_URL.`,
      { cause },
    )
  }
}

const answers = async (socket: string, timeoutMilliseconds: number) => {
  const id = await createRpc(socket, timeoutMilliseconds)<string>('eth_chainId').catch(() => undefined)
  return id === undefined ? undefined : Number(id) === chainId
}

/** Returns the anvil of this folder, if one runs and answers. */
export const findRunning = async (files: AnvilFiles): Promise<AnvilProcess | undefined> => {
  const text = await readFile(files.record, 'utf8').catch(ifMissing)
  if (text === undefined) return undefined
  const record = JSON.parse(text) as AnvilProcess
  if (!(await isServerAlive(record.pid, anvilArgument(files)))) return undefined
  return (await waitFor(5_000, () => answers(record.socket, 2_000))) ? record : undefined
}

/** Returns the path of the socket: in the folder of the chain, or in a folder for temporary files where that path is too long. */
const placeSocket = async ({ folder }: AnvilFiles): Promise<string> => {
  const near = join(folder, 'anvil.ipc')
  if (Buffer.byteLength(near) <= LONGEST_SOCKET_PATH) return near
  const far = join(tmpdir(), `annal-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`)
  await mkdir(far, { recursive: true, mode: 0o700 })
  const { uid, mode } = await lstat(far)
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0) throw new Error(`${far} belongs to another user. Remove it.`)
  return join(far, 'anvil.ipc')
}

/**
 * Unpacks the saved chain into a file. Returns false when there is none. anvil also accepts a compressed chain over its socket, but reads
 * the whole line again with each piece: 190 MB took more than six minutes, and three seconds from a file.
 */
const unpackState = async (files: AnvilFiles): Promise<boolean> => {
  if (!existsSync(files.state)) return false
  const unpacked = createWriteStream(files.unpacked, { mode: 0o600 })
  await pipeline(createReadStream(files.state), createGunzip(), unpacked).catch((cause: Error) => {
    throw new Error(`The saved chain ${files.state} could not be unpacked (${cause.message}).`, { cause })
  })
  return true
}

/**
 * Starts anvil from the saved chain, if there is one. `states` is the number of newest blocks for which it can read balances. Throws with
 * the end of its log when it does not start. Only the owner calls this.
 */
export const startAnvil = async (
  files: AnvilFiles,
  log: Log,
  states: number,
): Promise<AnvilProcess & { isLoaded: boolean }> => {
  await chmod(files.folder, 0o700)
  const socket = await placeSocket(files)
  const isPrivate = await canListen(unreachableHost)
  if (!isPrivate) {
    log.warn({}, 'All programs on this machine can reach the embedded chain. Do not accept money over it')
  }
  try {
    const isLoaded = await unpackState(files)
    await rm(socket, { force: true })
    const server = await spawnServer({
      binary: findBinary(),
      args: [
        ...['--ipc', socket, '--host', isPrivate ? unreachableHost : loopbackHost, '--port', '0', '--no-cors'],
        // No accounts: anvil would sign for any caller.
        ...['--chain-id', String(chainId), '--accounts', '0'],
        // Ten times the limit of public chains.
        ...['--gas-limit', '300000000'],
        // `mineWhenNeeded` makes the blocks. Each kept state is a copy of all contract data: 128 of them took a gigabyte after 54,000 commits.
        ...['--no-mining', '--prune-history', String(states)],
        ...(isLoaded ? ['--load-state', files.unpacked] : []),
        anvilArgument(files),
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
    const started = await waitFor(isLoaded ? WHOLE_CHAIN_MS : START_MS, async () =>
      failure === undefined ? answers(socket, 1_000) : false,
    )
    if (!started) {
      if (failure === undefined) process.kill(server.pid, 'SIGKILL')
      throw new Error(
        `The embedded chain did not start (${failure ?? 'too slow'}). The end of ${files.log}:\n${await readLogTail(files.log)}`,
      )
    }
    const running = { pid: server.pid, socket, isPrivate }
    await replaceFile(files.record, JSON.stringify(running))
    return { ...running, isLoaded }
  } finally {
    await rm(files.unpacked, { force: true })
  }
}

/** Removes what a killed owner left: half-written files, and anvils other than `running`. */
export const cleanUpAfterCrash = async (files: AnvilFiles, running: AnvilProcess | undefined): Promise<void> => {
  for (const pid of await findServers(anvilArgument(files)))
    if (pid !== running?.pid) await killServer(pid, anvilArgument(files))
  for (const file of [files.state, files.record]) await removeTemporaryFiles(file, Date.now())
  await rm(files.unpacked, { force: true })
}

/**
 * Writes the chain to the state file in one step. Throws when `signal` aborts. anvil's own option writes every second even when nothing
 * happened, and a kill leaves half a file.
 */
export const saveState = async ({ state }: AnvilFiles, rpc: StreamingRpc, signal: AbortSignal): Promise<void> => {
  await replaceFile(state, rpc.bytes('anvil_dumpState', signal))
}
