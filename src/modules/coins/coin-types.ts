/** The coins that we hold on the chain, and their moves. */

import type { CoinPlan, SealedKey, SignedCoins } from '../../keys/key-types.ts'
import { unavailable } from '../../shared/errors.ts'

/** What lies at one address of ours, as the books have it. Amounts in wei. */
export interface BookedCoins {
  /** With EIP-55 checksum. */
  address: string
  /** What was credited and is in no move. */
  unswept: bigint
  /** The nonce after all that were ever signed here. */
  nextNonce: number
  /** The oldest move that is set aside, because the chain has lost its coins: what is signed next is signed at its nonce, and goes there. */
  aside?: { nonce: number; recipient: string }
  /** What was credited last and is in no move, the newest first: the last few. */
  newest: readonly bigint[]
  /** What is signed and not settled, in the order of nonces. */
  open: readonly { nonce: number; amount: bigint }[]
}

/** A move that is to be signed: the same coins at rising prices of gas, of which one gets into the chain. */
export interface MovePlan {
  /** Wei that leave the sender whichever of them it is. */
  amount: bigint
  /** Whether these are the coins that were credited, or, in part or whole, others that came in. */
  isBooked: boolean
  /** Whether a move that is set aside has the nonce. */
  isAnew: boolean
  /** The cheapest first; behind them others of less, for the case that the chain loses a part of the coins. */
  plans: readonly CoinPlan[]
}

/** The chain's own coin, as the rules see it. */
export interface Coins {
  /**
   * What takes everything that lies at an address into the treasury, and needs nothing that is known later: to be signed before the
   * address's key is destroyed. Where the node does not answer within two seconds, what the books know of.
   */
  planLast(booked: BookedCoins): Promise<MovePlan[]>
  /** The treasury, and what it has in wei: undefined where the node does not answer within two seconds. */
  treasury(): Promise<{ address: string; balance: bigint | undefined }>
  /** What it costs to send so many wei from the treasury to an address, as somebody wrote it. Raises UNAVAILABLE. */
  quote(to: string, value: bigint): Promise<QuotedTransfer>
}

/** What a withdrawal costs. */
export interface QuotedTransfer {
  /** With EIP-55 checksum. */
  address: string
  /** Currency units, a decimal string. */
  fee: string
  gasLimit: number
  /** Why nothing goes there, in a sentence; left out when it can. */
  refusal?: string
}

/** A withdrawal that may be signed for. Wei. */
export interface DueWithdrawal {
  id: string
  userId: string
  recipient: string
  amount: bigint
  /** What was charged. */
  fee: bigint
  gasLimit: bigint
}

/** What withdrawals are paid from: wei that no signed move takes, and wei that a unit of gas costs now. */
export interface Means {
  free: bigint
  price: bigint
}

/** Where no chain is asked and nothing can have come in. */
export const noCoins: Coins = {
  planLast: async () => [],
  treasury: async () => ({ address: '', balance: undefined }),
  quote: async () => {
    throw unavailable('The chain')
  },
}

/** A move of coins that was signed, to be stored. */
export interface SignedMove {
  /** Whose address it leaves. */
  userId: string
  sender: string
  recipient: string
  nonce: number
  /** Wei. */
  amount: bigint
  signed: readonly SignedCoins[]
  /** Whether a move that is set aside has the nonce, and goes on with these coins. */
  isAnew?: boolean
  /** Wei that the books have at the sender's address, all of which it takes; left out for coins that are not in the books. */
  unswept?: bigint
}

/** A transaction of coins that is in the chain and that the books do not know: what it goes into them as. */
export type Adoption =
  | { kind: 'GATHERING'; move: SignedMove }
  /** `claim`: the withdrawal that it pays; without one the platform bears it. */
  | { kind: 'WITHDRAWAL'; move: Omit<SignedMove, 'userId'>; claim: { id: string; userId: string } | undefined }

/** Somebody's credited coins on their own address, with the key that signs for them. */
export interface UnsweptCoins extends BookedCoins {
  userId: string
  key: SealedKey
}

/** A move of coins that may still change: it is not settled, or its block is young. */
export interface CoinMove {
  id: string
  sender: string
  nonce: number
  status: 'SIGNED' | 'BROADCAST' | 'INCLUDED' | 'FINAL' | 'FAILED'
  /** The dearest that was sent, or the included one. */
  transactionHash: string
  blockNumber: number | null
  blockHash: string | null
  /** Whether its coins arrived in that block. */
  hasArrived: boolean
  /** Everything that was signed for it, the cheapest first; prices in wei. `isCurrent`: those that are sent, which move what the books have under way, or the filler of a
   * payment that is given up. */
  transactions: readonly { hash: string; gasPrice: bigint; isCurrent: boolean }[]
}

