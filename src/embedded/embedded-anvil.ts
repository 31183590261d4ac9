/** The embedded chain: anvil on a Unix socket, with its state in `<dir>/chain/state.json.gz`. */
import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../shared/log.ts'
import { systemReason } from '../shared/operator-errors.ts'
import { assertOwnFolder, replaceFile } from '../shared/private-files.ts'
import {
  type AnvilFiles,
  type AnvilProcess,
  anvilArgument,
  anvilFiles,
  chainId,
  cleanUpAfterCrash,
  createRpc,
  findRunning,
  type Rpc,
  startAnvil,
  WHOLE_CHAIN_MS,
} from './anvil-process.ts'
import { socketUrlOf } from './local-socket.ts'
import { ownOrUse } from './ownership.ts'
import { isServerAlive, signalServer, waitFor } from './server-process.ts'

export interface EmbeddedAnvilOptions {
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

export interface EmbeddedAnvil {
  /** `ipc:` and the path of its socket. */
  rpcUrl: string
  chainId: number
  /** True if only this user can reach the chain. Everyone who reaches it can create coins. */
  isPrivate: boolean
  /** Saves the chain and stops it, if this process is its owner. Leaves it running when it cannot be saved in time. */
  stop(): Promise<void>
}

/** A publicly known private key. Its account has coins only on the embedded chain, which others cannot reach. */
export const developmentKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const developmentAddress = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
/** Ten thousand coins, in wei. */
const developmentFunds = '0x21e19e0c9bab2400000'

/** Returns true if transactions are pending, or the newest block with one has too few confirmations. */
const needsBlock = async (rpc: Rpc, confirmations: number): Promise<boolean> => {
  const { pending } = await rpc<{ pending: string }>('txpool_status')
  if (Number(pending) > 0) return true
  const head = Number(await rpc<string>('eth_blockNumber'))
  for (let number = head; number > 0 && number > head - confirmations; number -= 1) {
    const count = await rpc<string | null>('eth_getBlockTransactionCountByNumber', [`0x${number.toString(16)}`])
    if (Number(count) > 0) return true
  }
  return false
}

/** Time limit of the last save, in milliseconds, within the 15 seconds of a shutdown. */
const LAST_SAVE_MS = 5_000
const STOP_MS = 10_000

/** Number of blocks whose state is kept, in addition to the required depth. */
const SPARE_STATES = 32

/** Maximum share of the time for dumps. A dump contains the whole history and takes about 0.1 ms per commit. */
const SAVING_SHARE = 1 / 50
/** Maximum milliseconds between dumps. The relay repeats commits of a lost block, but senders would have to repeat coin transfers. */
const LONGEST_UNSAVED_MS = 10 * 60_000

/** Returns the milliseconds to wait after a dump that took `took` milliseconds. */
export const pauseAfterSaving = (took: number): number =>
  Math.min(took / SAVING_SHARE, Math.max(LONGEST_UNSAVED_MS, took))

const readHead = async (rpc: Rpc) => (await rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])).hash

/** Sets the balance of a new chain. A saved chain already contains it. */
const fundRelay = async (rpc: Rpc) => {
  if (Number(await rpc<string>('eth_getBalance', [developmentAddress, 'latest'])) > 0) return
  await rpc('anvil_setBalance', [developmentAddress, developmentFunds])
}

/**
 * Starts anvil, mines and saves the chain, and restarts anvil when it dies. Takes over an anvil whose owner was killed. A command uses the
 * chain of the running service. Throws if anvil does not start. Throws the errors of `ownOrUse` and `assertOwnFolder`.
 */
export const startEmbeddedAnvil = async (options: EmbeddedAnvilOptions): Promise<EmbeddedAnvil> => {
  const { log, confirmations = 2, blockTime = 1_000, isService = false } = options
  assertOwnFolder(options.dir)
  await mkdir(join(options.dir, 'chain'), { recursive: true, mode: 0o700 })
  const files = anvilFiles(await realpath(options.dir))
  return ownOrUse(
    { path: files.owner, isService },
    () => own(files, log, confirmations, blockTime),
    async () => {
      const running = await findRunning(files)
      return running && describe(running)
    },
  )
}

const describe = ({ socket, isPrivate }: AnvilProcess) => ({ rpcUrl: socketUrlOf(socket), chainId, isPrivate })

/** Runs the chain until it is stopped. */
async function own(files: AnvilFiles, log: Log, confirmations: number, blockTime: number): Promise<EmbeddedAnvil> {
  const stopping = new AbortController()
  let savedHead: string | undefined
  let nextSave = -Infinity

  const ensureRunning = async (): Promise<AnvilProcess> => {
    const running = await findRunning(files)
    await cleanUpAfterCrash(files, running)
    if (running) return running
    const { isLoaded, ...started } = await startAnvil(files, log, confirmations + SPARE_STATES)
    savedHead = isLoaded ? await readHead(createRpc(started.socket)) : undefined
    return started
  }
  let current = await ensureRunning()
  const rpc = createRpc(current.socket)
  const isAlive = () => isServerAlive(current.pid, anvilArgument(files))

  const save = async (signal: AbortSignal) => {
    const head = await readHead(rpc)
    if (head === savedHead) return
    const before = performance.now()
    try {
      // anvil's own option is not used: it writes every second even without changes, and a kill leaves a partial file.
      await replaceFile(files.state, rpc.bytes('anvil_dumpState', signal))
      savedHead = head
    } finally {
      const after = performance.now()
      nextSave = after + pauseAfterSaving(after - before)
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
    const took = performance.now() - before
    if (performance.now() >= nextSave)
      await save(AbortSignal.any([stopping.signal, AbortSignal.timeout(WHOLE_CHAIN_MS)]))
    return took
  }

  const run = async () => {
    while (!stopping.signal.aborted) {
      const before = performance.now()
      const tookToMine = await tick().catch((error) => {
        // Use a constant message without file names, so that the log can throttle it.
        const reason = systemReason(error)
        if (!stopping.signal.aborted) log.warn({ reason }, 'Embedded chain failed; retrying')
        return 0
      })
      // Mining a large block takes long. At least half of the time must remain for other calls.
      const pause = Math.max(blockTime - (performance.now() - before), tookToMine)
      await delay(pause, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  await fundRelay(rpc)
  const running = run()

  return {
    ...describe(current),
    async stop() {
      stopping.abort()
      await running
      if (!(await isAlive())) return
      try {
        await save(AbortSignal.timeout(LAST_SAVE_MS))
      } catch (error) {
        const { message } = error as Error
        log.warn({ reason: message }, 'Failed to save the embedded chain; it keeps running and the next start uses it')
        return
      }
      signalServer(current.pid, 'SIGTERM')
      await waitFor(STOP_MS, async () => ((await isAlive()) ? undefined : true))
    },
  }
}
