/**
 * Transactions of addresses of ours that the database does not know: which nonces the chain counts, which transactions used them, and what
 * these did.
 */
import { getAddress, Transaction, ZeroAddress } from 'ethers'
import { fromHex } from '../../../chain/keys.ts'
import {
  type FullBlockReply,
  feeOf,
  hasSucceeded,
  type ReceiptReply,
  type TransactionReply,
} from '../../../chain/replies.ts'
import { quantity, type Rpc, resultOf } from '../../../chain/rpc.ts'
import { findSpender } from '../../../chain/spender.ts'
import { readAddresses } from './addresses.ts'
import type { Claim } from './compare.sql.ts'

/** Where transactions are sought. */
export interface SeekOptions {
  rpc: Rpc
  /** From which block on transactions are sought, block by block. Left out: the node is asked for old counts of transactions. */
  from?: number | undefined
  /** Told how much is looked through, of how much. */
  tell(done: number, total: number): void
}

/** A transaction of an address of ours that the database does not know. Wei. */
export interface UnknownTransaction {
  nonce: number
  hash: string
  to: string
  value: bigint
  /** What arrived: nothing when the recipient refused it. */
  arrived: bigint
  fee: bigint
  blockNumber: number
  /** Undefined of what is no transfer as we sign them. */
  raw: Uint8Array | undefined
  /** The withdrawal that it pays. */
  claim?: Claim
}

/** An address whose transactions the chain counts, and which of them the books do not know. */
export interface Counted {
  address: string
  held: bigint
  sent: number
  missing: number[]
}

const nameOf = (address: string, nonce: number) => `${address.toLowerCase()} ${nonce}`
/** What was found; what `findUnknown` returns. */
export type Found = Awaited<ReturnType<typeof findUnknown>>

const BLOCKS_AT_ONCE = 20

/** What the chain has at a block. `first`: how many transactions it had sent before the books begin; null where they begin now. */
export async function count(
  rpc: Rpc,
  rows: readonly { address: string; nonces: number[]; first: number | null }[],
  block: number,
): Promise<Counted[]> {
  const accounts = await readAddresses(
    rpc,
    rows.map(({ address }) => address),
    quantity(block),
  )
  return rows.map(({ address, nonces, first }, index) => {
    const { balance, count: sent } = accounts[index]!
    const known = new Set(nonces)
    const begin = first ?? sent
    const all = Array.from({ length: Math.max(sent - begin, 0) }, (_, place) => begin + place)
    return { address, held: balance, sent, missing: all.filter((nonce) => !known.has(nonce)) }
  })
}

/** Finds the transactions at these nonces: by the counts that the node keeps of old blocks, or in the blocks from `from` on. */
export async function findUnknown({ rpc, from, tell }: SeekOptions, block: number, accounts: readonly Counted[]) {
  const wanted = accounts.flatMap(({ address, missing }) => missing.map((nonce) => ({ address, nonce })))
  const hashes = new Map<string, string>()
  if (from !== undefined && wanted.length > 0) {
    const names = new Set(wanted.map(({ address, nonce }) => nameOf(address, nonce)))
    for await (const each of transactionsFrom(rpc, from, block, tell)) {
      const name = nameOf(each.from, Number(each.nonce))
      if (names.has(name)) hashes.set(name, each.hash)
    }
  } else {
    for (const [index, { address, nonce }] of wanted.entries()) {
      const hash = await findSpender(rpc, address, nonce, block)
      if (hash) hashes.set(nameOf(address, nonce), hash)
      tell(index + 1, wanted.length)
    }
  }
  const read = new Map<string, UnknownTransaction>()
  for (const { address, nonce } of wanted) {
    const hash = hashes.get(nameOf(address, nonce))
    if (hash) read.set(nameOf(address, nonce), await readTransaction(rpc, hash))
  }
  return {
    of: ({ address, missing }: Counted) => missing.flatMap((nonce) => read.get(nameOf(address, nonce)) ?? []),
    problemsOf({ address, missing }: Counted) {
      const strange = missing.flatMap((nonce) => read.get(nameOf(address, nonce)) ?? []).filter(({ raw }) => !raw)
      const problems = strange.map(({ hash }) => `${hash} is no transfer as we sign them: somebody else has the key.`)
      const lacking = missing.filter((nonce) => !read.has(nameOf(address, nonce)))
      if (lacking.length === 0) return problems
      const where =
        from === undefined ? 'the node does not tell what they are' : `they are not in the blocks from ${from} on`
      return [
        ...problems,
        `The chain counts ${lacking.length} transactions that the books do not know, and ${where}: name a block from before the backup with --from.`,
      ]
    },
  }
}

async function* transactionsFrom(rpc: Rpc, from: number, to: number, tell: SeekOptions['tell']) {
  for (let start = from; start <= to; start += BLOCKS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(BLOCKS_AT_ONCE, to - start + 1) }, (_, index) => start + index)
    const outcomes = await rpc.batch(
      numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [quantity(number), true] })),
    )
    for (const outcome of outcomes) yield* resultOf<FullBlockReply | null>(outcome)?.transactions ?? []
    tell(start + numbers.length - from, to - from + 1)
  }
}

/** What it did, with its bytes as they were sent. */
async function readTransaction(rpc: Rpc, hash: string): Promise<UnknownTransaction> {
  const [told, receipt] = await rpc.batch([
    { method: 'eth_getTransactionByHash', params: [hash] },
    { method: 'eth_getTransactionReceipt', params: [hash] },
  ])
  const transaction = resultOf<TransactionReply>(told)
  const placed = resultOf<ReceiptReply>(receipt)
  const value = BigInt(transaction.value)
  return {
    ...{ nonce: Number(transaction.nonce), hash, value, raw: bytesOf(transaction) },
    to: getAddress(transaction.to ?? ZeroAddress),
    arrived: hasSucceeded(placed) ? value : 0n,
    fee: feeOf(placed),
    blockNumber: Number(placed.blockNumber),
  }
}

/** The bytes as they were sent, put together from what a node tells; undefined where these do not have its hash: no transfer of ours. */
function bytesOf(told: TransactionReply): Uint8Array | undefined {
  const { type, to, nonce, gas, value, chainId, maxFeePerGas, maxPriorityFeePerGas, r, s, v } = told
  if (Number(type) !== 2) return undefined
  const { serialized, hash: made } = Transaction.from({
    ...{ type: 2, to, nonce: Number(nonce), gasLimit: BigInt(gas), value: BigInt(value), data: '0x' },
    ...{ maxFeePerGas: BigInt(maxFeePerGas!), maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas!) },
    chainId: BigInt(chainId!),
    signature: { r: word(r), s: word(s), v: Number(v) },
  })
  return made === told.hash ? fromHex(serialized) : undefined
}

const word = (digits: string) => `0x${digits.slice(2).padStart(64, '0')}`
