/** The embedded chain: anvil on a Unix socket, with its state in `<dir>/chain/state.json.gz`. */
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { chmod, mkdir, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { FixableError, systemReason } from '../shared/operator-errors.ts'
import { assertOwnFolder, readOrCreate, removeTemporaryFiles, replaceFile } from '../shared/private-files.ts'
import { askLocalSocket, socketUrlOf } from './local-socket.ts'
import * as server from './server-process.ts'

export const chainId = 31337
/** A publicly known private key. Its account has coins only on the embedded chain, which others cannot reach. */
export const developmentKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const developmentAddress = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
/** Ten thousand coins, in wei. */
const developmentFunds = '0x21e19e0c9bab2400000'

/** Time limits in milliseconds. The last save must fit into the 15 seconds of a shutdown. */
const [DUMP_MS, LAST_SAVE_MS, STOP_MS] = [10 * 60_000, 5_000, 10_000]
/** Pause after a dump, in durations of the dump. A dump contains the whole history and takes about 0.1 ms per commit. */
const PAUSE_PER_DUMP = 50

/**
 * anvil always listens on TCP too, without authentication, and lets every caller create coins and revert the chain. Linux lets a server bind a
 * multicast address but refuses TCP connections to it. Elsewhere, anvil listens on 127.0.0.1, where programs of this machine reach it.
 */
const UNREACHABLE_HOST = '224.0.0.1'
const isPrivate = () => server.canListen(UNREACHABLE_HOST)

export type Rpc = ReturnType<typeof createRpc>

/** JSON-RPC over anvil's socket. Throws an Error with the method and anvil's message, or if anvil does not answer in time. */
export const createRpc =
  (socket: string) =>
  async <T>(method: string, params: unknown[] = [], signal = AbortSignal.timeout(30_000)): Promise<T> => {
    const text = await askLocalSocket(socket, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), signal)
    const { result, error } = JSON.parse(text) as { result: T; error?: { message: string } }
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }

const folderOf = (dir: string) => join(dir, 'chain')

/** Throws FixableError unless the chain in the data folder belongs to this installation. `isNew`: the database has no commits, so an unmarked chain becomes its own. */
export function assertOwnChain(dir: string, installationId: string, isNew = false): void {
  const folder = folderOf(dir)
  const file = join(folder, 'installation')
  const owner = isNew || existsSync(file) ? readOrCreate(file, () => `${installationId}\n`) : 'none'
  if (owner === installationId) return
  throw new FixableError(
    `The folder ${folder} is empty or belongs to another installation: the owner in ${file} is ${owner}, and this database belongs to ${installationId}.`,
    `Mount or restore the folder of this installation. If the chain is lost for good, empty the folder and write ${installationId} into ${file}: then every commit is sent again.`,
  )
}

const socketOf = async (dir: string) => join(await server.placeSocket(folderOf(dir), 'anvil.ipc'), 'anvil.ipc')
const isReady = async (rpc: Rpc) =>
  (await rpc('eth_chainId', [], AbortSignal.timeout(5_000)).catch(() => undefined)) !== undefined
const readHead = async (rpc: Rpc) => (await rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])).hash

/** Returns the chain of the data folder, if it answers. `isPrivate`: false if other programs reach the chain and can create coins. */
export async function findEmbeddedAnvil(dir: string) {
  const socket = await socketOf(await realpath(dir))
  if (!(await isReady(createRpc(socket)))) return undefined
  return { rpcUrl: socketUrlOf(socket), chainId, isPrivate: await isPrivate() }
}

interface EmbeddedAnvilOptions extends server.EmbeddedOptions {
  /** Number of blocks that follow each block with transactions. */
  confirmations?: number
  /** Milliseconds between blocks while there is something to mine. */
  blockTime?: number
}

