/** Descriptions that all routes share that add a commit to an asset. */

import { z } from 'zod'
import type { RestRequest } from '../../http/rest/define-route.ts'
import type { AssetRecordFragment } from '../../http/rest/generated/graphql.ts'
import { nidParam } from '../../http/rest/values.ts'
import { assetRecord } from './present-asset.ts'

/** As its `ETag` begins. */
export const versionOf = ({ headId }: AssetRecordFragment) => headId

/** The head a writer saw, from `If-Match: "<commit>"`. What stands behind it in an `ETag` is no matter of writers. */
export const expectedHead = (request: RestRequest) =>
  request.header('if-match')?.replace(/^W\//, '').replaceAll('"', '').replace(/\+.*/, '')

/** The header that says it. */
export const ifMatch = z.object({
  'If-Match': z
    .string()
    .optional()
    .describe('The `ETag` of the asset as you know it: when it has changed since, the answer is 409 `conflict`.'),
})

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
