import type { AssetRecordFragment } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'

/** What is read of an asset. */
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

/** What JSON text says; undefined when there is none. */
function parsed(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

const listOf = (value: unknown) => (Array.isArray(value) ? value : [])
const textOf = (value: unknown) => (typeof value === 'string' ? value : null)

const kinds = new Set(['image', 'video', 'audio'])
const kindOf = (mimeType: string) => [mimeType.split('/')[0]!.toLowerCase()].find((kind) => kinds.has(kind)) ?? 'file'

/** Readers show it wherever they show an image: until it is made the image stands in for it. */
const thumbnailOf = ({ thumbnailUrl, assetFileUrl, assetFileMimeType }: AssetRecordFragment) =>
  thumbnailUrl ?? (kindOf(assetFileMimeType) === 'image' ? assetFileUrl : null)

/** Fields of a workflow and a marketplace that Annal does not have; old readers touch them unguarded. */
const untouched = {
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

/** An asset as old callers read it. */
export function presentAsset(asset: AssetRecordFragment) {
  const meta = parsed(asset.meta)
  const custom = asset.nitCommitCustom as Record<string, unknown>
  return {
    id: asset.nid,
    cid: asset.nid,
    uuid: asset.uuid,
    type: kindOf(asset.assetFileMimeType),
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
    ...(asset.isOwn && { owner: asset.owner.email }),
    owner_name: asset.owner.username,
    owner_profile_display_name: asset.owner.displayName,
    owner_addresses: { asset_wallet_address: asset.owner.address },
    creator_name: asset.creator.username,
    creator_profile_display_name: asset.creator.displayName,
    creator_addresses: { asset_wallet_address: asset.creator.address },
    is_original_owner: asset.isOriginalOwner,
    // The phone app restores captures from it.
    information: meta ?? {},
    parsed_meta: meta ?? null,
    signature: listOf(parsed(asset.signature)),
    signed_metadata: asset.signedMetadata ?? '',
    digital_source_type: textOf(custom.digitalSourceType),
    parent_asset_cid: textOf(custom.parentAssetCid),
    ...(Object.keys(custom).length > 0 && { nit_commit_custom: custom }),
    integrity_info: asset.registration.transactionHash
      ? [{ search_id: asset.registration.transactionHash, explorer_url: asset.registration.explorerUrl }]
      : [],
    ...untouched,
  }
}
