import { type AssetLink, MOST_LINK_DAYS } from '../domain/asset/link-service.ts'
import { AssetType } from './asset.ts'
import { builder } from './builder.ts'
import { omitNullish } from './omit-nullish.ts'
import { urlSize } from './sizes.ts'

builder.prismaObjectField(AssetType, 'pageUrl', (t) =>
  t.string({
    ...urlSize,
    description: 'Where people read about it. For a private asset the page is its owner’s; `createAssetLink` opens it.',
    resolve: ({ nid }, _args, { services }) => services.assetLinks.pageOf(nid),
  }),
)

const AssetLinkType = builder.objectRef<AssetLink>('AssetLink').implement({
  description: 'A link by which strangers read the page of an asset.',
  fields: (t) => ({
    url: t.exposeString('url', {
      ...urlSize,
      description: 'Whoever has it reads the page, also of a private asset: treat it as a secret.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it ends.' }),
  }),
})

const CreateAssetLinkInput = builder.inputType('CreateAssetLinkInput', {
  description: 'The asset, and how long the link is to be good.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The nid.' }),
    expiresAt: t.field({
      type: 'DateTime',
      description: `When it ends, at most ${MOST_LINK_DAYS} days from now; in seven days when left out.`,
    }),
  }),
})

const CreateAssetLinkPayload = builder.objectRef<{ link: AssetLink }>('CreateAssetLinkPayload').implement({
  description: 'The new link.',
  fields: (t) => ({ link: t.expose('link', { type: AssetLinkType, description: 'It is shown this once.' }) }),
})

const RevokeAssetLinksInput = builder.inputType('RevokeAssetLinksInput', {
  description: 'The asset whose links are to end.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The nid.' }) }),
})

const RevokeAssetLinksPayload = builder.objectRef<{ id: string }>('RevokeAssetLinksPayload').implement({
  description: 'The asset whose links have ended.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'Its nid.' }) }),
})

builder.mutationFields((t) => ({
  createAssetLink: t.field({
    type: CreateAssetLinkPayload,
    description:
      'Makes a link by which whoever has it reads the page of your asset and its proof, also while it is private, until the link ends. It is ' +
      'free, and writes no commit. Raises NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED, VALIDATION_FAILED.',
    args: { input: t.arg({ type: CreateAssetLinkInput, required: true, description: 'The asset, and until when.' }) },
    resolve: async (_root, { input: { id, ...input } }, { actor, services, idempotency }) => ({
      link: await services.assetLinks.create(actor, { nid: id, ...omitNullish(input) }, idempotency),
    }),
  }),
  revokeAssetLinks: t.field({
    type: RevokeAssetLinksPayload,
    description:
      'Ends all links to the page of your asset that were made until now. Raises NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED.',
    args: { input: t.arg({ type: RevokeAssetLinksInput, required: true, description: 'The asset.' }) },
    resolve: async (_root, { input }, { actor, services, idempotency }) => ({
      id: await services.assetLinks.revoke(actor, input.id, idempotency),
    }),
  }),
}))
