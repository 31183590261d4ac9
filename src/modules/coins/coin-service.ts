/** The books of the coins that we hold. Only what moves them on the chain calls this; nobody can ask for it. */

import type { Database } from '../../db/database-types.ts'
import { findSetting, replaceSetting, settingKeys } from '../../db/key-value-store.ts'
import type { SealedKey } from '../../keys/key-types.ts'
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
  markMovesIncluded,
  markMovesSent,
  settleMoves,
  signAnew,
  storeFillers,
  storeGathering,
} from './coin-transfers.sql.ts'
import type { BookedCoins, CoinBooks, Means, SignedMove, UnsweptCoins } from './coin-types.ts'
import { findResumable, resumeMoves, strandMoves } from './stuck-transfers.sql.ts'
import { doubtTreasury, findEarlierTreasuries, findNotedTreasuries, noteTreasury } from './treasury.sql.ts'
import { findOwnUnswept, findUnswept, hasCoinWork, type UnsweptRow } from './unswept-coins.ts'
import {
  endWithdrawals,
  failWithdrawal,
  findDueWithdrawals,
  storeWithdrawal,
  sumDueWithdrawals,
} from './withdrawals.sql.ts'

/** A row as what plans and signs takes it; `open`: what is under way from the address. */
export function unsweptOf(row: UnsweptRow, open: BookedCoins['open'] = []): UnsweptCoins {
  const { userId, address, unswept, nextNonce, asideNonce, asideRecipient, newest, ...key } = row
  return {
    ...{ userId, address, nextNonce, open, unswept: toUnits(unswept), newest: newest.map(toUnits) },
    ...(asideNonce !== null && asideRecipient !== null && { aside: { nonce: asideNonce, recipient: asideRecipient } }),
    key: key satisfies SealedKey,
  }
}

/** What lies at one owner's address. Undefined where the key is gone. */
export async function readOwnCoins(query: Database['query'], userId: string): Promise<UnsweptCoins | undefined> {
  const [row] = await query(findOwnUnswept, { user: userId })
  if (!row) return undefined
  const open = await query(findUnderWay, { sender: row.address })
  return unsweptOf(
    row,
    open.map(({ nonce, amount }) => ({ nonce, amount: toUnits(amount) })),
  )
}

/** A move as the statements take it, but for whose it is. */
export const columnsOf = ({
  sender,
  recipient,
  nonce,
  amount,
  signed,
}: Omit<SignedMove, 'userId' | 'unswept' | 'isAnew'>) => ({
  ...{ sender, recipient, nonce, amount: fromUnits(amount) },
  hashes: signed.map(({ hash }) => hash),
  raws: signed.map(({ raw }) => raw),
  prices: signed.map(({ gasPrice }) => String(gasPrice)),
  values: signed.map(({ value }) => fromUnits(value)),
})

/**
 * Stores a move out of an owner's address; where it says what must lie there, in a transaction that holds the wallet. False when somebody was
 * quicker, or the account is deleted.
 */
export async function storeMove(query: Database['query'], move: SignedMove): Promise<boolean> {
  const unswept = move.unswept === undefined ? null : fromUnits(move.unswept)
  return (
    (await query(move.isAnew ? signAnew : storeGathering, { ...columnsOf(move), user: move.userId, unswept })).length >
    0
  )
}

const columnsOfMeans = ({ free, price }: Means) => ({ free: fromUnits(free), price: fromUnits(price) })

/** Withdrawals ended in one statement. */
const PAGE = 100

interface Dependencies {
  database: Pick<Database, 'query' | 'transaction'>
  notifications: Pick<FeedNotifications, 'notify'>
}

