/** Pages about API keys of trusted services. */
import { html } from 'hono/html'
import { notFound } from '../../shared/errors.ts'
import type { AdminKeysQuery } from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import { type Action, actionRoutes } from './action.ts'
import type { AdminRoute } from './admin-page.ts'
import { badge, doneAt, formatTime, heading, id } from './components.ts'
import { listRoute } from './list-page.ts'

const Keys = graphql(/* GraphQL */ `
  query AdminKeys($limit: Int!, $offset: Int!) {
    apiKeys(first: $limit, offset: $offset) { totalCount nodes { id name prefix createdAt revokedAt } }
  }
`)

const IssueKey = graphql(/* GraphQL */ `
  mutation AdminIssueKey($input: IssueApiKeyInput!) { issueApiKey(input: $input) { key apiKey { name } } }
`)

const Key = graphql(/* GraphQL */ `
  query AdminKey($id: ID!) { node(id: $id) { ... on ApiKey { name prefix } } }
`)

const RevokeKey = graphql(/* GraphQL */ `
  mutation AdminRevokeKey($id: ID!) { revokeApiKey(input: { id: $id }) { apiKey { id } } }
`)

const PATH = '/admin/keys'
const breadcrumbs = { [PATH]: 'API keys' }

type ListedKey = AdminKeysQuery['apiKeys']['nodes'][number]

const list = listRoute({
  path: PATH,
  title: 'API keys',
  columns: [
    { name: 'Service', show: ({ name }: ListedKey) => name },
    { name: 'Prefix', show: ({ prefix }) => id(prefix) },
    { name: 'Status', show: ({ revokedAt }) => badge(revokedAt ? 'revoked' : 'active') },
    { name: 'Issued (UTC)', show: ({ createdAt }) => formatTime(createdAt) },
    { name: 'Revoked (UTC)', show: ({ revokedAt }) => formatTime(revokedAt) },
    {
      name: 'Action',
      show: (key) =>
        key.revokedAt
          ? '–'
          : html`<a href="${PATH}/${key.id}/revoke" aria-label="Revoke the key of ${key.name}">Revoke</a>`,
    },
  ],
  empty: 'There are no API keys.',
  actions: html`<ul class="actions"><li><a class="button" href="/admin/new-key">Issue an API key</a></li></ul>`,
  read: async (_, { run }, page) => (await run(Keys, page)).apiKeys,
})

const issue: Action = {
  path: '/admin/new-key',
  isGuarded: true,
  view: async () => ({
    title: 'Issue an API key',
    breadcrumbs,
    about: html`<p>A service with this key is trusted to create and pay orders of users. Send the key only to that service.</p>`,
    fields: [{ name: 'name', label: 'Name of the service', rule: '1 to 100 characters.' }],
    button: 'Issue the key',
  }),
  async execute({ form, run }) {
    const { issueApiKey } = await run(IssueKey, { input: { name: form.get('name') ?? '' } })
    return {
      title: 'New API key',
      content: html`${heading(`New API key of ${issueApiKey.apiKey.name}`, { breadcrumbs })}
<div class="notice good" role="status"><p>This key is shown only once. Copy it now.</p></div>
<p class="secret">${issueApiKey.key}</p>
<p><a href="${PATH}">Show the API keys</a></p>`,
    }
  },
}

const revoke: Action = {
  path: `${PATH}/:id/revoke`,
  isGuarded: true,
  async view({ params, run }) {
    const { node } = await run(Key, { id: params.id! })
    if (!node || !('prefix' in node)) throw notFound('API key')
    return {
      title: 'Revoke an API key',
      breadcrumbs,
      about: html`<p>Annal rejects the key of <bdi>${node.name}</bdi> (${id(`${node.prefix}…`)}) from now on. You cannot undo this.</p>`,
      button: 'Revoke the key',
    }
  },
  async execute({ params, run }) {
    await run(RevokeKey, { id: params.id! })
    return { redirect: doneAt(PATH, 'revoked') }
  },
}

export const keyRoutes: AdminRoute[] = [list, ...[issue, revoke].flatMap(actionRoutes)]
