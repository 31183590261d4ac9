import { resolveCursorConnection } from '@pothos/plugin-relay'
import { builder, omitNullish, optionalTime, payloadType, shortText, time } from '../../graphql/builder.ts'
import { pageOf, urlSize } from '../../graphql/limits/document-cost.ts'
import { connectionOf, idInputType, offsetArg, searchArg } from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { owns } from '../../shared/policy.ts'
import * as links from './asset-links.ts'
import { AssetType } from './assets.graphql.ts'
import { getOwnAsset } from './find-asset.ts'

type AssetLink = links.AssetLink
const pages = pageOf(200)

builder.prismaObjectField(AssetType, 'pageUrl', (t) =>
  t.string({
    ...urlSize,
    description: 'URL of the page of the asset. Other readers of a private asset need a link: `createAssetLink`.',
    resolve: ({ nid }, _args, { baseUrl }) => baseUrl + links.assetPagePath(nid),
  }),
)

const AssetLinkType = builder.objectRef<AssetLink>('AssetLink').implement({
  description:
    'A link to the page of an asset, for readers without an account. Only the owner of the asset can read its links.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({ description: 'ID, such as `link_01h2x…`.', resolve: ({ id }) => toId('link', id) }),
    label: t.exposeString('label', shortText(links.LINK_LABEL_LENGTH, 'Your label for the link. May be empty.')),
    url: t.string({
      ...urlSize,
      description: 'URL of the page. Anyone who has this secret URL can read the page, even of a private asset.',
      resolve: ({ path }, _args, { baseUrl }) => baseUrl + path,
    }),
    createdAt: t.expose('createdAt', time('Time at which the link was created.')),
    expiresAt: t.expose('expiresAt', time('Time at which the link expires.')),
    revokedAt: t.expose('revokedAt', optionalTime('Time at which the link was revoked, or null.')),
    lastUsedAt: t.expose('lastUsedAt', optionalTime('Start of the hour in which the link was last used, or null.')),
  }),
})

const AssetLinkConnection = connectionOf(AssetLinkType, 'AssetLink', ['a link', 'links to the page of an asset'])

builder.prismaObjectField(AssetType, 'links', (t) =>
  t.connection(
    {
      type: AssetLinkType,
      nullable: true,
      ...pages,
      description: `Links to the page of the asset, newest first. Null for all callers except the owner. Creating a link deletes links that expired or were revoked ${links.ENDED_DAYS} days ago. Raises VALIDATION_FAILED.`,
      args: { search: searchArg(t, 'the label'), offset: offsetArg(t) },
      async resolve(asset, { offset, search, ...args }, context) {
        if (!owns(context.actor, asset)) return null
        const connection = await resolveCursorConnection<Promise<AssetLink[]>>(
          { args, ...pages, toCursor: ({ id }) => toId('link', id) },
          (page) => links.listAssetLinks(context, asset.id, { ...page, offset: offset ?? 0, search }),
        )
        return { ...connection, totalCount: () => links.countAssetLinks(context, asset.id, search) }
      },
    },
    AssetLinkConnection,
  ),
)

const CreateAssetLinkInput = builder.inputType('CreateAssetLinkInput', {
  description: 'Input of `createAssetLink`: the asset, and the expiry time and the label of the link.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The nid of the asset.' }),
    expiresAt: t.field({
      type: 'DateTime',
      description: `Time at which the link expires, at most ${links.MAX_LINK_DAYS} days from now. Defaults to seven days.`,
    }),
    label: t.string({
      description: `Your label for the link, at most ${links.LINK_LABEL_LENGTH} characters. Only you can read the label.`,
    }),
  }),
})

const link = ['link', AssetLinkType, 'The link to the page of the asset.'] as const
const CreateAssetLinkPayload = payloadType('CreateAssetLinkPayload', 'The new link.', link)
const RevokeAssetLinkPayload = payloadType('RevokeAssetLinkPayload', 'The revoked link.', link)

const RevokeAssetLinkInput = idInputType('RevokeAssetLinkInput', 'The link to revoke.', 'ID of the link.')
const RevokeAssetLinksInput = idInputType('RevokeAssetLinksInput', 'The asset whose links are revoked.', 'The nid.')

/** The payload has no `id` field, because Relay would treat the payload as the asset itself. */
const RevokeAssetLinksPayload = builder.objectRef<{ nid: string }>('RevokeAssetLinksPayload').implement({
  description: 'The asset whose links were revoked.',
  fields: (t) => ({
    asset: t.read({
      type: AssetType,
      description: 'The asset.',
      resolve: (query, { nid }, _args, context) => getOwnAsset(context, nid, query),
    }),
  }),
})

builder.mutationFields((t) => ({
  createAssetLink: t.field({
    type: CreateAssetLinkPayload,
    description:
      'Creates a link to the page of your asset. Anyone who has the link can read the page and the proof until the link expires, even of a private asset. The operation is free and writes no commit. Raises NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED, VALIDATION_FAILED.',
    args: { input: t.arg({ type: CreateAssetLinkInput, required: true, description: 'The asset and the link.' }) },
    resolve: async (_root, { input }, context) => ({ link: await links.createAssetLink(context, omitNullish(input)) }),
  }),
  revokeAssetLink: t.field({
    type: RevokeAssetLinkPayload,
    description:
      'Revokes a link to the page of your asset, immediately. A link that expired or was revoked stays unchanged. Raises NOT_AUTHENTICATED, NOT_FOUND.',
    args: { input: t.arg({ type: RevokeAssetLinkInput, required: true, description: 'The link to revoke.' }) },
    resolve: async (_root, { input }, context) => ({ link: await links.revokeAssetLink(context, input) }),
  }),
  revokeAssetLinks: t.field({
    type: RevokeAssetLinksPayload,
    description: 'Revokes all links to the page of your asset. Raises NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED.',
    args: { input: t.arg({ type: RevokeAssetLinksInput, required: true, description: 'The asset.' }) },
    resolve: async (_root, { input }, context) => ({ nid: await links.revokeAssetLinks(context, input) }),
  }),
}))
