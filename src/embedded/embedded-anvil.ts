/** The embedded chain: anvil on a Unix socket, with its state in `<dir>/chain/state.json.gz`. */
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { chmod, mkdir, readFile, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import type { Log } from '../shared/log.ts'
import { FixableError, ifMissing, systemReason } from '../shared/operator-errors.ts'
import { assertOwnFolder, createFile, removeTemporaryFiles, replaceFile } from '../shared/private-files.ts'
import { askLocalSocket, socketUrlOf } from './local-socket.ts'
import { ownOrUse } from './ownership.ts'
import * as server from './server-process.ts'

/** Chain ID of the embedded chain. */
export const chainId = 31337
/** A publicly known private key. Its account has coins only on the embedded chain, which others cannot reach. */
export const developmentKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const developmentAddress = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
/** Ten thousand coins, in wei. */
const developmentFunds = '0x21e19e0c9bab2400000'

/** Time limits in milliseconds. The last save must fit into the 15 seconds of a shutdown. */
const [START_MS, WHOLE_CHAIN_MS, LAST_SAVE_MS, STOP_MS] = [20_000, 10 * 60_000, 5_000, 10_000]

/**
 * anvil always listens on TCP too, without authentication, and lets every caller create coins and revert the chain. Linux lets a server bind a
 * multicast address but refuses TCP connections to it. Elsewhere, anvil listens on 127.0.0.1, where programs of this machine reach it.
 */
const UNREACHABLE_HOST = '224.0.0.1'
const isPrivate = () => server.canListen(UNREACHABLE_HOST)

/** Number of blocks whose state is kept, in addition to the required depth. */
const SPARE_STATES = 32

/** Maximum share of the time for dumps. A dump contains the whole history and takes about 0.1 ms per commit. */
const SAVING_SHARE = 1 / 50
/** Maximum milliseconds between dumps. The relay repeats commits of a lost block, but senders would have to repeat coin transfers. */
const LONGEST_UNSAVED_MS = 10 * 60_000

/** JSON-RPC over anvil's socket. Throws an Error with the method and anvil's message, or if anvil does not answer in time. */
export type Rpc = <T>(method: string, params?: unknown[], signal?: AbortSignal) => Promise<T>

export const createRpc =
  (socket: string, timeoutMs = 30_000): Rpc =>
  async <T>(method: string, params: unknown[] = [], signal = AbortSignal.timeout(timeoutMs)) => {
    const text = await askLocalSocket(socket, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), signal)
    const { result, error } = JSON.parse(text) as { result: T; error?: { message: string } }
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }

type AnvilFiles = ReturnType<typeof anvilFiles>

/** Returns the paths of the embedded chain in the data folder `dir`. */
export function anvilFiles(dir: string) {
  const folder = join(dir, 'chain')
  return {
    folder,
    /** The saved chain, compressed as anvil dumps it, and unpacked while anvil reads it. */
    state: join(folder, 'state.json.gz'),
    unpacked: join(folder, 'unpacked.json'),
    log: join(folder, 'anvil.log'),
    /** Owner file, see `ownOrUse`. */
    owner: join(folder, 'owner'),
    /** ID of the installation that the chain belongs to. */
    installation: join(folder, 'installation'),
    /** The argument that identifies anvil processes of this folder. */
    argument: `--cache-path=${folder}`,
  }
}

/** Returns true if a chain was saved in the data folder. */
export const hasSavedChain = (dir: string): boolean => existsSync(anvilFiles(dir).state)

/**
 * Returns true if the chain in the data folder belongs to this installation, and false if it has no owner. Throws FixableError for the chain of
 * another installation, where all commits of the database would be missing.
 */
export async function isOwnChain(dir: string, installationId: string): Promise<boolean> {
  const { folder, installation } = anvilFiles(dir)
  const found = (await readFile(installation, 'utf8').catch(ifMissing))?.trim()
  if (found === undefined || found === installationId) return found !== undefined
  throw new FixableError(
    `The folder ${folder} belongs to another installation: ${installation} names ${found}, and this database belongs to ${installationId}.`,
    `Mount or restore the folder of this installation as ${folder}.`,
  )
}

/** Marks the chain in the data folder as that of this installation. */
export const claimChain = (dir: string, installationId: string) =>
  createFile(anvilFiles(dir).installation, `${installationId}\n`)

/** Returns the problem of a chain without the commits of the database. */
export function lostChain(dir: string, installationId: string): FixableError {
  const { folder, installation } = anvilFiles(dir)
  return new FixableError(
    `The folder ${folder} is empty or belongs to another installation: it does not have the chain of this database's commits.`,
    `Mount or restore the folder of this installation. If the chain is lost for good, write ${installationId} into ${installation}: then every commit is sent again.`,
  )
}

