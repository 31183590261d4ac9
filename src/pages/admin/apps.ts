/** Network apps: what is sold, and where receivers of payments are. */
import { html } from 'hono/html'
import type { DeliveryFailurePolicy, NetworkAppFactsFragment } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'
import type { Html } from '../layout.ts'
import type { Run } from '../run.ts'
import { type Action, changedIn, type Field, type TellRefusal } from './action.ts'
import type { AdminRoute } from './admin-page.ts'
import { listRoute } from './list-page.ts'
import { badge, doneAt, facts, heading, id, moment } from './parts.ts'

/** What pages tell of a network app. */
export const NetworkAppFacts = graphql(/* GraphQL */ `
  fragment NetworkAppFacts on NetworkApp {
    id
    name
    price
    webhookUrl
    webhookDisabledAt
    deliveryFailurePolicy
    isActive
    createdAt
    updatedAt
    owner {
      id
      username
    }
  }
`)

const Apps = graphql(/* GraphQL */ `
  query AdminApps($limit: Int!, $offset: Int!, $filter: NetworkAppFilter) {
    networkApps(first: $limit, offset: $offset, filter: $filter) {
      totalCount
      nodes {
        ...NetworkAppFacts
      }
    }
  }
`)

const App = graphql(/* GraphQL */ `
  query AdminApp($id: ID!) {
    networkApp(id: $id) {
      ...NetworkAppFacts
    }
  }
`)

const CreateApp = graphql(/* GraphQL */ `
  mutation AdminCreateApp($input: CreateNetworkAppInput!) {
    createNetworkApp(input: $input) {
      networkApp {
        id
      }
      webhookSecret
    }
  }
`)

const UpdateApp = graphql(/* GraphQL */ `
  mutation AdminUpdateApp($input: UpdateNetworkAppInput!) {
    updateNetworkApp(input: $input) {
      networkApp {
        id
      }
    }
  }
`)

const RotateSecret = graphql(/* GraphQL */ `
  mutation AdminRotateSecret($id: ID!) {
    rotateWebhookSecret(input: { id: $id }) {
      webhookSecret
    }
  }
`)

const SendTestEvent = graphql(/* GraphQL */ `
  mutation AdminSendTestEvent($id: ID!) {
    sendTestEvent(input: { networkAppId: $id }) {
      webhookDelivery {
        id
      }
    }
  }
`)

const DeactivateApp = graphql(/* GraphQL */ `
  mutation AdminDeactivateApp($id: ID!) {
    deactivateNetworkApp(input: { id: $id }) {
      networkApp {
        id
      }
    }
  }
`)

const PATH = '/admin/apps'
const trail = [[PATH, 'Network apps']] as const

const policyWords: Record<DeliveryFailurePolicy, string> = {
  KEEP: 'It stays paid; the app’s owner settles it with the buyer',
  REFUND: 'The buyer gets the money back',
}
const policies = Object.entries(policyWords) as [DeliveryFailurePolicy, string][]
const policyOf = (text: string | null) => policies.find(([policy]) => policy === text)?.[0]

const stateOf = ({ isActive }: NetworkAppFactsFragment) => badge(isActive ? 'active' : 'deactivated')

const fieldsOf = (app?: NetworkAppFactsFragment): Field[] => [
  { name: 'name', label: 'Name', rule: '1 to 100 characters; unique without regard to case.', value: app?.name ?? '' },
  {
    name: 'price',
    label: 'Price',
    rule: 'In currency units, such as 0.5; 0 is free. Orders that were made keep theirs.',
    value: app?.price ?? '',
  },
  {
    name: 'webhookUrl',
    label: 'Webhook URL',
    isOptional: true,
    rule: 'Called after a payment: https, never an internal address.',
    value: app?.webhookUrl ?? '',
  },
  {
    name: 'deliveryFailurePolicy',
    label: 'When its webhook was given up',
    options: policies,
    value: app?.deliveryFailurePolicy ?? 'KEEP',
  },
]

const inputOf = (form: URLSearchParams) => ({
  name: form.get('name') ?? '',
  price: form.get('price')?.trim() ?? '',
  deliveryFailurePolicy: policyOf(form.get('deliveryFailurePolicy')),
})

const RECEIVER = 'receiver'
const BACK = 'back'
/** A receiver that said it is gone is called again when somebody says so, not because something else is changed. */
const receiverField: Field = {
  name: RECEIVER,
  label: 'Receiver that is gone',
  options: [
    ['gone', 'It is not called at this URL'],
    [BACK, 'Call it again'],
  ],
}

