import { resolveCursorConnection } from '@pothos/plugin-relay'
import { builder, omitNullish } from '../../graphql/builder.ts'
import { characters, pageOf, urlSize } from '../../graphql/limits/sizes.ts'
import { offsetArg, searchArg, totalCountDescription, totalCountOf } from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { owns } from '../../shared/policy.ts'
import {
  type AssetLink,
  assetPagePath,
  countAssetLinks,
  createAssetLink,
  KEPT_DAYS,
  LINK_LABEL_LENGTH,
  listAssetLinks,
  MAX_LINK_DAYS,
  revokeAssetLink,
  revokeAssetLinks,
} from './asset-links.ts'
import { AssetType } from './assets.graphql.ts'
import { getOwnAsset } from './find-asset.ts'

const pages = pageOf(200)

builder.prismaObjectField(AssetType, 'pageUrl', (t) =>
  t.string({
    ...urlSize,
    description: 'Where people read about it. For a private asset the page is its owner’s; `createAssetLink` opens it.',
    resolve: ({ nid }, _args, { baseUrl }) => baseUrl + assetPagePath(nid),
  }),
)

const AssetLinkType = builder.objectRef<AssetLink>('AssetLink').implement({
  description: 'A link by which strangers read the page of an asset. It is shown to the owner of the asset alone.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `link_01h2x…`.', resolve: ({ id }) => toId('link', id) }),
    label: t.exposeString('label', {
      ...characters(LINK_LABEL_LENGTH),
      description: 'What you know it by; may be empty.',
    }),
    url: t.string({
      ...urlSize,
      description:
        'URL of the page. Anyone who has it can read the page, also of a private asset: treat it as a secret.',
      resolve: ({ path }, _args, { baseUrl }) => baseUrl + path,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it ends.' }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When you ended it; null when you did not.',
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The hour in which it was last used, as its beginning; null when it never was.',
    }),
  }),
})

const AssetLinkConnection = builder.connectionObject(
  {
    type: AssetLinkType,
    name: 'AssetLinkConnection',
    description: 'A page of links to the page of an asset.',
    fields: (t) => ({
      totalCount: t.int({
        description: totalCountDescription,
        resolve: totalCountOf,
      }),
    }),
  },
  { name: 'AssetLinkEdge', description: 'A link with its cursor.' },
)

builder.prismaObjectField(AssetType, 'links', (t) =>
  t.connection(
    {
      type: AssetLinkType,
      nullable: true,
      ...pages,
      description: `The links to its page, newest first; those that ended are forgotten ${KEPT_DAYS} days later, when another one is made. Null for everybody but its owner. Raises VALIDATION_FAILED.`,
      args: { search: searchArg(t, 'the label'), offset: offsetArg(t) },
      resolve: async (asset, { offset, search, ...args }, context) =>
        owns(context.actor, asset)
          ? {
              ...(await resolveCursorConnection<Promise<AssetLink[]>>(
                { args, ...pages, toCursor: ({ id }) => toId('link', id) },
                (page) => listAssetLinks(context, asset.id, { ...page, offset: offset ?? 0, search }),
              )),
              totalCount: () => countAssetLinks(context, asset.id, search),
            }
          : null,
    },
    AssetLinkConnection,
  ),
)

const CreateAssetLinkInput = builder.inputType('CreateAssetLinkInput', {
  description: 'The asset, and how long the link is to be good.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The nid.' }),
    expiresAt: t.field({
      type: 'DateTime',
      description: `When it ends, at most ${MAX_LINK_DAYS} days from now; in seven days when left out.`,
    }),
    label: t.string({
      description: `What you know it by, such as whom it is for, at most ${LINK_LABEL_LENGTH} characters. Nobody else sees it.`,
    }),
  }),
})

const CreateAssetLinkPayload = builder.objectRef<{ link: AssetLink }>('CreateAssetLinkPayload').implement({
  description: 'The new link.',
  fields: (t) => ({ link: t.expose('link', { type: AssetLinkType, description: 'The link.' }) }),
})

const RevokeAssetLinkInput = builder.inputType('RevokeAssetLinkInput', {
  description: 'The link to end.',
  fields: (t) => ({ id: t.id({ required: true, description: 'Identifier of the link.' }) }),
})

const RevokeAssetLinkPayload = builder.objectRef<{ link: AssetLink }>('RevokeAssetLinkPayload').implement({
  description: 'The link that has ended.',
  fields: (t) => ({ link: t.expose('link', { type: AssetLinkType, description: 'The link.' }) }),
})

const RevokeAssetLinksInput = builder.inputType('RevokeAssetLinksInput', {
  description: 'The asset whose links are to end.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The nid.' }) }),
})

/** No `id` of its own: to Relay what has the identifier of an asset is that asset. */
const RevokeAssetLinksPayload = builder.objectRef<{ nid: string }>('RevokeAssetLinksPayload').implement({
  description: 'The asset whose links have ended.',
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
      'Makes a link by which whoever has it reads the page of your asset and its proof, also while it is private, until the link ends. It is ' +
      'free, and writes no commit. Raises NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED, VALIDATION_FAILED.',
    args: { input: t.arg({ type: CreateAssetLinkInput, required: true, description: 'The asset, and until when.' }) },
    resolve: async (_root, { input }, context) => ({ link: await createAssetLink(context, omitNullish(input)) }),
  }),
  revokeAssetLink: t.field({
    type: RevokeAssetLinkPayload,
    description:
      'Ends one link to the page of your asset: the next request with it is refused. One that has ended stays as it is. Raises NOT_AUTHENTICATED, ' +
      'NOT_FOUND.',
    args: { input: t.arg({ type: RevokeAssetLinkInput, required: true, description: 'The link.' }) },
    resolve: async (_root, { input }, context) => ({ link: await revokeAssetLink(context, input) }),
  }),
  revokeAssetLinks: t.field({
    type: RevokeAssetLinksPayload,
    description:
      'Ends all links to the page of your asset that were made until now. Raises NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED.',
    args: { input: t.arg({ type: RevokeAssetLinksInput, required: true, description: 'The asset.' }) },
    resolve: async (_root, { input }, context) => ({ nid: await revokeAssetLinks(context, input) }),
  }),
}))
