/** The types `Commit` and `Asset`, and their queries and mutations. */
import type { FieldMap } from '@pothos/core'
import { type Context, fileUrl } from '../../context.ts'
import { builder, omitNullish, optionalText, payloadType, shortText, time } from '../../graphql/builder.ts'
import { showing } from '../../graphql/fast-path/compilable-fields.ts'
import { characters, jsonBytes, jsonTextBytes, pageOf, urlSize } from '../../graphql/limits/document-cost.ts'
import * as lists from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { MAX_COUNTED } from '../../shared/lists.ts'
import { fromUnits } from '../../shared/money.ts'
import { owns, visibleAssets } from '../../shared/policy.ts'
import { UserType } from '../accounts/users.graphql.ts'
import { actionNameOf, actionResultOf, countHistory, readHistory } from '../commits/commits.ts'
import { RegisterAssetInput, RevertAssetInput, UpdateAssetMetadataInput } from './asset-inputs.graphql.ts'
import { ContentCredentialsType, type ManifestReport } from './content-credentials.graphql.ts'
import { deleteAsset } from './delete-asset.ts'
import { countAssets, countRegistrations, getAsset, getOwnAsset, listAssets, lookUpFile } from './find-asset.ts'
import * as metadata from './metadata.ts'
import { registerAsset } from './register-asset.ts'
import { revertAsset, updateAsset } from './update-asset.ts'

const { assertCursors, connectionOf, idInputType, listResolvers, offsetArg, orderByArg, searchArg } = lists
const { customField, inputLengths, mapFields, metadataFields, registrationFields, treeFields } = metadata

const sizeOf = ({ kind, size }: metadata.MetadataField) => (kind === 'text' ? characters : jsonTextBytes)(size)

export const outputOf = (field: metadata.MetadataField) => ({
  description: field.description,
  type: (field.kind === 'flag' ? 'Boolean' : 'String') as 'String',
  nullable: (field.kind === 'json') as false,
  ...(field.kind !== 'flag' && sizeOf(field)),
})

const bytesOf = (fields: Record<string, metadata.MetadataField>) =>
  Object.values(fields).reduce((sum, field) => sum + (sizeOf(field).extensions.size.bytes ?? 0), customField.size)

/** Maximum size of the changes of a commit, in bytes. */
export const CHANGES_BYTES = 2 * bytesOf(metadataFields)
/** Maximum size of an asset tree, in bytes. Its keys that identify the file and the creator have at most 4,000 bytes. */
export const TREE_BYTES = 4_000 + bytesOf(treeFields)

const CommitStatus = builder.enumType('CommitStatus', {
  description: "Status of a commit's chain transaction. A chain reorganization moves INCLUDED back to BROADCAST.",
  values: {
    PENDING: { description: 'The commit is accepted and paid, but not sent to the chain yet.' },
    BROADCAST: { description: 'The transaction of the commit is signed and sent to the chain.' },
    INCLUDED: { description: 'The commit is in a block that does not have enough confirmations yet.' },
    FINAL: { description: 'The commit is in a block with enough confirmations.' },
    FAILED: { description: 'The commit can never reach the chain. The charge was refunded.' },
  } as const,
})

const relayColumns = { status: true, treeSignature: true, transactionHash: true, blockNumber: true } as const
const relay = { relay: { select: relayColumns } } as const
/** Options of fields that are null until the relay has set their values. */
const ofRelay = { nullable: true, select: relay } as const
const ofCost = { nullable: true, select: { relay: { select: { gasUsed: true, feePaid: true } } } } as const
const withAddress = { select: { wallet: { select: { address: true } } } } as const
const author = { author: withAddress } as const
const creator = { asset: { select: { nid: true, creator: withAddress } } } as const

