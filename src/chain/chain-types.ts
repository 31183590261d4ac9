import type { Verification } from '../../packages/verify/src/verification.ts'
import type { Query } from '../db/sql.ts'

/** Histories on the chain. `readTree` returns the bytes of a tree; undefined when the caller must not read it. */
export interface Histories {
  /** Returns the chain and the registry. Undefined before the first commit. Does not call the node. */
  place(): Promise<{ chainId: number; registry: string } | undefined>
  /** Verifies a history. Missing answers make it unsettled. Throws CONFLICT while there is no registry. */
  verify(nid: string, readTree: (cid: string) => Promise<Uint8Array | undefined>): Promise<Verification>
  /** Returns the proof of a history as a CAR. Throws UNAVAILABLE, CONFLICT before the first chunk. */
  prove(nid: string, readTree: (cid: string) => Promise<Uint8Array | undefined>): AsyncGenerator<Uint8Array>
}

export interface Chain {
  wake(): void
  explorerUrl(transactionHash: string): string | null
}

/** The coins of users. The optional module `coins` implements it. */
export interface Coins {
  /** Returns the address and the balance in wei. The balance is undefined if the node does not answer. */
  treasury(): Promise<{ address: string; balance: bigint | undefined }>
  /** Quotes the transfer of `value` wei from the treasury to an address that a user entered. Throws UNAVAILABLE. */
  quote(to: string, value: bigint): Promise<QuotedTransfer>
  /** Signs transfers of all coins at a user's address, before the key is destroyed. Throws UNAVAILABLE. */
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
  /** Stores the transfers when the account is deleted. Returns false if the coins changed: sign again. */
  store(query: Query): Promise<boolean>
}
