/** Ledger of deposits, for the deposit watcher and for `annal deposits credit`. */
import type { Database } from '../../db/database-types.ts'
import { findSetting, insertSetting, keyValueKeys, replaceSetting } from '../../db/key-value-store.ts'
import type { FeedNotifications } from '../../db/processes.ts'
import { type BatchJob, createBatchJobRunner } from '../../jobs/batch-jobs.ts'
import type { Log } from '../../shared/log.ts'
import * as sql from './deposits.sql.ts'

export interface FoundDeposit {
  kind: 'COIN' | 'TOKEN'
  transactionHash: string
  /** -1 for coins. For a token, the index of the transfer among the token's events of the transaction. */
  position: number
  /** Address of the wallet, with EIP-55 checksum. */
  address: string
  /** Amount in currency units, a decimal string above 0. The amount can exceed the maximum of the ledger. */
  amount: string
  blockNumber: number
  blockHash: string
}

/** A scan and its stored checkpoint. Writes fail if another process has moved the scan. */
export type ScanPosition = { chainId: number; position: string }

interface ManualDeposit extends Omit<FoundDeposit, 'kind' | 'position' | 'address'> {
  reference: string
  userId: string
  reason: string
}

/** Maximum number of deposits per statement. */
const PAGE = 500
const settingOf = (chainId: number) => `${keyValueKeys.deposits}${chainId}`
const referenceOf = ({ transactionHash, position }: FoundDeposit) => `deposit:${transactionHash}:${position}`

type Parts = { database: Database; notifications: Pick<FeedNotifications, 'notify'>; log: Pick<Log, 'error'> }
export type DepositLedger = ReturnType<typeof createDepositLedger>

/** Creates the ledger. Deposits and scan position are stored together, so each block counts once. */
export function createDepositLedger({ database, notifications, log }: Parts) {
  const runner = createBatchJobRunner({ database, log, notifications })
  const lockScan = async (query: Database['query'], { chainId, position: from }: ScanPosition) =>
    (await query(sql.lockScan, { setting: settingOf(chainId), from })).length > 0
  /** Locks the scan at this position and runs `work`. Returns no rows if another process has moved the scan. */
  const withLock = <Row>(scan: ScanPosition, work: (query: Database['query']) => Promise<Row[]>) =>
    database.transaction(async (query) => ((await lockScan(query, scan)) ? work(query) : []))

  const creditJob = (scan: ScanPosition, due: number): BatchJob => ({
    name: 'credit-deposits',
    find: (query, page) => query(sql.findDueDeposits, { ...page, due }),
    page: PAGE,
    async process(query, references) {
      const [row] = (await lockScan(query, scan)) ? await query(sql.creditDeposits, { references, due }) : []
      return row ?? { items: [], owners: [] }
    },
  })

  return {
    /** Returns the position of the scan of a chain. Undefined before the first scan. */
    readPosition: async (chainId: number) => (await database.query(findSetting, { key: settingOf(chainId) }))[0]?.value,
    /** Stores the first position of the scan, unless a position exists. */
    begin: (chainId: number, position: string) =>
      database.query(insertSetting, { key: settingOf(chainId), value: position }),
    /** Returns the EIP-55 addresses that belong to wallets. */
    async findWallets(addresses: readonly string[]): Promise<ReadonlySet<string>> {
      const rows = addresses.length > 0 ? await database.query(sql.findWalletAddresses, { addresses }) : []
      return new Set(rows.map(({ address }) => address))
    },
    /** Moves the scan and stores its deposits as pending. Returns false if another process moved the scan. */
    async storeFound(chainId: number, { from, to }: { from: string; to: string }, deposits: readonly FoundDeposit[]) {
      const [row] = await database.query(sql.storeFoundDeposits, {
        ...{ setting: settingOf(chainId), from, to },
        references: deposits.map(referenceOf),
        kinds: deposits.map(({ kind }) => kind),
        hashes: deposits.map(({ transactionHash }) => transactionHash),
        addresses: deposits.map(({ address }) => address),
        amounts: deposits.map(({ amount }) => amount),
        blockNumbers: deposits.map(({ blockNumber }) => blockNumber),
        blockHashes: deposits.map(({ blockHash }) => blockHash),
      })
      return row?.advanced === 1
    },
    /** Stores the newest block of the chain, and the newest block whose deposits are credited. */
    storeHead: (head: number, due: number) =>
      database.query(replaceSetting, { key: keyValueKeys.depositsHead, value: `${head} ${due}` }),
    /** Credits deposits in blocks up to `due` and returns the number. Failed deposits are retried with backoff. */
    creditDue: (scan: ScanPosition, due: number): Promise<number> => runner.run(creditJob(scan, due)),
    /**
     * Freezes a page of the credited deposits from blocks above `height`. The last page also moves the scan back to `to`.
     * Returns the references of the deposits, and the already spent amount as a decimal string.
     */
    async rewind(scan: ScanPosition, to: string, height: number): Promise<{ frozen: string[]; shortfall: string }> {
      const [row] = await withLock(scan, async (query) => {
        const rows = await query(sql.freezeDeposits, { height, limit: PAGE })
        const move = { setting: settingOf(scan.chainId), from: scan.position, to, height }
        if (rows.every(({ frozen }) => frozen.length < PAGE)) await query(sql.rewindScan, move)
        return rows
      })
      for (const owner of row?.owners ?? []) notifications.notify(owner)
      return { frozen: row?.frozen ?? [], shortfall: row?.shortfall ?? '0' }
    },
    /** Credits a new or a lost frozen deposit. Returns undefined if the scan moved or the deposit exists. */
    async creditByHand(scan: ScanPosition, due: number, input: ManualDeposit): Promise<string | undefined> {
      const { userId: user, transactionHash: hash, ...deposit } = input
      const [row] = await withLock(scan, async (query) => {
        const [stored] = await query(sql.insertManualDeposit, { ...deposit, user, hash })
        if (!stored) return []
        const [credited] = await query(sql.creditDeposits, { references: [deposit.reference], due })
        if (credited?.items.length !== 1) throw new Error('The deposit cannot be credited.')
        return [stored]
      })
      if (row) notifications.notify(user)
      return row?.id
    },
  }
}
