/** Signs transfers of all coins at a user's address before the user's key is destroyed. The worker sends them later. */
import type { Coins } from '../../chain/chain-types.ts'
import { isNoAnswer, type Registry } from '../../chain/registry/registry.ts'
import { quantity } from '../../chain/rpc.ts'
import { readAccounts, readView } from '../../chain/view.ts'
import type { Database } from '../../db/database-types.ts'
import { findSetting, keyValueKeys } from '../../db/key-value-store.ts'
import type { Custody } from '../../keys/envelope-encryption.ts'
import type { CoinPlan } from '../../keys/key-types.ts'
import { LostKeyError, unavailable } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import type { Log } from '../../shared/log.ts'
import { toUnits } from '../../shared/money.ts'
import { type SignedSweep, storeSweep } from './coin-transfers.ts'
import { amountsAfterLoss, freeBalance, presentPrice, pricesUpTo, spendAll } from './treasury/quote-transfer.ts'
import { findOwnUnswept, type UnsweptRow } from './treasury.sql.ts'

interface LastTransferOptions {
  registry: Registry
  database: Pick<Database, 'query'>
  custody: Custody
  log: Pick<Log, 'error'>
  treasury: string
  maxFeePerGas: bigint
}

interface TransferPlan {
  amount: bigint
  /** True if the transfer moves credited coins. False if it moves other coins at the address. */
  isBooked: boolean
  replacesSuspended: boolean
  /** Transactions, cheapest first. Smaller amounts follow, in case the chain loses a part of the coins. */
  plans: readonly CoinPlan[]
}

/** Timeout for reading the address, in milliseconds. The deletion of an account must not wait long for the node. */
const TIMEOUT_MS = 2_000
/** Halvings of the current gas price, and of the maximum price without a node, for the cheapest transaction. */
const [HALVINGS, HALVINGS_OF_MAXIMUM] = [3n, 10n]

/** `lowest`: gas price of the cheapest transaction. `free`: wei that no signed transfer uses. */
async function readFromChain({ registry, maxFeePerGas: cap }: LastTransferOptions, { address, open }: UnsweptRow) {
  const rpc = registry.rpc.until(AbortSignal.timeout(TIMEOUT_MS))
  const view = await readView(rpc, [])
  await registry.assertChain(view.chainId)
  // Read at one block: a transfer that is included in between would count twice.
  const [seen] = await readAccounts(rpc, [address], quantity(view.head.number))
  const lowest = (presentPrice(view, cap) ?? cap) >> HALVINGS
  return { chainId: view.chainId, lowest, free: freeBalance(seen!, open), count: seen!.count }
}

/** Reads from the ledger if the node is down. Returns undefined if no node ever responded. */
async function readAddress(options: LastTransferOptions, booked: UnsweptRow) {
  try {
    return await readFromChain(options, booked)
  } catch (error) {
    if (!isNoAnswer(error)) throw error
    const [row] = await options.database.query(findSetting, { key: keyValueKeys.chain })
    const lowest = options.maxFeePerGas >> HALVINGS_OF_MAXIMUM
    return row && { chainId: Number(row.value), lowest, free: toUnits(booked.unswept), count: 0 }
  }
}

async function planTransfers(options: LastTransferOptions, booked: UnsweptRow): Promise<TransferPlan[]> {
  const seen = await readAddress(options, booked)
  if (!seen) return []
  const { chainId, lowest, free, count } = seen
  const unswept = toUnits(booked.unswept)
  const prices = pricesUpTo(lowest, options.maxFeePerGas)
  const transfers: TransferPlan[] = []
  const next = Math.max(booked.nextNonce, count)
  // Nothing after the nonce of a suspended transfer is ever included.
  const suspended = booked.suspended && booked.suspended.nonce >= count ? booked.suspended : undefined
  const add = (amount: bigint, isBooked: boolean) => {
    const replaced = transfers.length === 0 ? suspended : undefined
    const nonce = replaced?.nonce ?? next + transfers.filter(({ replacesSuspended }) => !replacesSuspended).length
    const target = { chainId, nonce, to: replaced?.recipient ?? options.treasury }
    const plans = spendAll(target, amount, prices)
    if (plans.length === 0) return false
    for (const less of isBooked ? amountsAfterLoss(amount, booked.newest.map(toUnits)) : [])
      plans.push(...spendAll(target, less, prices))
    transfers.push({ amount, isBooked, replacesSuspended: replaced !== undefined, plans })
    return true
  }
  // Credited coins have their own transfer: the chain may lose the other coins, and with them the whole transfer.
  if (add(unswept, true)) add(free - unswept, false)
  else add(free, true)
  return transfers
}

export const createLastTransfers = (options: LastTransferOptions): Pick<Coins, 'signLastTransfers'> => ({
  async signLastTransfers(userId) {
    const { database, custody, log } = options
    const [seen] = await database.query(findOwnUnswept, { user: userId })
    const planned = seen ? await planTransfers(options, seen) : []
    const transfers: SignedSweep[] = []
    try {
      for (const { amount, isBooked, replacesSuspended, plans } of planned) {
        const signed = await custody.signCoins(userId, seen!, plans)
        const { to: recipient, nonce } = plans[0]!
        const transfer = { userId, sender: seen!.address, recipient, nonce, amount, signed, replacesSuspended }
        transfers.push(isBooked ? { ...transfer, unswept: toUnits(seen!.unswept) } : transfer)
      }
    } catch (error) {
      if (!(error instanceof LostKeyError)) throw unavailable('The key vault', error)
      log.error(
        { user: toId('user', userId) },
        'Coins of a deleted account cannot be moved, because its key cannot be decrypted',
      )
    }
    return {
      async store(query) {
        const [now] = await query(findOwnUnswept, { user: userId })
        if (now?.unswept !== seen?.unswept || now?.nextNonce !== seen?.nextNonce) return false
        for (const transfer of transfers) if (!(await storeSweep(query, transfer))) return false
        return true
      },
    }
  },
})
