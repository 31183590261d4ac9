import {
  builder,
  decimal,
  omitNullish,
  optionalText,
  optionalTime,
  type PayloadFields,
  payloadType,
  publicId,
  shortText,
  showingChange,
  time,
} from '../../graphql/builder.ts'
import { showing } from '../../graphql/fast-path/compilable-fields.ts'
import { pageOf } from '../../graphql/limits/document-cost.ts'
import { connectionOf, idInputType, listResolvers, offsetArg, orderByArg, searchArg } from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { canAdminister } from '../../shared/policy.ts'
import { UserType } from '../accounts/users.graphql.ts'
import * as apps from './network-apps.ts'

const PriceMode = builder.enumType('PriceMode', {
  description: 'Method by which the price of a network app is determined.',
  values: { FIXED: { description: 'Every order costs the same.' } } as const,
})

const policyDescription = 'What happens to a paid order if the delivery of its webhook fails permanently.'
const DeliveryFailurePolicy = builder.enumType('DeliveryFailurePolicy', {
  description: policyDescription,
  values: {
    KEEP: { description: 'The order stays paid. The owner of the app settles the order with the buyer.' },
    REFUND: { description: 'The buyer gets an automatic refund.' },
  } as const,
})

const policyField = { type: DeliveryFailurePolicy, description: policyDescription } as const
const priceModeField = { type: PriceMode, description: 'Method by which the price is determined.' } as const
const nameDescription = 'Name, 1 to 100 characters. Names are unique and case-insensitive.'
const adminsOnly = 'Null for users who are not administrators.'

export const NetworkAppType = builder.prismaObject('NetworkApp', {
  description: 'A paid action with a price and, optionally, a webhook that is called after a payment.',
  interfaces: [Node],
  select: { id: true, name: true, price: true, priceMode: true, deactivatedAt: true },
  fields: (t) => ({
    id: t.field(publicId('app', 'id', 'Identifier, as in `app_01h2x…`.')),
    name: t.exposeString('name', shortText(100, 'Name. Names are unique and case-insensitive.')),
    priceMode: t.expose('priceMode', priceModeField),
    price: t.expose('price', decimal('Price of a new order, in currency units. 0 is free.')),
    webhookUrl: t.string({
      ...optionalText(2048, `URL that is called after a payment. Null without a webhook. ${adminsOnly}`),
      select: { webhookUrl: true },
      resolve: ({ webhookUrl }, _args, { actor }) => (canAdminister(actor) ? webhookUrl : null),
    }),
    webhookDisabledAt: t.field({
      ...optionalTime(
        `Time at which the receiver responded with 410 Gone, which disables the webhook. Setting a URL enables the webhook again. ${adminsOnly}`,
      ),
      select: { webhookDisabledAt: true },
      resolve: ({ webhookDisabledAt }, _args, { actor }) => (canAdminister(actor) ? webhookDisabledAt : null),
    }),
    deliveryFailurePolicy: t.expose('deliveryFailurePolicy', policyField),
    isActive: t.boolean({
      description: 'True while the app can be ordered.',
      resolve: ({ deactivatedAt }) => deactivatedAt === null,
    }),
    deactivatedAt: t.expose('deactivatedAt', optionalTime('Time of the deactivation. Null for an active app.')),
    createdAt: t.expose('createdAt', time('Time of creation.')),
    updatedAt: t.expose('updatedAt', time('Time of the last update.')),
    owner: t.relation('owner', {
      type: UserType,
      description: 'The administrator who created the app and receives the income from its orders.',
    }),
  }),
})

const NetworkAppConnection = connectionOf(NetworkAppType, 'NetworkApp', ['a network app', 'network apps'])

const NetworkAppFilter = builder.inputType('NetworkAppFilter', {
  description: 'Filter of network apps. All given conditions must match.',
  fields: (t) => ({
    name: t.string({
      description: 'Part of the name of the app, in any case. An app with exactly this name comes first.',
    }),
    isActive: t.boolean({
      description: 'True returns active apps, which can be ordered. False returns deactivated apps.',
    }),
  }),
})

const CreateNetworkAppInput = builder.inputType('CreateNetworkAppInput', {
  description: 'The network app to create.',
  fields: (t) => ({
    name: t.string({ required: true, description: nameDescription }),
    priceMode: t.field({ ...priceModeField, defaultValue: 'FIXED' }),
    price: t.string({
      required: true,
      description:
        'Price in currency units, as a decimal string such as "0.5" with at most 12 digits before and 18 after the point. 0 is free.',
    }),
    webhookUrl: t.string({
      description: 'URL that Annal calls after a payment. The URL needs https and a public address.',
    }),
    deliveryFailurePolicy: t.field({ ...policyField, defaultValue: 'KEEP' }),
  }),
})

