/** Coins of users on the chain, and the transfers that move them. Amounts are in wei. */
import type { SealedKey, SignedCoins } from '../../keys/key-types.ts'

/** Coins at an address of a user, according to the ledger. */
export interface BookedCoins {
  /** With EIP-55 checksum. */
  address: string
  /** Credited coins that no transfer takes. */
  unswept: bigint
  /** Nonce after all signed transfers. */
  nextNonce: number
  /** The oldest suspended transfer, whose coins the chain has lost. The next transfer reuses its nonce and its recipient. */
  suspended?: { nonce: number; recipient: string }
  /** Newest credited deposits that no transfer takes, newest first. */
  newest: readonly bigint[]
  /** Transfers that are signed and not settled, by nonce. */
  open: readonly OpenTransfer[]
}

/** A transfer that is signed and not settled. */
export interface OpenTransfer {
  nonce: number
  amount: bigint
}

/** Credited coins at a user's address, with the user's sealed key. */
export interface UnsweptBalance extends BookedCoins {
  userId: string
  key: SealedKey
}

/** A withdrawal that may be signed. */
export interface DueWithdrawal {
  id: string
  userId: string
  recipient: string
  amount: bigint
  /** Charged fee. */
  fee: bigint
  gasLimit: bigint
}

/** Funds for withdrawals. */
export interface AvailableFunds {
  /** Wei of the treasury that no signed transfer takes. */
  free: bigint
  /** Current gas price. */
  price: bigint
}

/** A signed transfer to store. */
export interface SignedTransfer {
  /** Owner of the sender address, or of the withdrawal. */
  userId: string
  sender: string
  recipient: string
  nonce: number
  amount: bigint
  signed: readonly SignedCoins[]
  /** True if it replaces a suspended transfer at the same nonce. */
  replacesSuspended?: boolean
  /** Balance that the ledger must have at the sender's address. The transfer takes all of it. Undefined for coins that are not in the ledger. */
  unswept?: bigint
}

/** A coin transaction that is on the chain and not in the ledger. */
export type UnknownTransfer =
  | { kind: 'SWEEP'; move: SignedTransfer }
  /** `claim`: the withdrawal that it pays. Without a claim, the platform bears the payment. */
  | { kind: 'WITHDRAWAL'; move: Omit<SignedTransfer, 'userId'>; claim: { id: string; userId: string } | undefined }

/** A transfer that can still change: it is not settled, or its block is young. */
export interface CoinTransfer {
  id: string
  sender: string
  nonce: number
  status: 'SIGNED' | 'BROADCAST' | 'INCLUDED' | 'FINAL' | 'FAILED'
  /** Hash of the included transaction, else of the most expensive one that was sent. */
  transactionHash: string
  blockNumber: number | null
  blockHash: string | null
  /** True if the coins arrived in that block. */
  hasArrived: boolean
  /**
   * All transactions that were signed for it, cheapest first. `isCurrent`: its amount is the one in the ledger, or it is the empty replacement of
   * a canceled payment. Only these are sent.
   */
  transactions: readonly { hash: string; gasPrice: bigint; isCurrent: boolean }[]
}

/** Inclusion of a transfer in a block. */
export interface IncludedTransfer {
  id: string
  transactionHash: string
  blockNumber: number
  blockHash: string
  fee: bigint
  hasArrived: boolean
}
