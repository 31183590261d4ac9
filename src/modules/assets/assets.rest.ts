import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { type Description, defineRoute, type RestRequest } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { orderByFrom } from '../../http/rest/pagination.ts'
import type { Fields } from '../../http/rest/read-body.ts'
import { queryFlag } from '../../http/rest/rest-handler.ts'
import {
  givenAmount,
  givenFile,
  givenMetadata,
  givenObject,
  givenText,
  nidParam,
  nothing,
  same,
} from '../../http/rest/values.ts'
import { commitRecord, presentCommit } from '../commits/present-commit.ts'
import { maxCostOf, quoteRoute } from '../wallet/quotes.rest.ts'
import { assetChange, expectedHead, quotedChange, versionOf } from './asset-change.rest.ts'
import {
  type GivenValues,
  type MetadataField,
  type MetadataName,
  metadataFields,
  ofEach,
  type RegistrationName,
  registrationFields,
} from './metadata.ts'
import { assetRecord, presentAsset } from './present-asset.ts'
import { admitRegistration, admitRegistrationQuote } from './register-asset.ts'

/** What a body gives of these fields. */
const valuesOf = <Name extends keyof GivenValues>(body: Fields, fields: Record<Name, MetadataField>) =>
  ofEach<{ [Key in Name]: GivenValues[Key] | undefined }>(fields, ({ kind, column }) => body[kind](column))

/** Schemas of these fields in a body, under the names of REST. `limit` names the maximum size that applies. */
const ofColumns = (fields: Record<string, MetadataField>, limit: 'size' | 'updateSize') =>
  Object.fromEntries(Object.values(fields).map((field) => [field.column, givenMetadata(field, limit).optional()]))

/** Schemas of the fields that POST and PATCH share. */
const metadataBody = (limit: 'size' | 'updateSize') => ({
  ...ofColumns(metadataFields, limit),
  nit_commit_custom: same('UpdateAssetMetadataInput.nitCommitCustom', givenObject).optional(),
  commit_message: same('UpdateAssetMetadataInput.commitMessage', givenText(1_000)).optional(),
  max_cost: same('UpdateAssetMetadataInput.maxCost', givenAmount).optional(),
})

const registrationDescription =
  'The first commit is written with it. It costs as much as an update; the answer does not wait for the chain. Retry with the same `Idempotency-Key`: it is charged once.'
const updateDescription =
  'Writes one commit and charges for it; a request that changes nothing answers 200 and costs nothing. `nit_commit_custom` is merged by its top-level keys, and `null` removes one.'

/** An address of a query. Apps and scripts write its `+` as it is, which a query has for a space, and no address has one. */
const addressIn = (query: URLSearchParams, name: string) => query.get(name)?.trim().replaceAll(' ', '+') || undefined

const metadataFrom = (request: RestRequest) => ({
  ...valuesOf<MetadataName>(request.body, metadataFields),
  nitCommitCustom: request.body.object('nit_commit_custom'),
  commitMessage: request.body.text('commit_message'),
  maxCost: maxCostOf(request),
})

const registrationBody = z.object({
  asset_file: same('RegisterAssetInput.assetFile', givenFile),
  asset_file_mime_type: same('RegisterAssetInput.assetFileMimeType', givenText(255)).optional(),
  ...metadataBody('size'),
  ...ofColumns(registrationFields, 'size'),
})

const registrationFrom = (request: RestRequest) => ({
  ...metadataFrom(request),
  assetFile: request.body.upload('asset_file'),
  assetFileMimeType: request.body.text('asset_file_mime_type') || undefined,
  ...valuesOf<RegistrationName>(request.body, registrationFields),
})

