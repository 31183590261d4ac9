/**
 * Quotes withdrawals, and chooses gas prices. A transfer is signed with one nonce at prices that double from step to
 * step, so that no key is needed to raise the price later. Amounts in wei.
 */
import { getAddress, isAddress, ZeroAddress } from 'ethers'
import type { Coins } from '../../../chain/chain-types.ts'
import { isNoAnswer, type Registry } from '../../../chain/registry/registry.ts'
import { quantity, type Rpc, RpcError } from '../../../chain/rpc.ts'
import { type FeeMarket, larger, smaller } from '../../../chain/transaction.ts'
import { type ChainView, readView, type SeenAccount } from '../../../chain/view.ts'
import type { CoinPlan } from '../../../keys/key-types.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'

interface CoinQuoteOptions {
  registry: Registry
  treasury: string
  relayAddresses: readonly string[]
  maxFeePerGas: bigint
}

/** Timeouts of a quote and of reading the treasury, in milliseconds. A user waits for the response. */
const [QUOTE_TIMEOUT_MS, BALANCE_TIMEOUT_MS] = [5_000, 2_000]
/** Gas of a payment to a contract if the node cannot estimate it, because the treasury has too few coins. */
const CONTRACT_GAS = 100_000n
/** Returns true if the recipient refuses coins at any gas limit. */
export const isRefusal = ({ message }: RpcError): boolean => /revert|out ?of ?gas|gas required exceeds/i.test(message)

/** Returns the gas limit of a payment. Undefined if the recipient is a contract that refuses coins. */
async function readGas(rpc: Rpc, from: string, to: string, value: bigint): Promise<bigint | undefined> {
  if ((await rpc.call<string>('eth_getCode', to, 'latest')) === '0x') return TRANSFER_GAS
  try {
    return (BigInt(await rpc.call<string>('eth_estimateGas', { from, to, value: quantity(value) })) * 5n) / 4n
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return isRefusal(error) ? undefined : CONTRACT_GAS
  }
}

export function createCoinQuotes(options: CoinQuoteOptions): Pick<Coins, 'quote' | 'treasury'> {
  const { registry, treasury, relayAddresses, maxFeePerGas: cap } = options
  return {
    async treasury() {
      try {
        const rpc = registry.rpc.until(AbortSignal.timeout(BALANCE_TIMEOUT_MS))
        await registry.assertChain(Number(await rpc.call<string>('eth_chainId')))
        return { address: treasury, balance: BigInt(await rpc.call<string>('eth_getBalance', treasury, 'latest')) }
      } catch (error) {
        if (!isNoAnswer(error)) throw error
        return { address: treasury, balance: undefined }
      }
    },
    async quote(to, value) {
      const isValid = /^0x[0-9a-fA-F]{40}$/.test(to) && isAddress(to)
      const address = isValid ? getAddress(to) : ZeroAddress
      const refused = (refusal: string) => ({ address, fee: '0', gasLimit: Number(TRANSFER_GAS), refusal })
      const format = 'Expected an address: 0x and 40 hexadecimal digits, in mixed case with the right EIP-55 checksum.'
      if (!isValid) return refused(format)
      if (address === ZeroAddress) return refused('The zero address belongs to nobody.')
      const rpc = registry.rpc.until(AbortSignal.timeout(QUOTE_TIMEOUT_MS))
      const view = await readView(rpc, [])
      await registry.assertChain(view.chainId)
      const own = [treasury, ...relayAddresses, await registry.findAddress(view.chainId)]
      if (own.includes(address)) return refused('The address belongs to this service.')
      const gas = await readGas(rpc, treasury, address, value)
      if (gas === undefined) return refused('This is a contract that takes no coins.')
      if (gas > maxPaymentGas(view))
        return refused('This is a contract that needs more gas to take coins than a payment may.')
      return { address, fee: fromUnits(gas * (presentPrice(view, cap) ?? cap)), gasLimit: Number(gas) }
    },
  }
}

export const TRANSFER_GAS = 21_000n
/** Maximum gas of a payment. A payment to a contract wallet needs less than 100,000. */
const MAX_PAYMENT_GAS = 500_000n
/** Maximum share of a block that a payment uses, as a divisor. */
const SHARE_OF_BLOCK = 4n
/** Minimum ratio of a deposit to the sweep fee. Smaller deposits are not swept. */
export const DUST_FACTOR = 100n

/** Returns a gas price that suffices after one rise of the base fee. Undefined if it exceeds `cap`. */
export const presentPrice = ({ nextBaseFee, tip }: FeeMarket, cap: bigint): bigint | undefined =>
  nextBaseFee > cap ? undefined : smaller((nextBaseFee * 9n) / 8n + larger(tip, 1n), cap)

/** Returns the maximum gas of a payment. A payment that fits into no block would block all later payments. */
export const maxPaymentGas = ({ gasLimit }: Pick<ChainView, 'gasLimit'>): bigint =>
  larger(TRANSFER_GAS, smaller(MAX_PAYMENT_GAS, gasLimit / SHARE_OF_BLOCK))

export function pricesUpTo(lowest: bigint, cap: bigint): bigint[] {
  const prices: bigint[] = []
  for (let price = larger(lowest, 1n); price < cap; price *= 2n) prices.push(price)
  return [...prices, cap]
}

/** Returns the positive rests of `amount` without the newest deposits (one, two, …), or without any one deposit. */
export function amountsAfterLoss(amount: bigint, newest: readonly bigint[]): bigint[] {
  const left = newest.flatMap((lost, index) => [
    amount - lost,
    amount - newest.slice(0, index + 1).reduce((sum, each) => sum + each, 0n),
  ])
  return [...new Set(left)].filter((each) => each > 0n)
}

/** Returns a plan for each price that `amount` covers. A plan spends exactly `amount`, including the fee. */
export const spendAll = (
  target: Pick<CoinPlan, 'chainId' | 'nonce' | 'to'>,
  amount: bigint,
  prices: readonly bigint[],
): CoinPlan[] =>
  prices
    .map((gasPrice) => ({ ...target, gasPrice, gasLimit: TRANSFER_GAS, value: amount - TRANSFER_GAS * gasPrice }))
    .filter(({ value }) => value > 0n)

/** Returns the wei of an account that no open transfer uses. Transfers below the count have left the balance. */
export const freeBalance = ({ balance, count }: SeenAccount, open: readonly { nonce: number; amount: string }[]) =>
  open.filter(({ nonce }) => nonce >= count).reduce((free, { amount }) => free - toUnits(amount), balance)
