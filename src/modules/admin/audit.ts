/** Page for administrators that shows the audit log of all users. */
import type { AdminAuditQuery } from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import type { AdminRoute } from './admin-page.ts'
import { id, moment, userLink } from './components.ts'
import { listRoute } from './list-page.ts'

const Entries = graphql(/* GraphQL */ `
  query AdminAudit($limit: Int!, $offset: Int!, $everybody: Boolean, $userId: ID) {
    auditEntries(first: $limit, offset: $offset, everybody: $everybody, userId: $userId) {
      totalCount
      nodes { id action subject address reason createdAt user { id username } }
    }
  }
`)

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
  const place = subjectPaths[subject.slice(0, subject.indexOf('_'))]
  return id(subject, place && `${place}/${subject}`)
}

type Entry = AdminAuditQuery['auditEntries']['nodes'][number]

export const auditRoutes: AdminRoute[] = [
  listRoute({
    path: '/admin/audit',
    title: 'Audit trail',
    filters: [{ name: 'userId', label: 'Identifier of a user' }],
    lookupField: 'userId',
    columns: [
      { name: 'When (UTC)', show: ({ createdAt }: Entry) => moment(createdAt) },
      { name: 'Action', show: ({ action }) => action },
      { name: 'Account', show: ({ user }) => (user ? userLink(user) : 'The system') },
      { name: 'Subject', show: ({ subject }) => subjectOf(subject) },
      { name: 'Reason', show: ({ reason }) => reason ?? '–' },
      { name: 'Network address', show: ({ address }) => address ?? '–' },
    ],
    empty: 'There are no entries.',
    async read({ userId }: { userId?: string }, { run }, page) {
      return (await run(Entries, { ...page, ...(userId === undefined ? { everybody: true } : { userId }) }))
        .auditEntries
    },
  }),
]
