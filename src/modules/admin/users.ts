/** Pages about user accounts, and actions to lock them, unlock them and grant points. */
import { html } from 'hono/html'
import { notFound } from '../../shared/errors.ts'
import type { AdminUserHistoryQuery, UserFactsFragment } from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import type { Run } from '../pages/page.ts'
import type { Action, Field, TellRefusal } from './action.ts'
import type { AdminRoute } from './admin-page.ts'
import { badge, doneAt, facts, heading, id, moment, table } from './components.ts'
import { inAll, listRoute } from './list-page.ts'
import { saleColumns } from './orders.ts'

/** Fields of an account that pages show. */
export const UserFacts = graphql(/* GraphQL */ `
  fragment UserFacts on User {
    id username displayName createdAt lockedAt
  }
`)

const Users = graphql(/* GraphQL */ `
  query AdminUsers($search: String!) {
    users(search: $search) { ...UserFacts }
  }
`)

const History = graphql(/* GraphQL */ `
  query AdminUserHistory($id: ID!, $limit: Int!, $filter: SaleFilter) {
    sales(first: $limit, filter: $filter) { totalCount nodes { ...SaleFacts } }
    auditEntries(first: $limit, userId: $id) { totalCount nodes { action reason createdAt } }
  }
`)

const Account = graphql(/* GraphQL */ `
  query AdminAccount($id: ID!) {
    node(id: $id) { __typename ... on User { ...UserFacts address } }
  }
`)

const GrantPoints = graphql(/* GraphQL */ `
  mutation AdminGrantPoints($input: GrantPointsInput!) {
    grantPoints(input: $input) { grant { id } }
  }
`)

const Grant = graphql(/* GraphQL */ `
  query AdminGrant($id: ID!) {
    node(id: $id) {
      __typename
      ... on PointGrant { id amount reason createdAt user { id username } }
    }
  }
`)

const LockUser = graphql(/* GraphQL */ `
  mutation AdminLockUser($input: LockUserInput!) {
    lockUser(input: $input) { user { id } }
  }
`)

const UnlockUser = graphql(/* GraphQL */ `
  mutation AdminUnlockUser($input: UnlockUserInput!) {
    unlockUser(input: $input) { user { id } }
  }
`)

const PATH = '/admin/users'
const GRANTS = '/admin/grants'
const trail = [[PATH, 'Users']] as const
/** Number of rows in each table on an account's page. */
const SHOWN_ROWS = 10

const stateOf = ({ lockedAt }: UserFactsFragment) => badge(lockedAt === null ? 'open' : 'locked')

const list = (run: Run, tell: TellRefusal) =>
  listRoute(tell, {
    path: PATH,
    title: 'Users',
    filters: [{ name: 'search', label: 'Identifier, e-mail address, or beginning of a username' }],
    columns: [
      { name: 'Username', show: (user: UserFactsFragment) => html`<a href="${PATH}/${user.id}">${user.username}</a>` },
      { name: 'Status', show: stateOf },
      { name: 'Shown as', show: ({ displayName }) => displayName },
      { name: 'Identifier', show: (user) => id(user.id) },
      { name: 'Since (UTC)', show: ({ createdAt }) => moment(createdAt) },
    ],
    about: html`<p class="quiet">At most 50 are shown, those that fit exactly first.</p>`,
    empty: 'Find an account by what you know of it.',
    actions: html`<ul class="actions"><li><a class="button" href="/admin/new-grant">Give points</a></li></ul>`,
    async read({ search }, { context }) {
      return { nodes: search === undefined ? [] : (await run(Users, { search }, context)).users }
    },
  })

const actionsOf = ({ id, lockedAt }: UserFactsFragment, isOwn: boolean) => html`<ul class="actions">
<li><a class="button" href="/admin/new-grant?user=${id}">Give points</a></li>
${lockedAt === null && !isOwn ? html`<li><a class="button plain" href="${PATH}/${id}/lock">Lock</a></li>` : ''}
${lockedAt === null ? '' : html`<li><a class="button plain" href="${PATH}/${id}/unlock">Unlock</a></li>`}
</ul>`

const more = (count: number, href: string, what: string) =>
  count > SHOWN_ROWS ? html`<p><a href="${href}">All ${inAll(count)} ${what}</a></p>` : ''

const history = (userId: string, { sales, auditEntries }: AdminUserHistoryQuery) => html`<section><h2>Orders</h2>
${table('Orders', saleColumns, sales.nodes, 'Nothing was ordered.')}
${more(sales.totalCount, `/admin/orders?buyerId=${userId}`, 'orders')}
</section>
<section><h2>Audit trail</h2>
${table(
  'Audit trail',
  [
    { name: 'When (UTC)', show: ({ createdAt }) => moment(createdAt) },
    { name: 'What', show: ({ action }) => action },
    { name: 'Reason', show: ({ reason }) => reason ?? '–' },
  ],
  auditEntries.nodes,
  'Nothing was done with the account yet.',
)}
${more(auditEntries.totalCount, `/admin/audit?userId=${userId}`, 'entries')}
</section>`

