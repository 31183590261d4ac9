/** Signs payments of due withdrawals from the treasury, oldest first. */
import { logOnce } from '../../../chain/poller.ts'
import { quantity, RpcError } from '../../../chain/rpc.ts'
import { larger, signCoins } from '../../../chain/transaction.ts'
import type { ChainView } from '../../../chain/view.ts'
import { toId } from '../../../shared/ids.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import { transferParams } from '../coin-transfers.ts'
import * as sql from '../withdrawals.sql.ts'
import { isRefusal, maxPaymentGas, presentPrice, pricesUpTo } from './quote-transfer.ts'
import { readTreasury, type Treasury, type WorkerParts } from './treasury.ts'

/** Maximum number of withdrawals that one step pays, and that one step ends. */
const [PAID_PAGE, ENDED_PAGE] = [20, 100]

const RECOVERED = 'Withdrawals continue'

/** Signs and stores a transfer for each due withdrawal that the treasury can pay. */
export async function payWithdrawals(parts: WorkerParts, view: ChainView): Promise<void> {
  const { log, dedupers, memory } = parts
  const price = presentPrice(view, parts.maxFeePerGas)
  if (price === undefined) return
  if ((await sumUnpayable(parts, 0n, price)) === 0n && !memory.isTreasuryInDoubt) return
  const treasury = await readTreasury(parts, view)
  if ('inDoubt' in treasury) {
    // After a restore, `annal coins` compares such transactions with the ledger. Otherwise another party has the key.
    const message = 'Withdrawals wait: the treasury has transactions that the database does not know ("annal coins")'
    return logOnce(log, dedupers.treasury, { message, fields: { treasury: treasury.inDoubt } }, RECOVERED)
  }
  await payPage(parts, view, treasury, price)
  const missing = await sumUnpayable(parts, treasury.free, price)
  const message = 'Withdrawals wait: the treasury has too few coins; send coins to the treasury'
  const fields = { treasury: parts.treasury.address, missing: fromUnits(missing) }
  logOnce(log, dedupers.treasury, missing > 0n ? { message, fields } : undefined, RECOVERED)
}

/** Pays withdrawals one by one and deducts them from the free balance. Refunds those that need too much gas. */
async function payPage(parts: WorkerParts, view: ChainView, treasury: Treasury, price: bigint): Promise<void> {
  const maxGas = maxPaymentGas(view)
  const prices = pricesUpTo(price, parts.maxFeePerGas)
  const funds = { free: fromUnits(treasury.free), price: fromUnits(price) }
  const page = { ...funds, mostGas: Number(maxGas), limit: PAID_PAGE }
  for (const withdrawal of await parts.database.query(sql.findDueWithdrawals, page)) {
    const [amount, fee, gasLimit] = [toUnits(withdrawal.amount), toUnits(withdrawal.fee), BigInt(withdrawal.gasLimit)]
    if (gasLimit > maxGas)
      await refund(parts, withdrawal, 'The recipient needs more gas to take coins than a payment may.')
    else if (treasury.free < amount + larger(fee, gasLimit * price)) continue
    else if (await payWithdrawal(parts, view, withdrawal, treasury.nextNonce, prices)) {
      treasury.free -= amount + fee
      treasury.nextNonce += 1
    }
  }
}

/** Returns the sum of all due withdrawals that the treasury cannot pay with `free` wei, with their fees. */
async function sumUnpayable({ database }: WorkerParts, free: bigint, price: bigint): Promise<bigint> {
  const [row] = await database.query(sql.sumDueWithdrawals, { free: fromUnits(free), price: fromUnits(price) })
  return toUnits(row!.amount)
}

async function refund({ database, log, notifications }: WorkerParts, { id }: sql.DueWithdrawal, failure: string) {
  log.warn({ withdrawal: toId('withdrawal', id), reason: failure }, 'Withdrawal failed; refunding it')
  const rows = await database.query(sql.failWithdrawal, { withdrawal: id, failure })
  for (const { owner } of rows) notifications.notify(owner)
}

/** Ends a page of withdrawals whose transfers are settled. */
export async function endPaidWithdrawals({ database, notifications }: WorkerParts): Promise<void> {
  const [row] = await database.query(sql.endWithdrawals, { limit: ENDED_PAGE })
  for (const owner of row!.owners) notifications.notify(owner)
}

/** Returns true if the payment was stored. Refunds a withdrawal whose recipient refuses coins. */
async function payWithdrawal(
  parts: WorkerParts,
  { chainId }: ChainView,
  withdrawal: sql.DueWithdrawal,
  nonce: number,
  prices: readonly bigint[],
): Promise<boolean> {
  const { database, rpc, treasury } = parts
  const { id, userId, recipient: to } = withdrawal
  const [value, fee, gasLimit] = [toUnits(withdrawal.amount), toUnits(withdrawal.fee), BigInt(withdrawal.gasLimit)]
  const call = { from: treasury.address, to, value: quantity(value), gas: quantity(gasLimit) }
  try {
    await rpc.call('eth_call', call, 'latest')
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    // Other errors occur again when the transaction is sent.
    if (isRefusal(error)) {
      await refund(parts, withdrawal, 'The recipient refuses coins.')
      return false
    }
  }
  const plans = prices.map((gasPrice) => ({ chainId, nonce, to, value, gasPrice, gasLimit }))
  const signed = signCoins(treasury.privateKey, plans)
  const columns = transferParams({ sender: treasury.address, recipient: to, nonce, amount: value + fee, signed })
  return (await database.query(sql.storeWithdrawal, { ...columns, user: userId, withdrawal: id })).length > 0
}
