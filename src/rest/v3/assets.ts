import {
  type GivenValues,
  type MetadataField,
  type MetadataName,
  metadataFields,
  ofEach,
  type RegistrationName,
  registrationFields,
} from '../../domain/asset/metadata.ts'
import { defineRoute, type RestRequest } from '../define-route.ts'
import type { Fields } from '../fields.ts'
import type { AssetRecordFragment } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'
import { linksOf, pageOf, presentPage } from '../pagination.ts'
import { queryFlag } from '../query-flag.ts'
import { presentAsset } from './present-asset.ts'
import { presentCommit } from './present-commit.ts'
import { presentQuote } from './present-quote.ts'

/** What a body gives of these fields. */
const valuesOf = <Name extends keyof GivenValues>(body: Fields, fields: Record<Name, MetadataField>) =>
  ofEach<{ [Key in Name]: GivenValues[Key] | undefined }>(fields, ({ kind, column }) => body[kind](column))

/** What POST and PATCH read alike. */
const metadataFrom = ({ body, dryRun }: RestRequest) => ({
  ...valuesOf<MetadataName>(body, metadataFields),
  nitCommitCustom: body.object('nit_commit_custom'),
  commitMessage: body.text('commit_message'),
  maxCost: body.amount('max_cost'),
  dryRun,
})

/** A thumbnail comes without a commit: who knows the record without it must get it anew. */
const WITH_THUMBNAIL = '+thumbnail'
const versionOf = ({ headId, thumbnailUrl }: AssetRecordFragment) => headId + (thumbnailUrl ? WITH_THUMBNAIL : '')

/** The head a writer saw, from `If-Match: "<commit>"`. */
const expectedHead = (request: RestRequest) =>
  request.header('if-match')?.replace(/^W\//, '').replaceAll('"', '').replace(WITH_THUMBNAIL, '')

const register = defineRoute({
  method: 'POST',
  path: 'assets',
  action: 'asset:register',
  admit: ({ services, actor, idempotency }, request) => services.assets.admitRegistration(actor, idempotency, request),
  files: ['asset_file'],
  operation: graphql(/* GraphQL */ `
    mutation RestRegisterAsset($input: RegisterAssetInput!, $dryRun: Boolean!) {
      registerAsset(input: $input) {
        asset {
          ...AssetRecord
        }
        quote @include(if: $dryRun) {
          ...QuoteRecord
        }
      }
    }
  `),
  variables: (request) => ({
    input: {
      ...metadataFrom(request),
      assetFile: request.body.upload('asset_file'),
      assetFileMimeType: request.body.text('asset_file_mime_type') || undefined,
      ...valuesOf<RegistrationName>(request.body, registrationFields),
    },
    dryRun: request.dryRun,
  }),
  status: 201,
  present: ({ registerAsset }) => presentAsset(registerAsset.asset!),
  presentDryRun: ({ registerAsset }, request) => presentQuote(registerAsset.quote!, request),
  etag: ({ registerAsset }) => versionOf(registerAsset.asset!),
})

const update = defineRoute({
  method: 'PATCH',
  path: 'assets/:nid',
  action: 'asset:update',
  operation: graphql(/* GraphQL */ `
    mutation RestUpdateAsset($input: UpdateAssetMetadataInput!, $dryRun: Boolean!) {
      updateAssetMetadata(input: $input) {
        asset {
          ...AssetRecord
        }
        quote @include(if: $dryRun) {
          ...QuoteRecord
        }
      }
    }
  `),
  variables: (request) => ({
    input: { ...metadataFrom(request), id: request.params.nid!, expectedHead: expectedHead(request) },
    dryRun: request.dryRun,
  }),
  present: ({ updateAssetMetadata }) => presentAsset(updateAssetMetadata.asset),
  presentDryRun: ({ updateAssetMetadata }, request) => presentQuote(updateAssetMetadata.quote!, request),
  etag: ({ updateAssetMetadata }) => versionOf(updateAssetMetadata.asset),
})

const read = defineRoute({
  method: 'GET',
  path: 'assets/:nid',
  action: 'asset:read',
  operation: graphql(/* GraphQL */ `
    query RestAsset($id: ID!) {
      asset(id: $id) {
        ...AssetRecord
      }
    }
  `),
  variables: ({ params }) => ({ id: params.nid! }),
  present: ({ asset }) => presentAsset(asset!),
  etag: ({ asset }) => versionOf(asset!),
})

const list = defineRoute({
  method: 'GET',
  path: 'assets',
  action: 'asset:read',
  operation: graphql(/* GraphQL */ `
    query RestAssets($limit: Int!, $offset: Int!, $filter: AssetFilter) {
      assets(first: $limit, offset: $offset, filter: $filter) {
        totalCount
        nodes {
          ...AssetRecord
        }
      }
    }
  `),
  variables: (request) => ({
    ...pageOf(request),
    filter: {
      owner: request.query.get('owner') || undefined,
      proofHash: request.query.get('proof_hash') || undefined,
      tag: request.query.get('tag') || undefined,
      isOriginalOwner: queryFlag(request.query, 'is_original_owner'),
    },
  }),
  present: ({ assets }, request) => presentPage(request, assets.totalCount, assets.nodes.map(presentAsset)),
})

const remove = defineRoute({
  method: 'DELETE',
  path: 'assets/:nid',
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
  present: () => undefined,
})

const historyOperation = graphql(/* GraphQL */ `
  query RestHistory($id: ID!, $limit: Int!, $offset: Int!) {
    asset(id: $id) {
      nid
      commitCount
      history(limit: $limit, offset: $offset) {
        ...CommitRecord
      }
    }
  }
`)

const historyRoute = (path: string, nidOf: (request: RestRequest) => string) =>
  defineRoute({
    method: 'GET',
    path,
    action: 'asset:read',
    operation: historyOperation,
    variables: (request) => ({ id: nidOf(request), ...pageOf(request) }),
    present: ({ asset }, request) => {
      const { nid, commitCount, history } = asset!
      const links = linksOf(request, commitCount, history.length)
      return { nid, count: commitCount, ...links, commits: history.map(presentCommit) }
    },
  })

/** Assets, and their histories. */
export const assetRoutes = [
  register,
  update,
  read,
  list,
  remove,
  historyRoute('assets/:nid/history', ({ params }) => params.nid!),
  historyRoute('history', ({ query }) => query.get('nid') ?? ''),
]
