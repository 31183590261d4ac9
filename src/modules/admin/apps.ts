/** Pages about network apps, and actions to register, edit, test and deactivate them. */
import { html } from 'hono/html'
import type { DeliveryFailurePolicy, NetworkAppFactsFragment } from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import { type Action, type ActionView, actionRoutes, changedIn, type Field } from './action.ts'
import { type AdminRoute, pageAt } from './admin-page.ts'
import { badge, doneAt, facts, formatTime, heading, id, userLink } from './components.ts'
import { listRoute } from './list-page.ts'

export const NetworkAppFacts = graphql(/* GraphQL */ `
  fragment NetworkAppFacts on NetworkApp {
    id name price webhookUrl webhookDisabledAt deliveryFailurePolicy isActive createdAt updatedAt
    owner { id username }
  }
`)

const Apps = graphql(/* GraphQL */ `
  query AdminApps($limit: Int!, $offset: Int!, $filter: NetworkAppFilter) {
    networkApps(first: $limit, offset: $offset, filter: $filter) { totalCount nodes { ...NetworkAppFacts } }
  }
`)

const App = graphql(/* GraphQL */ `
  query AdminApp($id: ID!) { networkApp(id: $id) { ...NetworkAppFacts } }
`)

const CreateApp = graphql(/* GraphQL */ `
  mutation AdminCreateApp($input: CreateNetworkAppInput!) {
    createNetworkApp(input: $input) { networkApp { id } webhookSecret }
  }
`)

const UpdateApp = graphql(/* GraphQL */ `
  mutation AdminUpdateApp($input: UpdateNetworkAppInput!) {
    updateNetworkApp(input: $input) { networkApp { id } }
  }
`)

const RotateSecret = graphql(/* GraphQL */ `
  mutation AdminRotateSecret($id: ID!) { rotateWebhookSecret(input: { id: $id }) { webhookSecret } }
`)

const SendTestEvent = graphql(/* GraphQL */ `
  mutation AdminSendTestEvent($id: ID!) { sendTestEvent(input: { networkAppId: $id }) { webhookDelivery { id } } }
`)

const DeactivateApp = graphql(/* GraphQL */ `
  mutation AdminDeactivateApp($id: ID!) { deactivateNetworkApp(input: { id: $id }) { networkApp { id } } }
`)

const PATH = '/admin/apps'
const breadcrumbs = { [PATH]: 'Network apps' }

/** Results of a permanently failed webhook delivery, by policy. */
const policies: Record<DeliveryFailurePolicy, string> = {
  KEEP: 'The order stays paid. The owner of the app settles it with the buyer.',
  REFUND: 'The buyer gets a refund.',
}
const policyOf = (text?: string | null) =>
  (Object.keys(policies) as DeliveryFailurePolicy[]).find((each) => each === text)

const stateOf = ({ isActive }: NetworkAppFactsFragment) => badge(isActive ? 'active' : 'deactivated')

const list = listRoute({
  path: PATH,
  title: 'Network apps',
  filters: [
    { name: 'name', label: 'Part of the name' },
    { name: 'isActive', label: 'Status', options: { '': 'Any', true: 'Active', false: 'Deactivated' } },
  ],
  columns: [
    { name: 'Name', show: (app: NetworkAppFactsFragment) => html`<a href="${PATH}/${app.id}">${app.name}</a>` },
    { name: 'Status', show: stateOf },
    { name: 'Price', amount: ({ price }) => price },
    { name: 'Webhook', show: ({ webhookUrl }) => webhookUrl ?? '–' },
    { name: 'Owner', show: ({ owner }) => userLink(owner) },
    { name: 'Created (UTC)', show: ({ createdAt }) => formatTime(createdAt) },
  ],
  empty: 'There are no network apps.',
  actions: html`<ul class="actions"><li><a class="button" href="/admin/new-app">Create a network app</a></li></ul>`,
  async read({ name, isActive }: { name?: string; isActive?: string }, { run }, page) {
    const filter = { name, isActive: isActive === undefined ? undefined : isActive === 'true' }
    return (await run(Apps, { ...page, filter })).networkApps
  },
})

