/** Which transaction used a nonce of an account. */
import type { FullBlockReply } from './replies.ts'
import { quantity, type Rpc, RpcError } from './rpc.ts'

/**
 * The transaction that used an account's nonce, from blocks up to `newest`; undefined when the node cannot tell, because it
 * keeps no state from then.
 */
export const findSpender = async (
  rpc: Rpc,
  account: string,
  nonce: number,
  newest: number,
): Promise<string | undefined> => {
  const isUsedAt = async (block: number) =>
    Number(await rpc.call<string>('eth_getTransactionCount', account, quantity(block))) > nonce
  try {
    if (!(await isUsedAt(newest))) return undefined
    let used = newest
    let unused = -1
    for (let step = 1; unused < 0 && used > 0; step *= 2) {
      const block = Math.max(used - step, 0)
      if (await isUsedAt(block)) used = block
      else unused = block
    }
    while (used - unused > 1) {
      const middle = Math.floor((used + unused) / 2)
      if (await isUsedAt(middle)) used = middle
      else unused = middle
    }
    const block = await rpc.call<FullBlockReply | null>('eth_getBlockByNumber', quantity(used), true)
    return block?.transactions.find(
      (each) => each.from.toLowerCase() === account.toLowerCase() && Number(each.nonce) === nonce,
    )?.hash
  } catch (error) {
    if (error instanceof RpcError) return undefined
    throw error
  }
}
