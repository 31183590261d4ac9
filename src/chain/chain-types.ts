import type { Verification } from '../../packages/verify/src/verification.ts'
import type { Query } from '../db/sql.ts'

/** Asset histories on the chain. `readTree` returns the bytes of a tree, or undefined if the caller may not read it. */
export interface Histories {
  /** Returns the chain ID and the registry's address without calling the node. Undefined before the first commit. */
  place(): Promise<{ chainId: number; registry: string } | undefined>
  /** Verifies a history. The verdict is UNSETTLED if responses are missing. Throws CONFLICT if there is no registry. */
  verify(nid: string, readTree: (cid: string) => Promise<Uint8Array | undefined>): Promise<Verification>
  /** Returns the proof of a history as a CAR file. Throws UNAVAILABLE and CONFLICT before the first chunk. */
  prove(nid: string, readTree: (cid: string) => Promise<Uint8Array | undefined>): AsyncGenerator<Uint8Array>
}

export interface Chain {
  wake(): void
  explorerUrl(transactionHash: string): string | null
}

export interface Coins {
  /** Returns the treasury's address and balance in wei. The balance is undefined if the node does not respond. */
  treasury(): Promise<{ address: string; balance: bigint | undefined }>
  quote(to: string, value: bigint): Promise<QuotedTransfer>
  /** Signs transfers of all coins at a user's address before the user's key is destroyed. Throws UNAVAILABLE. */
  signLastTransfers(userId: string): Promise<LastTransfers>
}

/** Cost of a withdrawal to an EIP-55 address. `fee` is in currency units, a decimal string. */
export interface QuotedTransfer {
  address: string
  fee: string
  gasLimit: number
  /** Reason why no coins can be sent to the address, as a sentence. */
  refusal?: string
}

export interface LastTransfers {
  /** Stores the transfers when the account is deleted. If it returns false, the coins changed: sign again. */
  store(query: Query): Promise<boolean>
}
