import type { Asset } from '../../db/prisma/client.ts'
import { builder, type InputFields, maxCostField, omitNullish } from '../../graphql/builder.ts'
import { showing } from '../../graphql/fast-path/compilable-fields.ts'
import { versionDescription } from '../commits/asset-versions.ts'
import { inputLengths } from './asset-input.ts'
import { AssetType } from './assets.graphql.ts'
import { deleteAsset } from './delete-asset.ts'
import { getOwnAsset } from './find-asset.ts'
import { metadataInputFields } from './metadata.graphql.ts'
import { customField } from './metadata.ts'
import { registerAsset } from './register-asset.ts'
import { revertAsset } from './revert-asset.ts'
import { updateAsset } from './update-asset.ts'

const onTheChain = 'The chain keeps it forever, and anyone can read it there, even of a private asset'

/** Input fields that registrations and updates share. */
const metadataFields = (t: InputFields) => ({
  ...metadataInputFields(t).changeable,
  commitMessage: t.string({
    description: `Message about this change, at most ${inputLengths.commitMessage} characters. ${onTheChain}.`,
  }),
  maxCost: maxCostField(t),
})

/** Rules for custom fields, for both inputs. */
const customRules =
  'You choose the keys. A key that the tree uses itself, such as assetCreator or license, replaces the value of the tree. Keys that identify ' +
  'the file are rejected in any case: assetCid, assetSha256, encodingFormat, assetTimestampCreated. ' +
  'At most 10 KB and 16 levels deep.'

/** Input fields of a registration, without the file. */
export const registrationFields = (t: InputFields) => ({
  assetFileMimeType: t.string({
    description:
      'MIME type of the file. Defaults to the type of the upload. Annal detects the type from the content if the given type is a placeholder, such as `application/octet-stream`, or an alias, such as `image/jpg`.',
  }),
  ...metadataInputFields(t).onlyRegistered,
  nitCommitCustom: t.field({ type: 'JSONObject', description: `${customField.description}. ${customRules}` }),
  ...metadataFields(t),
})

const RegisterAssetInput = builder.inputType('RegisterAssetInput', {
  description: 'A file and the metadata of its first commit. White space at both ends of texts is removed.',
  fields: (t) => ({
    assetFile: t.field({ type: 'Upload', required: true, description: 'The file, at most 250 MB.' }),
    ...registrationFields(t),
  }),
})

export const UpdateAssetMetadataInput = builder.inputType('UpdateAssetMetadataInput', {
  description:
    'The changes to the metadata of an asset. Fields that are left out stay unchanged. White space at both ends of texts is removed.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The nid.' }),
    expectedHead: t.id({
      description: 'ID of the newest commit that you saw. If there is a newer one, the request fails with CONFLICT.',
    }),
    nitCommitCustom: t.field({
      type: 'JSONObject',
      description: `${customField.description} to set or replace by top-level key; null removes a key. ${customRules}`,
    }),
    ...metadataFields(t),
  }),
})

export const RevertAssetInput = builder.inputType('RevertAssetInput', {
  description: 'The version to revert an asset to.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The nid.' }),
    revertTo: t.string({ required: true, description: `The version: ${versionDescription}.` }),
    expectedHead: t.id({
      description: 'ID of the newest commit that you saw. If there is a newer one, the request fails with CONFLICT.',
    }),
    commitMessage: t.string({
      description: `Message about this change, at most ${inputLengths.commitMessage} characters. Defaults to \`Revert to commit_…\`. ${onTheChain}.`,
    }),
    maxCost: maxCostField(t),
  }),
})

const DeleteAssetInput = builder.inputType('DeleteAssetInput', {
  description: 'The asset to delete.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The nid.' }) }),
})

const assetPayload = (name: string, description: string) =>
  builder.objectRef<{ asset: Asset }>(name).implement({
    description,
    fields: (t) => ({ asset: t.expose('asset', { type: AssetType, description: 'The asset as it is now.' }) }),
  })
const RegisterAssetPayload = assetPayload('RegisterAssetPayload', 'The registered asset.')
const UpdateAssetMetadataPayload = assetPayload('UpdateAssetMetadataPayload', 'The changed asset.')
const RevertAssetPayload = assetPayload('RevertAssetPayload', 'The reverted asset.')

const DeleteAssetPayload = builder.objectRef<{ id: string }>('DeleteAssetPayload').implement({
  description: 'The deleted asset.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'The nid.' }) }),
})

builder.mutationFields((t) => ({
  registerAsset: t.field({
    type: RegisterAssetPayload,
    description:
      'Registers a file and writes its first commit. Charges the update fee and gas. ' +
      'Raises VALIDATION_FAILED, PAYLOAD_TOO_LARGE, DUPLICATE_ASSET, PRICE_EXCEEDS_MAX_COST, ASSET_COMMIT_INSUFFICIENT_FUND, INSUFFICIENT_STORAGE.',
    args: { input: t.arg({ type: RegisterAssetInput, required: true, description: 'File and metadata.' }) },
    resolve: showing('asset', async (query, { input }, context) => {
      const nid = await registerAsset(context, omitNullish(input))
      return { asset: await getOwnAsset(context, nid, query()) }
    }),
  }),
  updateAssetMetadata: t.field({
    type: UpdateAssetMetadataPayload,
    description:
      'Changes metadata in one commit. Charges the update fee and gas, or nothing if nothing changes. ' +
      'Raises VALIDATION_FAILED, NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED, CONFLICT, PRICE_EXCEEDS_MAX_COST, ' +
      'ASSET_COMMIT_INSUFFICIENT_FUND.',
    args: { input: t.arg({ type: UpdateAssetMetadataInput, required: true, description: 'The changes.' }) },
    resolve: showing('asset', async (query, { input }, context) => ({
      asset: await updateAsset(context, omitNullish(input), query()),
    })),
  }),
  revertAsset: t.field({
    type: RevertAssetPayload,
    description:
      'Reverts the metadata in the asset tree to a version, in one new commit: caption, headline, alternative text and custom fields. ' +
      'Everything else stays, such as the file, the tag, signatures and `publicAccess`. The history keeps all commits. ' +
      'Charges the update fee and gas, or nothing if nothing changes. Raises VALIDATION_FAILED, NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED, ' +
      'CONFLICT, PRICE_EXCEEDS_MAX_COST, ASSET_COMMIT_INSUFFICIENT_FUND.',
    args: { input: t.arg({ type: RevertAssetInput, required: true, description: 'The version.' }) },
    resolve: showing('asset', async (query, { input }, context) => ({
      asset: await revertAsset(context, omitNullish(input), query()),
    })),
  }),
  deleteAsset: t.field({
    type: DeleteAssetPayload,
    description:
      'Erases the metadata, the file and the trees. The chain keeps the commits and their messages. Raises NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED.',
    args: { input: t.arg({ type: DeleteAssetInput, required: true, description: 'The asset.' }) },
    resolve: async (_root, { input }, context) => ({ id: await deleteAsset(context, input) }),
  }),
}))
