/** Pages about webhook deliveries: request, last response, and an action to send it again. */
import { html } from 'hono/html'
import type { AdminDeliveryQuery, DeliveryFactsFragment, DeliveryStatus } from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import type { Html, Run } from '../pages/page.ts'
import type { Action, TellRefusal } from './action.ts'
import type { AdminRoute } from './admin-page.ts'
import { badge, doneAt, facts, heading, id, moment, table } from './components.ts'
import { listRoute } from './list-page.ts'

/** Fields of a delivery that pages show. */
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
      totalCount
      nodes { ...DeliveryFacts }
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
  mutation AdminReplay($id: ID!) {
    replayWebhookDelivery(input: { id: $id }) { webhookDelivery { id } }
  }
`)

const PATH = '/admin/webhooks'
const statuses: DeliveryStatus[] = ['PENDING', 'DELIVERED', 'GIVEN_UP']
const options = [['', 'Any'], ...statuses.map((status) => [status, status.toLowerCase().replace('_', ' ')])] as [
  string,
  string,
][]

type DeliveryDetail = NonNullable<AdminDeliveryQuery['webhookDelivery']>
type Attempt = DeliveryDetail['attempts'][number]

const orderLink = ({ orderId }: DeliveryFactsFragment) =>
  orderId ? id(orderId, `/admin/orders/${orderId}`) : 'None: a test'

const list = (run: Run, tell: TellRefusal) =>
  listRoute(tell, {
    path: PATH,
    title: 'Webhook deliveries',
    filters: [
      { name: 'status', label: 'Status', options },
      { name: 'networkAppId', label: 'Identifier of the network app' },
      { name: 'orderId', label: 'Identifier of the order' },
    ],
    columns: [
      { name: 'Delivery', show: (delivery: DeliveryFactsFragment) => id(delivery.id, `${PATH}/${delivery.id}`) },
      { name: 'Status', show: ({ status }) => badge(status) },
      { name: 'Event', show: ({ eventType }) => eventType },
      {
        name: 'Network app',
        show: ({ networkApp }) => html`<a href="/admin/apps/${networkApp.id}">${networkApp.name}</a>`,
      },
      { name: 'Order', show: orderLink },
      { name: 'Attempts', isNumber: true, show: ({ attemptCount }) => attemptCount },
      { name: 'Next attempt (UTC)', show: ({ nextAttemptAt }) => moment(nextAttemptAt) },
      { name: 'Made (UTC)', show: ({ createdAt }) => moment(createdAt) },
    ],
    empty: 'No webhook was called yet.',
    async read({ status, ...asked }, { context }, page) {
      const filter = { ...asked, status: statuses.find((each) => each === status) }
      return (await run(Deliveries, { ...page, filter }, context)).webhookDeliveries
    },
  })

const outcomeOf = ({ failure }: Attempt) => failure ?? 'The receiver accepted it.'
const answerOf = ({ response }: Attempt): Html =>
  response ? html`<pre>${response}</pre>` : html`<p class="quiet">Nothing was read.</p>`

/** Renders the request beside the last response. */
function exchange({ eventId, payload, networkApp, attempts }: DeliveryDetail): Html {
  const last = attempts.at(-1)
  return html`<div class="sides">
<section><h2>Request</h2>
<p class="quiet">POST ${networkApp.webhookUrl ?? '(the app no longer has a webhook)'}</p>
<pre>content-type: application/json
webhook-id: ${eventId}
webhook-timestamp, webhook-signature: of each attempt

${JSON.stringify(payload, null, 2)}</pre></section>
<section><h2>Last answer</h2>
${
  last
    ? html`<p class="quiet">${last.statusCode ?? 'No status'} after ${last.duration} ms. ${outcomeOf(last)}</p>
${answerOf(last)}`
    : html`<p class="quiet">The receiver was not called yet.</p>`
}</section>
</div>`
}

const read = (run: Run): AdminRoute => ({
  method: 'GET',
  path: `${PATH}/:id`,
  async answer(request) {
    const { webhookDelivery } = await run(Delivery, { id: request.params.id! }, request.context)
    const delivery = webhookDelivery!
    // The message asks the reader to reload the page. It disappears once the delivery has a result.
    const notice = delivery.status === 'PENDING' ? { request } : {}
    return {
      title: 'Webhook delivery',
      content: html`${heading(html`Webhook delivery ${badge(delivery.status)}`, { trail: [[PATH, 'Webhooks']], ...notice })}
${facts(
  ['Delivery', id(delivery.id)],
  ['Event', html`${delivery.eventType} ${id(delivery.eventId)}`],
  ['Order', orderLink(delivery)],
  ['Network app', html`<a href="/admin/apps/${delivery.networkApp.id}">${delivery.networkApp.name}</a>`],
  ['Made (UTC)', moment(delivery.createdAt)],
  ['Next attempt (UTC)', moment(delivery.nextAttemptAt)],
  ['Settled (UTC)', moment(delivery.settledAt)],
)}
<ul class="actions"><li><a class="button" href="${PATH}/${delivery.id}/replay">Send again</a></li></ul>
${exchange(delivery)}
<section><h2>Attempts</h2>
${table(
  'Attempts',
  [
    { name: 'No.', isNumber: true, show: ({ number }) => number },
    { name: 'Began (UTC)', show: ({ startedAt }) => moment(startedAt) },
    { name: 'Took', isNumber: true, show: ({ duration }) => `${duration} ms` },
    { name: 'Status', isNumber: true, show: ({ statusCode }) => statusCode ?? '–' },
    { name: 'Result', show: outcomeOf },
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
    about: html`<p>Sends the same ID and body to the receiver again, now. If the receiver accepts it, a failed order succeeds.</p>`,
    fields: [],
    button: 'Send again',
  }),
  async carryOut({ params, context }) {
    await run(Replay, { id: params.id! }, context)
    return { redirect: doneAt(`${PATH}/${params.id}`, 'replayed') }
  },
})

export const webhookRoutes = (run: Run, tell: TellRefusal): AdminRoute[] => [list(run, tell), read(run)]

export const webhookActions = (run: Run): Action[] => [replay(run)]
