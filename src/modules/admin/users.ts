/** Pages about user accounts, and actions to lock them, unlock them and grant points. */
import { html } from 'hono/html'
import { notFound } from '../../shared/errors.ts'
import type {
  AdminUserHistoryQuery,
  AdminLockUserMutationVariables as LockVariables,
  UserFactsFragment,
} from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import type { Html } from '../pages/page.ts'
import { type Action, actionRoutes } from './action.ts'
import { type AdminRequest, type AdminRoute, pageAt } from './admin-page.ts'
import { badge, doneAt, facts, heading, id, moment, table, userLink } from './components.ts'
import { inAll, listRoute } from './list-page.ts'
import { saleColumns } from './orders.ts'

export const UserFacts = graphql(/* GraphQL */ `
  fragment UserFacts on User {
    id username displayName createdAt lockedAt
  }
`)

const Users = graphql(/* GraphQL */ `
  query AdminUsers($search: String!) { users(search: $search) { ...UserFacts } }
`)

const History = graphql(/* GraphQL */ `
  query AdminUserHistory($id: ID!, $limit: Int!, $filter: SaleFilter) {
    sales(first: $limit, filter: $filter) { totalCount nodes { ...SaleFacts } }
    auditEntries(first: $limit, userId: $id) { totalCount nodes { action reason createdAt } }
  }
`)

const Account = graphql(/* GraphQL */ `
  query AdminAccount($id: ID!) { node(id: $id) { __typename ... on User { ...UserFacts address } } }
`)

const GrantPoints = graphql(/* GraphQL */ `
  mutation AdminGrantPoints($input: GrantPointsInput!) { grantPoints(input: $input) { grant { id } } }
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
  mutation AdminLockUser($input: LockUserInput!) { lockUser(input: $input) { user { id } } }
`)

const UnlockUser = graphql(/* GraphQL */ `
  mutation AdminUnlockUser($input: UnlockUserInput!) { unlockUser(input: $input) { user { id } } }
`)

const PATH = '/admin/users'
const GRANTS = '/admin/grants'
const trail = { [PATH]: 'Users' }
/** Number of rows in each table on an account's page. */
const SHOWN_ROWS = 10

const stateOf = ({ lockedAt }: UserFactsFragment) => badge(lockedAt === null ? 'open' : 'locked')

const list = listRoute({
  path: PATH,
  title: 'Users',
  filters: [{ name: 'search', label: 'Identifier, e-mail address, or beginning of a username' }],
  columns: [
    { name: 'Username', show: (user: UserFactsFragment) => userLink(user) },
    { name: 'Status', show: stateOf },
    { name: 'Display name', show: ({ displayName }) => displayName },
    { name: 'Identifier', show: (user) => id(user.id) },
    { name: 'Created (UTC)', show: ({ createdAt }) => moment(createdAt) },
  ],
  about: html`<p class="quiet">Shows at most 50 accounts. Exact matches come first.</p>`,
  empty: 'Enter a search to find accounts.',
  actions: html`<ul class="actions"><li><a class="button" href="/admin/new-grant">Grant points</a></li></ul>`,
  async read({ search }: { search?: string }, { run }) {
    return { nodes: search === undefined ? [] : (await run(Users, { search })).users }
  },
})

const actionsOf = ({ id, lockedAt }: UserFactsFragment, isOwn: boolean) => html`<ul class="actions">
<li><a class="button" href="/admin/new-grant?user=${id}">Grant points</a></li>
${lockedAt === null && !isOwn ? html`<li><a class="button plain" href="${PATH}/${id}/lock">Lock</a></li>` : ''}
${lockedAt === null ? '' : html`<li><a class="button plain" href="${PATH}/${id}/unlock">Unlock</a></li>`}
</ul>`

const more = (count: number, href: string, what: string) =>
  count > SHOWN_ROWS ? html`<p><a href="${href}">All ${inAll(count)} ${what}</a></p>` : ''

const history = (userId: string, { sales, auditEntries }: AdminUserHistoryQuery) => html`<section><h2>Orders</h2>
${table('Orders', saleColumns, sales.nodes, 'There are no orders.')}
${more(sales.totalCount, `/admin/orders?buyerId=${userId}`, 'orders')}
</section>
<section><h2>Audit trail</h2>
${table(
  'Audit trail',
  [
    { name: 'When (UTC)', show: ({ createdAt }) => moment(createdAt) },
    { name: 'Action', show: ({ action }) => action },
    { name: 'Reason', show: ({ reason }) => reason ?? '–' },
  ],
  auditEntries.nodes,
  'There are no entries.',
)}
${more(auditEntries.totalCount, `/admin/audit?userId=${userId}`, 'entries')}
</section>`

