import { unavailable } from '../shared/errors.ts'
import { type BlockReply, type FullBlockReply, quantity, type Rpc, RpcError, type RpcOutcome, resultOf } from './rpc.ts'
import type { FeeMarket } from './transaction.ts'

export interface BlockId {
  number: number
  hash: string
}

/** State of the chain, read in one request. */
export interface ChainView extends FeeMarket {
  chainId: number
  head: BlockId
  /** Gas limit of the head block. */
  gasLimit: bigint
  /** Transaction count of each account: its next nonce that can be included. */
  counts: ReadonlyMap<string, number>
  /** Transaction count of each account including the node's pool. */
  pendingCounts: ReadonlyMap<string, number>
  /** True if there is code at the contract's address. */
  hasContract: boolean
}

const zeroAddress = `0x${'0'.repeat(40)}`

/** Priority fee in wei if the node suggests none. */
const defaultTip = 1_000_000_000n

/**
 * Reads the head, fees, transaction counts of accounts, and whether `contract` has code, in one request. Throws UNAVAILABLE if the node
 * does not answer. Throws Error if the chain does not support EIP-1559.
 */
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
  const block = resultOf<BlockReply | null>(head)
  if (!block) throw unavailable('The chain', new Error(`${rpc.host} knows no latest block`))
  if (!block.baseFeePerGas) throw new Error('The chain does not price gas as EIP-1559 does; Annal cannot use it.')
  const baseFee = BigInt(block.baseFeePerGas)
  return {
    chainId: Number(resultOf<string>(chainId)),
    head: { number: Number(block.number), hash: block.hash },
    gasLimit: BigInt(block.gasLimit),
    // Without a fee history, assume the maximum increase of a base fee in one block.
    nextBaseFee: BigInt(
      optional<{ baseFeePerGas?: string[] }>(history)?.baseFeePerGas?.at(-1) ?? baseFee + baseFee / 8n,
    ),
    hasContract: contract !== undefined && resultOf<string>(code) !== '0x',
    tip: BigInt(optional<string>(tip) ?? defaultTip),
    counts: new Map(accounts.map((account, index) => [account, Number(resultOf<string>(counts[index]))])),
    pendingCounts: new Map(
      // If the node does not report a pending count, do not limit anything by it.
      accounts.map((account, index) => [
        account,
        Number(optional<string>(counts[accounts.length + index]) ?? Infinity),
      ]),
    ),
  }
}

/** Balance of an account in wei and its transaction count, at one block. */
export interface SeenAccount {
  balance: bigint
  count: number
}

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

/** Returns the balance of each account in wei. Throws UNAVAILABLE if the node does not answer, RpcError if it rejects the call. */
export const readBalances = async (rpc: Rpc, accounts: readonly string[]): Promise<Map<string, bigint>> => {
  const outcomes = await rpc.batch(
    accounts.map((account) => ({ method: 'eth_getBalance', params: [account, 'latest'] })),
  )
  return new Map(accounts.map((account, index) => [account, BigInt(resultOf<string>(outcomes[index]))]))
}

const optional = <T>(outcome: RpcOutcome | undefined) =>
  outcome?.error ? undefined : (outcome?.result as T | undefined)

/** Returns the current block hashes at these heights. A hash is undefined if the node has no block there. */
export const readBlockHashes = async (
  rpc: Rpc,
  numbers: readonly number[],
): Promise<Map<number, string | undefined>> => {
  const outcomes = await rpc.batch(
    numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [quantity(number), false] })),
  )
  return new Map(
    numbers.map((number, index) => {
      const outcome = outcomes[index]
      // Most nodes return null for a missing block; some return an error.
      if (outcome?.error && /not found|unknown block|beyond/i.test(outcome.error.message)) return [number, undefined]
      return [number, resultOf<BlockReply | null>(outcome)?.hash]
    }),
  )
}

/** Returns true if the block was replaced, or is above the head. A block missing below the head only means that this node lacks it. */
export const isGone = (
  { number, hash }: BlockId,
  canonical: ReadonlyMap<number, string | undefined>,
  head: BlockId,
): boolean => {
  const present = canonical.get(number)
  return present === undefined ? number > head.number : present !== hash
}

/**
 * Returns the transaction that used an account's nonce, in blocks up to `newest`. Returns undefined if the node has pruned the state it
 * needs.
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
