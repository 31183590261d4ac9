import type { InputFieldsFromShape } from '@pothos/core'
import { type Context, fileUrl } from '../../context.ts'
import type { Asset } from '../../db/prisma/client.ts'
import { builder, type InputFields, maxCostField, omitNullish, shortText, time } from '../../graphql/builder.ts'
import { showing } from '../../graphql/fast-path/compilable-fields.ts'
import { characters, jsonBytes, pageOf, urlSize } from '../../graphql/limits/document-cost.ts'
import * as lists from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { MAX_COUNTED } from '../../shared/lists.ts'
import { owns, visibleAssets } from '../../shared/policy.ts'
import { UserType } from '../accounts/users.graphql.ts'
import { countHistory, readHistory, versionDescription } from '../commits/asset-versions.ts'
import { CommitConnection, CommitType, describe } from '../commits/commits.graphql.ts'
import { ContentCredentialsType } from './content-credentials.graphql.ts'
import { deleteAsset } from './delete-asset.ts'
import { countAssets, countRegistrations, getAsset, getOwnAsset, listAssets, lookUpFile } from './find-asset.ts'
import type { ManifestReport } from './manifest-report.ts'
import * as metadata from './metadata.ts'
import { registerAsset } from './register-asset.ts'
import { revertAsset, updateAsset } from './update-asset.ts'

const { assertCursors, connectionOf, idInputType, listResolvers, offsetArg, orderByArg, searchArg } = lists
const { customField, inputLengths, mapFields, metadataFields, registrationFields } = metadata

const urlOf = (context: Context, { id, publicAccess }: { id: string; publicAccess: boolean }, cid: string) =>
  fileUrl(context, { assetId: id, cid, isOpen: publicAccess })
const historyPages = pageOf(1000)

/** The type `Asset`. Callers only receive assets that they may see, so its fields need no permission checks. */
export const AssetType = builder.prismaObject('Asset', {
  description: 'A registered file with its metadata.',
  interfaces: [Node],
  // Columns that are loaded with every asset. Rarely used fields select their own columns.
  select: {
    ...{ id: true, nid: true, ownerId: true, publicAccess: true },
    ...{ caption: true, headline: true, headCommitId: true, updatedAt: true },
  },
  fields: (t) => ({
    id: t.id({ description: "The nid: the CID of the file's bytes.", resolve: ({ nid }) => nid }),
    nid: t.field({ type: 'CID', description: 'The same as `id`.', resolve: ({ nid }) => nid }),
    uuid: t.string({
      ...characters(36),
      description: 'UUID of this registration. A new registration of the file after a deletion has a new UUID.',
      resolve: ({ id }) => id,
    }),
    assetFileName: t.exposeString('fileName', shortText(inputLengths.fileName, 'File name.')),
    assetFileMimeType: t.exposeString('mimeType', {
      ...characters(inputLengths.mimeType),
      description: 'MIME type of the file, as declared at the registration or as detected from the content.',
    }),
    assetFileSize: t.string({
      ...characters(20),
      description: 'File size in bytes, as a decimal string.',
      select: { fileSize: true },
      resolve: ({ fileSize }) => String(fileSize),
    }),
    assetFileUrl: t.string({
      ...urlSize,
      description: 'URL of the file. The URL of a private asset works for at least an hour without credentials.',
      resolve: (asset, _args, context) => urlOf(context, asset, asset.nid),
    }),
    thumbnailUrl: t.string({
      ...urlSize,
      nullable: true,
      description:
        'URL of a WebP thumbnail of at most 512 × 512 pixels. Null until the thumbnail is created, and for files that are not raster images. ' +
        'For a private asset it works for at least an hour without credentials.',
      select: { thumbnailCid: true },
      resolve: ({ thumbnailCid, ...asset }, _args, context) =>
        thumbnailCid === null ? null : urlOf(context, asset, thumbnailCid),
    }),
    contentCredentials: t.field({
      type: ContentCredentialsType,
      nullable: true,
      description:
        'Summary of the C2PA manifest in the file. Null if the file has no manifest, or has not been read yet.',
      select: { contentCredentials: true },
      resolve: ({ contentCredentials }) => contentCredentials as ManifestReport | null,
    }),
    proofHash: t.exposeString('sha256', shortText(64, 'SHA-256 of the file, 64 hexadecimal digits.')),
    caption: t.exposeString('caption', describe(metadataFields.caption)),
    headline: t.exposeString('headline', describe(metadataFields.headline)),
    altText: t.exposeString('altText', describe(metadataFields.altText)),
    tag: t.exposeString('tag', describe(metadataFields.tag)),
    publicAccess: t.exposeBoolean('publicAccess', describe(metadataFields.publicAccess)),
    nitCommitCustom: t.expose('custom', {
      ...jsonBytes(customField.size),
      type: 'JSONObject',
      description: `${customField.description}.`,
    }),
    meta: t.exposeString('meta', { ...describe(registrationFields.meta), nullable: true }),
    signedMetadata: t.exposeString('signedMetadata', { ...describe(metadataFields.signedMetadata), nullable: true }),
    signature: t.exposeString('signature', { ...describe(metadataFields.signature), nullable: true }),
    headId: t.id({
      description:
        'ID of the newest commit. Send this ID as `expectedHead` to reject your change if there is a newer commit.',
      resolve: (asset) => toId('commit', asset.headCommitId),
    }),
    uploadedAt: t.expose('uploadedAt', time('Time of registration.')),
    updatedAt: t.expose('updatedAt', time('Time of the last metadata change.')),
    isOwn: t.boolean({
      description: 'True if you own the asset.',
      resolve: (asset, _args, { actor }) => owns(actor, asset),
    }),
    isOriginalOwner: t.boolean({
      description: 'True if the current owner registered the asset.',
      select: { creatorId: true },
      resolve: ({ ownerId, creatorId }) => ownerId === creatorId,
    }),
    owner: t.relation('owner', { type: UserType, description: 'The owner.' }),
    creator: t.relation('creator', { type: UserType, description: 'The user who registered the file.' }),
    registration: t.field({
      type: CommitType,
      description: 'The first commit.',
      select: (_args, _context, nested) => ({ commits: nested({ where: { sequence: 1 }, take: 1 }) }),
      resolve: (asset) => (asset as unknown as { commits: never[] }).commits[0]!,
    }),
    commits: t.relatedConnection(
      'commits',
      {
        type: CommitType,
        cursor: 'assetId_sequence',
        ...pageOf(100),
        description: 'Commits of the asset, newest first.',
        query: (args) => {
          assertCursors('assetId_sequence', args)
          return { orderBy: { sequence: 'desc' } }
        },
      },
      CommitConnection,
    ),
    commitCount: t.int({
      description: 'Number of commits in the history of the asset.',
      args: { search: searchArg(t, 'the message') },
      select: { id: true, headSequence: true },
      resolve: (asset, { search }, context) => (search ? countHistory(context, asset.id, search) : asset.headSequence),
    }),
    history: t.read({
      type: [CommitType],
      ...historyPages,
      description:
        'Commits of the asset by their sequence, oldest first. `commits` returns the same commits in pages with cursors.',
      args: {
        limit: t.arg.int({ description: 'Maximum number of commits.' }),
        offset: offsetArg(t),
        after: t.arg.int({ description: 'Returns only commits after the commit with this sequence.' }),
        newestFirst: t.arg.boolean({ description: 'Returns the newest commits first.' }),
        search: searchArg(t, 'the message'),
      },
      resolve: (query, { id }, { limit, newestFirst, ...page }, context) =>
        readHistory(
          context,
          id,
          { ...page, limit: limit ?? historyPages.defaultSize, isNewestFirst: newestFirst ?? false },
          query,
        ),
    }),
  }),
})

