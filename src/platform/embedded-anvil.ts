/** An EVM chain for a machine that has none: anvil on 127.0.0.1, with its chain in `<dir>/chain/state.json`. */
import { mkdir, realpath } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../domain/ports.ts'
import {
  type AnvilFiles,
  type AnvilProcess,
  anvilFiles,
  chainId,
  createRpc,
  findRunning,
  type Rpc,
  saveState,
  startAnvil,
} from './anvil-process.ts'
import { enterPresence, isServerAlive, waitFor } from './child-process.ts'

export interface EmbeddedAnvilOptions {
  /** The installation's directory. */
  dir: string
  log: Log
  /** How many blocks follow one with transactions before mining rests; at least what the relay waits for. */
  confirmations?: number
  /** Milliseconds from block to block while there is something to do. */
  blockTime?: number
}

export interface EmbeddedAnvil {
  rpcUrl: string
  chainId: number
  /** Another process had started it: it was running, or outlived its parent. */
  joined: boolean
  /** Gives the chain up. The last process that uses it saves the state and stops it. */
  stop(): Promise<void>
}

/** The key of the first development account, which anvil funds. Worth nothing anywhere else. */
export const developmentKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

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

/**
 * Mines where it is needed: an endless stream of empty blocks would let the state grow, and blocks on demand alone would
 * never make a transaction deep. Each block is on disk before the next one comes, so what counts as final cannot be
 * lost with a killed anvil.
 */
const createMiner = (files: AnvilFiles, confirmations: number) => {
  let savedHead: string | undefined
  const save = async (rpc: Rpc) => {
    const { hash } = await rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
    if (hash === savedHead) return
    await saveState(files, rpc)
    savedHead = hash
  }
  return {
    save,
    mineWhenNeeded: async (rpc: Rpc) => {
      await save(rpc)
      if (!(await needsBlock(rpc, confirmations))) return
      await rpc('evm_mine')
      await save(rpc)
    },
  }
}

/**
 * Starts anvil on the directory, or joins the one that runs there: of another process of ours, or one that outlived a
 * killed parent. One that dies is started again from its state, on the same port if that is free. Raises when it cannot
 * start.
 */
export const startEmbeddedAnvil = async (options: EmbeddedAnvilOptions): Promise<EmbeddedAnvil> => {
  const { log, confirmations = 2, blockTime = 1_000 } = options
  await mkdir(options.dir, { recursive: true })
  const files = anvilFiles(await realpath(options.dir))
  const presence = await enterPresence(files.users)
  const miner = createMiner(files, confirmations)
  const stopping = new AbortController()

  const startOrJoin = async (): Promise<AnvilProcess & { joined: boolean }> => {
    const running = await findRunning(files, log)
    if (running) return { ...running, joined: true }
    // Several at once: the first to come starts it, the others wait until it answers.
    const found = await waitFor(30_000, async () => {
      const other = await findRunning(files, log)
      if (other) return { ...other, joined: true }
      return (await presence.isFirst()) ? { ...(await startAnvil(files)), joined: false } : undefined
    })
    if (!found) throw new Error(`The embedded chain in ${files.folder} does not answer. Look at ${files.log}.`)
    return found
  }

  const started = await startOrJoin().catch(async (error) => {
    await presence.leave()
    throw error
  })
  let current: AnvilProcess = started
  const rpcUrl = `http://127.0.0.1:${started.port}`
  const rpc = createRpc(rpcUrl)

  const tick = async () => {
    if (!(await isServerAlive(current.pid, files.folder))) {
      log.warn({}, 'The embedded chain went away; starting it again.')
      current = await startOrJoin()
    }
    if (current.port !== started.port)
      throw new Error(`The embedded chain moved to port ${current.port}: restart to follow it.`)
    if (await presence.isFirst()) await miner.mineWhenNeeded(rpc)
  }

  const drive = async () => {
    while (!stopping.signal.aborted) {
      const before = performance.now()
      await tick().catch((error) => log.error({ err: error }, 'The embedded chain could not be driven; trying again.'))
      // A large state takes long to save; most of the time is for others.
      const took = performance.now() - before
      await delay(Math.max(blockTime - took, took), undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  const driving = drive()

  const stop = async () => {
    stopping.abort()
    await driving
    if (!(await presence.leave())) return
    if (!(await isServerAlive(current.pid, files.folder))) return
    await miner
      .save(rpc)
      .catch((error) => log.warn({ err: error }, 'The last state of the embedded chain was not saved.'))
    process.kill(current.pid, 'SIGTERM')
    await waitFor(10_000, async () => ((await isServerAlive(current.pid, files.folder)) ? undefined : true))
  }
  let stopped: Promise<void> | undefined

  return {
    rpcUrl,
    chainId,
    joined: started.joined,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}
