import { z } from 'zod'
import { normalizeEmail } from '../account/email-address.ts'
import { validationFailed } from '../errors.ts'
import { jsonObject, jsonText, text } from '../input.ts'
import { maxCost } from '../wallet/quote.ts'
import { identifyingKeys } from './asset-tree.ts'
import { metadataBytes, metadataLengths } from './metadata-limits.ts'

export const MAX_FILE_BYTES = 250_000_000

/** Keys of the asset tree that identify the file. Every other one is its owner's to set, and wins over ours. */
const reservedKeys = new Set<string>(identifyingKeys)

const fits = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) <= metadataBytes.custom
const tooLarge = 'Ensure this field has no more than 10 KB.'

/** The limit holds for what an asset carries, not only for what one request adds. Raises VALIDATION_FAILED. */
export function assertCustomFits(custom: Record<string, unknown>): void {
  if (!fits(custom)) throw validationFailed({ nitCommitCustom: [tooLarge] })
}

/** Custom fields by top-level key: strings or nested JSON; `null` removes the key. */
const nitCommitCustom = jsonObject
  .refine(fits, tooLarge)
  .refine(
    (value) => !Object.keys(value).some((key) => key === '' || reservedKeys.has(key)),
    `Keys may not be empty or one of: ${[...reservedKeys].join(', ')}.`,
  )

const metadata = {
  caption: text(metadataLengths.caption),
  headline: text(metadataLengths.headline),
  tag: text(metadataLengths.tag),
  publicAccess: z.boolean({ error: 'Expected true or false.' }),
  nitCommitCustom,
  signedMetadata: jsonText(metadataBytes.signedMetadata),
  signature: jsonText(metadataBytes.signature),
  commitMessage: text(metadataLengths.commitMessage),
  maxCost,
}

const given = <Shape extends Record<string, z.ZodType>>(shape: Shape) => z.object(shape).partial()

/** It becomes a header when the file is read. */
const isMimeType = (text: string) => /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+( *;[ -~]*)?$/.test(text)

/** What a part says of itself, if that is a MIME type. */
export const mimeTypeOf = (text: string) => (isMimeType(text) ? text : 'application/octet-stream')

export const registerInput = given({
  ...metadata,
  assetFileMimeType: text(metadataLengths.mimeType).refine(isMimeType, 'Enter a MIME type such as image/jpeg.'),
  meta: jsonText(metadataBytes.meta),
})

/** Only what is given changes. */
export const updateInput = given(metadata)

/** The name a file keeps: without any path that a caller sent along. */
export const fileNameOf = (name: string | undefined) => {
  const base = (name ?? '').replace(/\p{C}/gu, '').split(/[\\/]/).at(-1) ?? ''
  return [...base].slice(0, metadataLengths.fileName).join('') || 'file'
}

export const filterInput = given({
  owner: text(254).transform(normalizeEmail),
  proofHash: text(64).transform((hash) => hash.toLowerCase()),
  tag: text(255),
  isOriginalOwner: z.boolean(),
})

export type RegisterInput = z.input<typeof registerInput>
export type UpdateInput = z.input<typeof updateInput>
export type AssetFilter = z.input<typeof filterInput>