/** Returns anvil's binary for this platform. The command of the npm package would wrap it in a second Node process. */
function findBinary(): string {
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
  return server.resolveProgram('@foundry-rs/anvil/package.json', name, 'CHAIN_RPC_URL', `${name}/bin/anvil`)
}

/** Returns true if anvil answers. Undefined if it does not answer in time. */
const isReady = async (socket: string, timeout: number) =>
  (await createRpc(socket, timeout)('eth_chainId').catch(() => undefined)) === undefined ? undefined : true

const placeSocket = async ({ folder }: AnvilFiles) => join(await server.placeSocket(folder, 'anvil.ipc'), 'anvil.ipc')

/** Returns process ID and socket of the anvil of this folder, if one runs and answers. */
export async function findRunning(files: AnvilFiles) {
  const [pid] = await server.findServers(files.argument)
  const socket = await placeSocket(files)
  const isRunning = pid !== undefined && (await server.waitFor(5_000, () => isReady(socket, 2_000)))
  return isRunning ? { pid, socket } : undefined
}

/**
 * Unpacks the saved chain into a file. Returns false if there is none. anvil also accepts a compressed chain over its socket, but reads the whole line
 * again with each piece: 190 MB took more than six minutes, and three seconds from a file.
 */
async function unpackState({ state, unpacked }: AnvilFiles): Promise<boolean> {
  if (!existsSync(state)) return false
  await pipeline(createReadStream(state), createGunzip(), createWriteStream(unpacked, { mode: 0o600 })).catch(
    (cause) => {
      throw new Error(`The saved chain ${state} could not be unpacked (${cause.message}).`, { cause })
    },
  )
  return true
}

/** Starts anvil from the saved chain, if there is one. `states`: number of newest blocks whose balances it can read. */
async function startAnvil(files: AnvilFiles, log: Log, states: number) {
  await chmod(files.folder, 0o700)
  const socket = await placeSocket(files)
  const host = (await isPrivate()) ? UNREACHABLE_HOST : '127.0.0.1'
  if (host !== UNREACHABLE_HOST)
    log.warn({}, 'All programs on this machine can reach the embedded chain. Do not accept money over it')
  try {
    const isLoaded = await unpackState(files)
    await rm(socket, { force: true })
    const started = await server.spawnServer({
      binary: findBinary(),
      args: [
        ...['--ipc', socket, '--host', host, '--port', '0', '--no-cors'],
        // No accounts: anvil would sign for any caller. The gas limit is ten times that of public chains.
        ...['--chain-id', String(chainId), '--accounts', '0', '--gas-limit', '300000000'],
        // The owner mines. Each kept state is a copy of all contract data: 128 of them took a gigabyte after 54,000 commits.
        ...['--no-mining', '--prune-history', String(states)],
        ...(isLoaded ? ['--load-state', files.unpacked] : []),
        ...[files.argument, '--quiet'],
      ],
      env: { HOME: files.folder },
      cwd: files.folder,
      logFile: files.log,
    })
    const isStarted = await server.waitFor(isLoaded ? WHOLE_CHAIN_MS : START_MS, async () =>
      started.failure === undefined ? isReady(socket, 1_000) : false,
    )
    if (isStarted) return { pid: started.pid, socket, isLoaded }
    if (started.failure === undefined) server.signalServer(started.pid, 'SIGKILL')
    const tail = await server.readLogTail(files.log)
    throw new Error(
      `The embedded chain did not start (${started.failure ?? 'too slow'}). The end of ${files.log}:\n${tail}`,
    )
  } finally {
    await rm(files.unpacked, { force: true })
  }
}

/** Returns true if transactions are pending, or the newest block with one has too few confirmations. */
async function needsBlock(rpc: Rpc, confirmations: number): Promise<boolean> {
  const { pending } = await rpc<{ pending: string }>('txpool_status')
  if (Number(pending) > 0) return true
  const head = Number(await rpc<string>('eth_blockNumber'))
  for (let number = head; number > 0 && number > head - confirmations; number -= 1) {
    const count = await rpc<string | null>('eth_getBlockTransactionCountByNumber', [`0x${number.toString(16)}`])
    if (Number(count) > 0) return true
  }
  return false
}

const readHead = async (rpc: Rpc) => (await rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])).hash

