/** Registering, changing and deleting assets. */
import { inputLengths } from '../domain/asset/asset-input.ts'
import { customField } from '../domain/asset/metadata.ts'
import { momentDescription } from '../domain/asset/moment.ts'
import type { Upload } from '../domain/asset/uploads.ts'
import type { Asset } from '../platform/prisma/client.ts'
import { AssetType } from './asset.ts'
import { builder } from './builder.ts'
import { metadataInputFields } from './metadata-fields.ts'
import { type PaidMutation, resolvePaid } from './paid-mutation.ts'
import { costFields, type InputFields, type Quoted, quoteField } from './quote.ts'

const onTheChain = 'It stands on the chain for good, where everybody reads it, also of a private asset'

/** What a registration and an update give alike. */
const metadataFields = (t: InputFields) => ({
  ...metadataInputFields(t).changeable,
  commitMessage: t.string({
    description: `What you say about this change, at most ${inputLengths.commitMessage} characters. ${onTheChain}.`,
  }),
  ...costFields(t),
})

/** What custom fields may be, for both inputs. */
const customRules =
  'Keys are free; one that the tree has already, such as assetCreator or license, wins there, but for those that identify ' +
  'the file, which are refused in upper and lower case: assetCid, assetSha256, encodingFormat, assetTimestampCreated. ' +
  'At most 10 KB and 16 levels deep.'

/** Of a registration, all but the file. */
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

/** What an update takes; a quote of one takes the same. */
export const UpdateAssetMetadataInput = builder.inputType('UpdateAssetMetadataInput', {
  description:
    'The changes to the metadata of an asset. Fields that are left out stay unchanged. White space at both ends of texts is removed.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The nid.' }),
    expectedHead: t.id({
      description: 'Identifier of the newest commit you saw; refused with CONFLICT when there is a newer one.',
    }),
    nitCommitCustom: t.field({
      type: 'JSONObject',
      description: `${customField.description} to set or replace by top-level key; null removes a key. ${customRules}`,
    }),
    ...metadataFields(t),
  }),
})

/** What a revert takes; a quote of one takes the same. */
export const RevertAssetInput = builder.inputType('RevertAssetInput', {
  description: 'What an asset goes back to.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The nid.' }),
    revertTo: t.string({ required: true, description: `The moment to go back to: ${momentDescription}.` }),
    expectedHead: t.id({
      description: 'Identifier of the newest commit you saw; refused with CONFLICT when there is a newer one.',
    }),
    commitMessage: t.string({
      description: `What you say about this change, at most ${inputLengths.commitMessage} characters; \`Revert to commit_…\` when left out. ${onTheChain}.`,
    }),
    ...costFields(t),
  }),
})

const DeleteAssetInput = builder.inputType('DeleteAssetInput', {
  description: 'The asset to take out of the service.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The nid.' }) }),
})

const RegisterAssetPayload = builder.objectRef<Quoted & { asset: Asset | null }>('RegisterAssetPayload').implement({
  description: 'The registered asset.',
  fields: (t) => ({
    asset: t.field({
      type: AssetType,
      nullable: true,
      description: 'The asset as it is now; null on a dry run.',
      resolve: ({ asset }) => asset,
    }),
    quote: quoteField(t),
  }),
})

const UpdateAssetMetadataPayload = builder
  .objectRef<Quoted & { asset: Asset }>('UpdateAssetMetadataPayload')
  .implement({
    description: 'The changed asset.',
    fields: (t) => ({
      asset: t.field({
        type: AssetType,
        description: 'The asset as it is now: on a dry run, without the changes.',
        resolve: ({ asset }) => asset,
      }),
      quote: quoteField(t),
    }),
  })

const RevertAssetPayload = builder.objectRef<Quoted & { asset: Asset }>('RevertAssetPayload').implement({
  description: 'The asset that says again what it said.',
  fields: (t) => ({
    asset: t.field({
      type: AssetType,
      description: 'The asset as it is now: on a dry run, as it was before.',
      resolve: ({ asset }) => asset,
    }),
    quote: quoteField(t),
  }),
})

const DeleteAssetPayload = builder.objectRef<{ id: string }>('DeleteAssetPayload').implement({
  description: 'What was deleted.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'The nid.' }) }),
})

/** A file and the metadata of its first commit; a query cannot carry the file, and tries without it. */
export const registration: PaidMutation<
  Omit<typeof RegisterAssetInput.$inferInput, 'assetFile'> & { assetFile?: Upload },
  { asset: Asset | null }
