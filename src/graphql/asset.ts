import { queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import type { Context } from '../context.ts'
import { toId } from '../domain/ids.ts'
import { owns, visibleAssets } from '../domain/policy.ts'
import type { Asset } from '../platform/prisma/client.ts'
import { builder } from './builder.ts'
import { CommitConnection, CommitType } from './commit.ts'
import { assertCursors } from './cursor.ts'
import { given } from './given.ts'
import { incomingFile } from './incoming-file.ts'
import { Node } from './node.ts'
import { UserType } from './user.ts'

export const AssetType = builder.prismaObject('Asset', {
  description: 'A registered file with its metadata.',
  interfaces: [Node],
  // Read with every asset; what is rarer is read when it is asked for.
  select: {
    id: true,
    nid: true,
    ownerId: true,
    publicAccess: true,
    caption: true,
    headline: true,
    headCommitId: true,
    updatedAt: true,
  },
  fields: (t) => ({
    id: t.id({ description: "The nid: the CID of the file's bytes.", resolve: ({ nid }) => nid }),
    nid: t.field({ type: 'CID', description: 'The same as `id`.', resolve: ({ nid }) => nid }),
    assetFileName: t.string({
      description: 'File name.',
      select: { fileName: true },
      resolve: ({ fileName }) => fileName,
    }),
    assetFileMimeType: t.string({
      description: 'MIME type of the file.',
      select: { mimeType: true },
      resolve: ({ mimeType }) => mimeType,
    }),
    assetFileSize: t.string({
      description: 'Bytes, as a decimal string.',
      select: { fileSize: true },
      resolve: ({ fileSize }) => String(fileSize),
    }),
    assetFileUrl: t.string({
      description: 'Where the bytes can be read. For a private asset the link works for an hour.',
      resolve: ({ nid, publicAccess }, _args, { publication }) =>
        publicAccess ? `${publication.publicUrl}/ipfs/${nid}` : publication.signFileUrl(nid),
    }),
    proofHash: t.string({
      description: 'SHA-256 of the file, 64 hexadecimal digits.',
      select: { sha256: true },
      resolve: ({ sha256 }) => sha256,
    }),
    caption: t.string({ description: 'Brief description.', resolve: ({ caption }) => caption }),
    headline: t.string({ description: 'Title, at most 25 characters.', resolve: ({ headline }) => headline }),
    tag: t.string({ description: 'Tag to find it by.', select: { tag: true }, resolve: ({ tag }) => tag }),
    publicAccess: t.boolean({
      description: 'Whether everybody may see it.',
      resolve: ({ publicAccess }) => publicAccess,
    }),
    nitCommitCustom: t.field({
      type: 'JSONObject',
      description: 'Custom fields of the asset tree.',
      select: { custom: true },
      resolve: ({ custom }) => custom,
    }),
    meta: t.string({
      nullable: true,
      description: 'JSON text kept as it was sent.',
      select: { meta: true },
      resolve: ({ meta }) => meta,
    }),
    signedMetadata: t.string({
      nullable: true,
      description: 'JSON text kept as it was sent.',
      select: { signedMetadata: true },
      resolve: ({ signedMetadata }) => signedMetadata,
    }),
    signature: t.string({
      nullable: true,
      description: 'JSON text kept as it was sent.',
      select: { signature: true },
      resolve: ({ signature }) => signature,
    }),
    headId: t.id({
      description: 'Identifier of the newest commit. Give it as `expectedHead` to change only what you saw.',
      resolve: ({ headCommitId }) => toId('commit', headCommitId),
    }),
    uploadedAt: t.field({
      type: 'DateTime',
      description: 'When it was registered.',
      select: { uploadedAt: true },
      resolve: ({ uploadedAt }) => uploadedAt,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'When its metadata last changed.',
      resolve: ({ updatedAt }) => updatedAt,
    }),
    isOwn: t.boolean({ description: 'Whether it is yours.', resolve: (asset, _args, { actor }) => owns(actor, asset) }),
    owner: t.relation('owner', { type: UserType, description: 'Whose asset it is.' }),
    creator: t.relation('creator', { type: UserType, description: 'Who registered it.' }),
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
        description: 'Its history, newest first.',
        query: (args) => {
          assertCursors('assetId_sequence', args)
          return { orderBy: { sequence: 'desc' } }
        },
      },
      CommitConnection,
    ),
    history: t.relation('commits', {
      type: CommitType,
      description: 'Its whole history, oldest first. For a long one, page through `commits`.',
      query: { orderBy: { sequence: 'asc' } },
    }),
  }),
})

