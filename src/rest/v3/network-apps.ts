import { defineRoute, type RestRequest } from '../define-route.ts'
import { graphql } from '../generated/index.ts'
import { pageOf, presentPage } from '../pagination.ts'
import { presentNetworkApp } from './present-network-app.ts'

const policyFrom = ({ body }: RestRequest) =>
  body.choice('delivery_failure_policy', { keep: 'KEEP', refund: 'REFUND' } as const)

const create = defineRoute({
  method: 'POST',
  path: 'store/network-apps',
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestCreateNetworkApp($input: CreateNetworkAppInput!) {
      createNetworkApp(input: $input) {
        webhookSecret
        networkApp {
          ...NetworkAppRecord
        }
      }
    }
  `),
  variables: (request) => ({
    input: {
      name: request.body.text('name') ?? '',
      priceMode: request.body.choice('price_mode', { fixed: 'FIXED' } as const),
      price: request.body.text('price') ?? '',
      webhookUrl: request.body.textOrNull('webhook_url'),
      deliveryFailurePolicy: policyFrom(request),
    },
  }),
  status: 201,
  present: ({ createNetworkApp: { networkApp, webhookSecret } }) => ({
    ...presentNetworkApp(networkApp),
    webhook_secret: webhookSecret,
  }),
})

const list = defineRoute({
  method: 'GET',
  path: 'store/network-apps',
  action: 'store:read',
  operation: graphql(/* GraphQL */ `
    query RestNetworkApps($limit: Int!, $offset: Int!, $filter: NetworkAppFilter) {
      networkApps(first: $limit, offset: $offset, filter: $filter) {
        totalCount
        nodes {
          ...NetworkAppRecord
        }
      }
    }
  `),
  variables: (request) => ({ ...pageOf(request), filter: { name: request.query.get('name') } }),
  present: ({ networkApps }, request) =>
    presentPage(request, networkApps.totalCount, networkApps.nodes.map(presentNetworkApp)),
})

const read = defineRoute({
  method: 'GET',
  path: 'store/network-apps/:id',
  action: 'store:read',
  operation: graphql(/* GraphQL */ `
    query RestNetworkApp($id: ID!) {
      networkApp(id: $id) {
        ...NetworkAppRecord
      }
    }
  `),
  variables: ({ params }) => ({ id: params.id! }),
  present: ({ networkApp }) => presentNetworkApp(networkApp!),
})

const update = defineRoute({
  method: 'PATCH',
  path: 'store/network-apps/:id',
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestUpdateNetworkApp($input: UpdateNetworkAppInput!) {
      updateNetworkApp(input: $input) {
        networkApp {
          ...NetworkAppRecord
        }
      }
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
  present: ({ updateNetworkApp }) => presentNetworkApp(updateNetworkApp.networkApp),
})

const deactivate = defineRoute({
  method: 'DELETE',
  path: 'store/network-apps/:id',
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestDeactivateNetworkApp($input: DeactivateNetworkAppInput!) {
      deactivateNetworkApp(input: $input) {
        networkApp {
          id
        }
      }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
  status: 204,
  present: () => undefined,
})

const rotateSecret = defineRoute({
  method: 'POST',
  path: 'store/network-apps/:id/rotate-secret',
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestRotateWebhookSecret($input: RotateWebhookSecretInput!) {
      rotateWebhookSecret(input: $input) {
        webhookSecret
        networkApp {
          ...NetworkAppRecord
        }
      }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
  present: ({ rotateWebhookSecret: { networkApp, webhookSecret } }) => ({
    ...presentNetworkApp(networkApp),
    webhook_secret: webhookSecret,
  }),
})

/** Network apps: kept by administrators, and read by who may buy them. */
export const networkAppRoutes = [create, list, read, update, deactivate, rotateSecret]
