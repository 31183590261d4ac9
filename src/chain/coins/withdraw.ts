/** Signs for withdrawals: out of the treasury, oldest first, as far as its coins go. */
import { fromUnits } from '../../domain/money.ts'
import type { DueWithdrawal } from '../../domain/ports.ts'
import { signCoins } from '../key-pairs.ts'
import { quantity, RpcError } from '../rpc.ts'
import { logOnce } from '../teller.ts'
import type { ChainView } from '../view.ts'
import type { MoverParts } from './parts.ts'
import { presentPrice, pricesUpTo } from './plan.ts'
import { readTreasury } from './treasury.ts'

/** Withdrawals of one step. */
const PAGE = 20

/** Signs and stores a move for each withdrawal that is due and that the treasury can pay; what it cannot waits, and is told of. */
export async function payWithdrawals(parts: MoverParts, view: ChainView): Promise<void> {
  const due = await parts.books.findDueWithdrawals(PAGE)
  const price = presentPrice(view, parts.maxFeePerGas)
  if ((due.length === 0 && !parts.memory.isTreasuryDoubted) || price === undefined) return
  const treasury = await readTreasury(parts, view)
  if (!treasury) {
    logOnce(
      parts.log,
      parts.tellers.treasury,
      `The treasury ${parts.treasury.address} has sent transactions that the database does not know: withdrawals wait. Nobody else may hold its key; after a restore, "annal coins" compares them with the books.`,
    )
    return
  }
  const prices = pricesUpTo(price, parts.maxFeePerGas)
  let missing = 0n
  for (const withdrawal of due) {
    const needed = withdrawal.amount + withdrawal.fee
    const isEnough = treasury.free >= needed && treasury.free >= withdrawal.amount + withdrawal.gasLimit * price
    if (!isEnough) missing += needed
    else if (await payOne(parts, view, withdrawal, treasury.nextNonce, prices)) {
      treasury.free -= needed
      treasury.nextNonce += 1
    }
  }
  logOnce(
    parts.log,
    parts.tellers.treasury,
    missing > 0n
      ? `The treasury ${parts.treasury.address} is short of coins: withdrawals of ${fromUnits(missing)} wait. Send it coins.`
      : '',
  )
}

/** Whether it was signed for. One whose recipient refuses coins is given back. */
async function payOne(
  { books, rpc, treasury, log }: MoverParts,
  { chainId }: ChainView,
  { id, userId, recipient: to, amount: value, fee, gasLimit }: DueWithdrawal,
  nonce: number,
  prices: readonly bigint[],
): Promise<boolean> {
  const call = { from: treasury.address, to, value: quantity(value), gas: quantity(gasLimit) }
  try {
    await rpc.call('eth_call', call, 'latest')
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    // Whatever else a node says is found out by sending.
    if (/revert|out ?of ?gas/i.test(error.message)) {
      log.warn({ withdrawal: id }, 'A withdrawal failed and is given back: its recipient refuses coins')
      await books.failWithdrawal(id, 'The recipient refuses coins.')
      return false
    }
  }
  const plans = prices.map((gasPrice) => ({ chainId, nonce, to, value, gasPrice, gasLimit }))
  const signed = signCoins(treasury.privateKey, plans)
  const move = { userId, sender: treasury.address, recipient: to, nonce, amount: value + fee, signed }
  return books.storeWithdrawal(id, move)
}
