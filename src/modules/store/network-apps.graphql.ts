import type { NetworkApp } from '../../db/prisma/client.ts'
import { builder, omitNullish } from '../../graphql/builder.ts'
import { type ShownQuery, showing } from '../../graphql/fast-path/payload-selection.ts'
import { characters, pageOf } from '../../graphql/limits/sizes.ts'
import {
  assertCursors,
  offsetArg,
  orderByArg,
  searchArg,
  totalCountDescription,
  totalCountOf,
  withOffset,
} from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import type { Context } from '../../services-context.ts'
import { toId } from '../../shared/ids.ts'
import { canAdminister } from '../../shared/policy.ts'
import { UserType } from '../accounts/users.graphql.ts'

const PriceMode = builder.enumType('PriceMode', {
  description: 'How the price of a network app is made.',
  values: { FIXED: { description: 'Every order costs the same.' } } as const,
})

const DeliveryFailurePolicy = builder.enumType('DeliveryFailurePolicy', {
  description: 'What becomes of a paid order whose webhook was given up.',
  values: {
    KEEP: { description: "It stays paid; the app's owner settles it with the buyer." },
    REFUND: { description: 'The buyer gets the money back.' },
  } as const,
})

const guarded = 'Only administrators see it; null for others.'

/** `NetworkApp`, to be seen by who may buy it; once it is not sold any more, by administrators alone. */
export const NetworkAppType = builder.prismaObject('NetworkApp', {
  description: 'A paid action with a price and, optionally, a webhook that is called after a payment.',
  interfaces: [Node],
  select: { id: true, name: true, price: true, priceMode: true, deactivatedAt: true },
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `app_01h2x…`.', resolve: ({ id }) => toId('app', id) }),
    name: t.string({
      ...characters(100),
      description: 'Name, unique without regard to case.',
      resolve: ({ name }) => name,
    }),
    priceMode: t.field({
      type: PriceMode,
      description: 'How the price is made.',
      resolve: ({ priceMode }) => priceMode,
    }),
    price: t.field({
      type: 'Decimal',
      description: 'What an order made now costs, in currency units; 0 is free.',
      resolve: ({ price }) => price,
    }),
    webhookUrl: t.string({
      ...characters(2048),
      nullable: true,
      description: `Called after a payment; null when nothing is. ${guarded}`,
      select: { webhookUrl: true },
      resolve: ({ webhookUrl }, _args, { actor }) => (canAdminister(actor) ? webhookUrl : null),
    }),
    webhookDisabledAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: `Since when the receiver says that it is gone; setting a URL enables it again. ${guarded}`,
      select: { webhookDisabledAt: true },
      resolve: ({ webhookDisabledAt }, _args, { actor }) => (canAdminister(actor) ? webhookDisabledAt : null),
    }),
    deliveryFailurePolicy: t.expose('deliveryFailurePolicy', {
      type: DeliveryFailurePolicy,
      description: 'What becomes of a paid order whose webhook was given up.',
    }),
    isActive: t.boolean({
      description: 'Whether it is sold.',
      resolve: ({ deactivatedAt }) => deactivatedAt === null,
    }),
    deactivatedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Since when it is not sold any more.',
      resolve: ({ deactivatedAt }) => deactivatedAt,
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When it was registered.',
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'When it last changed.',
    }),
    owner: t.relation('owner', {
      type: UserType,
      description: 'The administrator who registered it and earns its sales.',
    }),
  }),
})

const NetworkAppConnection = builder.connectionObject(
  {
    type: NetworkAppType,
    name: 'NetworkAppConnection',
    description: 'A page of network apps.',
    fields: (t) => ({ totalCount: t.int({ description: totalCountDescription, resolve: totalCountOf }) }),
  },
  { name: 'NetworkAppEdge', description: 'A network app with its cursor.' },
)

