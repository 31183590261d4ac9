/** Pages about user accounts and the audit log, and actions to lock accounts, unlock accounts and grant points. */
import { html } from 'hono/html'
import { notFound } from '../../shared/errors.ts'
import type {
  AdminAuditQuery,
  AdminLockUserMutationVariables as LockVariables,
  UserFactsFragment,
} from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import type { Html } from '../pages/page.ts'
import { type Action, actionRoutes } from './action.ts'
import { type AdminRequest, type AdminRoute, pageAt } from './admin-page.ts'
import { badge, type Column, doneAt, facts, formatTime, heading, id, table, userLink } from './components.ts'
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

const AuditLog = graphql(/* GraphQL */ `
  query AdminAudit($limit: Int!, $offset: Int!, $everybody: Boolean, $userId: ID) {
    auditEntries(first: $limit, offset: $offset, everybody: $everybody, userId: $userId) {
      totalCount
      nodes { id action subject address reason createdAt user { id username } }
    }
  }
`)

type AuditEntry = AdminAuditQuery['auditEntries']['nodes'][number]

const auditColumns = <Entry extends Pick<AuditEntry, 'action' | 'reason' | 'createdAt'>>(): Column<Entry>[] => [
  { name: 'Time (UTC)', show: ({ createdAt }) => formatTime(createdAt) },
  { name: 'Action', show: ({ action }) => action },
  { name: 'Reason', show: ({ reason }) => reason ?? '–' },
]

/** Paths of the pages about the subjects of audit entries, by ID prefix. */
const subjectPaths: Record<string, string> = {
  app: '/admin/apps',
  delivery: '/admin/webhooks',
  grant: '/admin/grants',
  order: '/admin/orders',
  user: '/admin/users',
}

/** Renders the subject of an audit entry, as a link if the subject has a page. */
function subjectOf(subject: string | null) {
  if (subject === null) return '–'
  const path = subjectPaths[subject.slice(0, subject.indexOf('_'))]
  return id(subject, path && `${path}/${subject}`)
}

const PATH = '/admin/users'
const GRANTS = '/admin/grants'
const breadcrumbs = { [PATH]: 'Users' }
/** Number of rows in each table on an account's page. */
const SHOWN_ROWS = 10

const stateOf = ({ lockedAt }: UserFactsFragment) => badge(lockedAt === null ? 'open' : 'locked')

const list = listRoute({
  path: PATH,
  title: 'Users',
  filters: [{ name: 'search', label: 'ID, e-mail address, or start of the username' }],
  columns: [
    { name: 'Username', show: (user: UserFactsFragment) => userLink(user) },
    { name: 'Status', show: stateOf },
    { name: 'Display name', show: ({ displayName }) => displayName },
    { name: 'ID', show: (user) => id(user.id) },
    { name: 'Created (UTC)', show: ({ createdAt }) => formatTime(createdAt) },
  ],
  about: html`<p class="quiet">Shows at most 50 accounts. Exact matches come first.</p>`,
  empty: 'Enter a search to find accounts.',
  actions: html`<ul class="actions"><li><a class="button" href="/admin/new-grant">Grant points</a></li></ul>`,
  async read({ search }: { search?: string }, { run }) {
    return { nodes: search === undefined ? [] : (await run(Users, { search })).users }
  },
})

const more = (count: number, href: string, what: string) =>
  count > SHOWN_ROWS ? html`<p><a href="${href}">Show all ${inAll(count)} ${what}</a></p>` : ''

/** Returns the user and the breadcrumb links of the user's pages. Throws NOT_FOUND. */
async function userOf({ run, params }: AdminRequest) {
  const { node } = await run(Account, { id: params.id! })
  if (node?.__typename !== 'User') throw notFound('User')
  return { user: node, breadcrumbs: { ...breadcrumbs, [`${PATH}/${node.id}`]: node.username } }
}

