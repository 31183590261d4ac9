/** REST routes of assets. */
import { z } from 'zod'
import { defineCommand, defineRoute, del, get, patch, post, type RestRequest } from '../../http/rest/define-route.ts'
import * as values from '../../http/rest/fields.ts'
import { type Fields, maxCostOf, rawJson } from '../../http/rest/fields.ts'
import type { AssetRecordFragment } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { defineList, orderByFrom } from '../../http/rest/lists.ts'
import { queryFlag } from '../../http/rest/rest-handler.ts'
import { quoteRoute } from '../wallet/quotes.rest.ts'
import {
  type GivenValues,
  type MetadataField,
  mapFields,
  mediaKindOf,
  metadataFields,
  registrationFields,
} from './metadata.ts'
import { admitRegistration, admitRegistrationQuote } from './register-asset.ts'

const { anyObject, constantField, givenText, metadataText, time, nidParam, objectOf, same, sameFields, url } = values
const text = (description: string) => z.string().describe(description)

export const AssetRecord = graphql(/* GraphQL */ `
  fragment AssetRecord on Asset {
    nid uuid headId assetFileName assetFileMimeType assetFileSize assetFileUrl thumbnailUrl proofHash caption
    headline altText tag publicAccess meta signature signedMetadata nitCommitCustom uploadedAt updatedAt isOwn
    isOriginalOwner
    owner { username displayName email address }
    creator { username displayName address }
    registration { transactionHash explorerUrl }
  }
`)

/** Returns JSON text as it was sent, or undefined if it is missing or of another type. */
function jsonIf(text: string | null, isExpected: (value: unknown) => boolean): string | undefined {
  try {
    return text !== null && isExpected(JSON.parse(text)) ? rawJson(text) : undefined
  } catch {
    return undefined
  }
}

const customText = (key: string) =>
  [
    z.string().nullable().describe(`The custom field \`${key}\`, if it is text.`),
    ({ nitCommitCustom: { [key]: value } }: Pick<AssetRecordFragment, 'nitCommitCustom'>) =>
      typeof value === 'string' ? value : null,
  ] as const

const addresses = z.object({ asset_wallet_address: same('User.address', z.string()) })
const kinds = z.enum(['image', 'video', 'audio', 'file'])
const unchangedJson = z.array(z.unknown()).transform((list): unknown => list)
const integrityInfo = z.object({
  search_id: text('Hash of the chain transaction that carries the registration.'),
  explorer_url: text('URL of its page in a block explorer. Empty if no explorer is configured.'),
})
const thumbnail =
  'URL of the thumbnail of a picture, or of the picture until the thumbnail is made. Null for other files.'
const json = (description: string) => z.unknown().describe(description)

