import { DomainError } from '../errors.ts'
import { type Amount, add, formatAmount, fromUnits, toUnits } from '../money.ts'

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

export const createPricing = (config: { assetUpdateFee: string; gasFee: string; currency: string }): Pricing =>
  Object.freeze({
    assetUpdateFee: formatAmount(config.assetUpdateFee),
    gasFee: formatAmount(config.gasFee),
    total: add(config.assetUpdateFee, config.gasFee),
    currency: config.currency,
  })

/** Raised when a wallet cannot pay for a commit. The details end in the amount needed: old callers read it there. */
export function commitShortfall(required: string, wallet: { num: Amount; points: Amount }): DomainError {
  const available = add(wallet.num, wallet.points)
  const missing = fromUnits(toUnits(required) - toUnits(available))
  return new DomainError('ASSET_COMMIT_INSUFFICIENT_FUND', 'Insufficient fund for the asset commit.', {
    shortfall: { required, available, missing },
    details: `Available ${available}, missing ${missing}. Please top up your wallet. Amount needed: ${required}`,
  })
}

export const canPay = (required: string, wallet: { num: Amount; points: Amount }) =>
  toUnits(wallet.num) + toUnits(wallet.points) >= toUnits(required)