/** The books of the coins. Every method is safe to be called again, and in several processes at once. */
export function createCoinService({ database, notifications }: Dependencies): CoinBooks {
  const { query } = database
  /** Does `work` while nothing comes in, is frozen or is signed at these addresses, and after all that was. */
  const whileHeld = <T>(addresses: string[], work: (query: Database['query']) => Promise<T>) =>
    database.transaction(async (query) => {
      await query(holdWallets, { addresses })
      return work(query)
    })

  return {
    async findUnswept(least, after, limit) {
      const rows = await query(findUnswept, { least: fromUnits(least), after, limit })
      return rows.map((row) => unsweptOf(row))
    },
    store: (move) => whileHeld([move.sender], (held) => storeMove(held, move)),
    async findOpen(youngest, after, limit) {
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
    async readSender(address) {
      const [next] = await query(findNextNonce, { sender: address })
      const open = await query(findUnderWay, { sender: address })
      return {
        nextNonce: next?.nonce ?? 0,
        open: open.map(({ nonce, amount }) => ({ nonce, amount: toUnits(amount) })),
      }
    },
    async isTreasuryNoted(address) {
      return (await query(findSetting, { key: `${settingKeys.treasury}${address}` })).length > 0
    },
    findTreasuries: () => query(findNotedTreasuries),
    async noteTreasury(address, count) {
      const [row] = await query(noteTreasury, { address, count })
      return row!.first
    },
    async doubtTreasury(address, doubted) {
      await query(doubtTreasury, { address, doubted })
    },
    async findEarlierTreasuries(current) {
      const rows = await query(findEarlierTreasuries, { current })
      return rows.map(({ address, held }) => ({ address, held: toUnits(held) }))
    },
    async findDueWithdrawals(means, mostGas, limit) {
      const rows = await query(findDueWithdrawals, { ...columnsOfMeans(means), mostGas: Number(mostGas), limit })
      return rows.map(({ amount, fee, gasLimit, ...row }) => ({
        ...{ ...row, amount: toUnits(amount), fee: toUnits(fee), gasLimit: BigInt(gasLimit) },
      }))
    },
    async sumDue(means) {
      const [row] = await query(sumDueWithdrawals, columnsOfMeans(means))
      return toUnits(row!.amount)
    },
    async storeWithdrawal(id, move) {
      return (await query(storeWithdrawal, { ...columnsOf(move), user: move.userId, withdrawal: id })).length > 0
    },
    async storeFillers(move, fillers) {
      const stored = await query(storeFillers, {
        move,
        hashes: fillers.map(({ hash }) => hash),
        raws: fillers.map(({ raw }) => raw),
        prices: fillers.map(({ gasPrice }) => String(gasPrice)),
      })
      return stored.length > 0
    },
    async failWithdrawal(id, failure) {
      for (const { owner } of await query(failWithdrawal, { withdrawal: id, failure })) notifications.notify(owner)
    },
    async endWithdrawals() {
      const [row] = await query(endWithdrawals, { limit: PAGE })
      for (const owner of row?.owners ?? []) notifications.notify(owner)
    },
    async hasWork(least) {
      const [row] = await query(hasCoinWork, { least: fromUnits(least) })
      return row?.open ?? false
    },
    async setAside() {
      const [row] = await query(strandMoves)
      return row?.addresses ?? []
    },
    async findResumable(after, limit) {
      const rows = await query(findResumable, { after, limit })
      return rows.map(({ address, nonces, amounts }) => ({
        address,
        open: nonces.map((nonce, index) => ({ nonce, amount: toUnits(amounts[index]!) })),
      }))
    },
    async resume(seen) {
      const addresses = seen.map(({ address }) => address)
      const free = seen.map((each) => fromUnits(each.free))
      const [row] = await whileHeld(addresses, (held) => held(resumeMoves, { addresses, free }))
      return row?.addresses ?? []
    },
    async noteWaiting(count) {
      await query(replaceSetting, { key: settingKeys.movesWaiting, value: String(count) })
    },
    async readRaw(hashes) {
      const rows = await query(findCoinRaw, { hashes })
      return new Map(rows.map(({ hash, raw }) => [hash, raw]))
    },
    async markSent(sent) {
      await query(markMovesSent, { ids: sent.map(({ id }) => id), hashes: sent.map(({ hash }) => hash) })
    },
    async markIncluded(placed) {
      await query(markMovesIncluded, {
        ids: placed.map(({ id }) => id),
        hashes: placed.map(({ transactionHash }) => transactionHash),
        blockNumbers: placed.map(({ blockNumber }) => blockNumber),
        blockHashes: placed.map(({ blockHash }) => blockHash),
        fees: placed.map(({ fee }) => fromUnits(fee)),
        arrived: placed.map(({ hasArrived }) => hasArrived),
      })
    },
    async markDisplaced(ids) {
      await database.transaction(async (held) => {
        await held(holdMoves, { ids })
        await held(displaceMoves, { ids })
      })
    },
    async settle(moves) {
      await query(settleMoves, { ids: moves.map(({ id }) => id), blockHashes: moves.map(({ blockHash }) => blockHash) })
    },
  }
}
