/** Pages about API keys of trusted services. */
import { html } from 'hono/html'
import { notFound } from '../../shared/errors.ts'
import type { AdminKeysQuery } from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import type { Run } from '../pages/page.ts'
import type { Action, TellRefusal } from './action.ts'
import type { AdminRoute } from './admin-page.ts'
import { badge, doneAt, heading, id, moment } from './components.ts'
import { listRoute } from './list-page.ts'

const Keys = graphql(/* GraphQL */ `
  query AdminKeys($limit: Int!, $offset: Int!) {
    apiKeys(first: $limit, offset: $offset) { totalCount nodes { id name prefix createdAt revokedAt } }
  }
`)

const IssueKey = graphql(/* GraphQL */ `
  mutation AdminIssueKey($input: IssueApiKeyInput!) {
    issueApiKey(input: $input) { key apiKey { name } }
  }
`)

const Key = graphql(/* GraphQL */ `
  query AdminKey($id: ID!) {
    node(id: $id) { ... on ApiKey { name prefix } }
  }
`)

const RevokeKey = graphql(/* GraphQL */ `
  mutation AdminRevokeKey($id: ID!) {
    revokeApiKey(input: { id: $id }) { apiKey { id } }
  }
`)

const PATH = '/admin/keys'
const trail = [[PATH, 'API keys']] as const

type ListedKey = AdminKeysQuery['apiKeys']['nodes'][number]

const list = (run: Run, tell: TellRefusal) =>
  listRoute(tell, {
    path: PATH,
    title: 'API keys',
    columns: [
      { name: 'Service', show: ({ name }: ListedKey) => name },
      { name: 'Begins with', show: ({ prefix }) => id(prefix) },
      { name: 'Status', show: ({ revokedAt }) => badge(revokedAt ? 'revoked' : 'active') },
      { name: 'Issued (UTC)', show: ({ createdAt }) => moment(createdAt) },
      { name: 'Revoked (UTC)', show: ({ revokedAt }) => moment(revokedAt) },
      {
        name: 'Action',
        show: (key) =>
          key.revokedAt
            ? '–'
            : html`<a href="${PATH}/${key.id}/revoke" aria-label="Revoke the key of ${key.name}">Revoke</a>`,
      },
    ],
    empty: 'No API key was issued yet.',
    actions: html`<ul class="actions"><li><a class="button" href="/admin/new-key">Issue an API key</a></li></ul>`,
    read: async (_, { context }, page) => (await run(Keys, page, context)).apiKeys,
  })

const issue = (run: Run): Action => ({
  path: '/admin/new-key',
  isGuarded: true,
  view: async () => ({
    title: 'Issue an API key',
    trail,
    about: html`<p>Its holder can act for users as a trusted service. Give it only to that service.</p>`,
    fields: [{ name: 'name', label: 'Name of the service', rule: '1 to 100 characters.' }],
    button: 'Issue the key',
  }),
  async carryOut({ form, context }) {
    const { issueApiKey } = await run(IssueKey, { input: { name: form.get('name') ?? '' } }, context)
    return {
      title: 'New API key',
      content: html`${heading(`New API key of ${issueApiKey.apiKey.name}`, { trail })}
<div class="notice good" role="status"><p>This is shown once. Give it to the service now.</p></div>
<p class="secret">${issueApiKey.key}</p>
<p><a href="${PATH}">To the API keys</a></p>`,
    }
  },
})

const revoke = (run: Run): Action => ({
  path: `${PATH}/:id/revoke`,
  isGuarded: true,
  async view({ params, context }) {
    const { node } = await run(Key, { id: params.id! }, context)
    if (!node || !('prefix' in node)) throw notFound('API key')
    return {
      title: 'Revoke an API key',
      trail,
      about: html`<p>The key of <bdi>${node.name}</bdi> (${id(`${node.prefix}…`)}) is rejected from now on. This cannot be undone.</p>`,
      fields: [],
      button: 'Revoke the key',
    }
  },
  async carryOut({ params, context }) {
    await run(RevokeKey, { id: params.id! }, context)
    return { redirect: doneAt(PATH, 'revoked') }
  },
})

export const keyRoutes = (run: Run, tell: TellRefusal): AdminRoute[] => [list(run, tell)]

export const keyActions = (run: Run): Action[] => [issue(run), revoke(run)]
