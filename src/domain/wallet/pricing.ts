import { add, formatAmount } from '../money.ts'
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

/** What commits cost, from amounts of the configuration as decimal strings. It does not change while the process lives. */
export const createPricing = (config: { assetUpdateFee: string; gasFee: string; currency: string }): Pricing =>
  Object.freeze({
    assetUpdateFee: formatAmount(config.assetUpdateFee),
    gasFee: formatAmount(config.gasFee),
    total: add(config.assetUpdateFee, config.gasFee),
    currency: config.currency,
  })

/** What one commit costs: registering or updating an asset. */
export const commitCost = ({ assetUpdateFee, gasFee }: Pricing): Cost => ({ price: assetUpdateFee, gas: gasFee })