> = {
  shown: 'asset',
  async tryOut({ actor, services }, { assetFile, ...input }) {
    return { asset: null, quote: await services.assets.quoteRegistration(actor, assetFile?.file, input) }
  },
  async carryOut({ actor, services, idempotency }, { assetFile, ...input }, query) {
    const nid = await services.assets.register(actor, assetFile!.file, input, idempotency)
    const asset = await services.assets.getOwn(actor, nid, idempotency, query())
    return { asset, quote: () => services.assets.registrationReceipt(actor, nid) }
  },
}

/** A change of metadata. */
export const update: PaidMutation<typeof UpdateAssetMetadataInput.$inferInput, { asset: Asset }> = {
  shown: 'asset',
  tryOut({ actor, services }, { id, ...change }, query) {
    return services.assets.quoteUpdate(actor, { ...change, nid: id }, query?.())
  },
  async carryOut({ actor, services, idempotency }, { id, ...change }, query) {
    const { asset, commitId } = await services.assets.update(actor, { ...change, nid: id }, idempotency, query())
    return { asset, quote: () => (idempotency.replayed ? null : services.assets.receipt(actor, commitId)) }
  },
}

/** A change back to what was. */
export const revert: PaidMutation<typeof RevertAssetInput.$inferInput, { asset: Asset }> = {
  shown: 'asset',
  tryOut({ actor, services }, { id, ...change }, query) {
    return services.assets.quoteRevert(actor, { ...change, nid: id }, query?.())
  },
  async carryOut({ actor, services, idempotency }, { id, ...change }, query) {
    const { asset, commitId } = await services.assets.revert(actor, { ...change, nid: id }, idempotency, query())
    return { asset, quote: () => (idempotency.replayed ? null : services.assets.receipt(actor, commitId)) }
  },
}

builder.mutationFields((t) => ({
  registerAsset: t.field({
    type: RegisterAssetPayload,
    description:
      'Registers a file and writes its first commit; charges the update fee and gas. ' +
      'Raises VALIDATION_FAILED, PAYLOAD_TOO_LARGE, DUPLICATE_ASSET, PRICE_EXCEEDS_MAX_COST, ASSET_COMMIT_INSUFFICIENT_FUND, INSUFFICIENT_STORAGE.',
    args: { input: t.arg({ type: RegisterAssetInput, required: true, description: 'File and metadata.' }) },
    resolve: resolvePaid(registration),
  }),
  updateAssetMetadata: t.field({
    type: UpdateAssetMetadataPayload,
    description:
      'Changes metadata in one commit; charges the update fee and gas, or nothing when nothing changes. ' +
      'Raises VALIDATION_FAILED, NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED, CONFLICT, PRICE_EXCEEDS_MAX_COST, ' +
      'ASSET_COMMIT_INSUFFICIENT_FUND.',
    args: { input: t.arg({ type: UpdateAssetMetadataInput, required: true, description: 'What to change.' }) },
    resolve: resolvePaid(update),
  }),
  revertAsset: t.field({
    type: RevertAssetPayload,
    description:
      'Has an asset say again what it said at a moment of its history, in one new commit: nothing of the history goes. It goes back with ' +
      'caption, headline, alternative text, tag, custom fields, signed metadata and signatures. It leaves what no update changes either, the ' +
      'file, its name and type and what the device recorded, and `publicAccess`: who may see it now may see it then. ' +
      'Charges as an update does, or nothing when nothing changes. Raises VALIDATION_FAILED, NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED, ' +
      'CONFLICT, PRICE_EXCEEDS_MAX_COST, ASSET_COMMIT_INSUFFICIENT_FUND.',
    args: { input: t.arg({ type: RevertAssetInput, required: true, description: 'What to go back to.' }) },
    resolve: resolvePaid(revert),
  }),
  deleteAsset: t.field({
    type: DeleteAssetPayload,
    description:
      'Erases the metadata and unpins file and trees; the chain keeps the commits, and what their messages say. Raises NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED.',
    args: { input: t.arg({ type: DeleteAssetInput, required: true, description: 'The asset.' }) },
    resolve: async (_root, { input }, { actor, services, idempotency }) => ({
      id: await services.assets.remove(actor, input.id, idempotency),
    }),
  }),
}))