/** What the chain says of a move. */
export interface PlacedMove {
  id: string
  transactionHash: string
  blockNumber: number
  blockHash: string
  /** Wei. */
  fee: bigint
  /** Whether its coins arrived. */
  hasArrived: boolean
}

/** The books of the coins that we hold, as what moves them sees it. Each method may be called again. */
export interface CoinBooks {
  /** Credited coins that lie on their owners' addresses, at least `least` wei of each, by owner after `after`. */
  findUnswept(least: bigint, after: string, limit: number): Promise<UnsweptCoins[]>
  /** Stores a move before anything of it is sent. False when somebody was quicker, or the account is deleted. */
  store(move: SignedMove): Promise<boolean>
  /** The nonce after all that were signed for an address, and what of them is not settled. */
  readSender(address: string): Promise<Pick<BookedCoins, 'nextNonce' | 'open'>>
  /** Whether a treasury was ever looked at. */
  isTreasuryNoted(address: string): Promise<boolean>
  /** Every treasury that was, with the nonces that were signed for there, and how many transactions it had sent then. */
  findTreasuries(): Promise<{ address: string; nonces: number[]; first: number }[]>
  /**
   * How many transactions a treasury had sent before the books began: `count`, if this is the first look at the first one. One that takes another
   * one's place has sent none: a database from before it did knows nothing of what it paid.
   */
  noteTreasury(address: string, count: number): Promise<number>
  /** Says whether the chain counts transactions of the treasury that the books do not know: nothing is cancelled while it does. */
  doubtTreasury(address: string, doubted: boolean): Promise<void>
  /** What was gathered in other treasuries than this one and was not moved from there, in wei. */
  findEarlierTreasuries(current: string): Promise<{ address: string; held: bigint }[]>
  /** Withdrawals that may be signed for and that `means` pay for, or that may never be because they need more gas than `mostGas`; oldest first. */
  findDueWithdrawals(means: Means, mostGas: bigint, limit: number): Promise<DueWithdrawal[]>
  /** Wei of all withdrawals that may be signed for and that `means` do not pay for, with their fees. */
  sumDue(means: Means): Promise<bigint>
  /** Stores the move of a withdrawal. False when it was cancelled meanwhile, or somebody was quicker. */
  storeWithdrawal(id: string, move: SignedMove): Promise<boolean>
  /**
   * Stores what takes the place of all that is signed for a withdrawal, at its nonce, and moves nothing, the cheapest first. False when it has
   * some, or is in a block.
   */
  storeFillers(moveId: string, fillers: readonly SignedCoins[]): Promise<boolean>
  /** Gives a withdrawal back for which nothing was signed. */
  failWithdrawal(id: string, failure: string): Promise<void>
  /** Ends withdrawals whose moves are settled: a bounded part of them. */
  endWithdrawals(): Promise<void>
  /** A page of what is not settled, and what is in a block from `youngest` on, in the order of senders and nonces. */
  findOpen(youngest: number, after: Pick<CoinMove, 'sender' | 'nonce'> | undefined, limit: number): Promise<CoinMove[]>
  /** Sets moves aside whose coins the chain has lost an hour ago. Returns their addresses. */
  setAside(): Promise<string[]>
  /** A page of addresses where a move is set aside and the books have what is signed for at its nonce, in their order; `open` as in `BookedCoins`. */
  findResumable(after: string, limit: number): Promise<Pick<BookedCoins, 'address' | 'open'>[]>
  /**
   * Takes up again what is set aside at these addresses, with all that is signed for and that the chain has `free` there, in wei. Returns those
   * where it was; at the others the chain has more than was credited.
   */
  resume(seen: readonly { address: string; free: bigint }[]): Promise<string[]>
  /** Says how many of them wait, for the operator. */
  noteWaiting(count: number): Promise<void>
  /** Whether anything is signed and not settled, or at least `least` wei of somebody's lie where they came in. */
  hasWork(least: bigint): Promise<boolean>
  /** Stored bytes by hash. */
  readRaw(hashes: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>
  /** A node has taken these, each the transaction of a move. */
  markSent(sent: readonly { id: string; hash: string }[]): Promise<void>
  markIncluded(placed: readonly PlacedMove[]): Promise<void>
  /** The blocks of these are gone; what counted as settled is taken back in the books. */
  markDisplaced(ids: readonly string[]): Promise<void>
  /** Settles what is deep enough, where it still is in that block. */
  settle(moves: readonly { id: string; blockHash: string }[]): Promise<void>
}
