/** Deposits that the chain's watcher found, put into the books. Only the watcher calls this; nobody can ask for it. */
import type { Database, FeedNotices } from '../ports.ts'
import {
  beginScan,
  countDepositsAbove,
  creditDeposits,
  findScanned,
  findWalletAddresses,
} from './deposit-statements.ts'

/** A transaction that paid to a wallet's address and succeeded. */
export interface FoundDeposit {
  transactionHash: string
  /** The wallet's, with EIP-55 checksum. */
  address: string
  /** Currency units, a decimal string above 0. */
  amount: string
  blockNumber: number
  blockHash: string
}

const settingOf = (chainId: number) => `deposits:${chainId}`

export type DepositService = ReturnType<typeof createDepositService>

interface Dependencies {
  database: Database
  notices: Pick<FeedNotices, 'announce'>
}

export function createDepositService({ database, notices }: Dependencies) {
  return {
    /** Where the scan of a chain stands, as the watcher wrote it down. */
    async scanned(chainId: number): Promise<string | undefined> {
      const [row] = await database.query(findScanned, [settingOf(chainId)])
      return row?.value
    },

    /** Where the scan begins, unless it has begun. */
    async begin(chainId: number, position: string): Promise<void> {
      await database.query(beginScan, [settingOf(chainId), position])
    },

    /** Which of these addresses, with EIP-55 checksum, are wallets. */
    async ours(addresses: readonly string[]): Promise<Set<string>> {
      if (addresses.length === 0) return new Set()
      const rows = await database.query(findWalletAddresses, [addresses])
      return new Set(rows.map(({ address }) => address))
    },

    /**
     * Moves the scan from one position to the next and credits what lay between, all or nothing. What was credited before
     * is left out. Returns how many were credited, or undefined when the scan had been moved by somebody else.
     */
    async credit(
      chainId: number,
      { from, to }: { from: string; to: string },
      deposits: readonly FoundDeposit[],
    ): Promise<number | undefined> {
      const [row] = await database.query(creditDeposits, [
        ...[settingOf(chainId), from, to],
        deposits.map(({ transactionHash }) => transactionHash),
        deposits.map(({ address }) => address),
        deposits.map(({ amount }) => amount),
        deposits.map(({ blockNumber }) => blockNumber),
        deposits.map(({ blockHash }) => blockHash),
      ])
      for (const owner of row?.owners ?? []) notices.announce(owner)
      return row?.advanced ? row.credited : undefined
    },

    /** How many deposits stand in the books from blocks above a height. */
    async countAbove(blockNumber: number): Promise<number> {
      const [row] = await database.query(countDepositsAbove, [blockNumber])
      return row?.count ?? 0
    },
  }
}