/** What somebody changed in the form of an app: what another one changed since it was loaded stays. */
function changesOf(form: URLSearchParams) {
  const changed = (name: string) => changedIn(form, name)
  // An empty URL removes the webhook.
  const webhookUrl = form.get('webhookUrl')?.trim() || null
  const setsUrl = changed('webhookUrl') !== undefined || form.get(RECEIVER) === BACK
  return {
    name: changed('name'),
    price: changed('price')?.trim(),
    deliveryFailurePolicy: policyOf(changed('deliveryFailurePolicy') ?? null),
    ...(setsUrl && { webhookUrl }),
  }
}

/** A page that shows a secret, the only time that it is seen. */
const secretPage = (title: string, secret: string, about: Html) => ({
  title,
  content: html`${heading(title, { trail })}
<div class="notice good" role="status"><p>This is shown once. Keep it where the receiver reads it.</p></div>
<p class="secret">${secret}</p>
${about}`,
})

const list = (run: Run, tell: TellRefusal) =>
  listRoute(tell, {
    path: PATH,
    title: 'Network apps',
    filters: [
      { name: 'name', label: 'Part of the name' },
      {
        name: 'isActive',
        label: 'Sold',
        options: [
          ['', 'Any'],
          ['true', 'Sold'],
          ['false', 'Not sold any more'],
        ],
      },
    ],
    columns: [
      { name: 'Name', show: (app: NetworkAppFactsFragment) => html`<a href="${PATH}/${app.id}">${app.name}</a>` },
      { name: 'Status', show: stateOf },
      { name: 'Price', amount: ({ price }) => price },
      { name: 'Webhook', show: ({ webhookUrl }) => webhookUrl ?? '–' },
      { name: 'Owner', show: ({ owner }) => html`<a href="/admin/users/${owner.id}">${owner.username}</a>` },
      { name: 'Registered (UTC)', show: ({ createdAt }) => moment(createdAt) },
    ],
    empty: 'Nothing is sold yet.',
    actions: html`<ul class="actions"><li><a class="button" href="/admin/new-app">Register a network app</a></li></ul>`,
    async read({ name, isActive }, { context }, page) {
      const filter = { name, isActive: isActive === undefined ? undefined : isActive === 'true' }
      return (await run(Apps, { ...page, filter }, context)).networkApps
    },
  })

const read = (run: Run): AdminRoute => ({
  method: 'GET',
  path: `${PATH}/:id`,
  async answer(request) {
    const { networkApp } = await run(App, { id: request.params.id! }, request.context)
    const app = networkApp!
    const at = `${PATH}/${app.id}`
    return {
      title: app.name,
      content: html`${heading(html`${app.name} ${stateOf(app)}`, { trail, request })}
${facts(
  ['Identifier', id(app.id)],
  ['Price', app.price],
  ['Webhook', app.webhookUrl ?? 'None'],
  app.webhookDisabledAt !== null && ['Receiver is gone since (UTC)', moment(app.webhookDisabledAt)],
  ['When its webhook was given up', policyWords[app.deliveryFailurePolicy]],
  ['Owner', html`<a href="/admin/users/${app.owner.id}">${app.owner.username}</a>`],
  ['Registered (UTC)', moment(app.createdAt)],
  ['Changed (UTC)', moment(app.updatedAt)],
  [
    'Sales',
    html`<a href="/admin/orders?networkAppId=${app.id}">Its orders</a>, <a href="/admin/webhooks?networkAppId=${app.id}">its webhook deliveries</a>`,
  ],
)}
<ul class="actions">
<li><a class="button" href="${at}/edit">Edit</a></li>
${app.webhookUrl && app.webhookDisabledAt === null ? html`<li><a class="button plain" href="${at}/test">Send a test event</a></li>` : ''}
${app.webhookUrl ? html`<li><a class="button plain" href="${at}/rotate-secret">Rotate the secret</a></li>` : ''}
${app.isActive ? html`<li><a class="button plain" href="${at}/deactivate">Deactivate</a></li>` : ''}
</ul>`,
    }
  },
})

