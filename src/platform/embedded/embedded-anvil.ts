/**
 * An EVM chain for a machine that has none: anvil behind a socket that only this account opens, with its chain in
 * `<dir>/chain/state.json.gz`.
 */
import { mkdir, realpath } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../domain/ports/log.ts'
import { assertNotOfAnother } from '../folder-owner.ts'
import { systemReason } from '../system-reason.ts'
import {
  type AnvilFiles,
  type AnvilProcess,
  anvilFiles,
  chainId,
  createRpc,
  findRunning,
  type Rpc,
  type StreamingRpc,
  saveState,
  startAnvil,
  WHOLE_CHAIN_MS,
} from './anvil-process.ts'
import { enterPresence, isServerAlive, waitFor } from './child-process.ts'
import { socketUrlOf } from './local-socket.ts'
import { pauseAfterSaving } from './saving-pace.ts'

/** Where the chain lies, and how it is mined. */
export interface EmbeddedAnvilOptions {
  /** The installation's directory. */
  dir: string
  log: Log
  /** How many blocks follow one with transactions before mining rests; at least what the relay waits for. */
  confirmations?: number
  /** Milliseconds from block to block while there is something to do. */
  blockTime?: number
}

/** The embedded chain, as one of its users has it. */
export interface EmbeddedAnvil {
  /** `ipc:` and the path of its socket. */
  rpcUrl: string
  chainId: number
  /** Whether only this account reaches the chain. Whoever else did could make money on it. */
  isPrivate: boolean
  /** Another process had started it: it was running, or outlived its parent. */
  joined: boolean
  /** Gives the chain up. The last process that uses it saves the state and stops it, or lets it run where that takes too long. */
  stop(): Promise<void>
}

/** A key that everybody knows. Its account has coins on the embedded chain alone, where nobody else can send from it. */
export const developmentKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const developmentAddress = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
/** Wei: ten thousand coins. */
const developmentFunds = '0x21e19e0c9bab2400000'

/** Whether a block is wanted: transactions wait, or the newest block that carries one is not deep enough. */
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

/** Milliseconds for the last save, within the 15 seconds that a stop may take. */
const LAST_SAVE_MS = 5_000

/** Blocks whose state is kept beyond those that anything waits for: what is asked of one comes a while later. */
const SPARE_STATES = 32

/**
 * Mines where it is needed: an endless stream of empty blocks would let the state grow, and blocks on demand alone would
 * never make a transaction deep. While a dump is quick, blocks are on disk a moment later; a long chain's wait, see
 * `pauseAfterSaving`.
 */
const createMiner = (files: AnvilFiles, confirmations: number) => {
  let savedHead: string | undefined
  let nextSave = -Infinity
  const readHead = async (rpc: Rpc) => (await rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])).hash
  const save = async (rpc: StreamingRpc, signal: AbortSignal) => {
    const hash = await readHead(rpc)
    if (hash === savedHead) return
    const before = performance.now()
    try {
      const isSaved = await saveState(files, rpc, { signal, isCurrent: async () => (await readHead(rpc)) === hash })
      if (isSaved) savedHead = hash
    } finally {
      const after = performance.now()
      nextSave = after + pauseAfterSaving(after - before)
    }
  }
  return {
    save,
    /** The same once enough time has passed since the last one. */
    saveWhenDue: async (rpc: StreamingRpc, stopping: AbortSignal) => {
      if (performance.now() < nextSave) return
      await save(rpc, AbortSignal.any([stopping, AbortSignal.timeout(WHOLE_CHAIN_MS)]))
    },
    /** What was loaded is in the file, and needs no dump until something happens. */
    noteLoaded: async (rpc: Rpc) => {
      savedHead = await readHead(rpc)
    },
    mineWhenNeeded: async (rpc: Rpc) => {
      if (await needsBlock(rpc, confirmations)) await rpc('evm_mine')
    },
  }
}