/** The type `Commit`. Everyone who can see the asset can see its commits. */
export const CommitType = builder.prismaObject('Commit', {
  description: 'One accepted change of an asset: who, when, what changed, and the chain transaction that carries it.',
  interfaces: [Node],
  // Columns that are loaded with every commit. Rarely used fields select their own columns.
  select: { id: true, sequence: true, message: true, createdAt: true },
  fields: (t) => ({
    id: t.id({ description: 'ID, such as `commit_01h2x…`.', resolve: ({ id }) => toId('commit', id) }),
    sequence: t.exposeInt('sequence', { description: 'Position in the history of the asset. 1 is the registration.' }),
    message: t.exposeString(
      'message',
      shortText(inputLengths.commitMessage, 'Message of the author. The chain keeps the message forever.'),
    ),
    changes: t.expose('changes', {
      ...jsonBytes(CHANGES_BYTES),
      type: 'JSONObject',
      description: 'Changed fields with their old and new values: `{"caption": ["old", "new"]}`.',
    }),
    createdAt: t.expose('createdAt', time('Time at which the commit was accepted.')),
    user: t.relation('author', { type: UserType, description: 'The user who made the change.' }),
    treeCid: t.expose('treeCid', { type: 'CID', description: 'CID of the asset tree at this commit.' }),
    treeSha256: t.exposeString('treeSha256', shortText(64, "SHA-256 of the tree's bytes, 64 hexadecimal digits.")),
    tree: t.field({
      ...jsonBytes(TREE_BYTES),
      type: 'JSONObject',
      nullable: true,
      description:
        'The asset tree at this commit: the metadata in the public layout. It is available from acceptance, before its exact bytes are stored under `treeCid`. Raises NOT_FOUND after it was erased.',
      select: { tree: true },
      resolve: ({ tree }) => metadata.readTree(tree),
    }),
    treeSignature: t.string({
      ...optionalText(132, 'EIP-191 signature of `treeSha256` by the committer. Null until the tree is signed.'),
      ...ofRelay,
      resolve: (commit) => commit.relay?.treeSignature,
    }),
    author: t.field({
      type: 'Address',
      description: "Address of the asset's creator.",
      select: creator,
      resolve: ({ asset }) => asset.creator.wallet!.address,
    }),
    committer: t.field({
      type: 'Address',
      description: 'Address of the user who made and signed the change.',
      select: author,
      resolve: (commit) => commit.author.wallet!.address,
    }),
    provider: t.string({
      ...shortText(255, 'The service that wrote the commit.'),
      resolve: (_commit, _args, { linkConfig }) => linkConfig.provider,
    }),
    actionName: t.string({
      ...shortText(64, '`action-initial-registration` or `action-commit`.'),
      resolve: ({ sequence }) => actionNameOf(sequence),
    }),
    action: t.field({
      type: 'CID',
      description: 'CID of the description of the action.',
      resolve: ({ sequence }, _args, { linkConfig }) => linkConfig.actionNids[actionNameOf(sequence)]!,
    }),
    actionResult: t.string({
      ...urlSize,
      description: 'Result of the action: the URL of the asset.',
      select: creator,
      resolve: ({ asset }, _args, { linkConfig }) => actionResultOf(linkConfig.publicUrl, asset.nid),
    }),
    status: t.field({
      type: CommitStatus,
      description: 'Status of the chain transaction of the commit.',
      select: relay,
      resolve: (commit) => commit.relay?.status ?? 'PENDING',
    }),
    transactionHash: t.string({
      ...optionalText(66, 'Hash of the chain transaction, which may carry other commits. Null until it is signed.'),
      ...ofRelay,
      resolve: (commit) => commit.relay?.transactionHash,
    }),
    blockNumber: t.int({
      ...ofRelay,
      description: 'Number of the block that includes the transaction. Null until the transaction is included.',
      resolve: (commit) => commit.relay?.blockNumber,
    }),
    gasUsed: t.int({
      ...ofCost,
      description:
        'Gas used on the chain. If the transaction carries several commits, this is the share of this commit by the bytes of its event. Null until the transaction is included, and for old commits without a record.',
      resolve: (commit) => commit.relay?.gasUsed,
    }),
    feePaid: t.field({
      type: 'Decimal',
      ...ofCost,
      description:
        "Fee that the service paid for that gas, in the chain's native coin. The author is charged `gas` of the quote instead. Null whenever `gasUsed` is null.",
      resolve: (commit) => (commit.relay?.feePaid ? fromUnits(BigInt(commit.relay.feePaid.toFixed())) : null),
    }),
    explorerUrl: t.string({
      ...urlSize,
      ...ofRelay,
      description: 'URL of the transaction in a block explorer, if one is configured.',
      resolve: (commit, _args, { linkConfig }) =>
        commit.relay?.transactionHash ? linkConfig.explorerUrl(commit.relay.transactionHash) : null,
    }),
  }),
})

const CommitConnection = builder.connectionObject(
  { type: CommitType, name: 'CommitConnection', description: 'A page of a history.' },
  { name: 'CommitEdge', description: 'A commit with its cursor.' },
)

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
      ...shortText(36, 'UUID of this registration. A new registration of the file after a deletion has a new UUID.'),
      resolve: ({ id }) => id,
    }),
    assetFileName: t.exposeString('fileName', shortText(inputLengths.fileName, 'File name.')),
    assetFileMimeType: t.exposeString(
      'mimeType',
      shortText(inputLengths.mimeType, 'MIME type of the file, as declared or as detected from the content.'),
    ),
    assetFileSize: t.string({
      ...shortText(20, 'File size in bytes, as a decimal string.'),
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
        'URL of a WebP thumbnail of at most 512 × 512 pixels. Null until the thumbnail is created, and for files that are not raster images. For a private asset it works for at least an hour without credentials.',
      select: { thumbnailCid: true },
      resolve: ({ thumbnailCid, ...asset }, _args, context) =>
        thumbnailCid === null ? null : urlOf(context, asset, thumbnailCid),
    }),
    contentCredentials: t.field({
      type: ContentCredentialsType,
      nullable: true,
      description: 'Summary of the C2PA manifest in the file. Null without a manifest, or until the file is read.',
      select: { contentCredentials: true },
      resolve: ({ contentCredentials }) => contentCredentials as ManifestReport | null,
    }),
    proofHash: t.exposeString('sha256', shortText(64, 'SHA-256 of the file, 64 hexadecimal digits.')),
    ...mapFields<FieldMap>({ ...metadataFields, ...registrationFields }, (field, name) =>
      t.expose(name as 'caption', outputOf(field)),
    ),
    nitCommitCustom: t.expose('custom', {
      ...jsonBytes(customField.size),
      type: 'JSONObject',
      description: `${customField.description}.`,
    }),
    headId: t.id({
      description: 'ID of the newest commit. Send this ID as `expectedHead` to reject a change after a newer commit.',
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
      description: 'Commits by their sequence, oldest first. `commits` returns them in pages with cursors.',
      args: {
        limit: t.arg.int({ description: 'Maximum number of commits.' }),
        offset: offsetArg(t),
        after: t.arg.int({ description: 'Returns only commits after the commit with this sequence.' }),
        newestFirst: t.arg.boolean({ description: 'Returns the newest commits first.' }),
        search: searchArg(t, 'the message'),
      },
      resolve: (query, { id }, { limit, newestFirst, ...page }, context) => {
        const range = { ...page, limit: limit ?? historyPages.defaultSize, isNewestFirst: newestFirst ?? false }
        return readHistory(context, id, range, query)
      },
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
    owner: t.string({ description: 'E-mail address of the owner. Defaults to you if you are signed in.' }),
    proofHash: t.string({ description: 'SHA-256 of the file, 64 hexadecimal digits.' }),
    tag: t.string({ description: 'The complete tag, case-sensitive.' }),
    isOriginalOwner: t.boolean({ description: 'True returns only assets that their current owner registered.' }),
  }),
})