const asset = values.defineRecord<Omit<AssetRecordFragment, 'meta'> & { meta: string | undefined }>()(
  { id: 'Asset', description: 'A registered file with its metadata.' },
  {
    id: [text('The nid: the CIDv1 of the file’s bytes.'), ({ nid }) => nid],
    cid: [text('The same as `id`.'), ({ nid }) => nid],
    uuid: [same('Asset.uuid', z.string()), ({ uuid }) => uuid],
    type: [kinds.describe('Kind of file, by its MIME type.'), (from) => mediaKindOf(from.assetFileMimeType)],
    asset_file_name: [same('Asset.assetFileName', z.string()), (from) => from.assetFileName],
    asset_file_mime_type: [same('Asset.assetFileMimeType', z.string()), (from) => from.assetFileMimeType],
    asset_file_size: [z.number().int().describe('Size of the file in bytes.'), (from) => Number(from.assetFileSize)],
    asset_file: [same('Asset.assetFileUrl', url), ({ assetFileUrl }) => assetFileUrl],
    asset_file_thumbnail: [
      url.nullable().describe(thumbnail),
      // Clients always show the thumbnail of a picture, so the picture itself is used until the thumbnail exists.
      (from) => from.thumbnailUrl ?? (mediaKindOf(from.assetFileMimeType) === 'image' ? from.assetFileUrl : null),
    ],
    sharable_copy: [url.describe('The same as `asset_file`.'), ({ assetFileUrl }) => assetFileUrl],
    proof_hash: [same('Asset.proofHash', z.string()), ({ proofHash }) => proofHash],
    caption: [metadataText(metadataFields.caption), ({ caption }) => caption],
    headline: [metadataText(metadataFields.headline), ({ headline }) => headline],
    alt_text: [metadataText(metadataFields.altText), ({ altText }) => altText],
    tag: [metadataText(metadataFields.tag), ({ tag }) => tag],
    public_access: [values.metadataFlag(metadataFields.publicAccess), ({ publicAccess }) => publicAccess],
    uploaded_at: [same('Asset.uploadedAt', time), ({ uploadedAt }) => uploadedAt],
    updated_at: [same('Asset.updatedAt', time), ({ updatedAt }) => updatedAt],
    owner: [
      z.string().optional().describe('E-mail address of the owner. Only the owner sees it.'),
      ({ isOwn, owner }) => (isOwn ? owner.email! : undefined),
    ],
    owner_name: [text('Username of the owner.'), ({ owner }) => owner.username],
    owner_profile_display_name: [text('Display name of the owner.'), ({ owner }) => owner.displayName],
    owner_addresses: [addresses, ({ owner }) => ({ asset_wallet_address: owner.address })],
    creator_name: [text('Username of the creator.'), ({ creator }) => creator.username],
    creator_profile_display_name: [text('Display name of the creator.'), ({ creator }) => creator.displayName],
    creator_addresses: [addresses, ({ creator }) => ({ asset_wallet_address: creator.address })],
    is_original_owner: [same('Asset.isOriginalOwner', z.boolean()), ({ isOriginalOwner }) => isOriginalOwner],
    // The phone app restores captures from this field.
    information: [json('The JSON of `meta`, as it was sent. Empty without `meta`.'), ({ meta }) => meta ?? {}],
    parsed_meta: [json('The JSON of `meta`, as it was sent. Null without `meta`.'), ({ meta }) => meta ?? null],
    signature: [
      unchangedJson.describe('The JSON list of `signature`, as it was sent. Empty without `signature`.'),
      ({ signature }) => jsonIf(signature, Array.isArray) ?? [],
    ],
    signed_metadata: [text('The signed metadata, as it was sent. May be empty.'), (from) => from.signedMetadata ?? ''],
    digital_source_type: customText('digitalSourceType'),
    parent_asset_cid: customText('parentAssetCid'),
    nit_commit_custom: [
      anyObject.optional().describe('Custom fields of the asset tree. Missing if there are none.'),
      ({ nitCommitCustom }) => (Object.keys(nitCommitCustom).length > 0 ? nitCommitCustom : undefined),
    ],
    integrity_info: [
      z.array(integrityInfo).describe('Empty until the registration is sent to the chain.'),
      ({ registration: { transactionHash, explorerUrl } }) =>
        transactionHash ? [{ search_id: transactionHash, explorer_url: explorerUrl ?? '' }] : [],
    ],
    // Old clients read the fields below without checking whether they exist. Annal does not have these features.
    post_creation_workflow_id: constantField(''),
    mint_workflow_id: constantField(null),
    nft_token_id: constantField(null),
    nft_token_uri: constantField(''),
    nft_chain_id: constantField(null),
    nft_blockchain_name: constantField(''),
    nft_contract_address: constantField(null),
    source_type: constantField('original'),
    source_transaction: constantField(null),
    supporting_file: constantField(null),
  },
)

const presentAsset = (from: AssetRecordFragment) =>
  asset.present({ ...from, meta: jsonIf(from.meta, (value) => value !== null) })

const read = defineRoute({
  ...get('assets/:nid', 'getAsset', 'Assets', 'Read an asset'),
  description: 'Returns your own asset, or a public one.',
  params: nidParam,
  action: 'asset:read',
  operation: graphql(/* GraphQL */ `
    query RestAsset($id: ID!) { asset(id: $id) { ...AssetRecord } }
  `),
  variables: ({ params }) => ({ id: params.nid! }),
  answer: asset.schema,
  present: (data) => presentAsset(data.asset!),
  etag: (data) => data.asset!.headId,
})