const quoteRegistration = quoteRoute({
  path: 'quotes/assets',
  operationId: 'quoteRegisterAsset',
  summary: 'Quote the registration of a file',
  description:
    'Nothing of the file is kept. Without a file, the answer reports the cost and that the file is missing. It reports a duplicate only of an asset that you may see; the registration is also refused if someone else registered the file privately.',
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
  method: 'POST',
  path: 'assets',
  operationId: 'registerAsset',
  tag: 'Assets',
  summary: 'Register a file',
  description: registrationDescription,
  errors: [
    'ASSET_COMMIT_INSUFFICIENT_FUND',
    'CONFLICT',
    'DUPLICATE_ASSET',
    'INSUFFICIENT_STORAGE',
    'PRICE_EXCEEDS_MAX_COST',
  ],
  body: registrationBody.meta({ id: 'AssetToRegister', description: 'A file and its metadata.' }),
  action: 'asset:register',
  admit: admitRegistration,
  files: ['asset_file'],
  operation: graphql(/* GraphQL */ `
    mutation RestRegisterAsset($input: RegisterAssetInput!) {
      registerAsset(input: $input) {
        asset {
          ...AssetRecord
        }
      }
    }
  `),
  variables: (request) => ({ input: registrationFrom(request) }),
  status: 201,
  answer: assetRecord,
  present: ({ registerAsset }) => presentAsset(registerAsset.asset),
  etag: ({ registerAsset }) => versionOf(registerAsset.asset),
  quote: quoteRegistration,
})

const updateBody = z
  .object(metadataBody('updateSize'))
  .meta({ id: 'UpdateAsset', description: 'Only the given fields change.' })

const updateFrom = (request: RestRequest) => ({
  ...metadataFrom(request),
  id: request.params.nid!,
  expectedHead: expectedHead(request),
})

const quoteUpdate = quoteRoute({
  path: 'quotes/assets/:nid',
  operationId: 'quoteUpdateAsset',
  summary: 'Quote a change of an asset',
  description: 'A change that changes nothing costs nothing.',
  ...quotedChange,
  body: updateBody,
  inputOf: (request) => ({ updateAssetMetadata: updateFrom(request) }),
})

const update = defineRoute({
  method: 'PATCH',
  path: 'assets/:nid',
  operationId: 'updateAsset',
  tag: 'Assets',
  summary: 'Change what is said of an asset',
  description: updateDescription,
  ...assetChange,
  body: updateBody,
  operation: graphql(/* GraphQL */ `
    mutation RestUpdateAsset($input: UpdateAssetMetadataInput!) {
      updateAssetMetadata(input: $input) {
        asset {
          ...AssetRecord
        }
      }
    }
  `),
  variables: (request) => ({ input: updateFrom(request) }),
  present: ({ updateAssetMetadata }) => presentAsset(updateAssetMetadata.asset),
  etag: ({ updateAssetMetadata }) => versionOf(updateAssetMetadata.asset),
  quote: quoteUpdate,
})

const read = defineRoute({
  method: 'GET',
  path: 'assets/:nid',
  operationId: 'getAsset',
  tag: 'Assets',
  summary: 'Read an asset',
  description: 'One’s own, or a public one.',
  params: nidParam,
  action: 'asset:read',
  operation: graphql(/* GraphQL */ `
    query RestAsset($id: ID!) {
      asset(id: $id) {
        ...AssetRecord
      }
    }
  `),
  variables: ({ params }) => ({ id: params.nid! }),
  answer: assetRecord,
  present: ({ asset }) => presentAsset(asset!),
  etag: ({ asset }) => versionOf(asset!),
})