const AssetConnection = connectionOf(
  AssetType,
  'Asset',
  ['an asset', 'assets'],
  `Number of assets on all pages. The count is exact for signed-in callers, except in \`User.assets\`. Otherwise the count stops at ${MAX_COUNTED} or shortly after this page, so there may be more assets.`,
)

builder.prismaObjectField(UserType, 'assets', (t) =>
  t.relatedConnection(
    'ownedAssets',
    {
      type: AssetType,
      cursor: 'id',
      ...pageOf(100),
      totalCount: true,
      description: 'The assets of the user that you may see, newest first.',
      query: (args, { actor }) => {
        assertCursors('id', args)
        return { orderBy: { id: 'desc' }, where: visibleAssets(actor) }
      },
    },
    AssetConnection,
  ),
)

const AssetFilter = builder.inputType('AssetFilter', {
  description: 'Conditions for assets. The list contains only assets that meet all conditions.',
  fields: (t) => ({
    owner: t.string({
      description: 'E-mail address of the owner. By default, a signed-in user gets their own assets.',
    }),
    proofHash: t.string({ description: 'SHA-256 of the file, 64 hexadecimal digits.' }),
    tag: t.string({ description: 'The complete tag, case-sensitive.' }),
    isOriginalOwner: t.boolean({ description: 'True returns only assets that their current owner registered.' }),
  }),
})

const searchedTexts = 'the headline, the caption, the file name or the tag'

