/** Pages about network apps. */
import { html } from 'hono/html'
import type { DeliveryFailurePolicy, NetworkAppFactsFragment } from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import type { Run } from '../pages/page.ts'
import type { TellRefusal } from './action.ts'
import type { AdminRoute } from './admin-page.ts'
import { badge, facts, heading, id, moment } from './components.ts'
import { listRoute } from './list-page.ts'

/** Fields of a network app that pages show. */
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

/** Query for one network app. */
export const App = graphql(/* GraphQL */ `
  query AdminApp($id: ID!) {
    networkApp(id: $id) { ...NetworkAppFacts }
  }
`)

/** Path of the pages about network apps. */
export const PATH = '/admin/apps'
/** Breadcrumb links of pages about one network app. */
export const trail = [[PATH, 'Network apps']] as const

/** Descriptions of the policies for paid orders whose webhook finally failed. */
export const policyWords: Record<DeliveryFailurePolicy, string> = {
  KEEP: 'It stays paid; the app’s owner settles it with the buyer',
  REFUND: 'The buyer gets the money back',
}

const stateOf = ({ isActive }: NetworkAppFactsFragment) => badge(isActive ? 'active' : 'deactivated')

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
          ['false', 'No longer sold'],
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
  ['If webhook delivery finally fails', policyWords[app.deliveryFailurePolicy]],
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

export const appRoutes = (run: Run, tell: TellRefusal): AdminRoute[] => [list(run, tell), read(run)]
