import type { AssetRecordFragment } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'

export const AssetRecord = graphql(/* GraphQL */ `
  fragment AssetRecord on Asset {
    nid
    headId
    assetFileName
    assetFileMimeType
    assetFileSize
    assetFileUrl
    proofHash
    caption
    headline
    tag
    publicAccess
    uploadedAt
    updatedAt
    isOwn
    meta
    signature
    signedMetadata
    nitCommitCustom
    owner {
      username
      email
      address
    }
    creator {
      username
      address
    }
    registration {
      transactionHash
      explorerUrl
    }
  }
`)

/** JSON text as what it says; old callers read the parsed metadata. */
function parsed(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return null
  }
}

/** Fields of a workflow and a marketplace that Annal does not have; old readers touch them unguarded. */
const untouched = {
  asset_file_thumbnail: null,
  nft_token_id: null,
  nft_chain_id: null,
  nft_contract_address: null,
  mint_workflow_id: null,
  source_type: 'original',
  source_transaction: null,
  digital_source_type: null,
  parent_asset_cid: null,
  supporting_file: null,
}

export const presentAsset = (asset: AssetRecordFragment) => ({
  id: asset.nid,
  cid: asset.nid,
  asset_file_name: asset.assetFileName,
  asset_file_mime_type: asset.assetFileMimeType,
  asset_file_size: Number(asset.assetFileSize),
  asset_file: asset.assetFileUrl,
  proof_hash: asset.proofHash,
  caption: asset.caption,
  headline: asset.headline,
  tag: asset.tag,
  public_access: asset.publicAccess,
  uploaded_at: asset.uploadedAt,
  updated_at: asset.updatedAt,
  ...(asset.isOwn && { owner: asset.owner.email }),
  owner_name: asset.owner.username,
  owner_addresses: { asset_wallet_address: asset.owner.address },
  creator_name: asset.creator.username,
  creator_addresses: { asset_wallet_address: asset.creator.address },
  information: {},
  parsed_meta: parsed(asset.meta),
  signature: asset.signature ?? '',
  signed_metadata: asset.signedMetadata ?? '',
  ...(Object.keys(asset.nitCommitCustom).length > 0 && { nit_commit_custom: asset.nitCommitCustom }),
  integrity_info: asset.registration.transactionHash
    ? [{ search_id: asset.registration.transactionHash, explorer_url: asset.registration.explorerUrl }]
    : [],
  ...untouched,
})
