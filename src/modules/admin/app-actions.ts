/** Actions on network apps. */
import { html } from 'hono/html'
import type { DeliveryFailurePolicy, NetworkAppFactsFragment } from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import type { Html, Run } from '../pages/page.ts'
import { type Action, changedIn, type Field } from './action.ts'
import { App, PATH, policyWords, trail } from './apps.ts'
import { doneAt, heading } from './components.ts'

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
  mutation AdminRotateSecret($id: ID!) {
    rotateWebhookSecret(input: { id: $id }) { webhookSecret }
  }
`)

const SendTestEvent = graphql(/* GraphQL */ `
  mutation AdminSendTestEvent($id: ID!) {
    sendTestEvent(input: { networkAppId: $id }) { webhookDelivery { id } }
  }
`)

const DeactivateApp = graphql(/* GraphQL */ `
  mutation AdminDeactivateApp($id: ID!) {
    deactivateNetworkApp(input: { id: $id }) { networkApp { id } }
  }
`)

const policies = Object.entries(policyWords) as [DeliveryFailurePolicy, string][]
const policyOf = (text: string | null) => policies.find(([policy]) => policy === text)?.[0]

const fieldsOf = (app?: NetworkAppFactsFragment): Field[] => [
  { name: 'name', label: 'Name', rule: '1 to 100 characters; unique without regard to case.', value: app?.name ?? '' },
  {
    name: 'price',
    label: 'Price',
    rule: 'In currency units, such as 0.5; 0 is free. Existing orders keep their price.',
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
    label: 'If webhook delivery finally fails',
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
/** A webhook receiver that reported itself as gone is only called again if the administrator chooses so. */
const receiverField: Field = {
  name: RECEIVER,
  label: 'Receiver that is gone',
  options: [
    ['gone', 'It is not called at this URL'],
    [BACK, 'Call it again'],
  ],
}

/** Returns the fields that the administrator changed. Other fields keep changes made since the form was loaded. */
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

/** Returns a page that shows a secret. It is shown only once. */
const secretPage = (title: string, secret: string, about: Html) => ({
  title,
  content: html`${heading(title, { trail })}
<div class="notice good" role="status"><p>This is shown once. Keep it where the receiver reads it.</p></div>
<p class="secret">${secret}</p>
${about}`,
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

/** Returns an app and the breadcrumb links of its actions. */
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
      about: html`<p>Unchanged fields keep their current values, even if another administrator changed them.</p>`,
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
      about: html`<p>Calls ${app.webhookUrl ?? 'no URL'} once, now, with a signed event of the type <code>webhook.test</code>. It belongs to no order, charges nobody, and is not retried.</p>`,
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
      about: html`<p>The app is no longer sold and cannot be activated again. Existing orders can still be paid, and their webhook is called.</p>`,
      fields: [],
      button: 'Deactivate',
    }
  },
  async carryOut({ params, context }) {
    await run(DeactivateApp, { id: params.id! }, context)
    return { redirect: doneAt(`${PATH}/${params.id}`, 'deactivated') }
  },
})

/** Actions on network apps. */
export const appActions = (run: Run): Action[] => [create(run), edit(run), test(run), rotate(run), deactivate(run)]