/** Each connection counts when it is asked to, and only then. */
type Counted = { totalCount?: number | (() => number | Promise<number>) }

const AssetConnection = builder.connectionObject(
  {
    type: AssetType,
    name: 'AssetConnection',
    description: 'A page of assets.',
    fields: (t) => ({
      totalCount: t.int({
        description: 'How many there are on all pages. Counted when asked for.',
        resolve: (connection) => {
          const { totalCount } = connection as Counted
          return typeof totalCount === 'function' ? totalCount() : totalCount!
        },
      }),
    }),
  },
  { name: 'AssetEdge', description: 'An asset with its cursor.' },
)

builder.prismaObjectField(UserType, 'assets', (t) =>
  t.relatedConnection(
    'ownedAssets',
    {
      type: AssetType,
      cursor: 'id',
      totalCount: true,
      description: 'Their assets that you may see, newest first.',
      query: (args, { actor }) => {
        assertCursors('id', args)
        return { orderBy: { id: 'desc' }, where: visibleAssets(actor) }
      },
    },
    AssetConnection,
  ),
)

const AssetFilter = builder.inputType('AssetFilter', {
  description: 'Conditions that all hold.',
  fields: (t) => ({
    owner: t.string({ description: "The owner's e-mail address." }),
    proofHash: t.string({ description: 'SHA-256 of the file, 64 hexadecimal digits.' }),
    tag: t.string({ description: 'The tag.' }),
    isOriginalOwner: t.boolean({ description: 'Whether the owner registered it.' }),
  }),
})

/** What a registration and an update give alike. */
const metadataFields = (t: PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>) => ({
  caption: t.string({ description: 'Brief description.' }),
  headline: t.string({ description: 'Title, at most 25 characters.' }),
  tag: t.string({ description: 'Tag to find it by.' }),
  publicAccess: t.boolean({ description: 'Whether everybody may see it.' }),
  signedMetadata: t.string({ description: 'JSON text kept as it is.' }),
  signature: t.string({ description: 'JSON text kept as it is.' }),
  commitMessage: t.string({ description: 'What you say about this change.' }),
})

const RegisterAssetInput = builder.inputType('RegisterAssetInput', {
  description: 'A file and the metadata of its first commit.',
  fields: (t) => ({
    assetFile: t.field({ type: 'Upload', required: true, description: 'The file, at most 250 MB.' }),
    assetFileMimeType: t.string({ description: 'MIME type; that of the upload when left out.' }),
    meta: t.string({ description: 'JSON text kept as it is.' }),
    nitCommitCustom: t.field({ type: 'JSONObject', description: 'Custom fields, at most 10 KB and 16 levels deep.' }),
    ...metadataFields(t),
  }),
})

const UpdateAssetMetadataInput = builder.inputType('UpdateAssetMetadataInput', {
  description: 'Only what is given changes.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The nid.' }),
    expectedHead: t.id({
      description: 'Identifier of the newest commit you saw; refused with CONFLICT when there is a newer one.',
    }),
    nitCommitCustom: t.field({
      type: 'JSONObject',
      description:
        'Custom fields to set or replace by top-level key; null removes a key. At most 10 KB and 16 levels deep.',
    }),
    ...metadataFields(t),
  }),
})

const DeleteAssetInput = builder.inputType('DeleteAssetInput', {
  description: 'The asset to take out of the service.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The nid.' }) }),
})

/** Assets are read with what the caller selected below the payload's `asset`. */
const belowAsset = (context: Context, info: GraphQLResolveInfo) => queryFromInfo({ context, info, path: ['asset'] })

