/** The anvil process of the embedded chain, its files, and the installation that they belong to. */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { chmod, lstat, mkdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Log } from '../shared/log.ts'
import { FixableError, ifMissing } from '../shared/operator-errors.ts'
import { createFile, removeTemporaryFiles, replaceFile } from '../shared/private-files.ts'
import { askLocalSocket, readLocalSocket } from './local-socket.ts'
import {
  canListen,
  findServers,
  isServerAlive,
  killServer,
  readLogTail,
  spawnServer,
  waitFor,
} from './server-process.ts'

/** Chain ID of the embedded chain. */
export const chainId = 31337

const START_MS = 20_000
/** Time limit for loading or dumping a whole chain, in milliseconds. */
export const WHOLE_CHAIN_MS = 10 * 60_000

/**
 * anvil always listens on TCP too, without authentication, and lets every caller create coins, forge senders and revert the chain. Linux lets a server
 * bind a multicast address but refuses TCP connections to it.
 */
const UNREACHABLE_HOST = '224.0.0.1'
/** The fallback where a multicast address cannot be bound. Web pages cannot reach it, but programs on this machine can. */
const LOOPBACK_HOST = '127.0.0.1'

/** Maximum length of a socket path on macOS, in bytes. Linux allows 107. */
const MAX_SOCKET_PATH = 103

/** JSON-RPC over anvil's socket. Throws an Error with the method and anvil's message, or if anvil does not answer in time. */
export type Rpc = <T>(method: string, params?: unknown[]) => Promise<T>

function resultOf(method: string, text: string): unknown {
  const { result, error } = JSON.parse(text) as { result: unknown; error?: { message: string } }
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}

const HEX_START = '"result":"0x'

async function* decodeHex(method: string, response: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  let text = ''
  let isInside = false
  for await (const part of response) {
    text += part.toString('latin1')
    if (!isInside) {
      const start = text.indexOf(HEX_START)
      if (start < 0) continue
      isInside = true
      text = text.slice(start + HEX_START.length)
    }
    const end = text.indexOf('"')
    const length = end < 0 ? text.length - (text.length % 2) : end
    yield Buffer.from(text.slice(0, length), 'hex')
    if (end >= 0) return
    text = text.slice(length)
  }
  throw new Error(`${method}: answered ${typeof resultOf(method, text)} instead of bytes`)
}

/** Creates a client. `bytes` streams the bytes of a hexadecimal result, which may be too large for memory. */
export function createRpc(socket: string, timeoutMilliseconds = 30_000) {
  const requestOf = (method: string, params: unknown[]) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const call = async <T>(method: string, params: unknown[] = []) => {
    const text = await askLocalSocket(socket, requestOf(method, params), AbortSignal.timeout(timeoutMilliseconds))
    return resultOf(method, text) as T
  }
  const bytes = (method: string, signal: AbortSignal) =>
    decodeHex(method, readLocalSocket(socket, requestOf(method, []), signal))
  return Object.assign(call, { bytes })
}

/** Paths of the files of the embedded chain. */
export type AnvilFiles = ReturnType<typeof anvilFiles>

/** Returns the paths in the data folder `dir`. */
export function anvilFiles(dir: string) {
  const folder = join(dir, 'chain')
  return {
    folder,
    /** Socket and process ID of the server that runs, or ran last. */
    record: join(folder, 'anvil.json'),
    /** The saved chain, compressed as anvil dumps it. */
    state: join(folder, 'state.json.gz'),
    /** The saved chain, unpacked while anvil reads it. */
    unpacked: join(folder, 'unpacked.json'),
    log: join(folder, 'anvil.log'),
    /** Owner file, see `ownOrUse`. */
    owner: join(folder, 'owner'),
    /** ID of the installation that the chain belongs to. */
    installation: join(folder, 'installation'),
  }
}

const readInstallation = async (dir: string) =>
  (await readFile(anvilFiles(dir).installation, 'utf8').catch(ifMissing))?.trim()

/** Returns true if a chain was saved in the data folder, or still runs there. */
export function hasSavedChain(dir: string): boolean {
  const { state, record } = anvilFiles(dir)
  return existsSync(state) || existsSync(record)
}

/** Returns true if the chain in the data folder belongs to this installation. On another chain all commits of the database would be missing. */
export const isOwnChain = async (dir: string, installationId: string): Promise<boolean> =>
  (await readInstallation(dir)) === installationId

/** Returns the problem of a chain that belongs to another installation. Undefined for the own chain, and for one without owner. */
export async function findForeignChain(dir: string, installationId: string): Promise<FixableError | undefined> {
  const found = await readInstallation(dir)
  if (found === undefined || found === installationId) return undefined
  const { folder, installation } = anvilFiles(dir)
  return new FixableError(
    `The folder ${folder} belongs to another installation: ${installation} names ${found}, and this database belongs to ${installationId}.`,
    `Mount or restore the folder of this installation as ${folder}.`,
  )
}

