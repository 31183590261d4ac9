/**
 * JSON-RPC responses of a node. Quantities and bytes are hex digits with the prefix `0x`. Optional fields are missing on some chains or for
 * some kinds of transactions.
 */

import { unavailable } from '../shared/errors.ts'

/** An event log. */
export interface LogReply {
  /** Address of the contract. */
  address: string
  topics: string[]
  data: string
  transactionHash: string
  blockNumber: string
  blockHash: string
  logIndex: string
}

/** A signed transaction. `to` is null if it creates a contract, `blockHash` is null while it is pending. */
export interface TransactionReply {
  hash: string
  from: string
  to: string | null
  nonce: string
  value: string
  blockHash: string | null
  /** `0x2` for EIP-1559 transactions, the only kind that Annal signs. */
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
  /** `0x1` if the transaction succeeded. */
  status: string
  blockNumber: string
  blockHash: string
  logs: LogReply[]
  /** Address of the contract that the transaction created. */
  contractAddress?: string | null
  gasUsed?: string
  /** Wei. */
  effectiveGasPrice?: string
  /** Additional fee of a rollup for its parent chain, in wei. */
  l1Fee?: string
}

/**
 * Returns true if a transaction succeeded. Accepts leading zeros, which some nodes send. Throws UNAVAILABLE for any other status, because
 * treating an unknown status as a failure could refund a payment that arrived.
 */
export const hasSucceeded = ({ status }: Partial<Pick<ReceiptReply, 'status'>>): boolean => {
  if (!/^(0x)?0*[01]$/.test(status ?? '')) throw unavailable('The chain', new Error('The receipt has no valid status'))
  return Number(status) === 1
}

/** Returns the cost of a transaction in wei. Returns 0 if the node does not report it. */
export const feeOf = ({
  gasUsed = '0x0',
  effectiveGasPrice = '0x0',
  l1Fee = '0x0',
}: Pick<ReceiptReply, 'gasUsed' | 'effectiveGasPrice' | 'l1Fee'>): bigint =>
  BigInt(gasUsed) * BigInt(effectiveGasPrice) + BigInt(l1Fee)
