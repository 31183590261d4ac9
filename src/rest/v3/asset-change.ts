/** What routes have in common that change an asset by one more commit. */
import { ifMatch } from './asset-version.ts'
import { nidParam } from './params.ts'
import { assetRecord } from './present-asset.ts'
import { quoteRecord } from './quote.ts'

/** Of their description: what is asked for, how it is refused, and what is answered. */
export const assetChange = {
  params: nidParam,
  headers: ifMatch,
  errors: ['ASSET_COMMIT_INSUFFICIENT_FUND', 'ASSET_WRITE_PERMISSION_DENIED', 'CONFLICT', 'PRICE_EXCEEDS_MAX_COST'],
  action: 'asset:update',
  answer: assetRecord,
  dryRunAnswer: quoteRecord,
} as const
