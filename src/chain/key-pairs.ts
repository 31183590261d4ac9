/** What the key vault needs of the chain's curve: the signing of texts and of coins, by keys that it opens. */
import type { CoinPlan, SignedCoins } from '../keys/key-types.ts'
import { createKeyPair, signText } from './keys.ts'
import { signTransaction } from './transaction.ts'

/**
 * Signs transfers of coins. The tip is the whole price, so each costs exactly its gas limit times its price, where a plain transfer costs all
 * of its gas; no remainder is left at the sender that nobody could tell before.
 */
export const signCoins = (privateKey: Uint8Array, plans: readonly CoinPlan[]): SignedCoins[] =>
  plans.map(({ gasPrice, ...plan }) => {
    const fees = { maxFeePerGas: gasPrice, maxPriorityFeePerGas: gasPrice }
    const { hash, raw } = signTransaction({ privateKey }, { ...plan, ...fees, data: '0x' })
    return { hash, raw, value: plan.value, gasPrice }
  })

/** The chain's curve, as the vault uses it. */
export const keyPairs = { createKeyPair, signText, signCoins }