const read = pageAt(`${PATH}/:id`, async (request) => {
  const app = (await request.run(App, { id: request.params.id! })).networkApp!
  const at = `${PATH}/${app.id}`
  return {
    title: app.name,
    content: html`${heading(html`${app.name} ${stateOf(app)}`, { breadcrumbs, request })}
${facts(
  ['ID', id(app.id)],
  ['Price', app.price],
  ['Webhook', app.webhookUrl ?? 'None'],
  app.webhookDisabledAt !== null && ['Webhook disabled since (UTC)', formatTime(app.webhookDisabledAt)],
  ['If the delivery fails permanently', policies[app.deliveryFailurePolicy]],
  ['Owner', userLink(app.owner)],
  ['Created (UTC)', formatTime(app.createdAt)],
  ['Updated (UTC)', formatTime(app.updatedAt)],
  [
    'Sales',
    html`<a href="/admin/orders?networkAppId=${app.id}">Orders</a>, <a href="/admin/webhooks?networkAppId=${app.id}">webhook deliveries</a>`,
  ],
)}
<ul class="actions">
<li><a class="button" href="${at}/edit">Edit</a></li>
${app.webhookUrl && app.webhookDisabledAt === null ? html`<li><a class="button plain" href="${at}/test">Send a test event</a></li>` : ''}
${app.webhookUrl ? html`<li><a class="button plain" href="${at}/rotate-secret">Rotate the secret</a></li>` : ''}
${app.isActive ? html`<li><a class="button plain" href="${at}/deactivate">Deactivate</a></li>` : ''}
</ul>`,
  }
})

const fieldsOf = (app?: NetworkAppFactsFragment): Field[] => [
  { name: 'name', label: 'Name', rule: '1 to 100 characters. Must be unique. Case does not matter.', value: app?.name },
  {
    ...{ name: 'price', label: 'Price', value: app?.price },
    rule: 'In currency units, such as 0.5. 0 is free. Existing orders keep their price.',
  },
  {
    ...{ name: 'webhookUrl', label: 'Webhook URL', isOptional: true, value: app?.webhookUrl ?? '' },
    rule: 'Annal calls this URL after each payment. Must start with https:// and have a public address.',
  },
  {
    ...{ name: 'deliveryFailurePolicy', label: 'If the delivery fails permanently', options: policies },
    value: app?.deliveryFailurePolicy ?? 'KEEP',
  },
]

/** Field that enables a webhook that responded with 410 Gone. */
const receiverField: Field = {
  ...{ name: 'receiver', label: 'Disabled webhook' },
  options: { stopped: 'Keep the webhook disabled', resume: 'Enable the webhook again' },
}

/** Returns only the fields that the administrator changed, so that the form does not undo other changes. */
function changesOf(form: URLSearchParams) {
  // An empty URL in the form removes the webhook.
  const webhookUrl = form.get('webhookUrl')?.trim() || null
  const setsUrl = changedIn(form, 'webhookUrl') !== undefined || form.get('receiver') === 'resume'
  return {
    name: changedIn(form, 'name'),
    price: changedIn(form, 'price')?.trim(),
    deliveryFailurePolicy: policyOf(changedIn(form, 'deliveryFailurePolicy')),
    ...(setsUrl && { webhookUrl }),
  }
}

/** Returns a page that shows a secret once. `href`: path of the network app. */
const secretPage = (title: string, secret: string, href: string) => ({
  title,
  content: html`${heading(title, { breadcrumbs })}
<div class="notice good" role="status"><p>This secret is shown only once. Copy it to the configuration of the webhook receiver.</p></div>
<p class="secret">${secret}</p>
<p><a href="${href}">Show the network app</a></p>`,
})

