import { z } from 'zod'
import { defineCommand, defineRoute, del, get, post, type RestRequest } from '../../http/rest/define-route.ts'
import { assetLinkParam, nidParam, objectOf, sameFields, snakeCased, time, url } from '../../http/rest/fields.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { defineList } from '../../http/rest/lists.ts'
import { notAssetOwner, validationFailed } from '../../shared/errors.ts'
import { parseTimestamp } from '../../shared/input.ts'

export const AssetLinkRecord = graphql(/* GraphQL */ `
  fragment AssetLinkRecord on AssetLink {
    id label url createdAt expiresAt revokedAt lastUsedAt
  }
`)

const linkRecord = objectOf('AssetLink', 'A link to the page of an asset.', {
  ...sameFields('AssetLink', { id: z.string(), label: z.string(), url, created_at: time, expires_at: time }),
  ...sameFields('AssetLink', { revoked_at: time.nullable(), last_used_at: time.nullable() }),
})

const ownAsset = { action: 'asset:update', params: nidParam, errors: ['ASSET_WRITE_PERMISSION_DENIED'] } as const

const create = defineRoute({
  ...post('assets/:nid/links', 'createAssetLink', 'Assets', 'Create a link to the page of an asset'),
  description:
    'Anyone who has the link can read the page and the proof until the link ends, even of a private asset. Treat it as a secret.',
  ...ownAsset,
  body: objectOf('CreateAssetLink', 'Expiry time and label of a link.', {
    ...sameFields('CreateAssetLinkInput', { expires_at: z.iso.datetime({ offset: true }).optional() }),
    ...sameFields('CreateAssetLinkInput', { label: z.string().optional() }),
  }),
  operation: graphql(/* GraphQL */ `
    mutation RestCreateAssetLink($input: CreateAssetLinkInput!) {
      createAssetLink(input: $input) { link { ...AssetLinkRecord } }
    }
  `),
  variables: (request) => ({
    input: { id: request.params.nid!, label: request.body.text('label'), expiresAt: timeFrom(request, 'expires_at') },
  }),
  status: 201,
  answer: linkRecord,
  present: ({ createAssetLink }) => snakeCased(createAssetLink.link),
})

const list = defineList({
  ...get('assets/:nid/links', 'listAssetLinks', 'Assets', 'List the links to the page of your asset'),
  description: 'Newest first. Links that ended recently are included. Each link is a secret.',
  ...ownAsset,
  record: linkRecord,
  plural: 'AssetLinks',
  searched: 'the label',
  order: 'newest',
  partSize: 200,
  operation: graphql(/* GraphQL */ `
    query RestAssetLinks($id: ID!, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
      asset(id: $id) {
        links(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
          totalCount pageInfo { startCursor endCursor } nodes { ...AssetLinkRecord }
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
  present: snakeCased,
})

/** The route is not below `assets/{nid}/links/`, because a request with an empty ID would then revoke all links. */
const revoke = defineCommand({
  ...del('asset-links/:id', 'revokeAssetLink', 'Assets', 'Revoke a link to the page of an asset'),
  action: 'asset:update',
  params: assetLinkParam,
  operation: graphql(/* GraphQL */ `
    mutation RestRevokeAssetLink($input: RevokeAssetLinkInput!) { revokeAssetLink(input: $input) { link { id } } }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
})

const revokeAll = defineCommand({
  ...del('assets/:nid/links', 'revokeAssetLinks', 'Assets', 'Revoke all links to the page of an asset'),
  ...ownAsset,
  operation: graphql(/* GraphQL */ `
    mutation RestRevokeAssetLinks($input: RevokeAssetLinksInput!) {
      revokeAssetLinks(input: $input) { __typename }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.nid! } }),
})

export const assetLinkRoutes = [create, list, revoke, revokeAll]

/** Returns a timestamp field of the request body, or undefined if it is missing. Throws VALIDATION_FAILED. */
function timeFrom({ body }: Pick<RestRequest, 'body'>, name: string): Date | undefined {
  const text = body.text(name)
  if (!text) return undefined
  const parsed = parseTimestamp(text)
  if (!parsed) throw validationFailed({ [name]: ['Expected a time such as 2026-11-21T09:30:00Z.'] })
  return parsed
}