const read = pageAt(`${PATH}/:id`, async (request) => {
  const { actor } = request.context
  const { user } = await userOf(request)
  const variables = { id: user.id, limit: SHOWN_ROWS, filter: { buyerId: user.id } }
  const { sales, auditEntries } = await request.run(History, variables)
  const isOwn = actor.kind === 'user' && actor.user.username === user.username
  const lockAction = user.lockedAt !== null ? 'Unlock' : !isOwn && 'Lock'
  return {
    title: user.username,
    content: html`${heading(html`${user.username} ${user.lockedAt === null ? '' : stateOf(user)}`, { breadcrumbs, request })}
${facts(
  ['ID', id(user.id)],
  ['Display name', user.displayName],
  ['Wallet', id(user.address)],
  ['Created (UTC)', formatTime(user.createdAt)],
  user.lockedAt !== null && ['Locked since (UTC)', formatTime(user.lockedAt)],
)}
<ul class="actions">
<li><a class="button" href="/admin/new-grant?user=${user.id}">Grant points</a></li>
${lockAction && html`<li><a class="button plain" href="${PATH}/${user.id}/${lockAction.toLowerCase()}">${lockAction}</a></li>`}
</ul>
<section><h2>Orders</h2>
${table('Orders', saleColumns, sales.nodes, 'There are no orders.')}
${more(sales.totalCount, `/admin/orders?buyerId=${user.id}`, 'orders')}
</section>
<section><h2>Audit log</h2>
${table('Audit log', auditColumns(), auditEntries.nodes, 'There are no entries.')}
${more(auditEntries.totalCount, `/admin/audit?userId=${user.id}`, 'entries')}
</section>`,
  }
})

/** Creates the action that locks or unlocks an account. */
const lockAction = (word: 'lock' | 'unlock', about: Html): Action => {
  const [title, document] = word === 'lock' ? ['Lock', LockUser] : ['Unlock', UnlockUser]
  const rule = 'The user can read the reason in the audit log while the account is unlocked.'
  return {
    path: `${PATH}/:id/${word}`,
    isGuarded: true,
    async view(request) {
      const { user, breadcrumbs } = await userOf(request)
      return {
        title: `${title} the account of ${user.username}`,
        ...{ breadcrumbs, about, button: `${title} the account` },
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
  html`<p>The user can no longer sign in. All sessions, event streams and links in mails stop working now. Paid orders and accepted commits continue. You can unlock the account later.</p>`,
)
const unlock = lockAction('unlock', html`<p>The user can sign in again. The lock ended all sessions of the user.</p>`)

const grant: Action = {
  path: '/admin/new-grant',
  isGuarded: true,
  lookupField: 'userId',
  view: async ({ query }) => ({
    title: 'Grant points',
    breadcrumbs,
    about: html`<p>The wallet of the user gets points, which are spent before currency units. You cannot undo a grant.</p>`,
    fields: [
      {
        ...{ name: 'userId', label: 'User', value: query.get('user') ?? '' },
        rule: 'ID, e-mail address or username.',
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

/** The audit log links to this page. */
const readGrant = pageAt(`${GRANTS}/:id`, async (request) => {
  const { node } = await request.run(Grant, { id: request.params.id! })
  if (node?.__typename !== 'PointGrant') throw notFound('Grant')
  return {
    title: 'Grant of points',
    content: html`${heading('Grant of points', { breadcrumbs, request })}
${facts(
  ['Grant', id(node.id)],
  ['User', userLink(node.user)],
  ['Points', node.amount],
  ['Reason', node.reason || '–'],
  ['Granted (UTC)', formatTime(node.createdAt)],
)}`,
  }
})

const auditLog = listRoute({
  path: '/admin/audit',
  title: 'Audit log',
  filters: [{ name: 'userId', label: 'ID of the user' }],
  lookupField: 'userId',
  columns: [
    ...auditColumns<AuditEntry>(),
    { name: 'User', show: ({ user }) => (user ? userLink(user) : 'System') },
    { name: 'Subject', show: ({ subject }) => subjectOf(subject) },
    { name: 'Network address', show: ({ address }) => address ?? '–' },
  ],
  empty: 'There are no entries.',
  async read({ userId }: { userId?: string }, { run }, page) {
    const variables = { ...page, ...(userId === undefined ? { everybody: true } : { userId }) }
    return (await run(AuditLog, variables)).auditEntries
  },
})

export const userRoutes: AdminRoute[] = [
  ...[list, read, readGrant, auditLog],
  ...[lock, unlock, grant].flatMap(actionRoutes),
]