const list = defineList({
  path: 'assets',
  operationId: 'listAssets',
  tag: 'Assets',
  summary: 'List assets',
  description:
    'Newest first. Lists your own assets when you are signed in, and public assets otherwise. `owner` lists the assets of a user that you may see.',
  filters: {
    owner: same('AssetFilter.owner', z.string()).optional(),
    proof_hash: same('AssetFilter.proofHash', z.string()).optional(),
    tag: same('AssetFilter.tag', z.string()).optional(),
    is_original_owner: same('AssetFilter.isOriginalOwner', z.boolean()).optional(),
    owner_service_name: z.string().optional().describe('Matches no asset: Annal records no names of services.'),
  },
  action: 'asset:read',
  record: assetRecord,
  plural: 'Assets',
  searched: 'the headline, the caption, the file name or the tag',
  order: 'newest',
  cursorLinks: 'far',
  isEmpty: (query) => Boolean(query.get('owner_service_name')),
  operation: graphql(/* GraphQL */ `
    query RestAssets($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder, $filter: AssetFilter) {
      assets(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy, filter: $filter) {
        totalCount
        pageInfo {
          startCursor
          endCursor
        }
        nodes {
          ...AssetRecord
        }
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
  connectionOf: ({ assets }) => assets,
  present: presentAsset,
})

const remove = defineRoute({
  method: 'DELETE',
  path: 'assets/:nid',
  operationId: 'deleteAsset',
  tag: 'Assets',
  summary: 'Delete an asset',
  description:
    'Its file and what is said of it are erased; what is on the chain stays there, messages of commits among it.',
  params: nidParam,
  errors: ['ASSET_WRITE_PERMISSION_DENIED', 'CONFLICT'],
  action: 'asset:delete',
  operation: graphql(/* GraphQL */ `
    mutation RestDeleteAsset($input: DeleteAssetInput!) {
      deleteAsset(input: $input) {
        id
      }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.nid! } }),
  status: 204,
  answer: nothing,
  present: () => undefined,
})

const historyOperation = graphql(/* GraphQL */ `
  query RestHistory(
    $id: ID!
    $limit: Int!
    $offset: Int!
    $after: Int
    $newestFirst: Boolean!
    $search: String
  ) {
    asset(id: $id) {
      nid
      commitCount(search: $search)
      history(limit: $limit, offset: $offset, after: $after, newestFirst: $newestFirst, search: $search) {
        sequence
        ...CommitRecord
      }
    }
  }
`)

const positionOf = (commit: { sequence: number } | undefined) => (commit ? String(commit.sequence) : null)

const historyRoute = (
  path: string,
  description: Pick<Description, 'operationId' | 'summary' | 'params'> & { filters?: z.core.$ZodLooseShape },
  nidOf: (request: RestRequest) => string,
) =>
  defineList(
    {
      path,
      tag: 'Assets',
      ...description,
      action: 'asset:read',
      record: commitRecord,
      plural: 'History',
      searched: 'the message',
      order: 'oldest',
      operation: historyOperation,
      variables: (request, { first, last, after, before, offset = 0, search }) => {
        const position = after ?? before
        return {
          id: nidOf(request),
          limit: first ?? last!,
          offset,
          after: position === undefined ? undefined : Number(position),
          newestFirst: last !== undefined,
          search,
        }
      },
      connectionOf: ({ asset }, { last }) => {
        const { commitCount, history } = asset!
        const nodes = last === undefined ? history : history.toReversed()
        return {
          totalCount: commitCount,
          pageInfo: { startCursor: positionOf(nodes[0]), endCursor: positionOf(nodes.at(-1)) },
          nodes,
        }
      },
      present: presentCommit,
    },
    {
      key: 'commits',
      shape: nidParam.shape,
      facts: ({ asset }) => ({ nid: asset!.nid }),
      description: 'The commits of an asset, oldest first. Reading them is free.',
    },
  )

/** Assets, and their histories. */
export const assetRoutes = [
  register,
  quoteRegistration,
  update,
  quoteUpdate,
  read,
  list,
  remove,
  historyRoute(
    'assets/:nid/history',
    {
      operationId: 'getAssetHistory',
      summary: 'Read the history of an asset',
      params: nidParam,
    },
    ({ params }) => params.nid!,
  ),
  historyRoute(
    'history',
    {
      operationId: 'getHistory',
      summary: 'Read the history of an asset by a query',
      filters: nidParam.shape,
    },
    ({ query }) => query.get('nid') ?? '',
  ),
]
