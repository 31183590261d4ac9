/** The REST record of an asset, and the shared route descriptions for routes that change an asset. */
import { z } from 'zod'
import type { RestRequest } from '../../http/rest/define-route.ts'
import type { AssetRecordFragment } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { always, anyObject, metadataFlag, metadataText, moment, nidParam, same, url } from '../../http/rest/values.ts'
import { rawJson } from '../../http/send.ts'
import { mediaKindOf } from './file-types.ts'
import { metadataFields } from './metadata.ts'

export const AssetRecord = graphql(/* GraphQL */ `
  fragment AssetRecord on Asset {
    nid
    uuid
    headId
    assetFileName
    assetFileMimeType
    assetFileSize
    assetFileUrl
    thumbnailUrl
    proofHash
    caption
    headline
    altText
    tag
    publicAccess
    uploadedAt
    updatedAt
    isOwn
    isOriginalOwner
    meta
    signature
    signedMetadata
    nitCommitCustom
    owner {
      username
      displayName
      email
      address
    }
    creator {
      username
      displayName
      address
    }
    registration {
      transactionHash
      explorerUrl
    }
  }
`)

const creatorAddresses = z.object({ asset_wallet_address: same('User.address', z.string()) })

/** Fields of features that Annal does not have. Old clients read them without checking whether they exist. */
const absent = z.object({
  post_creation_workflow_id: always(''),
  mint_workflow_id: always(null),
  nft_token_id: always(null),
  nft_token_uri: always(''),
  nft_chain_id: always(null),
  nft_blockchain_name: always(''),
  nft_contract_address: always(null),
  source_type: always('original'),
  source_transaction: always(null),
  supporting_file: always(null),
})

export const assetRecord = z
  .object({
    id: z.string().describe('The nid: the CIDv1 of the file’s bytes.'),
    cid: z.string().describe('The same as `id`.'),
    uuid: same('Asset.uuid', z.string()),
    type: z.enum(['image', 'video', 'audio', 'file']).describe('Kind of file, by its MIME type.'),
    asset_file_name: same('Asset.assetFileName', z.string()),
    asset_file_mime_type: same('Asset.assetFileMimeType', z.string()),
    asset_file_size: z.number().int().describe('Size of the file in bytes.'),
    asset_file: same('Asset.assetFileUrl', url),
    asset_file_thumbnail: url
      .nullable()
      .describe(
        'URL of the thumbnail of a picture, or of the picture until the thumbnail is made. Null for other files.',
      ),
    sharable_copy: url.describe('The same as `asset_file`.'),
    proof_hash: same('Asset.proofHash', z.string()),
    caption: metadataText(metadataFields.caption),
    headline: metadataText(metadataFields.headline),
    alt_text: metadataText(metadataFields.altText),
    tag: metadataText(metadataFields.tag),
    public_access: metadataFlag(metadataFields.publicAccess),
    uploaded_at: same('Asset.uploadedAt', moment),
    updated_at: same('Asset.updatedAt', moment),
    owner: z.string().optional().describe('E-mail address of the owner. Only the owner sees it.'),
    owner_name: z.string().describe('Username of the owner.'),
    owner_profile_display_name: z.string().describe('Display name of the owner.'),
    owner_addresses: creatorAddresses,
    creator_name: z.string().describe('Username of the creator.'),
    creator_profile_display_name: z.string().describe('Display name of the creator.'),
    creator_addresses: creatorAddresses,
    is_original_owner: same('Asset.isOriginalOwner', z.boolean()),
    information: z.unknown().describe('The JSON of `meta`, as it was sent. An empty object without `meta`.'),
    parsed_meta: z.unknown().describe('The JSON of `meta`, as it was sent. Null without `meta`.'),
    signature: z
      .array(z.unknown())
      .transform((list): unknown => list)
      .describe('The JSON list of `signature`, as it was sent. Empty without `signature`.'),
    signed_metadata: z.string().describe('The signed metadata, as it was sent. Empty if there is none.'),
    digital_source_type: z.string().nullable().describe('The custom field `digitalSourceType`, if it is text.'),
    parent_asset_cid: z.string().nullable().describe('The custom field `parentAssetCid`, if it is text.'),
    nit_commit_custom: anyObject.optional().describe('Custom fields of the asset tree. Missing if there are none.'),
    integrity_info: z
      .array(
        z.object({
          search_id: z.string().describe('Hash of the chain transaction that carries the registration.'),
          explorer_url: z.string().describe('URL of its page in a block explorer. Empty if no explorer is configured.'),
        }),
      )
      .describe('Empty until the registration is sent to the chain.'),
    ...absent.shape,
  })
  .meta({ id: 'Asset', description: 'A registered file with its metadata.' })

