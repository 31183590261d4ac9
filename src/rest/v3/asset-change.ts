/** Descriptions that all routes share that add a commit to an asset. */
import { ifMatch } from './asset-version.ts'
import { nidParam } from './params.ts'
import { assetRecord } from './present-asset.ts'

/** The description of a change. */
export const assetChange = {
  params: nidParam,
  headers: ifMatch,
  errors: ['ASSET_COMMIT_INSUFFICIENT_FUND', 'ASSET_WRITE_PERMISSION_DENIED', 'CONFLICT', 'PRICE_EXCEEDS_MAX_COST'],
  action: 'asset:update',
  answer: assetRecord,
} as const

/** The description of the quote of a change. */
export const quotedChange = {
  params: nidParam,
  headers: ifMatch,
  errors: ['ASSET_WRITE_PERMISSION_DENIED'],
  action: 'asset:update',
} as const
