/** The audit trail of everybody. */
import { html } from 'hono/html'
import { graphql } from '../generated/index.ts'
import type { AdminRoute } from './admin-page.ts'
import { filters, heading, id, moment, offsetOf, PAGE, pager, table } from './parts.ts'
import type { Run } from './run.ts'

const Entries = graphql(/* GraphQL */ `
  query AdminAudit($limit: Int!, $offset: Int!, $everybody: Boolean, $userId: ID) {
    auditEntries(first: $limit, offset: $offset, everybody: $everybody, userId: $userId) {
      totalCount
      nodes {
        id
        action
        subject
        address
        createdAt
        user {
          id
          username
        }
      }
    }
  }
`)

const PATH = '/admin/audit'

/** Where a page tells of what an entry is about. */
const places: Record<string, string> = {
  app: '/admin/apps',
  delivery: '/admin/webhooks',
  order: '/admin/orders',
  user: '/admin/users',
}

/** What an entry is about, as a link where there is a page of it. */
function subjectOf(subject: string | null) {
  if (subject === null) return '–'
  const place = places[subject.slice(0, subject.indexOf('_'))]
  return id(subject, place && `${place}/${subject}`)
}

/** The page of the trail. */
export const auditRoutes = (run: Run): AdminRoute[] => [
  {
    method: 'GET',
    path: PATH,
    async answer(request) {
      const userId = request.query.get('user')?.trim() || undefined
      const page = { limit: PAGE, offset: offsetOf(request) }
      const { auditEntries } = await run(
        Entries,
        { ...page, userId, everybody: userId ? undefined : true },
        request.context,
      )
      return {
        title: 'Audit trail',
        content: html`${heading('Audit trail', { request })}
${filters(request, [{ name: 'user', label: 'Identifier of a user' }])}
${table(
  'Audit trail',
  [
    { name: 'When (UTC)', show: ({ createdAt }) => moment(createdAt) },
    { name: 'What', show: ({ action }) => action },
    {
      name: 'Account',
      show: ({ user }) => (user ? html`<a href="/admin/users/${user.id}">${user.username}</a>` : 'The system'),
    },
    { name: 'About', show: ({ subject }) => subjectOf(subject) },
    { name: 'From', show: ({ address }) => address ?? '–' },
  ],
  auditEntries.nodes,
  'There are no such entries.',
)}
${pager(PATH, request, auditEntries.totalCount)}`,
      }
    },
  },
]
