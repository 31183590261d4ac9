/** Finds transactions of our addresses that the ledger does not know, by the nonces that only the chain counts. */
import { getAddress, Transaction, ZeroAddress } from 'ethers'
import { fromHex } from '../../../chain/keys.ts'
import type { Rpc, TransactionReply } from '../../../chain/rpc.ts'
import { contradiction, feeOf, hasSucceeded, quantity, readFullBlocks, readTransaction } from '../../../chain/rpc.ts'
import { findSpender, readAccounts } from '../../../chain/view.ts'

export interface SearchOptions {
  rpc: Rpc
  /** First block to search, block by block. Undefined: search by old transaction counts. */
  from?: number | undefined
  onProgress(done: number, total: number): void
}

/** A transaction that the ledger does not know. Amounts in wei. */
export interface UnknownTransaction {
  nonce: number
  hash: string
  to: string
  value: bigint
  /** Amount that arrived. 0 if the recipient refused the coins. */
  arrived: bigint
  fee: bigint
  blockNumber: number
  /** Signed bytes. Undefined if the transaction is not a transfer that Annal signed. */
  raw: Uint8Array | undefined
  claim?: { id: string; userId: string; amount: string; fee: string }
}

/** An address with its balance, its transaction count, and the nonces that the ledger does not know. */
export type Counted = { address: string; held: bigint; sent: number; missing: number[] }

const nameOf = (address: string, nonce: number) => `${address.toLowerCase()} ${nonce}`
export type Found = Awaited<ReturnType<typeof findUnknown>>
const BLOCKS_AT_ONCE = 20

/** Reads addresses at a block. `first`: transaction count before the ledger began; null if it begins now. */
export async function count(
  rpc: Rpc,
  rows: readonly { address: string; nonces: number[]; first: number | null }[],
  block: number,
): Promise<Counted[]> {
  const addresses = rows.map(({ address }) => address)
  const accounts = await readAccounts(rpc, addresses, quantity(block))
  return rows.map(({ address, nonces, first }, index) => {
    const { balance, count: sent } = accounts[index]!
    const known = new Set(nonces)
    const begin = first ?? sent
    const all = Array.from({ length: Math.max(sent - begin, 0) }, (_, place) => begin + place)
    return { address, held: balance, sent, missing: all.filter((nonce) => !known.has(nonce)) }
  })
}

/** Finds the transactions at the missing nonces: by old transaction counts, or in the blocks from `from` on. */
export async function findUnknown(
  { rpc, from, onProgress }: SearchOptions,
  block: number,
  accounts: readonly Counted[],
) {
  const wanted = accounts.flatMap(({ address, missing }) => missing.map((nonce) => ({ address, nonce })))
  const found = new Map<string, UnknownTransaction>()
  if (from !== undefined && wanted.length > 0) {
    const names = new Set(wanted.map(({ address, nonce }) => nameOf(address, nonce)))
    for (let start = from; start <= block; start += BLOCKS_AT_ONCE) {
      const end = Math.min(start + BLOCKS_AT_ONCE - 1, block)
      const transactions = (await readFullBlocks(rpc, start, end)).flatMap((each) => each?.transactions ?? [])
      for (const { from: sender, nonce, hash } of transactions) {
        const name = nameOf(sender, Number(nonce))
        if (names.has(name)) found.set(name, await readUnknown(rpc, hash))
      }
      onProgress(end - from + 1, block - from + 1)
    }
  } else {
    for (const [index, { address, nonce }] of wanted.entries()) {
      const hash = await findSpender(rpc, address, nonce, block)
      if (hash) found.set(nameOf(address, nonce), await readUnknown(rpc, hash))
      onProgress(index + 1, wanted.length)
    }
  }
  const of = ({ address, missing }: Counted) => missing.flatMap((nonce) => found.get(nameOf(address, nonce)) ?? [])
  return {
    of,
    problemsOf(account: Counted) {
      const problems = of(account)
        .filter(({ raw }) => !raw)
        .map(({ hash }) => `${hash} is not a transfer that Annal signed: another party has the key.`)
      const lacking = account.missing.filter((nonce) => !found.has(nameOf(account.address, nonce)))
      if (lacking.length === 0) return problems
      const where = from === undefined ? 'the node does not know them' : `they are not in the blocks from ${from} on`
      return [
        ...problems,
        `The chain counts ${lacking.length} transactions that the ledger does not know, and ${where}. Name a block from before the backup with --from.`,
      ]
    },
  }
}

async function readUnknown(rpc: Rpc, hash: string): Promise<UnknownTransaction> {
  const { transaction, receipt } = await readTransaction(rpc, hash)
  if (!transaction || !receipt) throw contradiction(rpc)
  const value = BigInt(transaction.value)
  return {
    ...{ nonce: Number(transaction.nonce), hash, value, raw: bytesOf(transaction) },
    ...{ fee: feeOf(receipt), blockNumber: Number(receipt.blockNumber) },
    to: getAddress(transaction.to ?? ZeroAddress),
    arrived: hasSucceeded(receipt) ? value : 0n,
  }
}

/** Rebuilds the signed bytes from the node's reply. Undefined if their hash differs. */
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
