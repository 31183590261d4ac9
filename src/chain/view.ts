import { undefinedIf } from '../shared/async.ts'
import { unavailable } from '../shared/errors.ts'
import {
  type BlockReply,
  type FullBlockReply,
  isRpcError,
  quantity,
  type Rpc,
  type RpcOutcome,
  resultOf,
} from './rpc.ts'
import type { FeeMarket } from './transaction.ts'

export type BlockId = { number: number; hash: string }

/** State of the chain, read in one request. */
export interface ChainView extends FeeMarket {
  chainId: number
  head: BlockId
  gasLimit: bigint
  /** Transaction count of each account: its next nonce that can be included. */
  counts: ReadonlyMap<string, number>
  /** Transaction count of each account including the node's pool. Infinity if the node does not report it. */
  pendingCounts: ReadonlyMap<string, number>
  hasContract: boolean
}

const zeroAddress = `0x${'0'.repeat(40)}`
/** Priority fee in wei if the node suggests none. */
const defaultTip = 1_000_000_000n

/** Reads the state of the chain in one request. Throws UNAVAILABLE, and Error if the chain does not support EIP-1559. */
export const readView = async (rpc: Rpc, accounts: readonly string[], contract?: string): Promise<ChainView> => {
  const [chainId, head, history, tip, code, ...counts] = await rpc.batch([
    { method: 'eth_chainId', params: [] },
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
    { method: 'eth_feeHistory', params: ['0x1', 'latest', []] },
    { method: 'eth_maxPriorityFeePerGas', params: [] },
    { method: 'eth_getCode', params: [contract ?? zeroAddress, 'latest'] },
    ...accounts.map((account) => ({ method: 'eth_getTransactionCount', params: [account, 'latest'] })),
    ...accounts.map((account) => ({ method: 'eth_getTransactionCount', params: [account, 'pending'] })),
  ])
  const pending = counts.slice(accounts.length)
  const block = resultOf<BlockReply | null>(head)
  if (!block) throw unavailable('The chain', new Error(`${rpc.host} knows no latest block`))
  if (!block.baseFeePerGas) throw new Error('The chain does not price gas as EIP-1559 does; Annal cannot use it.')
  const baseFee = BigInt(block.baseFeePerGas)
  const nextFee = optional<{ baseFeePerGas?: string[] }>(history)?.baseFeePerGas?.at(-1)
  return {
    chainId: Number(resultOf<string>(chainId)),
    head: { number: Number(block.number), hash: block.hash },
    gasLimit: BigInt(block.gasLimit),
    // Without a fee history, assume the maximum increase of a base fee in one block.
    nextBaseFee: BigInt(nextFee ?? baseFee + baseFee / 8n),
    hasContract: contract !== undefined && resultOf<string>(code) !== '0x',
    tip: BigInt(optional<string>(tip) ?? defaultTip),
    counts: new Map(accounts.map((account, index) => [account, Number(resultOf<string>(counts[index]))])),
    pendingCounts: new Map(
      accounts.map((account, index) => [account, Number(optional<string>(pending[index]) ?? Infinity)]),
    ),
  }
}

const optional = <T>(outcome: RpcOutcome | undefined) =>
  outcome?.error ? undefined : (outcome?.result as T | undefined)

export type SeenAccount = { balance: bigint; count: number }

/** Reads accounts at a block: a number in hexadecimal, or a tag. Throws UNAVAILABLE. */
export async function readAccounts(rpc: Rpc, addresses: readonly string[], block: string): Promise<SeenAccount[]> {
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

export type BlockHashes = ReadonlyMap<number, string | undefined>

/** Returns the current block hashes at these heights. A hash is undefined if the node has no block there. */
export const readBlockHashes = async (rpc: Rpc, numbers: readonly number[]) => {
  const outcomes = await rpc.batch(
    numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [quantity(number), false] })),
  )
  return new Map(
    numbers.map((number, index): [number, string | undefined] => {
      const outcome = outcomes[index]
      // Most nodes return null for a missing block; some return an error.
      if (outcome?.error && /not found|unknown block|beyond/i.test(outcome.error.message)) return [number, undefined]
      return [number, resultOf<BlockReply | null>(outcome)?.hash]
    }),
  )
}

/** Returns true if the block was replaced, or is above the head. A block missing below the head only means that this node lacks it. */
export const isGone = ({ number, hash }: BlockId, canonical: BlockHashes, head: BlockId): boolean => {
  const present = canonical.get(number)
  return present === undefined ? number > head.number : present !== hash
}

/** Returns the smallest number above `below` and up to `top` for which `isTrue` holds. It must hold for `top` and all numbers after the result. */
export const findFirst = async (below: number, top: number, isTrue: (at: number) => Promise<boolean>) => {
  let [low, high] = [below, top]
  while (high - low > 1) {
    const middle = Math.floor((high + low) / 2)
    if (await isTrue(middle)) high = middle
    else low = middle
  }
  return high
}

/** Returns the transaction that used an account's nonce, in blocks up to `newest`. Returns undefined if the node has pruned the state it needs. */
export const findSpender = (rpc: Rpc, account: string, nonce: number, newest: number) => {
  const isUsedAt = async (block: number) =>
    Number(await rpc.call<string>('eth_getTransactionCount', account, quantity(block))) > nonce
  const search = async () => {
    if (!(await isUsedAt(newest))) return undefined
    // The transaction is probably recent, and nodes may lack old state: search backwards in growing steps.
    let used = newest
    let unused = -1
    for (let step = 1; unused < 0 && used > 0; step *= 2) {
      const block = Math.max(used - step, 0)
      if (await isUsedAt(block)) used = block
      else unused = block
    }
    const found = quantity(await findFirst(unused, used, isUsedAt))
    const block = await rpc.call<FullBlockReply | null>('eth_getBlockByNumber', found, true)
    const isSpender = ({ from, nonce: used }: FullBlockReply['transactions'][number]) =>
      from.toLowerCase() === account.toLowerCase() && Number(used) === nonce
    return block?.transactions.find(isSpender)?.hash
  }
  return search().catch(undefinedIf(isRpcError))
}