const assetPayload = (name: string, description: string) =>
  builder.objectRef<{ asset: Asset }>(name).implement({
    description,
    fields: (t) => ({
      asset: t.field({
        type: AssetType,
        description: 'The asset as it is now.',
        resolve: ({ asset }) => asset as never,
      }),
    }),
  })

const RegisterAssetPayload = assetPayload('RegisterAssetPayload', 'The registered asset.')
const UpdateAssetMetadataPayload = assetPayload('UpdateAssetMetadataPayload', 'The changed asset.')
const DeleteAssetPayload = builder.objectRef<{ id: string }>('DeleteAssetPayload').implement({
  description: 'What was deleted.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'The nid.' }) }),
})

builder.queryFields((t) => ({
  asset: t.prismaField({
    type: AssetType,
    nullable: true,
    description: 'An asset by its nid. Raises NOT_FOUND when there is none that you may see.',
    args: { id: t.arg.id({ required: true, description: 'The nid.' }) },
    resolve: (query, _root, { id }, { actor, services }) => services.assets.get(actor, id, query),
  }),
  assets: t.prismaConnection(
    {
      type: AssetType,
      cursor: 'id',
      maxSize: 1000,
      description:
        'Your assets, or the public ones when you are not signed in; with a filter, all assets you may see that fit it. Newest first.',
      args: {
        filter: t.arg({ type: AssetFilter, description: 'Only those that fit.' }),
        offset: t.arg.int({ description: 'Leaves out so many at the start, for callers that page by position.' }),
      },
      totalCount: (_connection, { filter }, { actor, services }) => services.assets.count(actor, given(filter ?? {})),
      resolve: (query, _root, { filter, offset, ...page }, { actor, services }) => {
        assertCursors('id', page)
        const skip = (query.skip ?? 0) + Math.max(offset ?? 0, 0)
        return services.assets.list(actor, given(filter ?? {}), { ...query, skip })
      },
    },
    AssetConnection,
  ),
}))

builder.mutationFields((t) => ({
  registerAsset: t.field({
    type: RegisterAssetPayload,
    description:
      'Registers a file and writes its first commit; charges the update fee and gas. ' +
      'Raises VALIDATION_FAILED, PAYLOAD_TOO_LARGE, DUPLICATE_ASSET, ASSET_COMMIT_INSUFFICIENT_FUND.',
    args: { input: t.arg({ type: RegisterAssetInput, required: true, description: 'File and metadata.' }) },
    resolve: async (_root, { input: { assetFile, ...input } }, context, info) => {
      const { actor, services, attempt } = context
      const file = await incomingFile(assetFile)
      const nid = await services.assets.register(actor, file, given(input) as never, attempt)
      return { asset: await services.assets.get(actor, nid, belowAsset(context, info)) }
    },
  }),
  updateAssetMetadata: t.field({
    type: UpdateAssetMetadataPayload,
    description:
      'Changes metadata in one commit; charges the update fee and gas, or nothing when nothing changes. ' +
      'Raises VALIDATION_FAILED, NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED, CONFLICT, ASSET_COMMIT_INSUFFICIENT_FUND.',
    args: { input: t.arg({ type: UpdateAssetMetadataInput, required: true, description: 'What to change.' }) },
    resolve: async (_root, { input: { id, ...input } }, context, info) => {
      const { actor, services, attempt } = context
      const change = { ...given(input), nid: id }
      return { asset: await services.assets.update(actor, change as never, attempt, belowAsset(context, info)) }
    },
  }),
  deleteAsset: t.field({
    type: DeleteAssetPayload,
    description:
      'Erases the metadata and unpins file and trees; the chain keeps the commits. Raises NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED.',
    args: { input: t.arg({ type: DeleteAssetInput, required: true, description: 'The asset.' }) },
    resolve: async (_root, { input }, { actor, services, attempt }) => ({
      id: await services.assets.remove(actor, input.id, attempt),
    }),
  }),
}))
