/**
 * Mines blocks at a fixed interval, one at a time with other changes of the chain. Anvil's own interval mining can run during a
 * reorganization. Then blocks are missing permanently, or transaction counts are wrong.
 */
import type { Rpc } from '../../src/chain/rpc.ts'

export interface BlockClock {
  /** Runs `work`, which changes the chain, after the current operation and before the next block. */
  change<T>(work: () => Promise<T>): Promise<T>
  /** Mines a block every given number of milliseconds from now on, or none for 0. Resolves when no earlier block is being mined. */
  every(milliseconds: number): Promise<void>
}

export function createBlockClock(rpc: Rpc): BlockClock {
  let changing: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let isDue = false
  const change = <T>(work: () => Promise<T>): Promise<T> => {
    const next = changing.then(work)
    changing = next.catch(() => undefined)
    return next
  }
  const mine = async () => {
    isDue = false
    await rpc.call('evm_mine')
  }
  const tick = () => {
    // Skips a block if the node is slower than the interval, so that no backlog builds up.
    if (isDue) return
    isDue = true
    change(mine).catch(() => undefined)
  }
  return {
    change,
    async every(milliseconds) {
      clearInterval(timer)
      if (milliseconds > 0) timer = setInterval(tick, milliseconds)
      await changing
    },
  }
}
