/** Reads the state of the chain, and keeps checkpoints of a scan to detect reorganizations. */
import { undefinedIf } from '../shared/async.ts'
import { unavailable } from '../shared/errors.ts'
import * as jsonRpc from './rpc.ts'
import type { FeeMarket } from './transaction.ts'

export type BlockId = { number: number; hash: string }

export interface ChainView extends FeeMarket {
  chainId: number
  head: BlockId
  gasLimit: bigint
  /** Transaction count of each account, which is the next nonce that a block can include. */
  counts: ReadonlyMap<string, number>
  /** Transaction count of each account including the node's pool. Infinity if the node does not report that count. */
  pendingCounts: ReadonlyMap<string, number>
  hasContract: boolean
}

const zeroAddress = `0x${'0'.repeat(40)}`
const defaultTip = 1_000_000_000n

/** Reads the state of the chain in one request. Throws UNAVAILABLE, and an Error if the chain lacks EIP-1559. */
export const readView = async (
  rpc: jsonRpc.Rpc,
  accounts: readonly string[],
  contract?: string,
): Promise<ChainView> => {
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
  const block = jsonRpc.resultOf<jsonRpc.BlockReply | null>(head)
  if (!block) throw unavailable('The chain', new Error(`The node ${rpc.host} returned no latest block.`))
  if (!block.baseFeePerGas) throw new Error('The chain does not support EIP-1559 gas prices, which Annal requires.')
  const baseFee = BigInt(block.baseFeePerGas)
  const nextFee = optional<{ baseFeePerGas?: string[] }>(history)?.baseFeePerGas?.at(-1)
  return {
    chainId: Number(jsonRpc.resultOf<string>(chainId)),
    head: { number: Number(block.number), hash: block.hash },
    gasLimit: BigInt(block.gasLimit),
    // Without a fee history, assume the maximum increase of a base fee in one block.
    nextBaseFee: BigInt(nextFee ?? baseFee + baseFee / 8n),
    hasContract: contract !== undefined && jsonRpc.resultOf<string>(code) !== '0x',
    tip: BigInt(optional<string>(tip) ?? defaultTip),
    counts: new Map(accounts.map((account, index) => [account, Number(jsonRpc.resultOf<string>(counts[index]))])),
    pendingCounts: new Map(
      accounts.map((account, index) => [account, Number(optional<string>(pending[index]) ?? Infinity)]),
    ),
  }
}

const optional = <T>(outcome: jsonRpc.RpcOutcome | undefined) =>
  outcome?.error ? undefined : (outcome?.result as T | undefined)

export type SeenAccount = { balance: bigint; count: number }

export async function readAccounts(
  rpc: jsonRpc.Rpc,
  addresses: readonly string[],
  block: string,
): Promise<SeenAccount[]> {
  const outcomes = await rpc.batch(
    addresses.flatMap((address) => [
      { method: 'eth_getBalance', params: [address, block] },
      { method: 'eth_getTransactionCount', params: [address, block] },
    ]),
  )
  return addresses.map((_, index) => ({
    balance: BigInt(jsonRpc.resultOf<string>(outcomes[2 * index])),
    count: Number(jsonRpc.resultOf<string>(outcomes[2 * index + 1])),
  }))
}

export type BlockHashes = ReadonlyMap<number, string | undefined>

/** Returns the current block hashes at these heights. A hash is undefined if the node has no block there. */
export const readBlockHashes = async (rpc: jsonRpc.Rpc, numbers: readonly number[]) => {
  const outcomes = await rpc.batch(
    numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [jsonRpc.quantity(number), false] })),
  )
  return new Map(
    numbers.map((number, index): [number, string | undefined] => {
      const outcome = outcomes[index]
      // Most nodes return null for a missing block; some return an error.
      if (outcome?.error && /not found|unknown block|beyond/i.test(outcome.error.message)) return [number, undefined]
      return [number, jsonRpc.resultOf<jsonRpc.BlockReply | null>(outcome)?.hash]
    }),
  )
}

/** Returns true if a block was replaced or is above the head. A missing block below the head does not count. */
export const isReplaced = ({ number, hash }: BlockId, canonical: BlockHashes, head: BlockId): boolean => {
  const present = canonical.get(number)
  return present === undefined ? number > head.number : present !== hash
}

