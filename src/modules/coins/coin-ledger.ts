/** Ledger of the coins on the chain, for the treasury worker. Every function is idempotent and safe for concurrent use. */
import type { Database } from '../../db/database-types.ts'
import { findSetting, keyValueKeys, replaceSetting } from '../../db/key-value-store.ts'
import type { SignedCoins } from '../../keys/key-types.ts'
import { fromUnits, toUnits } from '../../shared/money.ts'
import type { FeedNotifications } from '../events/notification-types.ts'
import {
  displaceMoves,
  findCoinRaw,
  findMoves,
  findNextNonce,
  findUnderWay,
  holdMoves,
  holdWallets,
  insertSweep,
  markMovesIncluded,
  markMovesSent,
  resumeSweep,
  settleMoves,
  storeFillers,
} from './coin-transfers.sql.ts'
import type {
  AvailableFunds,
  BookedCoins,
  CoinTransfer,
  DueWithdrawal,
  IncludedTransfer,
  OpenTransfer,
  SignedTransfer,
  UnsweptBalance,
} from './coin-types.ts'
import { findResumable, resumeMoves, suspendTransfers } from './stuck-transfers.sql.ts'
import {
  doubtTreasury,
  findEarlierTreasuries,
  findNotedTreasuries,
  findOwnUnswept,
  findUnswept,
  hasCoinWork,
  noteTreasury,
  type UnsweptRow,
} from './treasury.sql.ts'
import {
  endWithdrawals,
  failWithdrawal,
  findDueWithdrawals,
  storeWithdrawal,
  sumDueWithdrawals,
} from './withdrawals.sql.ts'

const openTransfer = ({ nonce, amount }: { nonce: number; amount: string }) => ({ nonce, amount: toUnits(amount) })

function unsweptBalance(row: UnsweptRow, open: readonly OpenTransfer[] = []): UnsweptBalance {
  const { userId, address, unswept, nextNonce, asideNonce, asideRecipient, newest, ...key } = row
  return {
    ...{ userId, address, nextNonce, open, key, unswept: toUnits(unswept), newest: newest.map(toUnits) },
    ...(asideNonce !== null &&
      asideRecipient !== null && { suspended: { nonce: asideNonce, recipient: asideRecipient } }),
  }
}

/** Reads the coins at a user's address. Undefined if the key is destroyed. */
export async function readOwnCoins(query: Database['query'], userId: string): Promise<UnsweptBalance | undefined> {
  const [row] = await query(findOwnUnswept, { user: userId })
  if (!row) return undefined
  const open = await query(findUnderWay, { sender: row.address })
  return unsweptBalance(row, open.map(openTransfer))
}

/** Parameters of the statements that store a transfer. */
export const transferParams = ({
  sender,
  recipient,
  nonce,
  amount,
  signed,
}: Pick<SignedTransfer, 'sender' | 'recipient' | 'nonce' | 'amount' | 'signed'>) => ({
  ...{ sender, recipient, nonce, amount: fromUnits(amount) },
  hashes: signed.map(({ hash }) => hash),
  raws: signed.map(({ raw }) => raw),
  prices: signed.map(({ gasPrice }) => String(gasPrice)),
  values: signed.map(({ value }) => fromUnits(value)),
})

/**
 * Stores a transfer from a user's address. With `unswept`, the wallet must be locked by an earlier statement of the transaction. Returns false if
 * another process was faster, or if the account is deleted.
 */
export async function storeSweep(query: Database['query'], transfer: SignedTransfer): Promise<boolean> {
  const unswept = transfer.unswept === undefined ? null : fromUnits(transfer.unswept)
  const parameters = { ...transferParams(transfer), user: transfer.userId, unswept }
  return (await query(transfer.replacesSuspended ? resumeSweep : insertSweep, parameters)).length > 0
}

const fundParams = ({ free, price }: AvailableFunds) => ({ free: fromUnits(free), price: fromUnits(price) })

/** Maximum number of withdrawals that one statement settles. */
const PAGE = 100

interface Parts {
  database: Pick<Database, 'query' | 'transaction'>
  notifications: Pick<FeedNotifications, 'notify'>
}

/** The ledger of coins. */
export type CoinLedger = ReturnType<typeof createCoinLedger>

