/** The workbench of webhooks: what was sent, what was answered, and sending again. */
import { html } from 'hono/html'
import type { DeliveryFactsFragment, DeliveryStatus } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'
import type { Action } from './action.ts'
import type { AdminRoute } from './admin-page.ts'
import { badge, doneAt, facts, filters, heading, id, moment, offsetOf, PAGE, pager, table } from './parts.ts'
import type { Run } from './run.ts'

/** What pages tell of a delivery. */
export const DeliveryFacts = graphql(/* GraphQL */ `
  fragment DeliveryFacts on WebhookDelivery {
    id
    eventId
    orderId
    networkApp {
      id
      name
    }
    status
    attemptCount
    nextAttemptAt
    createdAt
    settledAt
  }
`)

const Deliveries = graphql(/* GraphQL */ `
  query AdminDeliveries($limit: Int!, $offset: Int!, $filter: WebhookDeliveryFilter) {
    webhookDeliveries(first: $limit, offset: $offset, filter: $filter) {
      totalCount
      nodes {
        ...DeliveryFacts
      }
    }
  }
`)

const Delivery = graphql(/* GraphQL */ `
  query AdminDelivery($id: ID!) {
    webhookDelivery(id: $id) {
      ...DeliveryFacts
      attempts {
        number
        startedAt
        duration
        statusCode
        failure
        response
      }
    }
  }
`)

const Replay = graphql(/* GraphQL */ `
  mutation AdminReplay($id: ID!) {
    replayWebhookDelivery(input: { id: $id }) {
      webhookDelivery {
        id
      }
    }
  }
`)

const PATH = '/admin/webhooks'
const statuses: DeliveryStatus[] = ['PENDING', 'DELIVERED', 'GIVEN_UP']
const options = [['', 'Any'], ...statuses.map((status) => [status, status.toLowerCase().replace('_', ' ')])] as [
  string,
  string,
][]

const list = (run: Run): AdminRoute => ({
  method: 'GET',
  path: PATH,
  async answer(request) {
    const { query } = request
    const filter = {
      status: statuses.find((status) => status === query.get('status')),
      networkAppId: query.get('app')?.trim() || undefined,
      orderId: query.get('order')?.trim() || undefined,
    }
    const { webhookDeliveries } = await run(
      Deliveries,
      { limit: PAGE, offset: offsetOf(request), filter },
      request.context,
    )
    return {
      title: 'Webhooks',
      content: html`${heading('Webhook deliveries', { request })}
${filters(request, [
  { name: 'status', label: 'Status', options },
  { name: 'app', label: 'Identifier of the network app' },
  { name: 'order', label: 'Identifier of the order' },
])}
${table(
  'Webhook deliveries',
  [
    { name: 'Delivery', show: (delivery: DeliveryFactsFragment) => id(delivery.id, `${PATH}/${delivery.id}`) },
    { name: 'Status', show: ({ status }) => badge(status) },
    {
      name: 'Network app',
      show: ({ networkApp }) => html`<a href="/admin/apps/${networkApp.id}">${networkApp.name}</a>`,
    },
    { name: 'Order', show: ({ orderId }) => (orderId ? id(orderId, `/admin/orders/${orderId}`) : '–') },
    { name: 'Attempts', isNumber: true, show: ({ attemptCount }) => attemptCount },
    { name: 'Next attempt (UTC)', show: ({ nextAttemptAt }) => moment(nextAttemptAt) },
    { name: 'Made (UTC)', show: ({ createdAt }) => moment(createdAt) },
  ],
  webhookDeliveries.nodes,
  'There are no such deliveries.',
)}
${pager(PATH, request, webhookDeliveries.totalCount)}`,
    }
  },
})

const read = (run: Run): AdminRoute => ({
  method: 'GET',
  path: `${PATH}/:id`,
  async answer(request) {
    const { webhookDelivery } = await run(Delivery, { id: request.params.id! }, request.context)
    const delivery = webhookDelivery!
    return {
      title: 'Webhook delivery',
      content: html`${heading(html`Webhook delivery ${badge(delivery.status)}`, { trail: [[PATH, 'Webhooks']], request })}
${facts(
  ['Delivery', id(delivery.id)],
  ['Event (webhook-id)', id(delivery.eventId)],
  ['Order', delivery.orderId ? id(delivery.orderId, `/admin/orders/${delivery.orderId}`) : '–'],
  ['Network app', html`<a href="/admin/apps/${delivery.networkApp.id}">${delivery.networkApp.name}</a>`],
  ['Made (UTC)', moment(delivery.createdAt)],
  ['Next attempt (UTC)', moment(delivery.nextAttemptAt)],
  ['Settled (UTC)', moment(delivery.settledAt)],
)}
<ul class="actions"><li><a class="button" href="${PATH}/${delivery.id}/replay">Send again</a></li></ul>
<section><h2>Attempts</h2>
${table(
  'Attempts',
  [
    { name: 'No.', isNumber: true, show: ({ number }) => number },
    { name: 'Began (UTC)', show: ({ startedAt }) => moment(startedAt) },
    { name: 'Took', isNumber: true, show: ({ duration }) => `${duration} ms` },
    { name: 'Status', isNumber: true, show: ({ statusCode }) => statusCode ?? '–' },
    { name: 'What came of it', show: ({ failure }) => failure ?? 'The receiver took it.' },
    { name: 'Answer', show: ({ response }) => (response ? html`<pre>${response}</pre>` : '–') },
  ],
  delivery.attempts,
  'It was not tried yet.',
)}</section>`,
    }
  },
})

const replay = (run: Run): Action => ({
  path: `${PATH}/:id/replay`,
  isGuarded: false,
  view: async ({ params }) => ({
    title: 'Send a delivery again',
    trail: [
      [PATH, 'Webhooks'],
      [`${PATH}/${params.id}`, 'Delivery'],
    ],
    about: html`<p>The receiver is called once more, now, with the same identifier and body. An order that had failed succeeds when the receiver takes it.</p>`,
    fields: [],
    button: 'Send again',
  }),
  async carryOut({ params, context }) {
    await run(Replay, { id: params.id! }, context)
    return { redirect: doneAt(`${PATH}/${params.id}`, 'replayed') }
  },
})

/** Pages about webhook deliveries. */
export const webhookRoutes = (run: Run): AdminRoute[] => [list(run), read(run)]

/** What can be done with deliveries. */
export const webhookActions = (run: Run): Action[] => [replay(run)]
