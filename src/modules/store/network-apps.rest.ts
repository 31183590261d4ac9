import { z } from 'zod'
import { defineCommand, defineRoute, del, get, patch, post, type RestRequest } from '../../http/rest/define-route.ts'
import * as values from '../../http/rest/fields.ts'
import type { NetworkAppRecordFragment } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { defineList, orderByFrom } from '../../http/rest/lists.ts'
import { validationFailed } from '../../shared/errors.ts'

export const NetworkAppRecord = graphql(/* GraphQL */ `
  fragment NetworkAppRecord on NetworkApp {
    id name priceMode price webhookUrl isActive deliveryFailurePolicy createdAt updatedAt
  }
`)

/** Lower-case names of the policies for paid orders whose webhook delivery failed permanently. */
export const deliveryFailurePolicy = z.enum(['keep', 'refund'])
/** Lower-case names of the price modes. */
export const priceMode = z.enum(['fixed'])

const networkAppRecord = values.objectOf('NetworkApp', 'A paid action with a price and, optionally, a webhook.', {
  ...values.sameFields('NetworkApp', { id: z.string(), name: z.string(), price_mode: priceMode, price: values.amount }),
  ...values.sameFields('NetworkApp', { webhook_url: values.url.nullable(), is_active: z.boolean() }),
  ...values.sameFields('NetworkApp', { delivery_failure_policy: deliveryFailurePolicy, created_at: values.time }),
  ...values.sameFields('NetworkApp', { updated_at: values.time }),
})

const networkAppWithSecret = networkAppRecord
  .extend({ webhook_secret: values.same('CreateNetworkAppPayload.webhookSecret', z.string().nullable()) })
  .meta({
    id: 'NetworkAppWithSecret',
    description: 'A network app and the secret of its webhook. The secret is never shown again.',
  })

const presentNetworkApp = ({ priceMode, deliveryFailurePolicy, ...app }: NetworkAppRecordFragment) => ({
  ...values.snakeCased(app),
  price_mode: values.lowerCase(priceMode),
  delivery_failure_policy: values.lowerCase(deliveryFailurePolicy),
})

const givenWebhook = values.givenText(2048).nullable()

const policyFrom = ({ body }: RestRequest) =>
  body.choice('delivery_failure_policy', { keep: 'KEEP', refund: 'REFUND' } as const)

/** Returns the price mode. REST requires it, although GraphQL has a default. Throws VALIDATION_FAILED. */
function priceModeFrom({ body }: RestRequest) {
  const mode = body.choice('price_mode', { fixed: 'FIXED' } as const)
  if (mode === undefined) throw validationFailed({ priceMode: ['This field is required.'] })
  return mode
}

