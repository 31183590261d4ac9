/** People's accounts: finding one, and giving points. */
import { html } from 'hono/html'
import { notFound } from '../../domain/errors.ts'
import { graphql } from '../generated/index.ts'
import type { Action } from './action.ts'
import type { AdminRoute } from './admin-page.ts'
import { saleColumns } from './orders.ts'
import { doneAt, facts, filters, heading, id, moment, table } from './parts.ts'
import type { Run } from './run.ts'

const User = graphql(/* GraphQL */ `
  query AdminUser($id: ID!, $limit: Int!, $filter: SaleFilter) {
    node(id: $id) {
      ... on User {
        id
        username
        displayName
        address
        createdAt
      }
    }
    sales(first: $limit, filter: $filter) {
      totalCount
      nodes {
        ...SaleFacts
      }
    }
  }
`)

const GrantPoints = graphql(/* GraphQL */ `
  mutation AdminGrantPoints($input: GrantPointsInput!) {
    grantPoints(input: $input) {
      grant {
        user {
          id
        }
      }
    }
  }
`)

const PATH = '/admin/users'
const trail = [[PATH, 'Users']] as const
const SHOWN_ORDERS = 10

const read = (run: Run): AdminRoute => ({
  method: 'GET',
  path: `${PATH}/:id`,
  async answer(request) {
    const userId = request.params.id!
    const { node, sales } = await run(
      User,
      { id: userId, limit: SHOWN_ORDERS, filter: { buyerId: userId } },
      request.context,
    )
    if (!node || !('username' in node)) throw notFound('User')
    return {
      title: node.username,
      content: html`${heading(node.username, { trail, request })}
${facts(
  ['Identifier', id(node.id)],
  ['Shown as', node.displayName],
  ['Wallet', id(node.address)],
  ['Since (UTC)', moment(node.createdAt)],
  ['Trail', html`<a href="/admin/audit?user=${node.id}">What was done with the account</a>`],
)}
<ul class="actions"><li><a class="button" href="/admin/new-grant?user=${node.id}">Give points</a></li></ul>
<section><h2>Orders</h2>
${table('Orders', saleColumns, sales.nodes, 'They ordered nothing.')}
${sales.totalCount > SHOWN_ORDERS ? html`<p><a href="/admin/orders?buyer=${node.id}">All ${sales.totalCount} orders</a></p>` : ''}
</section>`,
    }
  },
})

/** Leads to the account that somebody names. */
const find: AdminRoute = {
  method: 'GET',
  path: PATH,
  async answer(request) {
    const user = request.query.get('user')?.trim()
    if (user) return { redirect: `${PATH}/${encodeURIComponent(user)}` }
    return {
      title: 'Users',
      content: html`${heading('Users', { request })}
${filters(request, [{ name: 'user', label: 'Identifier of a user' }])}
<p class="quiet">Orders and the audit trail lead to accounts, too.</p>
<ul class="actions"><li><a class="button" href="/admin/new-grant">Give points</a></li></ul>`,
    }
  },
}

/** As a form has it, in UTC. */
const momentFrom = (text: string | null) => (text ? new Date(`${text}:00Z`) : undefined)

const grant = (run: Run): Action => ({
  path: '/admin/new-grant',
  isGuarded: true,
  view: async ({ query }) => ({
    title: 'Give points',
    trail,
    about: html`<p>Points are spent before currency units, those that expire soonest first.</p>`,
    fields: [
      {
        name: 'userId',
        label: 'User',
        rule: 'Identifier, e-mail address or username.',
        value: query.get('user') ?? '',
      },
      { name: 'amount', label: 'Points', rule: 'More than 0, such as 12.5.' },
      { name: 'reason', label: 'Reason', kind: 'area', rule: 'The user reads it.' },
      { name: 'expiresAt', label: 'Expires', kind: 'datetime-local', isOptional: true, rule: 'In UTC. Empty: never.' },
    ],
    button: 'Give points',
  }),
  async carryOut({ form, context }) {
    const input = {
      userId: form.get('userId') ?? '',
      amount: form.get('amount')?.trim() ?? '',
      reason: form.get('reason') ?? '',
      expiresAt: momentFrom(form.get('expiresAt')),
    }
    const { grantPoints } = await run(GrantPoints, { input }, context)
    return { redirect: doneAt(`${PATH}/${grantPoints.grant.user.id}`, 'granted') }
  },
})

/** Pages about accounts. */
export const userRoutes = (run: Run): AdminRoute[] => [find, read(run)]

/** What can be done with accounts. */
export const userActions = (run: Run): Action[] => [grant(run)]