/** Returns the smallest number in (`below`, `top`] with `isTrue`, which must be true for all larger numbers too. */
export const findFirst = async (below: number, top: number, isTrue: (at: number) => Promise<boolean>) => {
  let [low, high] = [below, top]
  while (high - low > 1) {
    const middle = Math.floor((high + low) / 2)
    if (await isTrue(middle)) high = middle
    else low = middle
  }
  return high
}

/** Finds the transaction that used a nonce, in blocks up to `newest`. Undefined if the node lacks old state. */
export const findSpender = (rpc: jsonRpc.Rpc, account: string, nonce: number, newest: number) => {
  const isUsedAt = async (block: number) =>
    Number(await rpc.call<string>('eth_getTransactionCount', account, jsonRpc.quantity(block))) > nonce
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
    const found = jsonRpc.quantity(await findFirst(unused, used, isUsedAt))
    const block = await rpc.call<jsonRpc.FullBlockReply | null>('eth_getBlockByNumber', found, true)
    const isSpender = ({ from, nonce: used }: jsonRpc.FullBlockReply['transactions'][number]) =>
      from.toLowerCase() === account.toLowerCase() && Number(used) === nonce
    return block?.transactions.find(isSpender)?.hash
  }
  return search().catch(undefinedIf(jsonRpc.isRpcError))
}

/** A scanned block. `time` is in Unix seconds; checkpoints of earlier versions do not have it. */
export type ScannedBlock = BlockId & { time?: number | undefined }
/** Scanned blocks, newest first: each of the newest 128, and exponentially fewer older ones. */
export type Checkpoint = readonly [ScannedBlock, ...ScannedBlock[]]

export const scannedBlockOf = ({ number, hash, timestamp: time }: jsonRpc.BlockReply): ScannedBlock => {
  return { number: Number(number), hash, time: Number(time) }
}

/** Number of newest blocks of which each is kept. Chains finalize a block after fewer blocks. */
const EACH = 128

export const encodeCheckpoint = (checkpoint: Checkpoint): string =>
  JSON.stringify(checkpoint.map(({ number, hash, time }) => [number, hash, time]))

/** Parses a checkpoint. Throws TypeError or SyntaxError if the text is invalid. */
export function parseCheckpoint(text: string): Checkpoint {
  const stored = JSON.parse(text) as [number, string, (number | null)?][]
  const [newest, ...rest] = stored.map(([number, hash, time]) => ({ number, hash, time: time ?? undefined }))
  if (!newest) throw new TypeError('The checkpoint contains no block.')
  return [newest, ...rest]
}

/** Adds a block to a checkpoint. Keeps only the oldest of the older blocks at each distance from 2ⁿ to 2ⁿ⁺¹. */
export function extendCheckpoint(checkpoint: readonly ScannedBlock[], block: ScannedBlock): Checkpoint {
  const near: ScannedBlock[] = []
  const oldest = new Map<number, ScannedBlock>()
  for (const passed of checkpoint) {
    const distance = block.number - passed.number
    if (distance < EACH) near.push(passed)
    else oldest.set(Math.floor(Math.log2(distance)), passed)
  }
  return [block, ...near, ...oldest.values()]
}

const BATCH = 20

/** Returns the checkpoint from its newest canonical block on. Throws UNAVAILABLE, for example for missing blocks. */
export async function findFork(
  rpc: jsonRpc.Rpc,
  checkpoint: Checkpoint,
  head: BlockId,
): Promise<Checkpoint | undefined> {
  for (let start = 0; start < checkpoint.length; start += BATCH) {
    const part = checkpoint.slice(start, start + BATCH)
    const canonical = await readBlockHashes(
      rpc,
      part.map(({ number }) => number),
    )
    const index = part.findIndex(({ number, hash }) => canonical.get(number) === hash)
    const passed = index < 0 ? part : part.slice(0, index)
    if (passed.some(({ number }) => number <= head.number && canonical.get(number) === undefined))
      throw jsonRpc.contradiction(rpc)
    // The ancestors of a canonical block are canonical too.
    if (index >= 0) return [checkpoint[start + index]!, ...checkpoint.slice(start + index + 1)]
  }
  return undefined
}

/** Returns true if the head is on another branch. Timestamps increase along a chain. */
export function isOtherBranch(checkpoint: Checkpoint, head: ScannedBlock): boolean {
  const passed = checkpoint.find(({ number }) => number === head.number)
  if (passed) return passed.hash !== head.hash
  const { time } = checkpoint[0]
  return time !== undefined && head.time !== undefined && head.time > time
}