const create = defineRoute({
  ...post('store/network-apps', 'createNetworkApp', 'Store', 'Create a network app'),
  description: 'You receive the income from its orders. The webhook secret is shown only in this response.',
  errors: ['IDEMPOTENCY_KEY_REUSED'],
  body: values.objectOf('CreateNetworkApp', 'The network app to create.', {
    name: values.same('CreateNetworkAppInput.name', values.neededText(100)),
    price_mode: priceMode.describe('Method by which the price is determined. Must be `fixed`.'),
    ...values.sameFields('CreateNetworkAppInput', { price: values.givenAmount, webhook_url: givenWebhook.optional() }),
    delivery_failure_policy: values.same('NetworkApp.deliveryFailurePolicy', deliveryFailurePolicy).optional(),
  }),
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestCreateNetworkApp($input: CreateNetworkAppInput!) {
      createNetworkApp(input: $input) { webhookSecret networkApp { ...NetworkAppRecord } }
    }
  `),
  variables: (request) => ({
    input: {
      name: request.body.text('name') ?? '',
      priceMode: priceModeFrom(request),
      price: request.body.text('price') ?? '',
      webhookUrl: request.body.textOrNull('webhook_url'),
      deliveryFailurePolicy: policyFrom(request),
    },
  }),
  status: 201,
  answer: networkAppWithSecret,
  present: ({ createNetworkApp: { networkApp, webhookSecret } }) => ({
    ...presentNetworkApp(networkApp),
    webhook_secret: webhookSecret,
  }),
})

const list = defineList({
  ...get('store/network-apps', 'listNetworkApps', 'Store', 'List network apps'),
  description:
    'Lists network apps, including deactivated ones, newest first. An app with exactly the given `name` comes first.',
  filters: { name: values.same('NetworkAppFilter.name', z.string()).optional() },
  action: 'store:administer',
  record: networkAppRecord,
  plural: 'NetworkApps',
  searched: 'the name',
  order: 'newest',
  operation: graphql(/* GraphQL */ `
    query RestNetworkApps($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder, $filter: NetworkAppFilter) {
      networkApps(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy, filter: $filter) {
        totalCount pageInfo { startCursor endCursor } nodes { ...NetworkAppRecord }
      }
    }
  `),
  variables: ({ query }, part) => ({ ...part, orderBy: orderByFrom(query), filter: { name: query.get('name') } }),
  present: presentNetworkApp,
})

const read = defineRoute({
  ...get('store/network-apps/:id', 'getNetworkApp', 'Store', 'Read a network app'),
  params: values.networkAppParam,
  action: 'store:read',
  operation: graphql(/* GraphQL */ `
    query RestNetworkApp($id: ID!) { networkApp(id: $id) { ...NetworkAppRecord } }
  `),
  variables: ({ params }) => ({ id: params.id! }),
  answer: networkAppRecord,
  present: ({ networkApp }) => presentNetworkApp(networkApp!),
})

const update = defineRoute({
  ...patch('store/network-apps/:id', 'updateNetworkApp', 'Store', 'Change a network app'),
  params: values.networkAppParam,
  body: values.objectOf('UpdateNetworkApp', 'Changes to an app. Null or an empty text removes the webhook URL.', {
    ...values.sameFields('UpdateNetworkAppInput', {
      name: values.neededText(100).optional(),
      price: values.givenAmount.optional(),
    }),
    ...values.sameFields('UpdateNetworkAppInput', { webhook_url: givenWebhook.optional() }),
    ...values.sameFields('UpdateNetworkAppInput', { delivery_failure_policy: deliveryFailurePolicy.optional() }),
  }),
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestUpdateNetworkApp($input: UpdateNetworkAppInput!) {
      updateNetworkApp(input: $input) { networkApp { ...NetworkAppRecord } }
    }
  `),
  variables: (request) => ({
    input: {
      id: request.params.id!,
      name: request.body.text('name'),
      price: request.body.text('price'),
      webhookUrl: request.body.textOrNull('webhook_url'),
      deliveryFailurePolicy: policyFrom(request),
    },
  }),
  answer: networkAppRecord,
  present: ({ updateNetworkApp }) => presentNetworkApp(updateNetworkApp.networkApp),
})

const deactivate = defineCommand({
  ...del('store/network-apps/:id', 'deactivateNetworkApp', 'Store', 'Deactivate a network app'),
  description: 'Nobody can order a deactivated app. Existing orders do not change.',
  params: values.networkAppParam,
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestDeactivateNetworkApp($input: DeactivateNetworkAppInput!) {
      deactivateNetworkApp(input: $input) { networkApp { id } }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
})

const rotateSecret = defineRoute({
  ...post('store/network-apps/:id/rotate-secret', 'rotateWebhookSecret', 'Store'),
  summary: 'Create a new webhook secret of a network app',
  description: 'The webhook secret is shown only in this response.',
  params: values.networkAppParam,
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestRotateWebhookSecret($input: RotateWebhookSecretInput!) {
      rotateWebhookSecret(input: $input) { webhookSecret networkApp { ...NetworkAppRecord } }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
  answer: networkAppWithSecret,
  present: ({ rotateWebhookSecret: { networkApp, webhookSecret } }) => ({
    ...presentNetworkApp(networkApp),
    webhook_secret: webhookSecret,
  }),
})

export const networkAppRoutes = [create, list, read, update, deactivate, rotateSecret]