/** Returns the user and the breadcrumb links of the user's pages. Throws NOT_FOUND. */
async function userOf({ run, params }: AdminRequest) {
  const { node } = await run(Account, { id: params.id! })
  if (node?.__typename !== 'User') throw notFound('User')
  return { user: node, trail: { ...trail, [`${PATH}/${node.id}`]: node.username } }
}

const read = pageAt(`${PATH}/:id`, async (request) => {
  const { actor } = request.context
  const { user } = await userOf(request)
  const found = await request.run(History, { id: user.id, limit: SHOWN_ROWS, filter: { buyerId: user.id } })
  const isOwn = actor.kind === 'user' && actor.user.username === user.username
  return {
    title: user.username,
    content: html`${heading(html`${user.username} ${user.lockedAt === null ? '' : stateOf(user)}`, { trail, request })}
${facts(
  ['Identifier', id(user.id)],
  ['Display name', user.displayName],
  ['Wallet', id(user.address)],
  ['Created (UTC)', moment(user.createdAt)],
  user.lockedAt !== null && ['Locked since (UTC)', moment(user.lockedAt)],
)}
${actionsOf(user, isOwn)}
${history(user.id, found)}`,
  }
})

/** Creates the action that locks or unlocks an account. `rule` describes the reason. */
const lockAction = (word: 'lock' | 'unlock', about: Html, rule: string): Action => {
  const [title, document] = word === 'lock' ? ['Lock', LockUser] : ['Unlock', UnlockUser]
  return {
    path: `${PATH}/:id/${word}`,
    isGuarded: true,
    async view(request) {
      const { user, trail } = await userOf(request)
      return {
        title: `${title} the account of ${user.username}`,
        ...{ trail, about, button: `${title} the account` },
        fields: [{ name: 'reason', label: 'Reason', kind: 'area', rule }],
      }
    },
    async execute({ params, form, run }) {
      await run<unknown, LockVariables>(document, { input: { userId: params.id!, reason: form.get('reason') ?? '' } })
      return { redirect: doneAt(`${PATH}/${params.id}`, `${word}ed`) }
    },
  }
}

const lock = lockAction(
  'lock',
  html`<p>The user can no longer sign in. All sessions, streams and mailed links end now. Accepted and paid operations continue. You can unlock the account later.</p>`,
  'The user can read the reason in the audit log after the account is unlocked.',
)
const unlock = lockAction(
  'unlock',
  html`<p>The user can sign in again. Ended sessions are not restored.</p>`,
  'The user can read the reason in the audit log.',
)

const grant: Action = {
  path: '/admin/new-grant',
  isGuarded: true,
  lookupField: 'userId',
  view: async ({ query }) => ({
    title: 'Grant points',
    trail,
    about: html`<p>Points are spent before currency units. A grant cannot be undone.</p>`,
    fields: [
      {
        ...{ name: 'userId', label: 'User', value: query.get('user') ?? '' },
        rule: 'Identifier, e-mail address or username.',
      },
      { name: 'amount', label: 'Points', rule: 'More than 0, such as 12.5.' },
      { name: 'reason', label: 'Reason', kind: 'area', rule: 'The user can read the reason.' },
    ],
    button: 'Grant points',
  }),
  async execute({ form, run }) {
    const input = {
      userId: form.get('userId') ?? '',
      amount: form.get('amount')?.trim() ?? '',
      reason: form.get('reason') ?? '',
    }
    const { grantPoints } = await run(GrantPoints, { input })
    return { redirect: doneAt(`${GRANTS}/${grantPoints.grant.id}`, 'granted') }
  },
}

/** Page of a grant of points. The audit log links to this page. */
const readGrant = pageAt(`${GRANTS}/:id`, async (request) => {
  const { node } = await request.run(Grant, { id: request.params.id! })
  if (node?.__typename !== 'PointGrant') throw notFound('Grant')
  return {
    title: 'Granted points',
    content: html`${heading('Granted points', { trail, request })}
${facts(
  ['Grant', id(node.id)],
  ['User', userLink(node.user)],
  ['Points', node.amount],
  ['Reason', node.reason || '–'],
  ['Granted (UTC)', moment(node.createdAt)],
)}`,
  }
})

export const userRoutes: AdminRoute[] = [list, read, readGrant, ...[lock, unlock, grant].flatMap(actionRoutes)]
