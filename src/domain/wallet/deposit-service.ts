/** Deposits that the chain's watcher found, put into the books. Only the watcher calls this; nobody can ask for it. */
import type { Database, DepositBooks, FeedNotifications, Log } from '../ports.ts'
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

/** Deposits of one statement. */
const PAGE = 500

const settingOf = (chainId: number) => `deposits:${chainId}`

interface Dependencies {
  database: Database
  notifications: Pick<FeedNotifications, 'notify'>
  log: Pick<Log, 'error'>
}

/**
 * Credits deposits together with the scan's position, so that each block counts once. The position is text of the
 * watcher's own, kept for each chain.
 */
export function createDepositService({ database, notifications, log }: Dependencies): DepositBooks {
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
    async scanned(chainId) {
      const [row] = await database.query(findScanned, { setting: settingOf(chainId) })
      return row?.value
    },

    async begin(chainId, position) {
      await database.query(beginScan, { setting: settingOf(chainId), position })
    },

    async ours(addresses) {
      if (addresses.length === 0) return new Set()
      const rows = await database.query(findWalletAddresses, { addresses })
      return new Set(rows.map(({ address }) => address))
    },

    // What was credited before is left out. What the books refuse is set aside with the move, for `creditSetAside`.
    async credit(chainId, { from, to }, deposits) {
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

    creditSetAside: () => sweeper.run(setAside),

    async goBack(chainId, { from, to }, blockNumber) {
      await database.query(moveScanBack, { setting: settingOf(chainId), from, to, height: blockNumber })
    },

    async countAbove(blockNumber) {
      const [row] = await database.query(countDepositsAbove, { height: blockNumber })
      return row?.count ?? 0
    },
  }
}
