import { z } from 'zod'
import { defineRoute, type RestRequest } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import type { Fields } from '../../http/rest/read-body.ts'
import { givenAmount, givenFile, givenMetadata, givenObject, givenText, same } from '../../http/rest/values.ts'
import { maxCostOf, quoteRoute } from '../wallet/quotes.rest.ts'
import { assetChange, assetRecord, expectedHead, presentAsset, quotedChange, versionOf } from './asset-record.rest.ts'
import {
  type GivenValues,
  type MetadataField,
  type MetadataName,
  mapFields,
  metadataFields,
  type RegistrationName,
  registrationFields,
} from './metadata.ts'
import { admitRegistration, admitRegistrationQuote } from './register-asset.ts'

const valuesOf = <Name extends keyof GivenValues>(body: Fields, fields: Record<Name, MetadataField>) =>
  mapFields<{ [Key in Name]: GivenValues[Key] | undefined }>(fields, ({ kind, column }) => body[kind](column))

/** Returns the body schemas of metadata fields. `limit`: the maximum size that applies. */
const ofColumns = (fields: Record<string, MetadataField>, limit: 'size' | 'updateSize') =>
  Object.fromEntries(Object.values(fields).map((field) => [field.column, givenMetadata(field, limit).optional()]))

/** Body fields that POST and PATCH share. */
const metadataBody = (limit: 'size' | 'updateSize') => ({
  ...ofColumns(metadataFields, limit),
  nit_commit_custom: same('UpdateAssetMetadataInput.nitCommitCustom', givenObject).optional(),
  commit_message: same('UpdateAssetMetadataInput.commitMessage', givenText(1_000)).optional(),
  max_cost: same('UpdateAssetMetadataInput.maxCost', givenAmount).optional(),
})

const registrationDescription =
  'Registers a file and writes its first commit. It costs as much as an update. The response does not wait for the chain. A retry with the same `Idempotency-Key` is not charged again.'

const updateDescription =
  'Writes one commit and charges for it. A request that changes nothing returns 200 and is free. `nit_commit_custom` is merged by top-level keys, and `null` removes a key.'

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
  description: 'A request that changes nothing is free.',
  ...quotedChange,
  body: updateBody,
  inputOf: (request) => ({ updateAssetMetadata: updateFrom(request) }),
})

const update = defineRoute({
  method: 'PATCH',
  path: 'assets/:nid',
  operationId: 'updateAsset',
  tag: 'Assets',
  summary: 'Change the metadata of an asset',
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

const revertBody = z
  .object({
    revert_to: same('RevertAssetInput.revertTo', givenText(64).min(1)),
    commit_message: same('RevertAssetInput.commitMessage', givenText(1_000)).optional(),
    max_cost: same('RevertAssetInput.maxCost', givenAmount).optional(),
  })
  .meta({ id: 'RevertAsset', description: 'The version to revert to.' })

const revertFrom = (request: RestRequest) => ({
  id: request.params.nid!,
  expectedHead: expectedHead(request),
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
  method: 'POST',
  path: 'assets/:nid/revert',
  operationId: 'revertAsset',
  tag: 'Assets',
  summary: 'Revert an asset to a version',
  description:
    'Writes one new commit with the metadata of a version, and charges for it as for an update. A request that changes nothing returns 200 and is free. The file and its visibility stay unchanged.',
  ...assetChange,
  body: revertBody,
  operation: graphql(/* GraphQL */ `
    mutation RestRevertAsset($input: RevertAssetInput!) {
      revertAsset(input: $input) {
        asset {
          ...AssetRecord
        }
      }
    }
  `),
  variables: (request) => ({ input: revertFrom(request) }),
  present: ({ revertAsset }) => presentAsset(revertAsset.asset),
  etag: ({ revertAsset }) => versionOf(revertAsset.asset),
  quote: quoteRevert,
})

/** Routes that write commits of assets. */
export const assetChangeRoutes = [register, quoteRegistration, update, quoteUpdate, revert, quoteRevert]
