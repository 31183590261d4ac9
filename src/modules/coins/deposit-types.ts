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

/** A wallet for which an operator credits a deposit by hand. */
export interface CreditTarget {
  /** With EIP-55 checksum. */
  address: string
  /** Sum of the credited coin deposits, a decimal string. */
  credited: string
  /** Sum of the other coin deposits up to the block, a decimal string. */
  waiting: string
  /** The coin moves from the address: nonces, and amounts as decimal strings. */
  nonces: number[]
  amounts: string[]
  /** The deposit that already has the reference. `isLost`: it is frozen and its block was lost. */
  deposit?: { id: string; status: 'PENDING' | 'CREDITED' | 'FROZEN'; userId: string; amount: string; isLost: boolean }
}

/** A deposit of coins that an operator credits by hand. */
export interface ManualDeposit {
  reference: string
  transactionHash: string
  /** UUID. */
  userId: string
  /** Currency units, a decimal string. */
  amount: string
  blockNumber: number
  blockHash: string
  reason: string
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
  note(chainId: number, move: ScanMove, found: readonly FoundDeposit[]): Promise<boolean>
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
  /** Reads a wallet and the deposit with this reference, for a credit by hand. `upTo` is the newest block that the scan has read. */
  readCreditTarget(userId: string, reference: string, upTo: number): Promise<CreditTarget | undefined>
  /**
   * Stores and credits a deposit, once per reference. Credits a frozen deposit again if its block was lost. Returns the UUID of the deposit, or
   * undefined if the scan moved on or the deposit exists. Throws UNAVAILABLE.
   */
  creditByHand(place: ScanPlace, due: number, deposit: ManualDeposit): Promise<string | undefined>
}