/** Returns JSON text as it was sent, or undefined if it is missing or of another type. */
function jsonIf(text: string | null, isExpected: (value: unknown) => boolean): string | undefined {
  try {
    return text !== null && isExpected(JSON.parse(text)) ? rawJson(text) : undefined
  } catch {
    return undefined
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : null)

/** Returns the thumbnail URL. Clients always show it for pictures, so the picture itself is used until the thumbnail exists. */
const thumbnailOf = ({ thumbnailUrl, assetFileUrl, assetFileMimeType }: AssetRecordFragment) =>
  thumbnailUrl ?? (mediaKindOf(assetFileMimeType) === 'image' ? assetFileUrl : null)

const absentValues: z.output<typeof absent> = {
  post_creation_workflow_id: '',
  mint_workflow_id: null,
  nft_token_id: null,
  nft_token_uri: '',
  nft_chain_id: null,
  nft_blockchain_name: '',
  nft_contract_address: null,
  source_type: 'original',
  source_transaction: null,
  supporting_file: null,
}

export function presentAsset(asset: AssetRecordFragment): z.output<typeof assetRecord> {
  const meta = jsonIf(asset.meta, (value) => value !== null)
  const custom = asset.nitCommitCustom as Record<string, unknown>
  return {
    id: asset.nid,
    cid: asset.nid,
    uuid: asset.uuid,
    type: mediaKindOf(asset.assetFileMimeType),
    asset_file_name: asset.assetFileName,
    asset_file_mime_type: asset.assetFileMimeType,
    asset_file_size: Number(asset.assetFileSize),
    asset_file: asset.assetFileUrl,
    asset_file_thumbnail: thumbnailOf(asset),
    sharable_copy: asset.assetFileUrl,
    proof_hash: asset.proofHash,
    caption: asset.caption,
    headline: asset.headline,
    alt_text: asset.altText,
    tag: asset.tag,
    public_access: asset.publicAccess,
    uploaded_at: asset.uploadedAt,
    updated_at: asset.updatedAt,
    ...(asset.isOwn && { owner: asset.owner.email! }),
    owner_name: asset.owner.username,
    owner_profile_display_name: asset.owner.displayName,
    owner_addresses: { asset_wallet_address: asset.owner.address },
    creator_name: asset.creator.username,
    creator_profile_display_name: asset.creator.displayName,
    creator_addresses: { asset_wallet_address: asset.creator.address },
    is_original_owner: asset.isOriginalOwner,
    // The phone app restores captures from this field.
    information: meta ?? {},
    parsed_meta: meta ?? null,
    signature: jsonIf(asset.signature, Array.isArray) ?? [],
    signed_metadata: asset.signedMetadata ?? '',
    digital_source_type: textOf(custom.digitalSourceType),
    parent_asset_cid: textOf(custom.parentAssetCid),
    ...(Object.keys(custom).length > 0 && { nit_commit_custom: custom }),
    integrity_info: asset.registration.transactionHash
      ? [{ search_id: asset.registration.transactionHash, explorer_url: asset.registration.explorerUrl ?? '' }]
      : [],
    ...absentValues,
  }
}

/** Returns the first part of the `ETag`: the ID of the newest commit. */
export const versionOf = ({ headId }: AssetRecordFragment) => headId

/** Returns the commit ID in `If-Match: "<commit>"`. Ignores the suffix after `+` of an `ETag`. */
export const expectedHead = (request: RestRequest) =>
  request.header('if-match')?.replace(/^W\//, '').replaceAll('"', '').replace(/\+.*/, '')

const ifMatch = z.object({
  'If-Match': z
    .string()
    .optional()
    .describe('The `ETag` of the asset. If the asset has changed since, the response is 409 `conflict`.'),
})

/** Shared description of routes that change an asset. */
export const assetChange = {
  params: nidParam,
  headers: ifMatch,
  errors: ['ASSET_COMMIT_INSUFFICIENT_FUND', 'ASSET_WRITE_PERMISSION_DENIED', 'CONFLICT', 'PRICE_EXCEEDS_MAX_COST'],
  action: 'asset:update',
  answer: assetRecord,
} as const

/** Shared description of routes that quote a change. */
export const quotedChange = {
  params: nidParam,
  headers: ifMatch,
  errors: ['ASSET_WRITE_PERMISSION_DENIED'],
  action: 'asset:update',
} as const