const remove = defineCommand({
  ...del('assets/:nid', 'deleteAsset', 'Assets', 'Delete an asset'),
  description: 'Erases the file and its metadata. The chain keeps the commits and their messages.',
  params: nidParam,
  errors: ['ASSET_WRITE_PERMISSION_DENIED', 'CONFLICT'],
  action: 'asset:delete',
  operation: graphql(/* GraphQL */ `
    mutation RestDeleteAsset($input: DeleteAssetInput!) { deleteAsset(input: $input) { id } }
  `),
  variables: ({ params }) => ({ input: { id: params.nid! } }),
})

const download = defineRoute({
  ...post('assets/:nid/download', 'downloadAsset', 'Assets', 'Get the download URL of a file'),
  description: 'For a private file, the URL works for at least an hour without credentials.',
  params: nidParam,
  body: objectOf('DownloadAsset', 'The file to download.', {
    field: values.optionalText('`asset_file_thumbnail` for the thumbnail of a picture. Otherwise the file itself.'),
  }),
  action: 'asset:read',
  operation: graphql(/* GraphQL */ `
    query RestDownload($id: ID!) { asset(id: $id) { assetFileUrl thumbnailUrl } }
  `),
  variables: ({ params }) => ({ id: params.nid! }),
  answer: objectOf('Download', 'The download URL of a file.', { url: url.describe('The download URL.') }),
  // Returns the URL of the file itself if there is no thumbnail.
  present: (data, { body }) => ({
    url: (body.text('field') === 'asset_file_thumbnail' && data.asset!.thumbnailUrl) || data.asset!.assetFileUrl,
  }),
})

const bodyOf = (fields: Record<string, MetadataField>, limit: 'size' | 'updateSize') =>
  Object.fromEntries(Object.values(fields).map((each) => [each.column, values.givenMetadata(each, limit).optional()]))

const valuesIn = <Name extends keyof GivenValues>(body: Fields, fields: Record<Name, MetadataField>) =>
  mapFields<{ [Key in Name]: GivenValues[Key] | undefined }>(fields, ({ kind, column }) => body[kind](column))

const metadataBody = (limit: 'size' | 'updateSize') => ({
  ...bodyOf(metadataFields, limit),
  ...sameFields('UpdateAssetMetadataInput', {
    nit_commit_custom: values.givenObject.optional(),
    commit_message: givenText(1_000).optional(),
    max_cost: values.givenAmount.optional(),
  }),
})

const metadataFrom = (request: RestRequest) => ({
  ...valuesIn(request.body, metadataFields),
  nitCommitCustom: request.body.object('nit_commit_custom'),
  commitMessage: request.body.text('commit_message'),
  maxCost: maxCostOf(request),
})

