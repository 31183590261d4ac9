/** Links by which strangers read the page of a private asset. */
import { z } from 'zod'
import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'
import { momentFrom } from '../given-moment.ts'
import { moment, nothing, same, url } from '../values.ts'
import { nidParam } from './params.ts'

const create = defineRoute({
  method: 'POST',
  path: 'assets/:nid/links',
  operationId: 'createAssetLink',
  tag: 'Assets',
  summary: 'Make a link to the page of an asset',
  description:
    'Whoever has it reads the page and the proof, also while the asset is private, until the link ends: treat it as a secret.',
  params: nidParam,
  errors: ['ASSET_WRITE_PERMISSION_DENIED'],
  body: z
    .object({ expires_at: same('CreateAssetLinkInput.expiresAt', z.iso.datetime({ offset: true })).optional() })
    .meta({ id: 'CreateAssetLink', description: 'Until when it is to be good.' }),
  action: 'asset:update',
  operation: graphql(/* GraphQL */ `
    mutation RestCreateAssetLink($input: CreateAssetLinkInput!) {
      createAssetLink(input: $input) {
        link {
          url
          expiresAt
        }
      }
    }
  `),
  variables: (request) => ({ input: { id: request.params.nid!, expiresAt: momentFrom(request, 'expires_at') } }),
  status: 201,
  answer: z
    .object({ url: same('AssetLink.url', url), expires_at: same('AssetLink.expiresAt', moment) })
    .meta({ id: 'AssetLink', description: 'A link to the page of an asset.' }),
  present: ({ createAssetLink: { link } }) => ({ url: link.url, expires_at: link.expiresAt }),
})

const revoke = defineRoute({
  method: 'DELETE',
  path: 'assets/:nid/links',
  operationId: 'revokeAssetLinks',
  tag: 'Assets',
  summary: 'End all links to the page of an asset',
  params: nidParam,
  errors: ['ASSET_WRITE_PERMISSION_DENIED'],
  action: 'asset:update',
  operation: graphql(/* GraphQL */ `
    mutation RestRevokeAssetLinks($input: RevokeAssetLinksInput!) {
      revokeAssetLinks(input: $input) {
        id
      }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.nid! } }),
  status: 204,
  answer: nothing,
  present: () => undefined,
})

/** Links to assets. */
export const assetLinkRoutes = [create, revoke]
