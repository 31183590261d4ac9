/**
 * Blocks by a clock, one after the other with whatever else changes the chain. Anvil's own clock mines into the middle of a reorganisation:
 * then there are heights without a block for ever, or a count of transactions that no block holds, which no chain does.
 */
import type { Rpc } from '../../src/chain/rpc.ts'

export interface BlockClock {
  /** Does what changes the chain, after what is being done and before the next block. */
  change<T>(work: () => Promise<T>): Promise<T>
  /** From now on a block comes every so many milliseconds, or none with 0. Fulfilled when none is being made by what was before. */
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
    // A node that is slower than the clock has no backlog of blocks to make.
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
