/** Pages about webhook deliveries, and an action to send a delivery again. */
import { html } from 'hono/html'
import type { AdminDeliveryQuery, DeliveryFactsFragment, WebhookDeliveryFilter } from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import type { Html } from '../pages/page.ts'
import { type Action, actionRoutes } from './action.ts'
import { type AdminRoute, pageAt } from './admin-page.ts'
import { appLink, badge, doneAt, facts, formatTime, heading, id, table } from './components.ts'
import { listRoute, statusFilter } from './list-page.ts'

export const DeliveryFacts = graphql(/* GraphQL */ `
  fragment DeliveryFacts on WebhookDelivery {
    id eventId eventType orderId
    networkApp { id name webhookUrl }
    status attemptCount nextAttemptAt createdAt settledAt
  }
`)

const Deliveries = graphql(/* GraphQL */ `
  query AdminDeliveries($limit: Int!, $offset: Int!, $filter: WebhookDeliveryFilter) {
    webhookDeliveries(first: $limit, offset: $offset, filter: $filter) {
      totalCount nodes { ...DeliveryFacts }
    }
  }
`)

const Delivery = graphql(/* GraphQL */ `
  query AdminDelivery($id: ID!) {
    webhookDelivery(id: $id) {
      ...DeliveryFacts payload
      attempts { number startedAt duration statusCode failure response }
    }
  }
`)

const Replay = graphql(/* GraphQL */ `
  mutation AdminReplay($id: ID!) { replayWebhookDelivery(input: { id: $id }) { webhookDelivery { id } } }
`)

const PATH = '/admin/webhooks'

type DeliveryDetail = NonNullable<AdminDeliveryQuery['webhookDelivery']>
type Attempt = DeliveryDetail['attempts'][number]

const orderLink = ({ orderId }: DeliveryFactsFragment) =>
  orderId ? id(orderId, `/admin/orders/${orderId}`) : 'None (test event)'

const list = listRoute({
  path: PATH,
  title: 'Webhook deliveries',
  filters: [
    statusFilter('PENDING', 'DELIVERED', 'GIVEN_UP'),
    { name: 'networkAppId', label: 'ID of the network app' },
    { name: 'orderId', label: 'ID of the order' },
  ],
  columns: [
    { name: 'Delivery', show: (delivery: DeliveryFactsFragment) => id(delivery.id, `${PATH}/${delivery.id}`) },
    { name: 'Status', show: ({ status }) => badge(status) },
    { name: 'Event', show: ({ eventType }) => eventType },
    { name: 'Network app', show: ({ networkApp }) => appLink(networkApp) },
    { name: 'Order', show: orderLink },
    { name: 'Attempts', isNumber: true, show: ({ attemptCount }) => attemptCount },
    { name: 'Next attempt (UTC)', show: ({ nextAttemptAt }) => formatTime(nextAttemptAt) },
    { name: 'Created (UTC)', show: ({ createdAt }) => formatTime(createdAt) },
  ],
  empty: 'There are no webhook deliveries.',
  read: async (filter: WebhookDeliveryFilter, { run }, page) =>
    (await run(Deliveries, { ...page, filter })).webhookDeliveries,
})

const outcomeOf = ({ failure }: Attempt) => failure ?? 'The receiver accepted the call.'

/** Renders the request of a webhook delivery beside the last response. */
function exchange({ eventId, payload, networkApp, attempts }: DeliveryDetail): Html {
  const last = attempts.at(-1)
  return html`<div class="sides">
<section><h2>Request</h2>
<p class="quiet">POST ${networkApp.webhookUrl ?? '(the webhook of the app was removed)'}</p>
<pre>content-type: application/json
webhook-id: ${eventId}
webhook-timestamp, webhook-signature: new values for each attempt

${JSON.stringify(payload, null, 2)}</pre></section>
<section><h2>Last response</h2>
${
  last
    ? html`<p class="quiet">${last.statusCode ?? 'No status'} after ${last.duration} ms. ${outcomeOf(last)}</p>
${last.response ? html`<pre>${last.response}</pre>` : html`<p class="quiet">The response has no body.</p>`}`
    : html`<p class="quiet">The receiver was not called yet.</p>`
}</section>
</div>`
}

const read = pageAt(`${PATH}/:id`, async (request) => {
  const delivery = (await request.run(Delivery, { id: request.params.id! })).webhookDelivery!
  // The message asks to reload the page, so it is shown only while the delivery is pending.
  const notice = delivery.status === 'PENDING' ? { request } : {}
  return {
    title: 'Webhook delivery',
    content: html`${heading(html`Webhook delivery ${badge(delivery.status)}`, { breadcrumbs: { [PATH]: 'Webhooks' }, ...notice })}
${facts(
  ['Delivery', id(delivery.id)],
  ['Event', html`${delivery.eventType} ${id(delivery.eventId)}`],
  ['Order', orderLink(delivery)],
  ['Network app', appLink(delivery.networkApp)],
  ['Created (UTC)', formatTime(delivery.createdAt)],
  ['Next attempt (UTC)', formatTime(delivery.nextAttemptAt)],
  ['Completed (UTC)', formatTime(delivery.settledAt)],
)}
<ul class="actions"><li><a class="button" href="${PATH}/${delivery.id}/replay">Send again</a></li></ul>
${exchange(delivery)}
<section><h2>Attempts</h2>
${table(
  'Attempts',
  [
    { name: 'No.', isNumber: true, show: ({ number }) => number },
    { name: 'Started (UTC)', show: ({ startedAt }) => formatTime(startedAt) },
    { name: 'Duration', isNumber: true, show: ({ duration }) => `${duration} ms` },
    { name: 'Status', isNumber: true, show: ({ statusCode }) => statusCode ?? '–' },
    { name: 'Result', show: outcomeOf },
    { name: 'Response', show: ({ response }) => (response ? html`<pre>${response}</pre>` : '–') },
  ],
  delivery.attempts,
  'There are no attempts.',
)}</section>`,
  }
})

const replay: Action = {
  path: `${PATH}/:id/replay`,
  view: async ({ params }) => ({
    title: 'Send a delivery again',
    breadcrumbs: { [PATH]: 'Webhooks', [`${PATH}/${params.id}`]: 'Delivery' },
    about: html`<p>Calls the webhook again now, with the same ID and body. If the receiver accepts the call, a failed order becomes successful.</p>`,
    button: 'Send again',
  }),
  async execute({ params, run }) {
    await run(Replay, { id: params.id! })
    return { redirect: doneAt(`${PATH}/${params.id}`, 'replayed') }
  },
}

export const webhookRoutes: AdminRoute[] = [list, read, ...actionRoutes(replay)]
