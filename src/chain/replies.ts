/**
 * What a node replies, as JSON-RPC has it: quantities and bytes are hexadecimal digits behind `0x`. A field that may be missing is one that
 * some chains or kinds of transactions do not have.
 */

import { unavailable } from '../shared/errors.ts'

/** An event. */
export interface LogReply {
  /** Of the contract. */
  address: string
  topics: string[]
  data: string
  transactionHash: string
  blockNumber: string
  blockHash: string
  logIndex: string
}

/** A transaction, with its signature; `to` is null where it makes a contract, `blockHash` while it is in no block. */
export interface TransactionReply {
  hash: string
  from: string
  to: string | null
  nonce: string
  /** Wei. */
  value: string
  blockHash: string | null
  /** `0x2` of those that we sign. */
  type?: string
  chainId?: string
  gas: string
  maxFeePerGas?: string
  maxPriorityFeePerGas?: string
  r: string
  s: string
  v: string
}

/** A block without its transactions. */
export interface BlockReply {
  number: string
  hash: string
  parentHash: string
  /** Unix seconds. */
  timestamp: string
  gasLimit: string
  /** Missing on a chain without EIP-1559. */
  baseFeePerGas?: string
}

/** A block with its transactions. */
export interface FullBlockReply extends BlockReply {
  transactions: TransactionReply[]
}

/** The receipt of a transaction. */
export interface ReceiptReply {
  transactionHash: string
  /** 1 when it succeeded. */
  status: string
  blockNumber: string
  blockHash: string
  logs: LogReply[]
  /** Of the contract that it made. */
  contractAddress?: string | null
  gasUsed?: string
  /** Wei. */
  effectiveGasPrice?: string
  /** Of a chain that settles on another one: what that costs besides, in wei. */
  l1Fee?: string
}

/**
 * Whether a transaction did what it says. Some nodes write the number with a zero before it. Raises UNAVAILABLE where a node tells neither: whoever
 * took that for a failure would give back what has arrived.
 */
export const hasSucceeded = ({ status }: Partial<Pick<ReceiptReply, 'status'>>): boolean => {
  if (!/^(0x)?0*[01]$/.test(status ?? '')) throw unavailable('The chain', new Error('A receipt tells no status'))
  return Number(status) === 1
}

/** What a transaction cost its sender, in wei; 0 where the node does not say. */
export const feeOf = ({
  gasUsed = '0x0',
  effectiveGasPrice = '0x0',
  l1Fee = '0x0',
}: Pick<ReceiptReply, 'gasUsed' | 'effectiveGasPrice' | 'l1Fee'>): bigint =>
  BigInt(gasUsed) * BigInt(effectiveGasPrice) + BigInt(l1Fee)
