import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { defineRoute, type RestRequest } from '../../http/rest/define-route.ts'
import type { AssetLinkRecordFragment } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { assetLinkParam, defineRecord, moment, nidParam, nothing, same, url } from '../../http/rest/values.ts'
import { notAssetOwner, validationFailed } from '../../shared/errors.ts'
import { parseTimestamp } from '../../shared/input.ts'

const PART_SIZE = 200

export const AssetLinkRecord = graphql(/* GraphQL */ `
  fragment AssetLinkRecord on AssetLink { id label url createdAt expiresAt revokedAt lastUsedAt }
`)

const link = defineRecord<AssetLinkRecordFragment>()(
  { id: 'AssetLink', description: 'A link to the page of an asset.' },
  {
    id: [same('AssetLink.id', z.string()), ({ id }) => id],
    label: [same('AssetLink.label', z.string()), ({ label }) => label],
    url: [same('AssetLink.url', url), (from) => from.url],
    created_at: [same('AssetLink.createdAt', moment), ({ createdAt }) => createdAt],
    expires_at: [same('AssetLink.expiresAt', moment), ({ expiresAt }) => expiresAt],
    revoked_at: [same('AssetLink.revokedAt', moment.nullable()), ({ revokedAt }) => revokedAt],
    last_used_at: [same('AssetLink.lastUsedAt', moment.nullable()), ({ lastUsedAt }) => lastUsedAt],
  },
)

const shared = { tag: 'Assets', action: 'asset:update' } as const
const ownAsset = { ...shared, params: nidParam, errors: ['ASSET_WRITE_PERMISSION_DENIED'] } as const
const revoked = { ...shared, status: 204, answer: nothing, present: () => undefined }

const create = defineRoute({
  method: 'POST',
  path: 'assets/:nid/links',
  operationId: 'createAssetLink',
  summary: 'Create a link to the page of an asset',
  description:
    'Anyone who has the link can read the page and the proof until the link ends, even of a private asset. Treat it as a secret.',
  ...ownAsset,
  body: z
    .object({
      expires_at: same('CreateAssetLinkInput.expiresAt', z.iso.datetime({ offset: true })).optional(),
      label: same('CreateAssetLinkInput.label', z.string()).optional(),
    })
    .meta({ id: 'CreateAssetLink', description: 'Expiry time and label of a link.' }),
  operation: graphql(/* GraphQL */ `
    mutation RestCreateAssetLink($input: CreateAssetLinkInput!) {
      createAssetLink(input: $input) {
        link { ...AssetLinkRecord }
      }
    }
  `),
  variables: (request) => ({
    input: { id: request.params.nid!, label: request.body.text('label'), expiresAt: momentFrom(request, 'expires_at') },
  }),
  status: 201,
  answer: link.schema,
  present: ({ createAssetLink }) => link.present(createAssetLink.link),
})

const list = defineList({
  path: 'assets/:nid/links',
  operationId: 'listAssetLinks',
  summary: 'List the links to the page of your asset',
  description: 'Newest first. Links that ended recently are included. Each link is a secret.',
  ...ownAsset,
  record: link.schema,
  plural: 'AssetLinks',
  searched: 'the label',
  order: 'newest',
  partSize: PART_SIZE,
  operation: graphql(/* GraphQL */ `
    query RestAssetLinks($id: ID!, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
      asset(id: $id) {
        links(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
          totalCount
          pageInfo { startCursor endCursor }
          nodes { ...AssetLinkRecord }
        }
      }
    }
  `),
  variables: ({ params }, part) => ({ id: params.nid!, ...part }),
  connectionOf: ({ asset }) => {
    // GraphQL returns null for callers who do not own the asset.
    if (asset!.links === null) throw notAssetOwner()
    return asset!.links
  },
  present: link.present,
})

/** The route is not below `assets/{nid}/links/`, because a request with an empty ID would then revoke all links. */
const revoke = defineRoute({
  method: 'DELETE',
  path: 'asset-links/:id',
  operationId: 'revokeAssetLink',
  summary: 'Revoke a link to the page of an asset',
  params: assetLinkParam,
  operation: graphql(/* GraphQL */ `
    mutation RestRevokeAssetLink($input: RevokeAssetLinkInput!) {
      revokeAssetLink(input: $input) {
        link { id }
      }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
  ...revoked,
})

const revokeAll = defineRoute({
  method: 'DELETE',
  path: 'assets/:nid/links',
  operationId: 'revokeAssetLinks',
  summary: 'Revoke all links to the page of an asset',
  ...ownAsset,
  operation: graphql(/* GraphQL */ `
    mutation RestRevokeAssetLinks($input: RevokeAssetLinksInput!) {
      revokeAssetLinks(input: $input) { __typename }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.nid! } }),
  ...revoked,
})

export const assetLinkRoutes = [create, list, revoke, revokeAll]

/** Returns a timestamp field of the request body, or undefined if it is missing. Throws VALIDATION_FAILED. */
function momentFrom({ body }: Pick<RestRequest, 'body'>, name: string): Date | undefined {
  const text = body.text(name)
  if (!text) return undefined
  const moment = parseTimestamp(text)
  if (!moment) throw validationFailed({ [name]: ['Expected a moment such as 2026-11-21T09:30:00Z.'] })
  return moment
}
