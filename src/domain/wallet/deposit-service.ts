/** Deposits that the chain's watcher found, put into the books. Only the watcher calls this; nobody can ask for it. */
import type { Database, FeedNotifications, Log } from '../ports.ts'
import type { Sweep } from '../sweep/sweep.ts'
import { createSweeper, isOutage } from '../sweep/sweeper.ts'
import {
  beginScan,
  countDepositsAbove,
  creditDeposits,
  creditSetAside,
  findScanned,
  findSetAside,
  findWalletAddresses,
  moveScanBack,
  setDepositsAside,
} from './deposit-statements.ts'

/** A transaction that paid to a wallet's address and succeeded. */
export interface FoundDeposit {
  transactionHash: string
  /** The wallet's, with EIP-55 checksum. */
  address: string
  /** Currency units, a decimal string above 0; it may be more than the books can hold. */
  amount: string
  blockNumber: number
  blockHash: string
}

/** Where a scan stood, and where it is moved. */
interface Move {
  from: string
  to: string
}

/** Deposits of one statement. */
const PAGE = 500

const settingOf = (chainId: number) => `deposits:${chainId}`

/** The books as the watcher of the chain sees them; what `createDepositService` makes. */
export type DepositService = ReturnType<typeof createDepositService>

interface Dependencies {
  database: Database
  notifications: Pick<FeedNotifications, 'notify'>
  log: Pick<Log, 'error'>
}

/**
 * Credits deposits together with the scan's position, so that each block counts once. The position is text of the
 * watcher's own, kept for each chain.
 */
export function createDepositService({ database, notifications, log }: Dependencies) {
  const sweeper = createSweeper({ database, log, notifications })
  const setAside: Sweep = {
    name: 'credit-deposits',
    find: (query, part) => query(findSetAside, part),
    page: PAGE,
    async carryOut(query, transactions) {
      const [row] = await query(creditSetAside, { transactions })
      return { items: row?.items ?? [], owners: row?.owners ?? [] }
    },
  }

  return {
    /** Where the scan of a chain stands, as the watcher wrote it down. */
    async scanned(chainId: number): Promise<string | undefined> {
      const [row] = await database.query(findScanned, { setting: settingOf(chainId) })
      return row?.value
    },

    /** Where the scan begins, unless it has begun. */
    async begin(chainId: number, position: string): Promise<void> {
      await database.query(beginScan, { setting: settingOf(chainId), position })
    },

    /** Which of these addresses, with EIP-55 checksum, are wallets. */
    async ours(addresses: readonly string[]): Promise<Set<string>> {
      if (addresses.length === 0) return new Set()
      const rows = await database.query(findWalletAddresses, { addresses })
      return new Set(rows.map(({ address }) => address))
    },

    /**
     * Moves the scan from one position to the next and credits what lay between; what was credited before is left out. Where
     * the books refuse some of it, all of it is set aside with the move, for `creditSetAside` to credit each for itself. Returns
     * how many were credited, or undefined when somebody else had moved the scan. Raises UNAVAILABLE while the database is away,
     * and whatever keeps the scan from being moved.
     */
    async credit(chainId: number, { from, to }: Move, deposits: readonly FoundDeposit[]): Promise<number | undefined> {
      const found = {
        ...{ setting: settingOf(chainId), from, to },
        hashes: deposits.map(({ transactionHash }) => transactionHash),
        addresses: deposits.map(({ address }) => address),
        amounts: deposits.map(({ amount }) => amount),
        blockNumbers: deposits.map(({ blockNumber }) => blockNumber),
        blockHashes: deposits.map(({ blockHash }) => blockHash),
      }
      try {
        const [row] = await database.query(creditDeposits, found)
        for (const owner of row?.owners ?? []) notifications.notify(owner)
        return row?.advanced ? row.credited : undefined
      } catch (error) {
        if (isOutage(error) || deposits.length === 0) throw error
      }
      const [row] = await database.query(setDepositsAside, found)
      return row?.advanced ? 0 : undefined
    },

    /** Credits deposits that were set aside, each for itself; returns how many. What fails is tried ever more rarely. Raises UNAVAILABLE. */
    creditSetAside: (): Promise<number> => sweeper.run(setAside),

    /** Moves the scan back to a block: what lies above is found anew, and nothing of it stays set aside. */
    async goBack(chainId: number, { from, to }: Move, blockNumber: number): Promise<void> {
      await database.query(moveScanBack, { setting: settingOf(chainId), from, to, height: blockNumber })
    },

    /** How many deposits stand in the books from blocks above a height. */
    async countAbove(blockNumber: number): Promise<number> {
      const [row] = await database.query(countDepositsAbove, { height: blockNumber })
      return row?.count ?? 0
    },
  }
}
