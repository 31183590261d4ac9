/** The ledger of deposits, for the deposit watcher and for `annal deposits credit`. Users cannot call it. */
import type { Database } from '../../db/database-types.ts'
import { findSetting, rememberSetting, replaceSetting, settingKeys } from '../../db/key-value-store.ts'
import type { Sweep } from '../../jobs/batch-job.ts'
import { createSweeper } from '../../jobs/run-batch-job.ts'
import type { Log } from '../../shared/log.ts'
import type { FeedNotifications } from '../events/notification-types.ts'
import type { DepositBooks, FoundDeposit, ScanPlace } from './deposit-types.ts'
import {
  creditDeposits,
  findCreditTarget,
  findDueDeposits,
  findWalletAddresses,
  holdScan,
  insertManualDeposit,
  noteDeposits,
} from './deposits.sql.ts'
import { freezeDeposits, moveScanBack } from './freeze-deposits.sql.ts'

/** Deposits of one statement. */
const PAGE = 500

const settingOf = (chainId: number) => `${settingKeys.deposits}${chainId}`
const referenceOf = ({ transactionHash, position }: FoundDeposit) => `deposit:${transactionHash}:${position}`

interface Dependencies {
  database: Database
  notifications: Pick<FeedNotifications, 'notify'>
  log: Pick<Log, 'error'>
}

/**
 * Writes deposits down together with the scan's position, so that each block counts once, and credits them when they count. The position is
 * text of the watcher's own, kept for each chain.
 */
export function createDepositBooks({ database, notifications, log }: Dependencies): DepositBooks {
  const sweeper = createSweeper({ database, log, notifications })
  const hold = async (query: Database['query'], { chainId, position: from }: ScanPlace) =>
    (await query(holdScan, { setting: settingOf(chainId), from })).length > 0
  /** The rows of `work`, done while nobody moves the scan, and after all that others did at this place; none when somebody has moved it. */
  const whileHeld = <Row>(place: ScanPlace, work: (query: Database['query']) => Promise<Row[]>) =>
    database.transaction(async (query) => ((await hold(query, place)) ? work(query) : []))

  const creditSweep = (place: ScanPlace, due: number): Sweep => ({
    name: 'credit-deposits',
    find: (query, page) => query(findDueDeposits, { ...page, due }),
    page: PAGE,
    async handle(query, references) {
      const [row] = (await hold(query, place)) ? await query(creditDeposits, { references, due }) : []
      return { items: row?.items ?? [], owners: row?.owners ?? [] }
    },
  })

  return {
    async scanned(chainId) {
      const [row] = await database.query(findSetting, { key: settingOf(chainId) })
      return row?.value
    },

    async begin(chainId, position) {
      await database.query(rememberSetting, { key: settingOf(chainId), value: position })
    },

    async ours(addresses) {
      if (addresses.length === 0) return new Set()
      const rows = await database.query(findWalletAddresses, { addresses })
      return new Set(rows.map(({ address }) => address))
    },

    async note(chainId, { from, to }, deposits) {
      const [row] = await database.query(noteDeposits, {
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

    async noteHead(head, due) {
      await database.query(replaceSetting, { key: settingKeys.depositsHead, value: `${head} ${due}` })
    },

    creditDue: (place, due) => sweeper.run(creditSweep(place, due)),

    async goBack(place, to, height) {
      const [row] = await whileHeld(place, async (query) => {
        const rows = await query(freezeDeposits, { height, limit: PAGE })
        const isDone = rows.every(({ frozen }) => frozen.length < PAGE)
        if (isDone) await query(moveScanBack, { setting: settingOf(place.chainId), from: place.position, to, height })
        return rows
      })
      for (const owner of row?.owners ?? []) notifications.notify(owner)
      return { frozen: row?.frozen ?? [], shortfall: row?.shortfall ?? '0' }
    },

    async readCreditTarget(user, reference, upTo) {
      const [row] = await database.query(findCreditTarget, { user, reference, upTo })
      if (!row) return undefined
      const { id, status, userId, amount, isLost, ...target } = row
      const isKnown = id !== null && status !== null && userId !== null && amount !== null
      return { ...target, ...(isKnown && { deposit: { id, status, userId, amount, isLost } }) }
    },

    async creditByHand(place, due, { userId: user, transactionHash: hash, ...deposit }) {
      const [row] = await whileHeld(place, async (query) => {
        const [stored] = await query(insertManualDeposit, { ...deposit, user, hash })
        if (!stored) return []
        const [credited] = await query(creditDeposits, { references: [deposit.reference], due })
        if (credited?.items.length !== 1) throw new Error('The deposit cannot be credited.')
        return [stored]
      })
      if (row) notifications.notify(user)
      return row?.id
    },
  }
}