/** `isPrivate`: false if other programs reach the chain and can create coins. */
const describe = async ({ socket }: { socket: string }) => ({
  ...{ rpcUrl: socketUrlOf(socket), chainId, isPrivate: await isPrivate() },
})

interface EmbeddedAnvilOptions {
  /** The data folder. */
  dir: string
  log: Log
  /** True for a service: commands use its chain, and another service is refused. False for a command. */
  isService?: boolean
  /** Number of blocks that follow each block with transactions. */
  confirmations?: number
  /** Milliseconds between blocks while there is something to mine. */
  blockTime?: number
}

/** Starts, mines and saves the chain as its owner, and restarts anvil when it dies. A command uses the chain of the running service. */
export async function startEmbeddedAnvil({ isService = false, ...options }: EmbeddedAnvilOptions) {
  assertOwnFolder(options.dir)
  await mkdir(join(options.dir, 'chain'), { recursive: true, mode: 0o700 })
  const files = anvilFiles(await realpath(options.dir))
  return ownOrUse(
    { path: files.owner, isService },
    () => own(files, options),
    async () => {
      const running = await findRunning(files)
      return running && describe(running)
    },
  )
}

/** Runs the chain until it is stopped. */
async function own(files: AnvilFiles, { log, confirmations = 2, blockTime = 1_000 }: EmbeddedAnvilOptions) {
  const stopping = new AbortController()
  let savedHead: string | undefined
  let nextSave = -Infinity

  const ensureRunning = async () => {
    const running = await findRunning(files)
    for (const pid of await server.findServers(files.argument))
      if (pid !== running?.pid) await server.killServer(pid, files.argument)
    await removeTemporaryFiles(files.state, Date.now())
    await rm(files.unpacked, { force: true })
    if (running) return running
    const { isLoaded, ...started } = await startAnvil(files, log, confirmations + SPARE_STATES)
    savedHead = isLoaded ? await readHead(createRpc(started.socket)) : undefined
    return started
  }
  let current = await ensureRunning()
  const rpc = createRpc(current.socket)
  const isAlive = () => server.isServerAlive(current.pid, files.argument)

  const save = async (signal: AbortSignal) => {
    const head = await readHead(rpc)
    if (head === savedHead) return
    const before = performance.now()
    try {
      // anvil's own option is not used: it writes every second even without changes, and a kill leaves a partial file.
      const dump = await rpc<string>('anvil_dumpState', [], signal)
      await replaceFile(files.state, Buffer.from(dump.slice(2), 'hex'))
      savedHead = head
    } finally {
      const took = performance.now() - before
      nextSave = performance.now() + Math.min(took / SAVING_SHARE, Math.max(LONGEST_UNSAVED_MS, took))
    }
  }

  /** Mines and saves as needed. Returns how many milliseconds mining took. */
  const tick = async (): Promise<number> => {
    if (!(await isAlive())) {
      log.warn({}, 'Embedded chain ended; starting it again')
      current = await ensureRunning()
    }
    const before = performance.now()
    if (await needsBlock(rpc, confirmations)) await rpc('evm_mine')
    const after = performance.now()
    if (after >= nextSave) await save(AbortSignal.any([stopping.signal, AbortSignal.timeout(WHOLE_CHAIN_MS)]))
    return after - before
  }

  const run = async () => {
    while (!stopping.signal.aborted) {
      const before = performance.now()
      const tookToMine = await tick().catch((error) => {
        // Use a constant message without file names, so that the log can throttle it.
        if (!stopping.signal.aborted) log.warn({ reason: systemReason(error) }, 'Embedded chain failed; retrying')
        return 0
      })
      // Mining a large block takes long. At least half of the time must remain for other calls.
      const pause = Math.max(blockTime - (performance.now() - before), tookToMine)
      await delay(pause, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  // A saved chain already contains the balance.
  if (Number(await rpc<string>('eth_getBalance', [developmentAddress, 'latest'])) === 0)
    await rpc('anvil_setBalance', [developmentAddress, developmentFunds])
  const running = run()

  return {
    ...(await describe(current)),
    /** Saves the chain and stops it, if this process is its owner. Leaves it running when it cannot be saved in time. */
    async stop() {
      stopping.abort()
      await running
      if (!(await isAlive())) return
      try {
        await save(AbortSignal.timeout(LAST_SAVE_MS))
      } catch (error) {
        log.warn(
          { reason: (error as Error).message },
          'Failed to save the embedded chain; it keeps running and the next start uses it',
        )
        return
      }
      server.signalServer(current.pid, 'SIGTERM')
      await server.waitFor(STOP_MS, async () => !(await isAlive()) || undefined)
    },
  }
}