const listArgs = (t: Parameters<typeof orderByArg>[0]) => ({
  search: searchArg(t, 'the headline, the caption, the file name or the tag'),
  orderBy: orderByArg(t),
  offset: offsetArg(t),
})

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
        'The registrations of a file that you may see, oldest first. Send its SHA-256 or its CID. An empty page proves nothing: a file that differs by one byte is a different file, and only the owner finds a private asset. Raises VALIDATION_FAILED.',
      args: {
        sha256: t.arg.string({ description: 'SHA-256 of the file, 64 hexadecimal digits.' }),
        cid: t.arg.string({
          description: 'The CID of the file. Any multibase, version 0, `ipfs://…` and URLs of gateways are accepted.',
        }),
        ...listArgs(t),
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
        'Your assets, or public assets when you are not signed in. With an owner in the filter, the assets of that user that you may see. Newest first. In lists of other users’ assets, `search` and the order by update consider only the newest 10,000 assets.',
      args: { filter: t.arg({ type: AssetFilter, description: 'Conditions of the list.' }), ...listArgs(t) },
      ...listResolvers(listAssets, countAssets),
    },
    AssetConnection,
  ),
}))

const DeleteAssetInput = idInputType('DeleteAssetInput', 'The asset to delete.', 'The nid.')

const assetPayload = (name: string, description: string) =>
  payloadType(name, description, ['asset', AssetType, 'The updated asset.'])
const RegisterAssetPayload = assetPayload('RegisterAssetPayload', 'The registered asset.')
const UpdateAssetMetadataPayload = assetPayload('UpdateAssetMetadataPayload', 'The changed asset.')
const RevertAssetPayload = assetPayload('RevertAssetPayload', 'The reverted asset.')

const DeleteAssetPayload = builder.objectRef<{ id: string }>('DeleteAssetPayload').implement({
  description: 'The deleted asset.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'The nid.' }) }),
})

const costOfChange = 'Charges the update fee and gas, or nothing if nothing changes.'
const changeErrors =
  'Raises VALIDATION_FAILED, NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED, CONFLICT, PRICE_EXCEEDS_MAX_COST, ASSET_COMMIT_INSUFFICIENT_FUND.'

builder.mutationFields((t) => ({
  registerAsset: t.field({
    type: RegisterAssetPayload,
    description:
      'Registers a file and writes its first commit. Charges the update fee and gas. Raises VALIDATION_FAILED, PAYLOAD_TOO_LARGE, DUPLICATE_ASSET, PRICE_EXCEEDS_MAX_COST, ASSET_COMMIT_INSUFFICIENT_FUND, INSUFFICIENT_STORAGE.',
    args: { input: t.arg({ type: RegisterAssetInput, required: true, description: 'File and metadata.' }) },
    resolve: showing('asset', async (query, { input }, context) => ({
      asset: await getOwnAsset(context, await registerAsset(context, omitNullish(input)), query()),
    })),
  }),
  updateAssetMetadata: t.field({
    type: UpdateAssetMetadataPayload,
    description: `Changes metadata in one commit. ${costOfChange} ${changeErrors}`,
    args: { input: t.arg({ type: UpdateAssetMetadataInput, required: true, description: 'The changes.' }) },
    resolve: showing('asset', async (query, { input }, context) => ({
      asset: await updateAsset(context, omitNullish(input), query()),
    })),
  }),
  revertAsset: t.field({
    type: RevertAssetPayload,
    description: `Reverts the metadata in the asset tree to a version, in one new commit: caption, headline, alternative text and custom fields. The file, the tag, signatures and \`publicAccess\` do not change. The history keeps all commits. ${costOfChange} ${changeErrors}`,
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
