/** What the chain says of addresses whose coins are moved. */

import { type Rpc, resultOf } from '../../../chain/rpc.ts'
import type { BookedCoins } from '../coin-types.ts'

/** An address at one block: its balance in wei, and how many transactions of it are in the chain. */
export interface SeenAddress {
  balance: bigint
  count: number
}

/** Balances and counts in the order of the addresses, at a block (a number as RPC has it, or a tag). Raises UNAVAILABLE. */
export async function readAddresses(rpc: Rpc, addresses: readonly string[], block: string): Promise<SeenAddress[]> {
  const outcomes = await rpc.batch(
    addresses.flatMap((address) => [
      { method: 'eth_getBalance', params: [address, block] },
      { method: 'eth_getTransactionCount', params: [address, block] },
    ]),
  )
  return addresses.map((_, index) => ({
    balance: BigInt(resultOf<string>(outcomes[2 * index])),
    count: Number(resultOf<string>(outcomes[2 * index + 1])),
  }))
}

/** Wei of it that no signed move takes: those in the chain have taken theirs. */
export const freeOf = ({ balance, count }: SeenAddress, open: BookedCoins['open']): bigint =>
  open.filter(({ nonce }) => nonce >= count).reduce((free, { amount }) => free - amount, balance)