const create: Action = {
  path: '/admin/new-app',
  view: async () => ({
    title: 'Create a network app',
    breadcrumbs,
    about: html`<p>A network app is a paid action. You receive the price of each order, minus the platform’s share.</p>`,
    fields: fieldsOf(),
    button: 'Create',
  }),
  async execute({ form, run }) {
    const input = {
      name: form.get('name') ?? '',
      price: form.get('price')?.trim() ?? '',
      webhookUrl: form.get('webhookUrl')?.trim() || undefined,
      deliveryFailurePolicy: policyOf(form.get('deliveryFailurePolicy')),
    }
    const { networkApp, webhookSecret } = (await run(CreateApp, { input })).createNetworkApp
    const at = `${PATH}/${networkApp.id}`
    if (webhookSecret === null) return { redirect: doneAt(at, 'created') }
    return secretPage('Webhook secret', webhookSecret, at)
  },
}

/** Creates an action on a network app. `view` returns title, description and button of its form. */
const appAction = (
  word: string,
  view: (app: NetworkAppFactsFragment) => Omit<ActionView, 'breadcrumbs'>,
  execute: Action['execute'],
  isGuarded = false,
): Action => ({
  path: `${PATH}/:id/${word}`,
  isGuarded,
  async view({ run, params }) {
    const app = (await run(App, { id: params.id! })).networkApp!
    return { ...view(app), breadcrumbs: { ...breadcrumbs, [`${PATH}/${app.id}`]: app.name } }
  },
  execute,
})

const edit = appAction(
  'edit',
  (app) => {
    const fields = fieldsOf(app).map((field) => ({ ...field, sendsInitial: true }))
    return {
      title: `Edit ${app.name}`,
      about: html`<p>Only the fields that you change are saved. Other fields keep changes of other administrators.</p>`,
      fields: app.webhookDisabledAt === null ? fields : [...fields, receiverField],
      button: 'Save',
    }
  },
  async ({ params, form, run }) => {
    await run(UpdateApp, { input: { id: params.id!, ...changesOf(form) } })
    return { redirect: doneAt(`${PATH}/${params.id}`, 'updated') }
  },
)

const rotate = appAction(
  'rotate-secret',
  ({ name }) => ({
    title: `Rotate the webhook secret of ${name}`,
    about: html`<p>Creates a new secret. For 24 hours, webhook calls are signed with the old secret and the new secret. Afterwards, they are signed only with the new secret.</p>`,
    button: 'Rotate the secret',
  }),
  async ({ params, run }) => {
    const { webhookSecret } = (await run(RotateSecret, { id: params.id! })).rotateWebhookSecret
    return secretPage('New webhook secret', webhookSecret ?? '', `${PATH}/${params.id}`)
  },
  true,
)

const test = appAction(
  'test',
  ({ name, webhookUrl }) => ({
    title: `Test the webhook of ${name}`,
    about: html`<p>Sends a signed <code>webhook.test</code> event to ${webhookUrl} once. The event belongs to no order and is not retried.</p>`,
    button: 'Send a test event',
  }),
  async ({ params, run }) => {
    const { webhookDelivery } = (await run(SendTestEvent, { id: params.id! })).sendTestEvent
    return { redirect: doneAt(`/admin/webhooks/${webhookDelivery.id}`, 'tested') }
  },
)

const deactivate = appAction(
  'deactivate',
  ({ name }) => ({
    title: `Deactivate ${name}`,
    about: html`<p>Nobody can order a deactivated app, and it cannot be activated again. Buyers can still pay existing orders, and Annal calls the webhook for them.</p>`,
    button: 'Deactivate',
  }),
  async ({ params, run }) => {
    await run(DeactivateApp, { id: params.id! })
    return { redirect: doneAt(`${PATH}/${params.id}`, 'deactivated') }
  },
  true,
)

export const appRoutes: AdminRoute[] = [list, read, ...[create, edit, test, rotate, deactivate].flatMap(actionRoutes)]
