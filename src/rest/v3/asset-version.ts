/** Which version of an asset an answer holds, and which one a writer saw. */
import { z } from 'zod'
import type { RestRequest } from '../define-route.ts'
import type { AssetRecordFragment } from '../generated/graphql.ts'

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