/** Creates the ledger of coins. */
export function createCoinLedger({ database, notifications }: Parts) {
  const { query } = database
  /** Runs `work` after it has locked the wallets of these addresses: no deposit and no transfer changes them meanwhile. */
  const withLock = <T>(addresses: string[], work: (query: Database['query']) => Promise<T>) =>
    database.transaction(async (query) => {
      await query(holdWallets, { addresses })
      return work(query)
    })

  return {
    /** Returns a page of users with at least `least` unswept wei each. */
    async findUnswept(least: bigint, after: string, limit: number): Promise<UnsweptBalance[]> {
      const rows = await query(findUnswept, { least: fromUnits(least), after, limit })
      return rows.map((row) => unsweptBalance(row))
    },

    /** Stores a sweep before it is sent. Returns false if another process was faster, or if the account is deleted. */
    store: (transfer: SignedTransfer) => withLock([transfer.sender], (query) => storeSweep(query, transfer)),

    /** Returns a page of transfers that are not settled or are in a block from `youngest` on, by sender and nonce. */
    async findOpen(
      youngest: number,
      after: Pick<CoinTransfer, 'sender' | 'nonce'> | undefined,
      limit: number,
    ): Promise<CoinTransfer[]> {
      const rows = await query(findMoves, {
        ...{ youngest, limit, afterSender: after?.sender ?? '', afterNonce: after?.nonce ?? 0 },
      })
      return rows.map(({ hashes, prices, current, ...row }) => ({
        ...row,
        transactions: hashes.map((hash, index) => ({
          ...{ hash, gasPrice: BigInt(prices[index]!), isCurrent: current[index]! },
        })),
      }))
    },

    /** Returns the nonce after all signed transfers of an address, and its open transfers. */
    async readSender(address: string): Promise<Pick<BookedCoins, 'nextNonce' | 'open'>> {
      const [next] = await query(findNextNonce, { sender: address })
      const open = await query(findUnderWay, { sender: address })
      return { nextNonce: next?.nonce ?? 0, open: open.map(openTransfer) }
    },

    /** Returns true if the transaction count of this treasury was stored before. */
    async isTreasuryNoted(address: string): Promise<boolean> {
      return (await query(findSetting, { key: `${keyValueKeys.treasury}${address}` })).length > 0
    },

    /** Returns all treasuries ever used, with the nonces signed there and their first transaction counts. */
    findTreasuries: () => query(findNotedTreasuries),

    /**
     * Returns the transaction count that a treasury had before the ledger began. Stores `count` for the first treasury, and 0 for one that replaces
     * another: a database from before the replacement does not know what the new treasury paid.
     */
    async noteTreasury(address: string, count: number): Promise<number> {
      const [row] = await query(noteTreasury, { address, count })
      return row!.first
    },

    /** Stores whether the chain has transactions of the treasury that the ledger does not know. No withdrawal can be canceled then. */
    async doubtTreasury(address: string, doubted: boolean): Promise<void> {
      await query(doubtTreasury, { address, doubted })
    },

    /** Returns treasuries other than `current` that still hold swept coins, in wei. */
    async findEarlierTreasuries(current: string) {
      const rows = await query(findEarlierTreasuries, { current })
      return rows.map(({ address, held }) => ({ address, held: toUnits(held) }))
    },

    /** Returns due withdrawals that `funds` can pay, oldest first, and those that need more gas than `mostGas`. */
    async findDueWithdrawals(funds: AvailableFunds, mostGas: bigint, limit: number): Promise<DueWithdrawal[]> {
      const rows = await query(findDueWithdrawals, { ...fundParams(funds), mostGas: Number(mostGas), limit })
      return rows.map(({ amount, fee, gasLimit, ...row }) => ({
        ...{ ...row, amount: toUnits(amount), fee: toUnits(fee), gasLimit: BigInt(gasLimit) },
      }))
    },

    /** Returns the sum of all due withdrawals that `funds` cannot pay, with their fees. */
    async sumDue(funds: AvailableFunds): Promise<bigint> {
      const [row] = await query(sumDueWithdrawals, fundParams(funds))
      return toUnits(row!.amount)
    },

    /** Stores the transfer of a withdrawal. Returns false if it was canceled, or if another process was faster. */
    async storeWithdrawal(id: string, transfer: SignedTransfer): Promise<boolean> {
      const parameters = { ...transferParams(transfer), user: transfer.userId, withdrawal: id }
      return (await query(storeWithdrawal, parameters)).length > 0
    },

    /** Stores empty transactions that replace a payment at its nonce. Returns false if it has some already, or is in a block. */
    async storeFillers(move: string, fillers: readonly SignedCoins[]): Promise<boolean> {
      const stored = await query(storeFillers, {
        move,
        hashes: fillers.map(({ hash }) => hash),
        raws: fillers.map(({ raw }) => raw),
        prices: fillers.map(({ gasPrice }) => String(gasPrice)),
      })
      return stored.length > 0
    },

    /** Refunds a withdrawal that is not signed. */
    async failWithdrawal(id: string, failure: string): Promise<void> {
      for (const { owner } of await query(failWithdrawal, { withdrawal: id, failure })) notifications.notify(owner)
    },

    /** Ends a page of withdrawals whose transfers are settled. */
    async endWithdrawals(): Promise<void> {
      const [row] = await query(endWithdrawals, { limit: PAGE })
      for (const owner of row?.owners ?? []) notifications.notify(owner)
    },

    /** Returns true if a transfer is not settled, a withdrawal is due, or an address holds at least `least` unswept wei. */
    async hasWork(least: bigint): Promise<boolean> {
      const [row] = await query(hasCoinWork, { least: fromUnits(least) })
      return row?.open ?? false
    },

    /** Suspends transfers whose coins the chain lost an hour ago. Returns their addresses. */
    async suspendTransfers(): Promise<string[]> {
      const [row] = await query(suspendTransfers)
      return row?.addresses ?? []
    },

    /** Returns a page of addresses with a suspended transfer that the ledger can pay again. */
    async findResumable(after: string, limit: number): Promise<Pick<BookedCoins, 'address' | 'open'>[]> {
      const rows = await query(findResumable, { after, limit })
      return rows.map(({ address, nonces, amounts }) => ({
        address,
        open: nonces.map((nonce, index) => ({ nonce, amount: toUnits(amounts[index]!) })),
      }))
    },

    /**
     * Resumes suspended transfers with the signed amount that the address has, in `free` wei. Returns the addresses where it did. At the others the
     * chain has more than was credited.
     */
    async resume(seen: readonly { address: string; free: bigint }[]): Promise<string[]> {
      const addresses = seen.map(({ address }) => address)
      const free = seen.map((each) => fromUnits(each.free))
      const [row] = await withLock(addresses, (query) => query(resumeMoves, { addresses, free }))
      return row?.addresses ?? []
    },

    /** Stores the number of suspended transfers that wait, for the operator. */
    async noteWaiting(count: number): Promise<void> {
      await query(replaceSetting, { key: keyValueKeys.movesWaiting, value: String(count) })
    },

    /** Returns the stored bytes of transactions, by hash. */
    async readRaw(hashes: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
      const rows = await query(findCoinRaw, { hashes })
      return new Map(rows.map(({ hash, raw }) => [hash, raw]))
    },

    /** Marks transfers of which a node accepted this transaction. */
    async markSent(sent: readonly { id: string; hash: string }[]): Promise<void> {
      await query(markMovesSent, { ids: sent.map(({ id }) => id), hashes: sent.map(({ hash }) => hash) })
    },

    /** Marks transfers that are in a block. */
    async markIncluded(included: readonly IncludedTransfer[]): Promise<void> {
      await query(markMovesIncluded, {
        ids: included.map(({ id }) => id),
        hashes: included.map(({ transactionHash }) => transactionHash),
        blockNumbers: included.map(({ blockNumber }) => blockNumber),
        blockHashes: included.map(({ blockHash }) => blockHash),
        fees: included.map(({ fee }) => fromUnits(fee)),
        arrived: included.map(({ hasArrived }) => hasArrived),
      })
    },

    /** Marks transfers whose blocks are gone. Reverses the entries of those that were settled. */
    async markDisplaced(ids: readonly string[]): Promise<void> {
      await database.transaction(async (query) => {
        await query(holdMoves, { ids })
        await query(displaceMoves, { ids })
      })
    },

    /** Settles transfers that are deep enough and still in this block. */
    async settle(transfers: readonly { id: string; blockHash: string }[]): Promise<void> {
      await query(settleMoves, {
        ids: transfers.map(({ id }) => id),
        blockHashes: transfers.map(({ blockHash }) => blockHash),
      })
    },
  }
}