const NetworkAppFilter = builder.inputType('NetworkAppFilter', {
  description: 'Conditions that all hold.',
  fields: (t) => ({
    name: t.string({
      description: 'A part of the name, in any case. An app of exactly this name stands first.',
    }),
    isActive: t.boolean({ description: 'Whether it is sold.' }),
  }),
})

const CreateNetworkAppInput = builder.inputType('CreateNetworkAppInput', {
  description: 'A paid action to sell.',
  fields: (t) => ({
    name: t.string({ required: true, description: '1 to 100 characters; unique without regard to case.' }),
    priceMode: t.field({ type: PriceMode, description: 'How the price is made; FIXED when left out.' }),
    price: t.string({
      required: true,
      description:
        'Currency units as a decimal string such as "0.5", at most 12 digits before and 18 after the point; 0 is free.',
    }),
    webhookUrl: t.string({ description: 'Called after a payment: https, never an internal address.' }),
    deliveryFailurePolicy: t.field({
      type: DeliveryFailurePolicy,
      description: 'What becomes of a paid order whose webhook was given up; KEEP when left out.',
    }),
  }),
})

const UpdateNetworkAppInput = builder.inputType('UpdateNetworkAppInput', {
  description: 'Only what is given changes.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Identifier of the app.' }),
    name: t.string({ description: '1 to 100 characters; unique without regard to case.' }),
    price: t.string({
      description: 'Currency units as a decimal string. Orders that were made keep the price they were made at.',
    }),
    webhookUrl: t.string({
      description:
        'https, never an internal address; null removes the webhook. Rotate the secret of a first URL to see it.',
    }),
    deliveryFailurePolicy: t.field({
      type: DeliveryFailurePolicy,
      description: 'What becomes of a paid order whose webhook was given up.',
    }),
  }),
})

const RotateWebhookSecretInput = builder.inputType('RotateWebhookSecretInput', {
  description: 'The app whose calls are to be signed with a new secret.',
  fields: (t) => ({ id: t.id({ required: true, description: 'Identifier of the app.' }) }),
})

const DeactivateNetworkAppInput = builder.inputType('DeactivateNetworkAppInput', {
  description: 'The app to take out of sale.',
  fields: (t) => ({ id: t.id({ required: true, description: 'Identifier of the app.' }) }),
})

/** The app is read with what the caller selected below the payload's `networkApp`. */
const readChanged = (uuid: string, { actor, services }: Context, query: () => ShownQuery) =>
  services.networkApps.get(actor, toId('app', uuid), query())

type PayloadFields<Shape extends object> = PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, Shape>

const appField = <Shape extends { networkApp: NetworkApp }>(t: PayloadFields<Shape>) => ({
  networkApp: t.field({
    type: NetworkAppType,
    description: 'The app as it is now.',
    resolve: ({ networkApp }) => networkApp,
  }),
})

const changedApp = (name: string, description: string) =>
  builder.objectRef<{ networkApp: NetworkApp }>(name).implement({ description, fields: (t) => appField(t) })

const appWithSecret = (name: string, description: string) =>
  builder.objectRef<{ networkApp: NetworkApp; webhookSecret: string | null }>(name).implement({
    description,
    fields: (t) => ({
      ...appField(t),
      webhookSecret: t.exposeString('webhookSecret', {
        ...characters(128),
        nullable: true,
        description: 'Verifies calls by Standard Webhooks, as in `whsec_…`; seen only now. Null without a webhook.',
      }),
    }),
  })

const CreateNetworkAppPayload = appWithSecret('CreateNetworkAppPayload', 'The new app.')
const RotateWebhookSecretPayload = appWithSecret('RotateWebhookSecretPayload', 'The app with its new secret.')
const UpdateNetworkAppPayload = changedApp('UpdateNetworkAppPayload', 'The changed app.')
const DeactivateNetworkAppPayload = changedApp('DeactivateNetworkAppPayload', 'The app that is not sold any more.')

const adminOnly = 'Raises NOT_AUTHENTICATED, PERMISSION_DENIED'

