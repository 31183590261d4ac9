/** The chain, as rules and presenters see it. */

import type { Verification } from '../../packages/verify/src/verification.ts'

/** Histories on the chain. `readTree` returns the bytes of a tree; undefined when the caller must not read it. */
export interface Histories {
  /** Where they stand; undefined before the first commit. No node is asked. */
  place(): Promise<{ chainId: number; registry: string } | undefined>
  /** Verifies a history. A node or file store that does not answer makes it unsettled. Throws CONFLICT while there is no registry. */
  verify(nid: string, readTree: (cid: string) => Promise<Uint8Array | undefined>): Promise<Verification>
  /** A history as a CAR that anybody can check. Raises UNAVAILABLE, CONFLICT while nothing is on the chain, before the first piece. */
  prove(nid: string, readTree: (cid: string) => Promise<Uint8Array | undefined>): AsyncGenerator<Uint8Array>
}

/** The chain as rules and presenters see it. */
export interface Chain {
  /** Is told that a commit waits; returns at once. */
  wake(): void
  /** Where a person can look at a transaction, or null when no explorer is configured. */
  explorerUrl(transactionHash: string): string | null
}