builder.queryFields((t) => ({
  asset: t.read({
    type: AssetType,
    nullable: true,
    description: 'An asset by its nid. Raises NOT_FOUND if the asset does not exist, or you may not see it.',
    args: {
      id: t.arg.id({ required: true, description: 'The nid. Any multibase, version 0 and `ipfs://…` are accepted.' }),
    },
    resolve: (query, _root, { id }, context) => getAsset(context, id, query),
  }),
  lookup: t.prismaConnection(
    {
      type: AssetType,
      cursor: 'id',
      ...pageOf(1000),
      description:
        'The registrations of a file that you may see, oldest first. Send its SHA-256 or its CID. An empty page proves nothing: ' +
        'a file that differs by one byte is a different file, and only the owner finds a private asset. Raises VALIDATION_FAILED.',
      args: {
        sha256: t.arg.string({ description: 'SHA-256 of the file, 64 hexadecimal digits.' }),
        cid: t.arg.string({
          description: 'The CID of the file. Any multibase, version 0, `ipfs://…` and URLs of gateways are accepted.',
        }),
        search: searchArg(t, searchedTexts),
        orderBy: orderByArg(t),
        offset: offsetArg(t),
      },
      ...listResolvers(lookUpFile, countRegistrations),
    },
    AssetConnection,
  ),
  assets: t.prismaConnection(
    {
      type: AssetType,
      cursor: 'id',
      ...pageOf(1000),
      description:
        'Your assets, or public assets when you are not signed in. With an owner in the filter, the assets of that user that you may see. ' +
        'Newest first. In lists of other users’ assets, `search` and the order by update consider only the newest 10,000 assets.',
      args: {
        filter: t.arg({ type: AssetFilter, description: 'Conditions of the list.' }),
        search: searchArg(t, searchedTexts),
        orderBy: orderByArg(t),
        offset: offsetArg(t),
      },
      ...listResolvers(listAssets, countAssets),
    },
    AssetConnection,
  ),
}))

const onTheChain = 'The chain keeps the message forever. Anyone can read it there, even for a private asset'

type Inputs<Name extends keyof metadata.GivenValues> = InputFieldsFromShape<
  typeof builder.$inferSchemaTypes,
  { [Key in Name]: metadata.GivenValues[Key] | null | undefined },
  'InputObject'
>

const inputsOf = <Name extends keyof metadata.GivenValues>(
  t: InputFields,
  fields: Record<Name, metadata.MetadataField>,
) =>
  mapFields<Inputs<Name>>(fields, ({ kind, description }) =>
    kind === 'flag' ? t.boolean({ description }) : t.string({ description }),
  )

const changeFields = (t: InputFields, note = '') => ({
  commitMessage: t.string({
    description: `Message about this change, at most ${inputLengths.commitMessage} characters. ${note}${onTheChain}.`,
  }),
  maxCost: maxCostField(t),
})

const targetFields = (t: InputFields) => ({
  id: t.id({ required: true, description: 'The nid.' }),
  expectedHead: t.id({
    description: 'ID of the newest commit that you read. If there is a newer commit, the request fails with CONFLICT.',
  }),
})

const customRules =
  'You choose the keys. A key that the tree uses itself, such as assetCreator or license, replaces the value of the tree. Keys that identify ' +
  'the file are rejected in any case: assetCid, assetSha256, encodingFormat, assetTimestampCreated. ' +
  'At most 10 KB and 16 levels deep.'

export const registrationInputFields = (t: InputFields) => ({
  assetFileMimeType: t.string({
    description:
      'MIME type of the file. Defaults to the type of the upload. Annal detects the type from the content if the given type is a placeholder, such as `application/octet-stream`, or an alias, such as `image/jpg`.',
  }),
  ...inputsOf(t, registrationFields),
  nitCommitCustom: t.field({ type: 'JSONObject', description: `${customField.description}. ${customRules}` }),
  ...inputsOf(t, metadataFields),
  ...changeFields(t),
})

const RegisterAssetInput = builder.inputType('RegisterAssetInput', {
  description: 'A file and the metadata of its first commit. White space at both ends of texts is removed.',
  fields: (t) => ({
    assetFile: t.field({ type: 'Upload', required: true, description: 'The file, at most 250 MB.' }),
    ...registrationInputFields(t),
  }),
})

export const UpdateAssetMetadataInput = builder.inputType('UpdateAssetMetadataInput', {
  description:
    'The changes to the metadata of an asset. Fields that are left out stay unchanged. White space at both ends of texts is removed.',
  fields: (t) => ({
    ...targetFields(t),
    nitCommitCustom: t.field({
      type: 'JSONObject',
      description: `${customField.description} to set or replace by top-level key; null removes a key. ${customRules}`,
    }),
    ...inputsOf(t, metadataFields),
    ...changeFields(t),
  }),
})

export const RevertAssetInput = builder.inputType('RevertAssetInput', {
  description: 'The version to revert an asset to.',
  fields: (t) => ({
    ...targetFields(t),
    revertTo: t.string({ required: true, description: `The version: ${versionDescription}.` }),
    ...changeFields(t, 'Defaults to `Revert to commit_…`. '),
  }),
})

const DeleteAssetInput = idInputType('DeleteAssetInput', 'The asset to delete.', 'The nid.')

const assetPayload = (name: string, description: string) =>
  builder.objectRef<{ asset: Asset }>(name).implement({
    description,
    fields: (t) => ({ asset: t.expose('asset', { type: AssetType, description: 'The updated asset.' }) }),
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
    resolve: showing('asset', async (query, { input }, context) => ({
      asset: await getOwnAsset(context, await registerAsset(context, omitNullish(input)), query()),
    })),
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
      'The file, the tag, signatures and `publicAccess` do not change. The history keeps all commits. ' +
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