builder.queryFields((t) => ({
  networkApp: t.read({
    type: NetworkAppType,
    nullable: true,
    description:
      'A network app that is sold; administrators see the others, too. Raises NOT_AUTHENTICATED, NOT_FOUND when there is none ' +
      'that you may see.',
    args: { id: t.arg.id({ required: true, description: 'Identifier of the app.' }) },
    resolve: (query, _root, { id }, { actor, services }) => services.networkApps.get(actor, id, query),
  }),
  networkApps: t.prismaConnection(
    {
      type: NetworkAppType,
      cursor: 'id',
      ...pageOf(1000),
      description:
        'What is sold; administrators see the others, too. One of exactly the name that is asked for first, then newest first. ' +
        'Raises NOT_AUTHENTICATED.',
      args: {
        filter: t.arg({ type: NetworkAppFilter, description: 'Only those that fit.' }),
        search: searchArg(t, 'the name'),
        orderBy: orderByArg(t),
        offset: offsetArg(t),
      },
      totalCount: (_connection, { filter, search }, { actor, services }) =>
        services.networkApps.count(actor, omitNullish({ ...filter, search })),
      resolve: (query, _root, { filter, search, orderBy: listOrder, offset, ...page }, { actor, services }) => {
        assertCursors('id', page)
        return services.networkApps.list(actor, omitNullish({ ...filter, search }), {
          ...withOffset(query, offset),
          listOrder,
        })
      },
    },
    NetworkAppConnection,
  ),
}))

builder.mutationFields((t) => ({
  createNetworkApp: t.field({
    type: CreateNetworkAppPayload,
    description: `Registers a paid action; its sales are yours. ${adminOnly}, VALIDATION_FAILED.`,
    args: { input: t.arg({ type: CreateNetworkAppInput, required: true, description: 'The app.' }) },
    resolve: showing('networkApp', async (query, { input }, context) => {
      const { actor, services, idempotency } = context
      const { id, webhookSecret } = await services.networkApps.create(actor, omitNullish(input), idempotency)
      return { networkApp: await readChanged(id, context, query), webhookSecret }
    }),
  }),
  updateNetworkApp: t.field({
    type: UpdateNetworkAppPayload,
    description: `Changes a network app. ${adminOnly}, VALIDATION_FAILED, NOT_FOUND.`,
    args: { input: t.arg({ type: UpdateNetworkAppInput, required: true, description: 'What to change.' }) },
    resolve: showing('networkApp', async (query, { input }, context) => {
      const { actor, services, idempotency } = context
      const change = { ...omitNullish(input), ...(input.webhookUrl === null && { webhookUrl: null }) }
      return {
        networkApp: await readChanged(await services.networkApps.update(actor, change, idempotency), context, query),
      }
    }),
  }),
  rotateWebhookSecret: t.field({
    type: RotateWebhookSecretPayload,
    description:
      'Makes a new webhook secret; for 24 hours calls are signed with the one before, too. ' +
      `${adminOnly}, NOT_FOUND, VALIDATION_FAILED when the app has no webhook.`,
    args: { input: t.arg({ type: RotateWebhookSecretInput, required: true, description: 'The app.' }) },
    resolve: showing('networkApp', async (query, { input }, context) => {
      const { actor, services, idempotency } = context
      const { id, webhookSecret } = await services.networkApps.rotateWebhookSecret(actor, input.id, idempotency)
      return { networkApp: await readChanged(id, context, query), webhookSecret }
    }),
  }),
  deactivateNetworkApp: t.field({
    type: DeactivateNetworkAppPayload,
    description: `Takes an app out of sale; orders that were made stay as they are. ${adminOnly}, NOT_FOUND.`,
    args: { input: t.arg({ type: DeactivateNetworkAppInput, required: true, description: 'The app.' }) },
    resolve: showing('networkApp', async (query, { input }, context) => {
      const { actor, services, idempotency } = context
      const id = await services.networkApps.deactivate(actor, input.id, idempotency)
      return { networkApp: await readChanged(id, context, query) }
    }),
  }),
}))
