/** Finds transactions of our addresses that the ledger does not know: nonces that the chain counts, and the transactions that used them. */
import { getAddress, Transaction, ZeroAddress } from 'ethers'
import { fromHex } from '../../../chain/keys.ts'
import type { FullBlockReply, ReceiptReply, Rpc, TransactionReply } from '../../../chain/rpc.ts'
import { feeOf, hasSucceeded, quantity, resultOf } from '../../../chain/rpc.ts'
import { findSpender, readAccounts } from '../../../chain/view.ts'

/** Options of the search for transactions. */
export interface SearchOptions {
  rpc: Rpc
  /** First block to search, block by block. Undefined: the node is asked for old transaction counts. */
  from?: number | undefined
  onProgress(done: number, total: number): void
}

/** A transaction that the ledger does not know. Amounts in wei. */
export interface UnknownTransaction {
  nonce: number
  hash: string
  to: string
  value: bigint
  /** Amount that arrived: 0 if the recipient refused it. */
  arrived: bigint
  fee: bigint
  blockNumber: number
  /** Undefined if it is not a transfer in the form that Annal signs. */
  raw: Uint8Array | undefined
  /** The withdrawal that it pays. */
  claim?: { id: string; userId: string; amount: string; fee: string }
}

/** An address with its balance, its transaction count, and the nonces that the ledger does not know. */
export interface Counted {
  address: string
  held: bigint
  sent: number
  missing: number[]
}

const nameOf = (address: string, nonce: number) => `${address.toLowerCase()} ${nonce}`
/** Found transactions by address. */
export type Found = Awaited<ReturnType<typeof findUnknown>>

const BLOCKS_AT_ONCE = 20

/** Reads addresses at a block. `first`: transaction count before the ledger began; null if it begins now. */
export async function count(
  rpc: Rpc,
  rows: readonly { address: string; nonces: number[]; first: number | null }[],
  block: number,
): Promise<Counted[]> {
  const accounts = await readAccounts(
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

/** Finds the transactions at these nonces: by old transaction counts, or in the blocks from `from` on. */
export async function findUnknown(
  { rpc, from, onProgress }: SearchOptions,
  block: number,
  accounts: readonly Counted[],
) {
  const wanted = accounts.flatMap(({ address, missing }) => missing.map((nonce) => ({ address, nonce })))
  const hashes = new Map<string, string>()
  if (from !== undefined && wanted.length > 0) {
    const names = new Set(wanted.map(({ address, nonce }) => nameOf(address, nonce)))
    for await (const each of transactionsFrom(rpc, from, block, onProgress)) {
      const name = nameOf(each.from, Number(each.nonce))
      if (names.has(name)) hashes.set(name, each.hash)
    }
  } else {
    for (const [index, { address, nonce }] of wanted.entries()) {
      const hash = await findSpender(rpc, address, nonce, block)
      if (hash) hashes.set(nameOf(address, nonce), hash)
      onProgress(index + 1, wanted.length)
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
      const foreign = missing.flatMap((nonce) => read.get(nameOf(address, nonce)) ?? []).filter(({ raw }) => !raw)
      const problems = foreign.map(
        ({ hash }) => `${hash} is not a transfer that Annal signed: another party has the key.`,
      )
      const lacking = missing.filter((nonce) => !read.has(nameOf(address, nonce)))
      if (lacking.length === 0) return problems
      const where = from === undefined ? 'the node does not know them' : `they are not in the blocks from ${from} on`
      return [
        ...problems,
        `The chain counts ${lacking.length} transactions that the ledger does not know, and ${where}. Name a block from before the backup with --from.`,
      ]
    },
  }
}

async function* transactionsFrom(rpc: Rpc, from: number, to: number, onProgress: SearchOptions['onProgress']) {
  for (let start = from; start <= to; start += BLOCKS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(BLOCKS_AT_ONCE, to - start + 1) }, (_, index) => start + index)
    const outcomes = await rpc.batch(
      numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [quantity(number), true] })),
    )
    for (const outcome of outcomes) yield* resultOf<FullBlockReply | null>(outcome)?.transactions ?? []
    onProgress(start + numbers.length - from, to - from + 1)
  }
}

/** Reads a transaction, its bytes and its result. */
async function readTransaction(rpc: Rpc, hash: string): Promise<UnknownTransaction> {
  const [reply, receipt] = await rpc.batch([
    { method: 'eth_getTransactionByHash', params: [hash] },
    { method: 'eth_getTransactionReceipt', params: [hash] },
  ])
  const transaction = resultOf<TransactionReply>(reply)
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

/** Rebuilds the signed bytes from the node's reply. Undefined if their hash differs: then Annal did not sign the transfer. */
function bytesOf(reply: TransactionReply): Uint8Array | undefined {
  const { type, to, nonce, gas, value, chainId, maxFeePerGas, maxPriorityFeePerGas, r, s, v } = reply
  if (Number(type) !== 2) return undefined
  const { serialized, hash: made } = Transaction.from({
    ...{ type: 2, to, nonce: Number(nonce), gasLimit: BigInt(gas), value: BigInt(value), data: '0x' },
    ...{ maxFeePerGas: BigInt(maxFeePerGas!), maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas!) },
    chainId: BigInt(chainId!),
    signature: { r: word(r), s: word(s), v: Number(v) },
  })
  return made === reply.hash ? fromHex(serialized) : undefined
}

const word = (digits: string) => `0x${digits.slice(2).padStart(64, '0')}`