const create = (run: Run): Action => ({
  path: '/admin/new-app',
  isGuarded: false,
  view: async () => ({
    title: 'Register a network app',
    trail,
    about: html`<p>A paid action. Its sales go to your own wallet, less the platform’s share.</p>`,
    fields: fieldsOf(),
    button: 'Register',
  }),
  async carryOut({ form, context }) {
    const webhookUrl = form.get('webhookUrl')?.trim() || undefined
    const { createNetworkApp } = await run(CreateApp, { input: { ...inputOf(form), webhookUrl } }, context)
    const at = `${PATH}/${createNetworkApp.networkApp.id}`
    const { webhookSecret } = createNetworkApp
    if (webhookSecret === null) return { redirect: doneAt(at, 'created') }
    return secretPage('Secret of the webhook', webhookSecret, html`<p><a href="${at}">To the network app</a></p>`)
  },
})

/** Deeds that are about one app. */
const about = async (run: Run, appId: string, context: Parameters<Run>[2]) => {
  const { networkApp } = await run(App, { id: appId }, context)
  const app = networkApp!
  return { app, trail: [...trail, [`${PATH}/${app.id}`, app.name]] as const }
}

const edit = (run: Run): Action => ({
  path: `${PATH}/:id/edit`,
  isGuarded: false,
  async view({ params, context }) {
    const { app, trail } = await about(run, params.id!, context)
    const fields = fieldsOf(app).map((field) => ({ ...field, tellsFirst: true }))
    return {
      title: `Edit ${app.name}`,
      trail,
      about: html`<p>What is left as it was stays as it is by then.</p>`,
      fields: app.webhookDisabledAt === null ? fields : [...fields, receiverField],
      button: 'Save',
    }
  },
  async carryOut({ params, form, context }) {
    await run(UpdateApp, { input: { id: params.id!, ...changesOf(form) } }, context)
    return { redirect: doneAt(`${PATH}/${params.id}`, 'updated') }
  },
})

const rotate = (run: Run): Action => ({
  path: `${PATH}/:id/rotate-secret`,
  isGuarded: true,
  async view({ params, context }) {
    const { app, trail } = await about(run, params.id!, context)
    return {
      title: `Rotate the secret of ${app.name}`,
      trail,
      about: html`<p>Calls are signed with the old secret and the new one for 24 hours, then with the new one alone.</p>`,
      fields: [],
      button: 'Rotate the secret',
    }
  },
  async carryOut({ params, context }) {
    const { rotateWebhookSecret } = await run(RotateSecret, { id: params.id! }, context)
    return secretPage(
      'New secret of the webhook',
      rotateWebhookSecret.webhookSecret ?? '',
      html`<p><a href="${PATH}/${params.id}">To the network app</a></p>`,
    )
  },
})

const test = (run: Run): Action => ({
  path: `${PATH}/:id/test`,
  isGuarded: false,
  async view({ params, context }) {
    const { app, trail } = await about(run, params.id!, context)
    return {
      title: `Try the webhook of ${app.name}`,
      trail,
      about: html`<p>Calls ${app.webhookUrl ?? 'no URL'} once, now, with a signed event of the type <code>webhook.test</code>. It is about no order, charges nobody, and is not tried again by itself.</p>`,
      fields: [],
      button: 'Send a test event',
    }
  },
  async carryOut({ params, context }) {
    const { sendTestEvent } = await run(SendTestEvent, { id: params.id! }, context)
    return { redirect: doneAt(`/admin/webhooks/${sendTestEvent.webhookDelivery.id}`, 'tested') }
  },
})

const deactivate = (run: Run): Action => ({
  path: `${PATH}/:id/deactivate`,
  isGuarded: true,
  async view({ params, context }) {
    const { app, trail } = await about(run, params.id!, context)
    return {
      title: `Deactivate ${app.name}`,
      trail,
      about: html`<p>It is not sold any more, and cannot be activated again. Orders that were made can still be paid, and their webhook is called.</p>`,
      fields: [],
      button: 'Deactivate',
    }
  },
  async carryOut({ params, context }) {
    await run(DeactivateApp, { id: params.id! }, context)
    return { redirect: doneAt(`${PATH}/${params.id}`, 'deactivated') }
  },
})

/** Pages about network apps. */
export const appRoutes = (run: Run, tell: TellRefusal): AdminRoute[] => [list(run, tell), read(run)]

/** What can be done with network apps. */
export const appActions = (run: Run): Action[] => [create(run), edit(run), test(run), rotate(run), deactivate(run)]
