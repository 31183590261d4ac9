import type { Use } from '../../context.ts'
import { add, formatAmount } from '../../shared/money.ts'
import type { Cost } from './quote.ts'

/** What a commit costs, as decimal strings in currency units. */
export interface Pricing {
  /** For creating or updating an asset. */
  assetUpdateFee: string
  /** For the chain transaction that carries the commit. */
  gasFee: string
  /** The two together: what the wallet is charged. */
  total: string
  currency: string
}

/** Says what commits cost at this moment: `gasFee` may follow the chain. Whoever charges asks once and uses that. */
export type Prices = () => Pricing

/** What commits cost, from amounts as decimal strings. */
export const createPricing =
  ({ assetUpdateFee, gasFee, currency }: { assetUpdateFee: string; gasFee: () => string; currency: string }): Prices =>
  () => {
    const gas = gasFee()
    return {
      assetUpdateFee: formatAmount(assetUpdateFee),
      gasFee: formatAmount(gas),
      total: add(assetUpdateFee, gas),
      currency,
    }
  }

/** What one commit costs: registering or updating an asset. */
export const commitCost = ({ assetUpdateFee, gasFee }: Pricing) =>
  ({ price: assetUpdateFee, gas: gasFee }) satisfies Cost

/** Returns the present cost of one commit. A use case that charges reads it once. */
export const readCommitCost = ({ config, gasFee }: Use<'config' | 'gasFee'>): { price: string; gas: string } => ({
  price: formatAmount(config.money.assetUpdateFee),
  gas: formatAmount(gasFee()),
})
