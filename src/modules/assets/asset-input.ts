import { z } from 'zod'
import { cidInput, jsonObject, text, trimmedText } from '../../shared/input.ts'
import { MAX_FILE_NAME_LENGTH } from '../../shared/text.ts'
import { normalizeEmail } from '../accounts/email-addresses.ts'
import { maxCost } from '../wallet/quote.ts'
import { identifyingKeys } from './asset-tree.ts'
import { isMimeType, isUninformative } from './file-types.ts'
import { customField, metadataInputs, metadataUpdateInputs, registrationInputs } from './metadata.ts'

/** Maximum size of a registered file, in bytes. */
export const MAX_FILE_BYTES = 250_000_000

/** Keys of the asset tree that identify the file. Custom fields replace all other keys. */
const reservedKeys = new Set<string>(identifyingKeys)
const reservedSpellings = new Set(identifyingKeys.map((key) => key.toUpperCase()))

/**
 * Returns true if a custom field collides with a reserved key. The check ignores case, because case-insensitive JSON parsers would read the
 * custom field instead. Setting an existing field of this kind to null is allowed, so users can remove it.
 */
const isReserved = (key: string, value: unknown) =>
  reservedKeys.has(key) || (value !== null && reservedSpellings.has(key.toUpperCase()))

/**
 * Returns true if custom fields are within their maximum size. The limit applies to one request and to all custom fields of an asset
 * together.
 */
export const customFits = (custom: unknown) => Buffer.byteLength(JSON.stringify(custom)) <= customField.size
export const tooLargeCustom = 'Ensure this field has no more than 10 KB.'

/** Custom fields by top-level key: strings or nested JSON; `null` removes the key. */
const nitCommitCustom = jsonObject
  .refine(customFits, tooLargeCustom)
  .refine(
    (value) => !Object.entries(value).some(([key, each]) => key === '' || isReserved(key, each)),
    `Keys may not be empty or, in any case, one of: ${[...reservedKeys].join(', ')}.`,
  )

/** Maximum lengths, in characters. */
export const inputLengths = { commitMessage: 1_000, mimeType: 255, fileName: MAX_FILE_NAME_LENGTH } as const

const shared = { nitCommitCustom, commitMessage: trimmedText(inputLengths.commitMessage), maxCost }

const partial = <Shape extends Record<string, z.ZodType>>(shape: Shape) => z.strictObject(shape).partial()

/** The optional input of a registration. Unknown keys are rejected. */
export const registerInput = partial({
  ...metadataInputs,
  ...shared,
  assetFileMimeType: trimmedText(inputLengths.mimeType).refine(
    (type) => isMimeType(type) || isUninformative(type),
    'Enter a MIME type such as image/jpeg.',
  ),
  ...registrationInputs,
})

export const updateInput = partial({ ...metadataUpdateInputs, ...shared })

export const revertInput = z.strictObject({
  revertTo: text(64),
  commitMessage: shared.commitMessage.optional(),
  maxCost,
})

/** A SHA-256 hash in hexadecimal, in upper or lower case, with or without `0x`. */
const sha256 = text(66).transform((hash) => hash.toLowerCase().replace(/^0x/, ''))

/** Filter of a list of assets. `proofHash` is the SHA-256 hash of the file. */
export const filterInput = partial({
  owner: trimmedText(254).transform(normalizeEmail),
  proofHash: sha256,
  tag: trimmedText(255),
  isOriginalOwner: z.boolean(),
  search: z.string(),
})

const SHA256 = 'Expected a SHA-256: 64 hexadecimal digits.'

/** A file, identified by either its SHA-256 hash or its CID. Exactly one of the two is required. */
export const fileInput = partial({
  sha256: sha256.refine((hash) => /^[0-9a-f]{64}$/.test(hash), SHA256),
  cid: cidInput('Expected the CID of a file, such as bafkrei… or ipfs://bafybei….'),
}).refine(({ sha256, cid }) => (sha256 === undefined) !== (cid === undefined), {
  message: 'Give either the SHA-256 of the file or its CID.',
  path: ['sha256'],
})

export type RegisterInput = z.input<typeof registerInput>
export type UpdateInput = z.input<typeof updateInput>
export type RevertInput = z.input<typeof revertInput>
/** A validated revert. */
export type RevertFields = z.output<typeof revertInput>
export type FileInput = z.input<typeof fileInput>
export type AssetFilter = z.input<typeof filterInput>