/** Anew on a fresh chain only: a balance is part of the state. */
const fundRelay = async (rpc: Rpc) => {
  if (Number(await rpc<string>('eth_getBalance', [developmentAddress, 'latest'])) > 0) return
  await rpc('anvil_setBalance', [developmentAddress, developmentFunds])
}

/**
 * Starts anvil on the directory, or joins the one that runs there: of another process of ours, or one that outlived a
 * killed parent. One that dies is started again from its state, on the same socket. Raises when it cannot start, and as
 * `assertNotOfAnother` does.
 */
export const startEmbeddedAnvil = async (options: EmbeddedAnvilOptions): Promise<EmbeddedAnvil> => {
  const { log, confirmations = 2, blockTime = 1_000 } = options
  assertNotOfAnother(options.dir)
  await mkdir(options.dir, { recursive: true, mode: 0o700 })
  const files = anvilFiles(await realpath(options.dir))
  const presence = await enterPresence(files.users)
  const miner = createMiner(files, confirmations)
  const stopping = new AbortController()

  const startOrJoin = async (): Promise<AnvilProcess & { joined: boolean }> => {
    const running = await findRunning(files, log)
    if (running) return { ...running, joined: true }
    // Several at once: the first to come starts it, the others wait until it answers, however long the chain is.
    const found = await waitFor(WHOLE_CHAIN_MS, async () => {
      const other = await findRunning(files, log)
      if (other) return { ...other, joined: true }
      if (!(await presence.isFirst())) return undefined
      const own = await startAnvil(files, log, confirmations + SPARE_STATES)
      if (own?.isLoaded) await miner.noteLoaded(createRpc(own.socket))
      return own && { ...own, joined: false }
    })
    if (!found) throw new Error(`The embedded chain in ${files.folder} does not answer. Look at ${files.log}.`)
    return found
  }

  const started = await startOrJoin().catch(async (error) => {
    await presence.leave()
    throw error
  })
  let current: AnvilProcess = started
  const rpc = createRpc(started.socket)

  /** Returns how many milliseconds mining took. */
  const tick = async (): Promise<number> => {
    if (!(await isServerAlive(current.pid, files.folder))) {
      log.warn({}, 'Embedded chain ended; starting it again')
      current = await startOrJoin()
    }
    if (current.socket !== started.socket)
      throw new Error(`The embedded chain moved to ${current.socket}: restart to follow it.`)
    if (!(await presence.isFirst())) return 0
    const before = performance.now()
    await miner.mineWhenNeeded(rpc)
    const took = performance.now() - before
    await miner.saveWhenDue(rpc, stopping.signal)
    return took
  }

  const drive = async () => {
    while (!stopping.signal.aborted) {
      const before = performance.now()
      const tookToMine = await tick().catch((error) => {
        // A warning, and without the names of files, which are new each time: so it is told once a minute, however often it is tried.
        const reason = systemReason(error)
        if (!stopping.signal.aborted) log.warn({ reason }, 'Embedded chain failed; retrying')
        return 0
      })
      // A large block takes long; most of the time is for others.
      const pause = Math.max(blockTime - (performance.now() - before), tookToMine)
      await delay(pause, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  await fundRelay(rpc)
  const driving = drive()

  const stop = async () => {
    stopping.abort()
    await driving
    if (!(await presence.leave())) return
    if (!(await isServerAlive(current.pid, files.folder))) return
    const isSaved = await miner.save(rpc, AbortSignal.timeout(LAST_SAVE_MS)).then(
      () => true,
      (error) => {
        const { message } = error as Error
        log.warn({ reason: message }, 'Failed to save the embedded chain; it keeps running and the next start joins it')
        return false
      },
    )
    if (!isSaved) return
    process.kill(current.pid, 'SIGTERM')
    await waitFor(10_000, async () => ((await isServerAlive(current.pid, files.folder)) ? undefined : true))
  }
  let stopped: Promise<void> | undefined

  return {
    rpcUrl: socketUrlOf(started.socket),
    chainId,
    isPrivate: started.isPrivate,
    joined: started.joined,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}
