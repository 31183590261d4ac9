/** Signs for withdrawals: out of the treasury, oldest first, as far as its coins go. */

import { larger } from '../../../chain/fees.ts'
import { signCoins } from '../../../chain/key-pairs.ts'
import { logOnce } from '../../../chain/log-dedupe.ts'
import { quantity, RpcError } from '../../../chain/rpc.ts'
import type { ChainView } from '../../../chain/view.ts'
import { toId } from '../../../shared/ids.ts'
import { fromUnits } from '../../../shared/money.ts'
import type { DueWithdrawal } from '../coin-types.ts'
import type { MoverParts } from './parts.ts'
import { mostGas, presentPrice, pricesUpTo } from './plan.ts'
import { isRefusal } from './quote.ts'
import { readTreasury, type Treasury } from './treasury.ts'

/** Withdrawals of one step. */
const PAGE = 20

const RECOVERED = 'Withdrawals continue'

/**
 * Signs and stores a move for each withdrawal that is due and that the treasury can pay, oldest first. What needs more than it has waits, keeps
 * nothing back that needs less, and is told of.
 */
export async function payWithdrawals(parts: MoverParts, view: ChainView): Promise<void> {
  const { books, memory } = parts
  const price = presentPrice(view, parts.maxFeePerGas)
  if (price === undefined) return
  const isAnyDue = (await books.sumDue({ free: 0n, price })) > 0n
  if (!isAnyDue && !memory.isTreasuryDoubted) return
  const treasury = await readTreasury(parts, view)
  if ('inDoubt' in treasury) {
    // After a restore, `annal coins` compares them with the books. Otherwise another party holds the key.
    const message = 'Withdrawals wait: the treasury has transactions that the database does not know ("annal coins")'
    return logOnce(parts.log, parts.dedupers.treasury, { message, fields: { treasury: treasury.inDoubt } }, RECOVERED)
  }
  await payPage(parts, view, treasury, price)
  const missing = await books.sumDue({ free: treasury.free, price })
  const message = 'Withdrawals wait: the treasury is short of coins; send it coins'
  const fields = { treasury: parts.treasury.address, missing: fromUnits(missing) }
  logOnce(parts.log, parts.dedupers.treasury, missing > 0n ? { message, fields } : undefined, RECOVERED)
}

/** Pays what the treasury has enough for, one after the other, and takes it off what is free. Gives back what may not be paid. */
async function payPage(parts: MoverParts, view: ChainView, treasury: Treasury, price: bigint): Promise<void> {
  const most = mostGas(view)
  const prices = pricesUpTo(price, parts.maxFeePerGas)
  for (const withdrawal of await parts.books.findDueWithdrawals({ free: treasury.free, price }, most, PAGE)) {
    const { amount, fee, gasLimit } = withdrawal
    if (gasLimit > most)
      await giveBack(parts, withdrawal, 'The recipient needs more gas to take coins than a payment may.')
    else if (treasury.free < amount + larger(fee, gasLimit * price)) continue
    else if (await payOne(parts, view, withdrawal, treasury.nextNonce, prices)) {
      treasury.free -= amount + fee
      treasury.nextNonce += 1
    }
  }
}

async function giveBack({ books, log }: MoverParts, { id }: DueWithdrawal, failure: string): Promise<void> {
  log.warn({ withdrawal: toId('withdrawal', id), reason: failure }, 'Withdrawal failed; refunding it')
  await books.failWithdrawal(id, failure)
}

/** Whether it was signed for. One whose recipient refuses coins is given back. */
async function payOne(
  parts: MoverParts,
  { chainId }: ChainView,
  withdrawal: DueWithdrawal,
  nonce: number,
  prices: readonly bigint[],
): Promise<boolean> {
  const { books, rpc, treasury } = parts
  const { id, userId, recipient: to, amount: value, fee, gasLimit } = withdrawal
  const call = { from: treasury.address, to, value: quantity(value), gas: quantity(gasLimit) }
  try {
    await rpc.call('eth_call', call, 'latest')
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    // Whatever else a node says is found out by sending.
    if (isRefusal(error)) {
      await giveBack(parts, withdrawal, 'The recipient refuses coins.')
      return false
    }
  }
  const plans = prices.map((gasPrice) => ({ chainId, nonce, to, value, gasPrice, gasLimit }))
  const signed = signCoins(treasury.privateKey, plans)
  const move = { userId, sender: treasury.address, recipient: to, nonce, amount: value + fee, signed }
  return books.storeWithdrawal(id, move)
}