const read = (run: Run): AdminRoute => ({
  method: 'GET',
  path: `${PATH}/:id`,
  async answer(request) {
    const userId = request.params.id!
    const { actor } = request.context
    // Throws NOT_FOUND before it loads the orders if the user does not exist.
    const { user: node } = await about(run, userId, request.context)
    const found = await run(History, { id: userId, limit: SHOWN_ROWS, filter: { buyerId: userId } }, request.context)
    const isOwn = actor.kind === 'user' && actor.user.username === node.username
    return {
      title: node.username,
      content: html`${heading(html`${node.username} ${node.lockedAt === null ? '' : stateOf(node)}`, { trail, request })}
${facts(
  ['Identifier', id(node.id)],
  ['Shown as', node.displayName],
  ['Wallet', id(node.address)],
  ['Since (UTC)', moment(node.createdAt)],
  node.lockedAt !== null && ['Locked since (UTC)', moment(node.lockedAt)],
)}
${actionsOf(node, isOwn)}
${history(node.id, found)}`,
    }
  },
})

const reasonField = (rule: string): Field => ({ name: 'reason', label: 'Reason', kind: 'area', rule })

/** Returns a user and the breadcrumb links of the user's pages. */
async function about(run: Run, userId: string, context: Parameters<Run>[2]) {
  const { node } = await run(Account, { id: userId }, context)
  if (node?.__typename !== 'User') throw notFound('User')
  return { user: node, trail: [...trail, [`${PATH}/${node.id}`, node.username]] as const }
}

const lock = (run: Run): Action => ({
  path: `${PATH}/:id/lock`,
  isGuarded: true,
  async view({ params, context }) {
    const { user, trail } = await about(run, params.id!, context)
    return {
      title: `Lock the account of ${user.username}`,
      trail,
      about: html`<p>The user can no longer sign in. All sessions, streams and mailed links end now. Accepted and paid operations continue. You can unlock the account later.</p>`,
      fields: [reasonField('Its owner reads it in their audit trail, once the account is unlocked.')],
      button: 'Lock the account',
    }
  },
  async carryOut({ params, form, context }) {
    await run(LockUser, { input: { userId: params.id!, reason: form.get('reason') ?? '' } }, context)
    return { redirect: doneAt(`${PATH}/${params.id}`, 'locked') }
  },
})

const unlock = (run: Run): Action => ({
  path: `${PATH}/:id/unlock`,
  isGuarded: true,
  async view({ params, context }) {
    const { user, trail } = await about(run, params.id!, context)
    return {
      title: `Unlock the account of ${user.username}`,
      trail,
      about: html`<p>The user can sign in again. Ended sessions are not restored.</p>`,
      fields: [reasonField('Its owner reads it in their audit trail.')],
      button: 'Unlock the account',
    }
  },
  async carryOut({ params, form, context }) {
    await run(UnlockUser, { input: { userId: params.id!, reason: form.get('reason') ?? '' } }, context)
    return { redirect: doneAt(`${PATH}/${params.id}`, 'unlocked') }
  },
})

const grant = (run: Run): Action => ({
  path: '/admin/new-grant',
  isGuarded: true,
  naming: 'userId',
  view: async ({ query }) => ({
    title: 'Give points',
    trail,
    about: html`<p>Points are spent before currency units. A grant cannot be taken back.</p>`,
    fields: [
      {
        name: 'userId',
        label: 'User',
        rule: 'Identifier, e-mail address or username.',
        value: query.get('user') ?? '',
      },
      { name: 'amount', label: 'Points', rule: 'More than 0, such as 12.5.' },
      { name: 'reason', label: 'Reason', kind: 'area', rule: 'The user reads it.' },
    ],
    button: 'Give points',
  }),
  async carryOut({ form, context }) {
    const input = {
      userId: form.get('userId') ?? '',
      amount: form.get('amount')?.trim() ?? '',
      reason: form.get('reason') ?? '',
    }
    const { grantPoints } = await run(GrantPoints, { input }, context)
    return { redirect: doneAt(`${GRANTS}/${grantPoints.grant.id}`, 'granted') }
  },
})

/** Returns the route of a grant's page. The audit log links to it. */
const readGrant = (run: Run): AdminRoute => ({
  method: 'GET',
  path: `${GRANTS}/:id`,
  async answer(request) {
    const { node } = await run(Grant, { id: request.params.id! }, request.context)
    if (node?.__typename !== 'PointGrant') throw notFound('Grant')
    const { user } = node
    return {
      title: 'Granted points',
      content: html`${heading('Granted points', { trail, request })}
${facts(
  ['Grant', id(node.id)],
  ['User', html`<a href="${PATH}/${user.id}">${user.username}</a>`],
  ['Points', node.amount],
  ['Reason', node.reason || '–'],
  ['Given (UTC)', moment(node.createdAt)],
)}`,
    }
  },
})

export const userRoutes = (run: Run, tell: TellRefusal): AdminRoute[] => [list(run, tell), read(run), readGrant(run)]

export const userActions = (run: Run): Action[] => [lock(run), unlock(run), grant(run)]