/** Starts, mines and saves the chain as its owner, and restarts anvil when it dies. A command uses the chain of the running service. */
export async function startEmbeddedAnvil(options: EmbeddedAnvilOptions) {
  const { log, isService = false, confirmations = 2, blockTime = 1_000 } = options
  assertOwnFolder(options.dir)
  await mkdir(folderOf(options.dir), { recursive: true, mode: 0o700 })
  const dir = await realpath(options.dir)
  const [folder, socket] = [folderOf(dir), await socketOf(dir)]
  const [state, unpacked] = [join(folder, 'state.json.gz'), join(folder, 'unpacked.json')]
  const argument = `--cache-path=${folder}`
  const rpc = createRpc(socket)
  const stopping = new AbortController()
  let savedHead: string | undefined
  let nextSave = 0
  /** Number of blocks to mine. The newest blocks of a killed service can lack confirmations. */
  let blocksDue = isService ? confirmations : 0

  const save = async (signal: AbortSignal) => {
    const head = await readHead(rpc)
    if (head === savedHead) return
    const before = performance.now()
    // anvil's own option is not used: it writes every second even without changes, and a kill leaves a partial file.
    const dump = await rpc<string>('anvil_dumpState', [], signal)
    nextSave = performance.now() + (performance.now() - before) * PAUSE_PER_DUMP
    await replaceFile(state, Buffer.from(dump.slice(2), 'hex'))
    savedHead = head
  }

  /** Starts anvil from the saved chain, if there is one. */
  const start = async () => {
    // A killed owner leaves anvil running, perhaps with unsaved blocks.
    const isLeft = (await server.findServers(argument)).length > 0
    if (isLeft && (await isReady(rpc))) await save(AbortSignal.timeout(DUMP_MS))
    await server.endServers(argument, 'SIGKILL', STOP_MS)
    await removeTemporaryFiles(state, Date.now())
    await chmod(folder, 0o700)
    await rm(socket, { force: true })
    const isSaved = existsSync(state)
    // The command of the npm package would wrap the binary in a second Node process.
    const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
    const program = ['@foundry-rs/anvil/package.json', name, 'CHAIN_RPC_URL', `${name}/bin/anvil`] as const
    try {
      // anvil also accepts a compressed chain over its socket, but that took more than six minutes for 190 MB. A file takes three seconds.
      if (isSaved) await pipeline(createReadStream(state), createGunzip(), createWriteStream(unpacked, { mode: 0o600 }))
      const command = [
        ...[server.resolveProgram(...program), argument, '--ipc', socket, '--quiet', '--no-cors'],
        ...['--host', (await isPrivate()) ? UNREACHABLE_HOST : '127.0.0.1', '--port', '0'],
        // No accounts: anvil would sign for any caller. The gas limit is ten times that of public chains.
        ...['--chain-id', String(chainId), '--accounts', '0', '--gas-limit', '300000000'],
        // The owner mines. Each stored state is a copy of all contract data: 128 states took a gigabyte after 54,000 commits.
        ...['--no-mining', '--prune-history', String(confirmations + 32)],
        ...(isSaved ? ['--load-state', unpacked] : []),
      ]
      const started = await server.startServer('anvil', folder, command, { HOME: folder }, () => isReady(rpc))
      savedHead = isSaved ? await readHead(rpc) : undefined
      return started
    } catch (cause) {
      throw new Error(`The saved chain ${state} could not be loaded: ${(cause as Error).message}`, { cause })
    } finally {
      await rm(unpacked, { force: true })
    }
  }
  const own = async () => {
    let anvil = await start()
    // A saved chain already contains the balance.
    if (Number(await rpc<string>('eth_getBalance', [developmentAddress, 'latest'])) === 0)
      await rpc('anvil_setBalance', [developmentAddress, developmentFunds])

    const mineAndSave = async () => {
      if (anvil.failure !== undefined) anvil = await start()
      const { pending } = await rpc<{ pending: string }>('txpool_status')
      if (Number(pending) > 0 || blocksDue > 0) {
        await rpc('evm_mine')
        const count = await rpc<string>('eth_getBlockTransactionCountByNumber', ['latest'])
        blocksDue = Number(count) > 0 ? confirmations : Math.max(0, blocksDue - 1)
      }
      if (performance.now() >= nextSave) await save(AbortSignal.any([stopping.signal, AbortSignal.timeout(DUMP_MS)]))
    }

    const run = async () => {
      while (!stopping.signal.aborted) {
        const before = performance.now()
        await mineAndSave().catch((error) => {
          // Use a constant message without file names, so that the log can throttle it.
          if (!stopping.signal.aborted) log.warn({ reason: systemReason(error) }, 'Embedded chain failed; retrying')
        })
        // Mining a large block takes long. At least half of the time must remain for other calls.
        const took = performance.now() - before
        await delay(Math.max(blockTime - took, took), undefined, { signal: stopping.signal }).catch(() => undefined)
      }
    }
    const running = run()

    /** Saves the chain and stops anvil. Leaves anvil running when the chain cannot be saved in time. */
    const stop = async () => {
      stopping.abort()
      await running
      try {
        if (anvil.failure === undefined) await save(AbortSignal.timeout(LAST_SAVE_MS))
        await server.endServers(argument, 'SIGTERM', STOP_MS)
      } catch (error) {
        const message = 'Failed to save the embedded chain; it keeps running and the next start saves it'
        log.warn({ reason: (error as Error).message }, message)
      }
    }
    return { ...(await findEmbeddedAnvil(dir))!, stop }
  }
  return server.ownOrUse(join(folder, 'owner'), isService, own, () => findEmbeddedAnvil(dir))
}