/** Returns the problem of a chain without the commits of the database. */
export function lostChain(dir: string, installationId: string): FixableError {
  const { folder, installation } = anvilFiles(dir)
  return new FixableError(
    `The folder ${folder} is empty or belongs to another installation: it does not have the chain of this database's commits.`,
    `Mount or restore the folder of this installation. If the chain is lost for good, write ${installationId} into ${installation}: then every commit is sent again.`,
  )
}

/** Marks the chain in the data folder as that of this installation. */
export const claimChain = async (dir: string, installationId: string): Promise<void> => {
  await createFile(anvilFiles(dir).installation, `${installationId}\n`)
}

/** A running anvil. */
export interface AnvilProcess {
  pid: number
  /** Path of its socket, in a folder that only this user can enter. */
  socket: string
  /** True if only this user can reach it. */
  isPrivate: boolean
}

/** The argument that identifies anvil processes of this folder. */
export const anvilArgument = ({ folder }: Pick<AnvilFiles, 'folder'>) => `--cache-path=${folder}`

/** Returns anvil's binary for this platform. The command of the npm package would wrap it in a second Node process. */
function findBinary(): string {
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

/** Returns true if anvil answers with the right chain ID. Undefined if it does not answer. */
async function isReady(socket: string, timeoutMilliseconds: number): Promise<boolean | undefined> {
  const id = await createRpc(socket, timeoutMilliseconds)<string>('eth_chainId').catch(() => undefined)
  return id === undefined ? undefined : Number(id) === chainId
}

/** Returns the anvil of this folder, if one runs and answers. */
export async function findRunning(files: AnvilFiles): Promise<AnvilProcess | undefined> {
  const text = await readFile(files.record, 'utf8').catch(ifMissing)
  if (text === undefined) return undefined
  const record = JSON.parse(text) as AnvilProcess
  if (!(await isServerAlive(record.pid, anvilArgument(files)))) return undefined
  return (await waitFor(5_000, () => isReady(record.socket, 2_000))) ? record : undefined
}

/** Returns the path of the socket: in the folder of the chain, or in the temporary folder if that path is too long. */
async function placeSocket({ folder }: AnvilFiles): Promise<string> {
  const near = join(folder, 'anvil.ipc')
  if (Buffer.byteLength(near) <= MAX_SOCKET_PATH) return near
  const far = join(tmpdir(), `annal-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`)
  await mkdir(far, { recursive: true, mode: 0o700 })
  const { uid, mode } = await lstat(far)
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0) throw new Error(`${far} belongs to another user. Remove it.`)
  return join(far, 'anvil.ipc')
}

/**
 * Unpacks the saved chain into a file. Returns false if there is none. anvil also accepts a compressed chain over its socket, but reads the whole line
 * again with each piece: 190 MB took more than six minutes, and three seconds from a file.
 */
async function unpackState({ state, unpacked }: AnvilFiles): Promise<boolean> {
  if (!existsSync(state)) return false
  const target = createWriteStream(unpacked, { mode: 0o600 })
  await pipeline(createReadStream(state), createGunzip(), target).catch((cause: Error) => {
    throw new Error(`The saved chain ${state} could not be unpacked (${cause.message}).`, { cause })
  })
  return true
}

/**
 * Starts anvil from the saved chain, if there is one. `states`: number of newest blocks whose balances it can read. Throws with the end of its log if it
 * does not start. Only the owner calls this.
 */
export async function startAnvil(
  files: AnvilFiles,
  log: Log,
  states: number,
): Promise<AnvilProcess & { isLoaded: boolean }> {
  await chmod(files.folder, 0o700)
  const socket = await placeSocket(files)
  const isPrivate = await canListen(UNREACHABLE_HOST)
  if (!isPrivate) log.warn({}, 'All programs on this machine can reach the embedded chain. Do not accept money over it')
  try {
    const isLoaded = await unpackState(files)
    await rm(socket, { force: true })
    const server = await spawnServer({
      binary: findBinary(),
      args: [
        ...['--ipc', socket, '--host', isPrivate ? UNREACHABLE_HOST : LOOPBACK_HOST, '--port', '0', '--no-cors'],
        // No accounts: anvil would sign for any caller.
        ...['--chain-id', String(chainId), '--accounts', '0'],
        // Ten times the limit of public chains.
        ...['--gas-limit', '300000000'],
        // The owner mines. Each kept state is a copy of all contract data: 128 of them took a gigabyte after 54,000 commits.
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
    const isStarted = await waitFor(isLoaded ? WHOLE_CHAIN_MS : START_MS, async () =>
      failure === undefined ? isReady(socket, 1_000) : false,
    )
    if (!isStarted) {
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
export async function cleanUpAfterCrash(files: AnvilFiles, running: AnvilProcess | undefined): Promise<void> {
  for (const pid of await findServers(anvilArgument(files)))
    if (pid !== running?.pid) await killServer(pid, anvilArgument(files))
  for (const file of [files.state, files.record]) await removeTemporaryFiles(file, Date.now())
  await rm(files.unpacked, { force: true })
}
