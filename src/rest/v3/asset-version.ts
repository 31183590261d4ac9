/** Which version of an asset an answer holds, and which one a writer saw. */
import { z } from 'zod'
import type { RestRequest } from '../define-route.ts'
import type { AssetRecordFragment } from '../generated/graphql.ts'

/** A thumbnail comes without a commit: who knows the record without it must get it anew. */
const WITH_THUMBNAIL = '+thumbnail'

/** As its `ETag` has it. */
export const versionOf = ({ headId, thumbnailUrl }: AssetRecordFragment) =>
  headId + (thumbnailUrl ? WITH_THUMBNAIL : '')

/** The head a writer saw, from `If-Match: "<commit>"`. */
export const expectedHead = (request: RestRequest) =>
  request.header('if-match')?.replace(/^W\//, '').replaceAll('"', '').replace(WITH_THUMBNAIL, '')

/** The header that says it. */
export const ifMatch = z.object({
  'If-Match': z
    .string()
    .optional()
    .describe('The `ETag` of the asset as you know it: when it has changed since, the answer is 409 `conflict`.'),
})