const UpdateNetworkAppInput = builder.inputType('UpdateNetworkAppInput', {
  description: 'Changes to a network app. Omitted fields do not change.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Identifier of the app.' }),
    name: t.string({ description: nameDescription }),
    price: t.string({ description: 'Price in currency units, as a decimal string. Existing orders keep their price.' }),
    webhookUrl: t.string({
      description:
        'URL that Annal calls after a payment. The URL needs https and a public address. Null removes the webhook. The first URL creates a secret. Call `rotateWebhookSecret` to get a new secret.',
    }),
    deliveryFailurePolicy: t.field(policyField),
  }),
})

const appInput = (name: string, description: string) => idInputType(name, description, 'Identifier of the app.')
const RotateWebhookSecretInput = appInput('RotateWebhookSecretInput', 'The app that gets a new webhook secret.')
const DeactivateNetworkAppInput = appInput('DeactivateNetworkAppInput', 'ID of the network app to deactivate.')

const appField = ['networkApp', NetworkAppType, 'The updated app.'] as const
const secretField = (t: PayloadFields<{ webhookSecret: string | null }>) => ({
  webhookSecret: t.exposeString(
    'webhookSecret',
    optionalText(
      128,
      'Secret that signs the webhook calls, such as `whsec_…` (Standard Webhooks). The secret is never shown again. Null without a webhook.',
    ),
  ),
})
const CreatePayload = payloadType('CreateNetworkAppPayload', 'The new app.', appField, secretField)
const RotatePayload = payloadType('RotateWebhookSecretPayload', 'The app with its new secret.', appField, secretField)
const UpdatePayload = payloadType('UpdateNetworkAppPayload', 'The changed app.', appField)
const DeactivatePayload = payloadType('DeactivateNetworkAppPayload', 'The deactivated app.', appField)

const adminOnly = 'Raises NOT_AUTHENTICATED, PERMISSION_DENIED'

builder.queryFields((t) => ({
  networkApp: t.read({
    type: NetworkAppType,
    nullable: true,
    description:
      'A network app by its ID. Only administrators can read deactivated apps. Raises NOT_AUTHENTICATED, NOT_FOUND.',
    args: { id: t.arg.id({ required: true, description: 'Identifier of the app.' }) },
    resolve: (query, _root, { id }, context) => apps.networkAppReader.get(context, id, query),
  }),
  networkApps: t.prismaConnection(
    {
      type: NetworkAppType,
      cursor: 'id',
      ...pageOf(1000),
      description:
        'Network apps, newest first. An app with exactly the name of the filter comes first. Only administrators can read deactivated apps. ' +
        'Raises NOT_AUTHENTICATED.',
      args: {
        filter: t.arg({ type: NetworkAppFilter, description: 'Filter of the apps.' }),
        search: searchArg(t, 'the name'),
        orderBy: orderByArg(t),
        offset: offsetArg(t),
      },
      ...listResolvers(apps.listNetworkApps, apps.countNetworkApps),
    },
    NetworkAppConnection,
  ),
}))

builder.mutationFields((t) => ({
  createNetworkApp: t.field({
    type: CreatePayload,
    description: `Creates a network app. You receive the income from its orders. Only for administrators. ${adminOnly}, VALIDATION_FAILED.`,
    args: { input: t.arg({ type: CreateNetworkAppInput, required: true, description: 'The app.' }) },
    resolve: showingChange('networkApp', apps.networkAppReader, apps.createNetworkApp),
  }),
  updateNetworkApp: t.field({
    type: UpdatePayload,
    description: `Changes a network app. Only for administrators. ${adminOnly}, VALIDATION_FAILED, NOT_FOUND.`,
    args: { input: t.arg({ type: UpdateNetworkAppInput, required: true, description: 'The changes.' }) },
    resolve: showing('networkApp', async (query, { input }, context) => {
      const change = { ...omitNullish(input), ...(input.webhookUrl === null && { webhookUrl: null }) }
      const { id } = await apps.updateNetworkApp(context, change)
      return { networkApp: await apps.networkAppReader.getByUuid(context, id, query()) }
    }),
  }),
  rotateWebhookSecret: t.field({
    type: RotatePayload,
    description:
      'Creates a new webhook secret. For 24 hours, calls also have a signature with the previous secret. Only for administrators. ' +
      `${adminOnly}, NOT_FOUND, VALIDATION_FAILED if the app has no webhook.`,
    args: { input: t.arg({ type: RotateWebhookSecretInput, required: true, description: 'The app.' }) },
    resolve: showingChange('networkApp', apps.networkAppReader, apps.rotateWebhookSecret),
  }),
  deactivateNetworkApp: t.field({
    type: DeactivatePayload,
    description: `Deactivates a network app. Nobody can order a deactivated app. Existing orders do not change. Only for administrators. ${adminOnly}, NOT_FOUND.`,
    args: { input: t.arg({ type: DeactivateNetworkAppInput, required: true, description: 'The app.' }) },
    resolve: showingChange('networkApp', apps.networkAppReader, apps.deactivateNetworkApp),
  }),
}))
