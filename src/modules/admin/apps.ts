/** Pages about network apps, and actions to register, edit, test and deactivate them. */
import { html } from 'hono/html'
import type { DeliveryFailurePolicy, NetworkAppFactsFragment } from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import type { Html } from '../pages/page.ts'
import { type Action, actionRoutes, changedIn, type Field } from './action.ts'
import { type AdminRequest, type AdminRoute, pageAt } from './admin-page.ts'
import { badge, doneAt, facts, heading, id, moment, userLink } from './components.ts'
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
const trail = { [PATH]: 'Network apps' }

/** Descriptions of the policies for paid orders whose webhook finally failed. */
const policies: Record<DeliveryFailurePolicy, string> = {
  KEEP: 'The order stays paid, and the owner of the app settles it with the buyer',
  REFUND: 'The order is refunded',
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
    { name: 'Registered (UTC)', show: ({ createdAt }) => moment(createdAt) },
  ],
  empty: 'There are no network apps.',
  actions: html`<ul class="actions"><li><a class="button" href="/admin/new-app">Register a network app</a></li></ul>`,
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
    content: html`${heading(html`${app.name} ${stateOf(app)}`, { trail, request })}
${facts(
  ['Identifier', id(app.id)],
  ['Price', app.price],
  ['Webhook', app.webhookUrl ?? 'None'],
  app.webhookDisabledAt !== null && ['Webhook calls stopped since (UTC)', moment(app.webhookDisabledAt)],
  ['If webhook delivery finally fails', policies[app.deliveryFailurePolicy]],
  ['Owner', userLink(app.owner)],
  ['Registered (UTC)', moment(app.createdAt)],
  ['Changed (UTC)', moment(app.updatedAt)],
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
    rule: 'In currency units, such as 0.5. The price 0 is free. Existing orders keep their price.',
  },
  {
    ...{ name: 'webhookUrl', label: 'Webhook URL', isOptional: true, value: app?.webhookUrl ?? '' },
    rule: 'Called after each payment. Must be an https URL with a public address.',
  },
  {
    ...{ name: 'deliveryFailurePolicy', label: 'If webhook delivery finally fails', options: policies },
    value: app?.deliveryFailurePolicy ?? 'KEEP',
  },
]

/** Field that resumes the calls of a webhook that responded with 410 Gone. Saving other fields does not resume them. */
const receiverField: Field = {
  ...{ name: 'receiver', label: 'Stopped webhook calls' },
  options: { stopped: 'Do not call this URL', resume: 'Resume calls to this URL' },
}

/** Returns only the fields that the administrator changed, so that concurrent changes of other fields are kept. */
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

/** Returns a page that shows a secret once. The secret cannot be read again. */
const secretPage = (title: string, secret: string, about: Html) => ({
  title,
  content: html`${heading(title, { trail })}
<div class="notice good" role="status"><p>This secret is shown only once. Store it in the configuration of the webhook receiver.</p></div>
<p class="secret">${secret}</p>
${about}`,
})

const create: Action = {
  path: '/admin/new-app',
  view: async () => ({
    title: 'Register a network app',
    trail,
    about: html`<p>The revenue of this paid action goes to your wallet, minus the platform’s share.</p>`,
    fields: fieldsOf(),
    button: 'Register',
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
    return secretPage('Secret of the webhook', webhookSecret, html`<p><a href="${at}">Show the network app</a></p>`)
  },
}

/** Returns a network app and the breadcrumb links of the pages of its actions. */
async function appOf({ run, params }: AdminRequest) {
  const app = (await run(App, { id: params.id! })).networkApp!
  return { app, trail: { ...trail, [`${PATH}/${app.id}`]: app.name } }
}

const edit: Action = {
  path: `${PATH}/:id/edit`,
  async view(request) {
    const { app, trail } = await appOf(request)
    const fields = fieldsOf(app).map((field) => ({ ...field, sendsInitial: true }))
    return {
      title: `Edit ${app.name}`,
      trail,
      about: html`<p>Unchanged fields keep their current values, even if another administrator changed them.</p>`,
      fields: app.webhookDisabledAt === null ? fields : [...fields, receiverField],
      button: 'Save',
    }
  },
  async execute({ params, form, run }) {
    await run(UpdateApp, { input: { id: params.id!, ...changesOf(form) } })
    return { redirect: doneAt(`${PATH}/${params.id}`, 'updated') }
  },
}

const rotate: Action = {
  path: `${PATH}/:id/rotate-secret`,
  isGuarded: true,
  async view(request) {
    const { app, trail } = await appOf(request)
    return {
      title: `Rotate the secret of ${app.name}`,
      trail,
      about: html`<p>For 24 hours, calls are signed with both the old and the new secret. After that, they are signed only with the new secret.</p>`,
      button: 'Rotate the secret',
    }
  },
  async execute({ params, run }) {
    const { webhookSecret } = (await run(RotateSecret, { id: params.id! })).rotateWebhookSecret
    const link = html`<p><a href="${PATH}/${params.id}">Show the network app</a></p>`
    return secretPage('New secret of the webhook', webhookSecret ?? '', link)
  },
}

const test: Action = {
  path: `${PATH}/:id/test`,
  async view(request) {
    const { app, trail } = await appOf(request)
    return {
      title: `Test the webhook of ${app.name}`,
      trail,
      about: html`<p>Sends a signed <code>webhook.test</code> event to ${app.webhookUrl ?? 'no URL'} once. The event belongs to no order and is not retried.</p>`,
      button: 'Send a test event',
    }
  },
  async execute({ params, run }) {
    const { webhookDelivery } = (await run(SendTestEvent, { id: params.id! })).sendTestEvent
    return { redirect: doneAt(`/admin/webhooks/${webhookDelivery.id}`, 'tested') }
  },
}

const deactivate: Action = {
  path: `${PATH}/:id/deactivate`,
  isGuarded: true,
  async view(request) {
    const { app, trail } = await appOf(request)
    return {
      title: `Deactivate ${app.name}`,
      trail,
      about: html`<p>The app is no longer sold and cannot be activated again. Existing orders can still be paid, and their webhook is called.</p>`,
      button: 'Deactivate',
    }
  },
  async execute({ params, run }) {
    await run(DeactivateApp, { id: params.id! })
    return { redirect: doneAt(`${PATH}/${params.id}`, 'deactivated') }
  },
}

export const appRoutes: AdminRoute[] = [list, read, ...[create, edit, test, rotate, deactivate].flatMap(actionRoutes)]
