import type { Verification } from '../../packages/verify/src/verification.ts'
import type { Query } from '../db/sql.ts'

/** Histories on the chain. `readTree` returns the bytes of a tree; undefined when the caller must not read it. */
export interface Histories {
  /** Returns the chain and the registry. Undefined before the first commit. Does not call the node. */
  place(): Promise<{ chainId: number; registry: string } | undefined>
  /** Verifies a history. A node or file store that does not answer makes it unsettled. Throws CONFLICT while there is no registry. */
  verify(nid: string, readTree: (cid: string) => Promise<Uint8Array | undefined>): Promise<Verification>
  /** Returns the proof of a history as a CAR. Throws UNAVAILABLE, and CONFLICT while nothing is on the chain, before the first chunk. */
  prove(nid: string, readTree: (cid: string) => Promise<Uint8Array | undefined>): AsyncGenerator<Uint8Array>
}

export interface Chain {
  wake(): void
  /** Returns the page of a transaction in the block explorer. Null when none is configured. */
  explorerUrl(transactionHash: string): string | null
}

/** The coins of users. The optional module `coins` implements it. */
export interface Coins {
  /** Returns the address of the treasury and its balance in wei. The balance is undefined if the node does not answer within two seconds. */
  treasury(): Promise<{ address: string; balance: bigint | undefined }>
  /** Quotes the transfer of `value` wei from the treasury to an address that a user entered. Throws UNAVAILABLE. */
  quote(to: string, value: bigint): Promise<QuotedTransfer>
  /** Signs transfers of all coins at a user's address to the treasury, before the user's key is destroyed. Throws UNAVAILABLE if the key vault does not answer. */
  signLastTransfers(userId: string): Promise<LastTransfers>
}

/** Cost of a withdrawal to an EIP-55 address. `fee` is in currency units, a decimal string. */
export interface QuotedTransfer {
  address: string
  fee: string
  gasLimit: number
  /** Reason why nothing can be sent to the address, in a sentence. */
  refusal?: string
}

export interface LastTransfers {
  /** Stores the transfers in the transaction that deletes the account. Returns false if a deposit or a transfer was added since they were signed: sign again. */
  store(query: Query): Promise<boolean>
}