/** The asset to change, and the commit in `If-Match: "<commit>"`. Ignores the suffix after `+` of an `ETag`. */
const targetOf = (request: RestRequest) => ({
  id: request.params.nid!,
  expectedHead: request.header('if-match')?.replace(/^W\//, '').replaceAll('"', '').replace(/\+.*/, ''),
})

const ifMatch = 'The `ETag` of the asset. If the asset has changed since, the response is 409 `conflict`.'

const quotedChange = {
  params: nidParam,
  headers: z.object({ 'If-Match': values.optionalText(ifMatch) }),
  errors: ['ASSET_WRITE_PERMISSION_DENIED'],
  action: 'asset:update',
} as const

const change = {
  ...quotedChange,
  errors: ['ASSET_COMMIT_INSUFFICIENT_FUND', 'ASSET_WRITE_PERMISSION_DENIED', 'CONFLICT', 'PRICE_EXCEEDS_MAX_COST'],
  answer: asset.schema,
} as const

const registrationBody = z.object({
  ...sameFields('RegisterAssetInput', { asset_file: values.givenFile }),
  ...sameFields('RegisterAssetInput', { asset_file_mime_type: givenText(255).optional() }),
  ...metadataBody('size'),
  ...bodyOf(registrationFields, 'size'),
})

const registrationFrom = (request: RestRequest) => ({
  ...metadataFrom(request),
  assetFile: request.body.upload('asset_file'),
  assetFileMimeType: request.body.text('asset_file_mime_type') || undefined,
  ...valuesIn(request.body, registrationFields),
})

const quoteRegister = quoteRoute({
  path: 'quotes/assets',
  operationId: 'quoteRegisterAsset',
  summary: 'Quote the registration of a file',
  description:
    'The file is not stored. Without a file, the response reports the cost and that the file is missing. It reports a duplicate only of an asset that you may see. The registration is also refused if someone else registered the file privately.',
  errors: ['INSUFFICIENT_STORAGE'],
  body: registrationBody
    .partial({ asset_file: true })
    .meta({ id: 'RegistrationToQuote', description: 'A file and its metadata.' }),
  action: 'asset:register',
  admit: admitRegistrationQuote,
  files: ['asset_file'],
  inputOf: (request) => ({ registerAsset: registrationFrom(request) }),
})

const register = defineRoute({
  ...post('assets', 'registerAsset', 'Assets', 'Register a file'),
  description:
    'Registers a file and writes its first commit. It costs as much as an update. The response does not wait for the chain. A retry with the same `Idempotency-Key` is not charged again.',
  errors: [
    ...(['ASSET_COMMIT_INSUFFICIENT_FUND', 'CONFLICT', 'DUPLICATE_ASSET'] as const),
    ...(['INSUFFICIENT_STORAGE', 'PRICE_EXCEEDS_MAX_COST'] as const),
  ],
  body: registrationBody.meta({ id: 'AssetToRegister', description: 'A file and its metadata.' }),
  action: 'asset:register',
  admit: admitRegistration,
  files: ['asset_file'],
  operation: graphql(/* GraphQL */ `
    mutation RestRegisterAsset($input: RegisterAssetInput!) {
      registerAsset(input: $input) { asset { ...AssetRecord } }
    }
  `),
  variables: (request) => ({ input: registrationFrom(request) }),
  status: 201,
  answer: asset.schema,
  present: ({ registerAsset }) => presentAsset(registerAsset.asset),
  etag: ({ registerAsset }) => registerAsset.asset.headId,
  quote: quoteRegister,
})

const updateBody = objectOf('UpdateAsset', 'Only the given fields change.', metadataBody('updateSize'))
const updateFrom = (request: RestRequest) => ({ ...metadataFrom(request), ...targetOf(request) })

const quoteUpdate = quoteRoute({
  path: 'quotes/assets/:nid',
  operationId: 'quoteUpdateAsset',
  summary: 'Quote a change of an asset',
  description: 'A request that changes nothing is free.',
  ...quotedChange,
  body: updateBody,
  inputOf: (request) => ({ updateAssetMetadata: updateFrom(request) }),
})

const update = defineRoute({
  ...patch('assets/:nid', 'updateAsset', 'Assets', 'Change the metadata of an asset'),
  description:
    'Writes one commit and charges for it. A request that changes nothing returns 200 and is free. `nit_commit_custom` is merged by top-level keys, and `null` removes a key.',
  ...change,
  body: updateBody,
  operation: graphql(/* GraphQL */ `
    mutation RestUpdateAsset($input: UpdateAssetMetadataInput!) {
      updateAssetMetadata(input: $input) { asset { ...AssetRecord } }
    }
  `),
  variables: (request) => ({ input: updateFrom(request) }),
  present: ({ updateAssetMetadata }) => presentAsset(updateAssetMetadata.asset),
  etag: ({ updateAssetMetadata }) => updateAssetMetadata.asset.headId,
  quote: quoteUpdate,
})

const revertBody = objectOf('RevertAsset', 'The version to revert to.', {
  ...sameFields('RevertAssetInput', { revert_to: givenText(64).min(1), commit_message: givenText(1_000).optional() }),
  ...sameFields('RevertAssetInput', { max_cost: values.givenAmount.optional() }),
})

const revertFrom = (request: RestRequest) => ({
  ...targetOf(request),
  revertTo: request.body.text('revert_to') ?? '',
  commitMessage: request.body.text('commit_message'),
  maxCost: maxCostOf(request),
})

const quoteRevert = quoteRoute({
  path: 'quotes/assets/:nid/revert',
  operationId: 'quoteRevertAsset',
  summary: 'Quote a revert to a version',
  ...quotedChange,
  body: revertBody,
  inputOf: (request) => ({ revertAsset: revertFrom(request) }),
})

const revert = defineRoute({
  ...post('assets/:nid/revert', 'revertAsset', 'Assets', 'Revert an asset to a version'),
  description:
    'Writes one new commit with the metadata of a version, and charges for it as for an update. A request that changes nothing returns 200 and is free. The file and its visibility stay unchanged.',
  ...change,
  body: revertBody,
  operation: graphql(/* GraphQL */ `
    mutation RestRevertAsset($input: RevertAssetInput!) {
      revertAsset(input: $input) { asset { ...AssetRecord } }
    }
  `),
  variables: (request) => ({ input: revertFrom(request) }),
  present: ({ revertAsset }) => presentAsset(revertAsset.asset),
  etag: ({ revertAsset }) => revertAsset.asset.headId,
  quote: quoteRevert,
})

/** Clients do not escape the `+` of an e-mail address, so it arrives as a space. */
const addressIn = (query: URLSearchParams, name: string) => query.get(name)?.trim().replaceAll(' ', '+') || undefined

const listed = {
  action: 'asset:read',
  record: asset.schema,
  searched: 'the headline, the caption, the file name or the tag',
  present: presentAsset,
} as const

const list = defineList({
  ...get('assets', 'listAssets', 'Assets', 'List assets'),
  description:
    'Newest first. Lists your own assets when you are signed in, and public assets otherwise. `owner` lists the assets of a user that you may see.',
  filters: {
    ...sameFields('AssetFilter', { owner: z.string().optional(), proof_hash: z.string().optional() }),
    ...sameFields('AssetFilter', { tag: z.string().optional(), is_original_owner: z.boolean().optional() }),
    owner_service_name: z.string().optional().describe('Matches no asset. Annal does not record names of services.'),
  },
  ...listed,
  ...{ plural: 'Assets', order: 'newest', cursorLinks: 'far' },
  isEmpty: (query) => Boolean(query.get('owner_service_name')),
  operation: graphql(/* GraphQL */ `
    query RestAssets($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder, $filter: AssetFilter) {
      assets(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy, filter: $filter) {
        totalCount pageInfo { startCursor endCursor } nodes { ...AssetRecord }
      }
    }
  `),
  variables: ({ query }, part) => ({
    ...part,
    orderBy: orderByFrom(query),
    filter: {
      owner: addressIn(query, 'owner'),
      proofHash: query.get('proof_hash') || undefined,
      tag: query.get('tag') || undefined,
      isOriginalOwner: queryFlag(query, 'is_original_owner'),
    },
  }),
})

const lookUp = defineList({
  ...get('lookup', 'lookUpFile', 'Assets', 'Find the registrations of a file'),
  description:
    'Lists the assets of a file that you may see, oldest first. Send its SHA-256 or its CID. An empty list proves nothing: a file that differs by one byte is a different file, and only the owner finds a private asset.',
  filters: {
    sha256: values.optionalText('SHA-256 of the file, 64 hexadecimal digits.'),
    cid: values.optionalText('The CID of the file in any multibase, as version 0, `ipfs://…` or a gateway URL.'),
  },
  ...listed,
  ...{ plural: 'Registrations', order: 'oldest' },
  operation: graphql(/* GraphQL */ `
    query RestLookup($sha256: String, $cid: String, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder) {
      lookup(sha256: $sha256, cid: $cid, first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy) {
        totalCount pageInfo { startCursor endCursor } nodes { ...AssetRecord }
      }
    }
  `),
  variables: ({ query }, part) => ({
    ...{ ...part, sha256: query.get('sha256') || undefined, cid: query.get('cid') || undefined },
    orderBy: orderByFrom(query),
  }),
})

export const assetRoutes = [
  ...[read, remove, download, register, quoteRegister, update, quoteUpdate, revert, quoteRevert],
  ...[list, lookUp],
]
