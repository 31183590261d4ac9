/** What comes in from the chain. */

/** A deposit in a block of the chain. */
export interface FoundDeposit {
  /** `COIN`: the chain's own; `TOKEN`: of the configured contract. */
  kind: 'COIN' | 'TOKEN'
  transactionHash: string
  /** -1 for the chain's own coin; of a token its place among the token's events of the transaction, whose block may change. */
  position: number
  /** The wallet's, with EIP-55 checksum. */
  address: string
  /** Currency units, a decimal string above 0; it may be more than the books can hold. */
  amount: string
  blockNumber: number
  blockHash: string
}

/** Coins that a transaction of a wallet's own key took from its address. */
export interface FoundSpending {
  transactionHash: string
  /** The wallet's, with EIP-55 checksum. */
  address: string
  /** With its fee; a decimal string. */
  amount: string
  blockNumber: number
}

/** What blocks have to do with wallets' addresses. */
export interface FoundInBlocks {
  deposits: readonly FoundDeposit[]
  spendings: readonly FoundSpending[]
}

/** Where a scan of a chain stood, and where it is moved: text of the watcher's own. */
export interface ScanMove {
  from: string
  to: string
}

/** Where the scan of a chain stands, as the watcher wrote it down: what it has asked for is refused once somebody has moved it. */
export interface ScanPlace {
  chainId: number
  position: string
}

/** What a reorganisation took out of the books. */
export interface FrozenDeposits {
  /** References of the deposits. */
  frozen: string[]
  /** Currency units that wallets had spent of them, a decimal string. */
  shortfall: string
}

/** The books that deposits are credited in, as the watcher of the chain sees them. */
export interface DepositBooks {
  /** Where the scan of a chain stands, as the watcher wrote it down. */
  scanned(chainId: number): Promise<string | undefined>
  /** Where a scan begins, unless it has begun. */
  begin(chainId: number, position: string): Promise<void>
  /** Which of these addresses, with EIP-55 checksum, are wallets. */
  ours(addresses: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Moves the scan and writes down what it found, in one transaction; nothing of it counts yet. Returns whether nobody else had moved the
   * scan. Raises UNAVAILABLE while the database is away.
   */
  note(chainId: number, move: ScanMove, found: FoundInBlocks): Promise<boolean>
  /** Says how far the chain was seen, and up to which block deposits count. */
  noteHead(head: number, due: number): Promise<void>
  /**
   * Credits what stands in blocks up to `due`; returns how many. Each counts for itself: what the books refuse is tried ever more rarely, and
   * shown to the operator. Raises UNAVAILABLE.
   */
  creditDue(place: ScanPlace, due: number): Promise<number>
  /**
   * Takes out of the books what was credited from blocks above a height, a bounded part of it; with the last part the scan is moved back to `to`:
   * what lies above is found anew, and what of it did not count yet is forgotten. None, once all is done.
   */
  goBack(place: ScanPlace, to: string, height: number): Promise<FrozenDeposits>
  /** Begins to hold balances to what is known, unless it has begun: what earlier accounts hold then is taken for granted. */
  beginBalances(chainId: number): Promise<void>
  /** A page of wallets that may be sent something by contracts, in the order of their ids, after one of these. */
  watchedWallets(after: string | null, limit: number): Promise<{ id: string; address: string }[]>
  /**
   * Holds what addresses hold at a block, decimal strings, to what is known of them. Returns how many deposits of contracts were found, and
   * which addresses hold too little.
   */
  settleBalances(
    place: ScanPlace,
    block: { number: number; hash: string },
    balances: readonly { address: string; balance: string }[],
  ): Promise<{ found: number; lacking: string[] }>
}
